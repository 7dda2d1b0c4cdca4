"""The backend `command` makes an agent of any program, which reads its task from placeholders or standard input.

The program starts as it is, never through a shell. Its answer is the file {result_file} if it wrote one, else the last
answer on its standard output. A claim of success needs exit 0. Exit 75 (EX_TEMPFAIL) means: not now, try later.
`told_besides` lists the further keys of an answer.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from aotloop.agents.answers.answer_outcome import doubted, outcome_of_answer
from aotloop.agents.answers.extraction import NotAResult, answer_in_file, find_answer
from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import Ran, environment, last_output, run, spec_of
from aotloop.agents.attempt.usage import highest
from aotloop.agents.client.detection import Login, Presence, look_for
from aotloop.agents.contract import (
    Assignment,
    Backend,
    Capabilities,
    Cause,
    Crashed,
    Failed,
    Garbage,
    Meter,
    MustWait,
    Outcome,
    TimedOut,
    Tokens,
)
from aotloop.agents.registry import Settings
from aotloop.errors import AotError
from aotloop.process.sandbox.home_folders import client_in
from aotloop.process.spec import ProcessSpec

PLACEHOLDERS = ("prompt", "prompt_file", "result_file", "atom", "attempt")

_PLACEHOLDER = re.compile(r"\{\{[A-Za-z_]+\}\}|\{([A-Za-z_]+)\}")
"""Double braces around a name mean single braces and no placeholder; all other braces (JSON, say) stay unchanged."""


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
        bill = PrintedBill(assignment, on_output)
        try:
            spec, transcript = self._spec(assignment), assignment.evidence / scratch.TRANSCRIPT
            ran = await run(spec, transcript, bill.hear, scratch=assignment.scratch)
        except asyncio.CancelledError:
            bill.read_result()
            raise
        outcome = bill.added_to(outcome_of_program(ran, assignment))
        return replace(outcome, seconds=ran.seconds, output=ran.output, notes=outcome.notes + ran.notes)

    def _spec(self, assignment: Assignment) -> ProcessSpec:
        values = {
            "prompt": assignment.prompt,
            "prompt_file": str(assignment.evidence / scratch.PROMPT),
            "result_file": str(assignment.scratch / scratch.RESULT),
            "atom": assignment.atom,
            "attempt": str(assignment.attempt),
        }
        is_told = any(_names(argument) & {"prompt", "prompt_file"} for argument in self.argv)
        argv = tuple(_filled(argument, values) for argument in self.argv)
        env = environment(assignment, os.environ, self.pass_env)
        return spec_of(assignment, argv, env, None if is_told else assignment.prompt, client=client_in(self.argv))


def make(settings: Settings) -> Backend:
    return Command(argv=settings.argv, pass_env=settings.pass_env)


def _refuse_bad_template(argv: tuple[str, ...]) -> None:
    if not argv or not argv[0].strip():
        raise AotError("an agent of the kind `command` needs argv", hint='For example: argv = ["my-agent", "{prompt}"]')
    for argument in argv:
        for name in _names(argument):
            if name not in PLACEHOLDERS:
                known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)
                raise AotError(
                    f"{{{name}}} in {argument!r} is unknown; known are: {known}",
                    hint=f"To use it literally, write {{{{{name}}}}}.",
                )


def _names(argument: str) -> set[str]:
    return {match[1] for match in _PLACEHOLDER.finditer(argument) if match[1] is not None}


def _filled(argument: str, values: dict[str, str]) -> str:
    """In one pass: text inside a value is never taken for a placeholder."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] is not None else match[0][1:-1], argument)


def outcome_of_program(ran: Ran, assignment: Assignment) -> Outcome:
    """The outcome of any program that keeps to this protocol."""
    if ran.timed_out is not None:
        return TimedOut(reason=f"the agent {ran.timed_out.reason}", taught=ran.timed_out.taught)
    if ran.exit_code == os.EX_TEMPFAIL:
        return MustWait(reason=f"the agent asks to be tried later ({ran.ending}){last_output(ran.output)}")
    try:
        written = answer_in_file(assignment.scratch / scratch.RESULT)
        answer = written if written is not None else find_answer(assignment.role, ran.stdout)
    except NotAResult as why:
        if ran.exit_code != 0:
            return Crashed(reason=f"{ran.ending} without an answer ({why}){last_output(ran.output)}")
        return Garbage(reason=f"{why}{last_output(ran.output)}")
    outcome = with_what_is_told_besides(outcome_of_answer(assignment.role, answer, assignment.cwd), answer)
    return doubted(outcome, ran.exit_code, ran.ending, last_output(ran.output))


_CAUSES = tuple(cause for cause in get_args(Cause) if cause != "no_session")  # a program has no conversation
_ESTIMATED = "the service did not count its tokens: they are estimated from the length of the texts"
_PASSING = ("rate_limit", "overload", "outage")


class _Usage(msgspec.Struct, frozen=True, kw_only=True):
    cost_usd: float | None = None
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    turns: int | None = None
    estimated: bool = False
    """The service did not count: the program guessed."""

    def __post_init__(self) -> None:
        if any(not math.isfinite(value) or value < 0 for value in msgspec.structs.astuple(self) if value is not None):
            raise ValueError("a number is negative, or not a number")


class PrintedBill:
    """What a program has reported about its usage so far, whether it succeeds or fails."""

    def __init__(self, assignment: Assignment, on_output: Callable[[str], None]) -> None:
        self._assignment = assignment
        self._on_output = on_output
        self._meter = assignment.meter if assignment.meter is not None else Meter()

    def hear(self, line: str) -> None:
        """One line of its output."""
        if '"usage"' in line and line.lstrip().startswith("{"):
            self.read(line)
        self._on_output(line)

    def read_result(self) -> None:
        """Its file with the result, if it has written one."""
        with suppress(NotAResult):
            self.read(answer_in_file(self._assignment.scratch / scratch.RESULT) or "")

    def added_to(self, outcome: Outcome) -> Outcome:
        """The outcome, with the bill, unless it has one already."""
        self.read_result()
        if outcome.cost_usd is None and outcome.tokens is None:
            return replace(outcome, cost_usd=self._meter.cost_usd, tokens=self._meter.tokens)
        return outcome

    def read(self, answer: str) -> None:
        """JSON that may have a bill, which only grows."""
        usage = _with_usage(Crashed(reason=""), _decoded(answer))
        if usage.cost_usd is not None or usage.tokens is not None:
            before = self._meter
            tokens = highest(before.tokens or Tokens(), usage.tokens or Tokens())
            costs = [cost for cost in (before.cost_usd, usage.cost_usd) if cost is not None]
            before.read(tokens if tokens != Tokens() else None, max(costs, default=None))


def with_what_is_told_besides(outcome: Outcome, answer: str) -> Outcome:
    """`answer` is the JSON from which the outcome was read."""
    fields = _decoded(answer)
    return _with_usage(_with_cause(outcome, fields), fields)


def _decoded(answer: str) -> dict[str, Any]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _with_cause(outcome: Outcome, fields: dict[str, Any]) -> Outcome:
    """Only a failure has a cause; a success had no trouble."""
    cause, after = fields.get("cause"), fields.get("retry_after")
    if not isinstance(outcome, Failed) or cause is None:
        return outcome
    if cause not in _CAUSES:
        return replace(outcome, notes=(*outcome.notes, f"its cause is none of: {', '.join(_CAUSES)}"))
    if cause not in _PASSING:
        return replace(outcome, cause=cause)
    seconds = after if isinstance(after, int | float) and not isinstance(after, bool) and math.isfinite(after) else None
    return MustWait(reason=outcome.reason, retry_after=seconds, cause=cause, notes=outcome.notes)


def _with_usage(outcome: Outcome, fields: dict[str, Any]) -> Outcome:
    if fields.get("usage") is None:
        return outcome
    try:
        usage = msgspec.convert(fields["usage"], _Usage)
    except (msgspec.ValidationError, ValueError):
        return replace(outcome, notes=(*outcome.notes, "its usage is not valid, and was left out"))
    counts = {kind: getattr(usage, kind) for kind in Tokens.__struct_fields__}
    tokens = Tokens(**counts) if any(counts.values()) else None
    notes = (*outcome.notes, _ESTIMATED) if usage.estimated else outcome.notes
    return replace(outcome, cost_usd=usage.cost_usd, tokens=tokens, turns=usage.turns, notes=notes)
