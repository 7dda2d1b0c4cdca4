"""The backend `command` makes an agent of any program: it is told by placeholders, or on standard input, what to do.

The program is started as it is, never through a shell. Its answer is the file {result_file}, if it wrote one, else the
last answer on its standard output. An exit other than 0 does not go together with a claim of success. Exit 75
(EX_TEMPFAIL) means: not now, try later. What else an answer may tell: `told_besides`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from aotloop.agents import scratch
from aotloop.agents.answers import NotAResult, answer_in_file, find_answer
from aotloop.agents.contract import (
    Assignment,
    Backend,
    Capabilities,
    Crashed,
    Done,
    Garbage,
    Judged,
    MustWait,
    Outcome,
    TimedOut,
)
from aotloop.agents.environment import environment
from aotloop.agents.launching import Launch
from aotloop.agents.outcomes import outcome_of_answer
from aotloop.agents.presence import Login, Presence, look_for
from aotloop.agents.processes import Ran, run
from aotloop.agents.settings import Settings
from aotloop.agents.told_besides import with_what_is_told_besides
from aotloop.agents.wording import last_lines
from aotloop.errors import AotError

PLACEHOLDERS = ("prompt", "prompt_file", "result_file", "atom", "attempt")

_PLACEHOLDER = re.compile(r"\{\{[A-Za-z_]+\}\}|\{([A-Za-z_]+)\}")
"""Braces twice around a name mean once, and no placeholder; braces around anything else (JSON, say) are left alone."""

_LONGEST_TAIL = 1000


class Command(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    pass_env: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _refuse_bad_template(self.argv)

    @property
    def name(self) -> str:
        return "command"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(structured_output="emulated", cost_report="emulated", interrupt="emulated")

    def look(self) -> Presence:
        login = Login("unknown", "it may be any program")
        if _names(self.argv[0]):
            return Presence(origin="another one for each attempt", login=login)
        install = "Install it, or correct the agent's argv in your configuration."
        return look_for(_filled(self.argv[0], {}), install=install, login=login, tells_version=False)

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        scratch.prepare(assignment)
        ran = await run(self._launch(assignment), on_output)
        outcome = _outcome(ran, assignment)
        return replace(outcome, seconds=ran.seconds, output=ran.output, notes=outcome.notes + ran.notes)

    def _launch(self, assignment: Assignment) -> Launch:
        values = {
            "prompt": assignment.prompt,
            "prompt_file": str(assignment.scratch / scratch.PROMPT),
            "result_file": str(assignment.scratch / scratch.RESULT),
            "atom": assignment.atom,
            "attempt": str(assignment.attempt),
        }
        is_told = any(_names(argument) & {"prompt", "prompt_file"} for argument in self.argv)
        return Launch(
            argv=tuple(_filled(argument, values) for argument in self.argv),
            cwd=assignment.cwd,
            env=environment(assignment, os.environ, self.pass_env),
            stdin=None if is_told else assignment.prompt,
            transcript=assignment.scratch / scratch.TRANSCRIPT,
            limits=assignment.limits,
            grace=assignment.grace,
            confinement=assignment.confinement,
        )


def make(settings: Settings) -> Backend:
    return Command(argv=settings.argv, pass_env=settings.pass_env)


def _refuse_bad_template(argv: tuple[str, ...]) -> None:
    if not argv or not argv[0].strip():
        raise AotError("an agent of the kind `command` needs argv", hint='For example: argv = ["my-agent", "{prompt}"]')
    for argument in argv:
        for name in _names(argument):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
                raise AotError(
                    f"{{{name}}} in {argument!r} means nothing; there are: {known}",
                    hint=f"To have it as it is, write {{{{{name}}}}}.",
                )


def _names(argument: str) -> set[str]:
    return {match[1] for match in _PLACEHOLDER.finditer(argument) if match[1] is not None}


def _filled(argument: str, values: dict[str, str]) -> str:
    """In one pass: what a value holds is never taken for a placeholder."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] is not None else match[0][1:-1], argument)


def _outcome(ran: Ran, assignment: Assignment) -> Outcome:
    if ran.timed_out is not None:
        return TimedOut(reason=f"the agent {ran.timed_out.reason}", taught=ran.timed_out.taught)
    if ran.exit_code == os.EX_TEMPFAIL:
        return MustWait(reason=f"the agent asks to be tried later ({ran.ending}){_tail(ran)}")
    try:
        written = answer_in_file(assignment.scratch / scratch.RESULT)
        answer = written if written is not None else find_answer(assignment.role, ran.stdout)
    except NotAResult as why:
        if ran.exit_code != 0:
            return Crashed(reason=f"{ran.ending} without an answer ({why}){_tail(ran)}")
        return Garbage(reason=f"{why}{_tail(ran)}")
    outcome = with_what_is_told_besides(outcome_of_answer(assignment.role, answer, assignment.cwd), answer)
    claims = isinstance(outcome, Done) or (isinstance(outcome, Judged) and outcome.passed)
    if ran.exit_code != 0 and claims:
        return Crashed(reason=f"it claims success, but: {ran.ending}{_tail(ran)}", notes=outcome.notes)
    return outcome


def _tail(ran: Ran) -> str:
    tail = last_lines(ran.output, _LONGEST_TAIL)
    return f"; its last output:\n{tail}" if tail else "; it printed nothing"
