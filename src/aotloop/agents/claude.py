"""The backend `claude` makes attempts by Claude Code: its own program, started and ended by us, told on standard input.

It sees the repository's instructions and skills and the operator's login, and nothing else of either. A probe can only
read; a verifier can besides run commands of which the client knows that they change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents import scratch
from aotloop.agents.claudecode.ending import outcome_of
from aotloop.agents.claudecode.events import Event, Events, is_cut
from aotloop.agents.claudecode.finding import look_for_claude
from aotloop.agents.claudecode.hiding import hide
from aotloop.agents.claudecode.lending import lend
from aotloop.agents.claudecode.program import find_program
from aotloop.agents.claudecode.sessions import conversation, home_of
from aotloop.agents.claudecode.starting import arguments, own_variables, surroundings
from aotloop.agents.claudecode.story import Story
from aotloop.agents.claudecode.telling import told
from aotloop.agents.contract import Assignment, Backend, Capabilities, Outcome
from aotloop.agents.launching import Launch
from aotloop.agents.partners import Reins
from aotloop.agents.presence import Presence
from aotloop.agents.processes import run
from aotloop.agents.settings import Settings
from aotloop.agents.streams import LONGEST_LINE, Lines, Tail
from aotloop.agents.versions import age

TESTED = (2, 1)
"""The version whose behaviour is known here."""

_OUTPUT_BYTES = 8 * 1024


class Claude(msgspec.Struct, frozen=True, kw_only=True):
    program: str | None = None
    model: str | None = None
    pass_env: tuple[str, ...] = ()
    operator_settings: bool = False
    retries: int = 4
    """Of the client, for each request: then the run decides, which knows what else there is to do."""

    @property
    def name(self) -> str:
        return "claude"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            structured_output="native",
            tool_restriction="native",
            cost_report="native",
            sessions="native",
            interrupt="emulated",
        )

    def look(self) -> Presence:
        return look_for_claude(self.program, os.environ, TESTED)

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        program = find_program(self.program)
        with conversation(assignment.sitting, home_of(os.environ)) as options:
            return await self._converse((program, *self._arguments(assignment, options)), assignment, on_output)

    async def _converse(
        self, argv: tuple[str, ...], assignment: Assignment, on_output: Callable[[str], None]
    ) -> Outcome:
        launch = Launch(
            argv=argv,
            cwd=assignment.cwd,
            env=surroundings(assignment, os.environ, self.pass_env, self.retries),
            stdin=assignment.prompt,
            transcript=assignment.scratch / scratch.TRANSCRIPT,
            limits=assignment.limits,
            grace=assignment.grace,
            confinement=assignment.confinement,
        )
        scratch.prepare(assignment)
        lend(assignment)
        hide(assignment, launch.env, own_variables(os.environ), self.pass_env)
        listening = _Listening(assignment.cwd, on_output)
        ran = await run(launch, on_output, listening)
        listening.end()
        story, output = listening.story, listening.output.text()
        outcome = outcome_of(ran, story, assignment, output)
        notes = (*outcome.notes, *ran.notes, *_age(story.version))
        return replace(outcome, seconds=ran.seconds, start=story.watch.seconds, output=output, notes=notes)

    def _arguments(self, assignment: Assignment, conversation: tuple[str, ...]) -> tuple[str, ...]:
        return arguments(assignment, self.model, conversation=conversation, with_operators=self.operator_settings)


class _Listening:
    """Hears all that is printed, and hands on in words what of it is for a person."""

    def __init__(self, cwd: Path, on_output: Callable[[str], None]) -> None:
        self._cwd = cwd
        self._on_output = on_output
        self._events = Events()
        self._errors = Lines()
        self.story = Story()
        self.output = Tail(_OUTPUT_BYTES)

    def begin(self, reins: Reins) -> None:  # noqa: ARG002 - there is nothing to write and nothing to end
        """It has been told everything, and ends by itself."""
        self.story.watch.begin()

    def hear(self, stream: str, chunk: bytes) -> None:
        if stream == "stdout":
            self._take(self._events.add(chunk))
        else:
            self._hand_on(self._errors.add(chunk))

    def end(self) -> None:
        self._take(self._events.end())
        self._hand_on(self._errors.end())

    def _take(self, some: Iterable[Event | str]) -> None:
        for heard in some:
            if isinstance(heard, str):
                self.story.breaks_off = self.story.breaks_off or is_cut(heard)
                self._hand_on([heard[:LONGEST_LINE]])
            else:
                self.story.add(heard)
                self._hand_on(told(heard, self._cwd))

    def _hand_on(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.output.add(f"{line}\n".encode("utf-8", "replace"))
            self._on_output(line)


def make(settings: Settings) -> Backend:
    return Claude(
        program=settings.program,
        model=settings.model,
        pass_env=settings.pass_env,
        operator_settings=settings.operator_settings,
    )


def _age(version: str) -> tuple[str, ...]:
    doubt = age(version, TESTED)
    return (f"Claude Code {doubt}",) if doubt is not None else ()
