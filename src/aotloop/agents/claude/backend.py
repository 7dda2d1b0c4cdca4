"""The backend `claude` runs Claude Code as a separate process, and writes the prompt to its standard input.

The client sees the repository's instructions and skills and the operator's login, and nothing else of either. A probe
can only read. A verifier can also run commands that the client knows to change nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import run, spec_of
from aotloop.agents.attempt.usage import Price, cost_of
from aotloop.agents.claude.command_line import arguments, hide, own_variables, surroundings
from aotloop.agents.claude.conversations import conversation, home_of
from aotloop.agents.claude.event_stream import Event, Events, is_cut, told
from aotloop.agents.claude.event_summary import Story
from aotloop.agents.claude.final_result import outcome_of
from aotloop.agents.claude.program import find_program, look_for_claude
from aotloop.agents.claude.skills import lend
from aotloop.agents.client.detection import Presence
from aotloop.agents.client.versions import age
from aotloop.agents.contract import Assignment, Backend, Capabilities, Meter, Outcome
from aotloop.agents.prompts.attempt_prompt import without_form
from aotloop.agents.registry import Client, Settings, of_client
from aotloop.process.output import LONGEST_LINE, Lines, Tail
from aotloop.process.transport import Transport

TESTED = (2, 1)
"""The version whose behaviour is known here."""

_OUTPUT_BYTES = 8 * 1024


class Claude(Client, frozen=True, kw_only=True):
    program: str | None = None
    retries: int = 4
    """The client's retries for each request: after them the run decides, because it knows its other work."""

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
        with conversation(assignment.sitting, home_of(os.environ), assignment.cwd) as options:
            return await self._converse((program, *self._arguments(assignment, options)), assignment, on_output)

    async def _converse(
        self, argv: tuple[str, ...], assignment: Assignment, on_output: Callable[[str], None]
    ) -> Outcome:
        env = surroundings(assignment, os.environ, self.pass_env, self.retries)
        scratch.prepare(assignment)
        lend(assignment)
        hide(assignment, env, own_variables(os.environ), self.pass_env)
        listening = _Listening(assignment, on_output, self.price)
        prompt = without_form(assignment.prompt) if assignment.result_schema else assignment.prompt
        spec = spec_of(assignment, argv, env, prompt, client="claude")
        ran = await run(
            spec, assignment.evidence / scratch.TRANSCRIPT, on_output, listening, scratch=assignment.scratch
        )
        listening.end()
        story, output = listening.story, listening.output.text()
        outcome = outcome_of(ran, story, assignment, output)
        notes = (*outcome.notes, *ran.notes, *_age(story.version))
        return replace(outcome, seconds=ran.seconds, start=story.watch.seconds, output=output, notes=notes)

    def _arguments(self, assignment: Assignment, conversation: tuple[str, ...]) -> tuple[str, ...]:
        return arguments(assignment, self.model, conversation=conversation, with_operators=self.operator_settings)


class _Listening:
    """Reads all output, and passes on in words the events that are for a person."""

    def __init__(self, assignment: Assignment, on_output: Callable[[str], None], price: Price | None) -> None:
        self._cwd = assignment.cwd
        self._price = price
        self._meter = assignment.meter if assignment.meter is not None else Meter()
        self._on_output = on_output
        self._events = Events()
        self._errors = Lines()
        self.story = Story()
        self.output = Tail(_OUTPUT_BYTES)

    def begin(self, transport: Transport) -> None:  # noqa: ARG002 - there is nothing to write and nothing to end
        """The client has its whole input, and ends by itself."""
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
                self._read_meter()
                self._hand_on(told(heard, self._cwd))

    def _read_meter(self) -> None:
        """A price that a person has configured comes before the list prices."""
        tokens = self.story.tokens
        cost = self.story.cost_usd
        if tokens is not None and self._price is not None:
            cost = cost_of(tokens, self._price)
        self._meter.read(tokens, cost)

    def _hand_on(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.output.add(f"{line}\n".encode("utf-8", "replace"))
            self._on_output(line)


def make(settings: Settings) -> Backend:
    return Claude(program=settings.program, **of_client(settings))


def _age(version: str) -> tuple[str, ...]:
    doubt = age(version, TESTED)
    return (f"Claude Code {doubt}",) if doubt is not None else ()
