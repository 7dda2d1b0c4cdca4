"""The backend `openai` does an attempt with any OpenAI-compatible endpoint, by a small coding agent of our own.

The agent is a process like every other client: in the attempt's folder and fence, with its limits and its end. The key
reaches it on its standard input only.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from aotloop.agents.answers.extraction import NotAResult, answer_in_file
from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import Ran, environment, run, spec_of
from aotloop.agents.attempt.usage import Price
from aotloop.agents.client.detection import Login, Presence, login_by
from aotloop.agents.client.service_errors import Trouble, outcome_of_trouble
from aotloop.agents.command_backend import PrintedBill, outcome_of_program, with_what_is_told_besides
from aotloop.agents.contract import Assignment, Backend, Capabilities, Garbage, Outcome, Support
from aotloop.agents.openai.order import (
    METER,
    TROUBLE,
    UNFIT,
    UNUSABLE,
    USUAL_CONTEXT,
    USUAL_URL,
    Endpoint,
    Order,
    Trial,
)
from aotloop.agents.registry import Settings
from aotloop.agents.roles import may_write
from aotloop.core.checks.checklist import leaves
from aotloop.errors import Unavailable
from aotloop.extras import install_command
from aotloop.process.spec import Limits, ProcessSpec
from aotloop.text.shorten import last_lines

PROGRAM = (sys.executable, "-P", "-m", "aotloop.agents.openai.agent")
USUAL_KEY = "OPENAI_API_KEY"
_OFFICIAL = "api.openai.com"
_SILENCE = 1800.0
"""Seconds: a model on this machine may read a long prompt for minutes before it says a word."""
_LONGEST_TAIL = 1000


def how_to_install() -> str:
    return f"Install it with: {install_command('openai')}"


class OpenAi(msgspec.Struct, frozen=True, kw_only=True):
    endpoint: Endpoint = Endpoint()
    key: str | None = None
    """The name of the variable with the key; None: the server needs none, or OPENAI_API_KEY at OpenAI itself."""
    price: Price | None = None
    pass_env: tuple[str, ...] = ()
    program: tuple[str, ...] = PROGRAM

    @property
    def name(self) -> str:
        return "openai"

    @property
    def capabilities(self) -> Capabilities:
        """A server elsewhere may cost something: how much, only its price tells."""
        report: Support = "emulated" if self.price is not None or self.endpoint.is_local else "missing"
        return Capabilities(
            structured_output="native", tool_restriction="native", cost_report=report, interrupt="emulated"
        )

    @property
    def key_name(self) -> str | None:
        if self.key is not None:
            return self.key
        return USUAL_KEY if urlsplit(self.endpoint.base_url).hostname == _OFFICIAL else None

    def look(self) -> Presence:
        origin = f"{self.endpoint.model or 'the first model'} at {self.endpoint.base_url}"
        if not is_installed():
            return Presence(origin=origin, problem="the package openai is not installed", remedy=how_to_install())
        name = self.key_name
        login = login_by(os.environ, (name,)) if name is not None else Login("unknown", "no key is configured")
        return Presence(
            program=self.program[0], origin=origin, login=login, log_in=f"Set the variable {name}." if name else ""
        )

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        if not is_installed():
            raise Unavailable("the agent backend 'openai' needs openai, which is not installed", hint=how_to_install())
        scratch.prepare(assignment)
        meter = _MeterReader(assignment, on_output)
        spec, transcript = self._spec(assignment), assignment.evidence / scratch.TRANSCRIPT
        ran = await run(spec, transcript, meter.hear, scratch=assignment.scratch)
        ran = replace(ran, stdout=_without_meter(ran.stdout), output=_without_meter(ran.output))
        outcome = meter.added_to(self._outcome(ran, assignment))
        return replace(outcome, seconds=ran.seconds, output=ran.output, notes=outcome.notes + ran.notes)

    def _spec(self, assignment: Assignment) -> ProcessSpec:
        key = self.key_name
        order = Order(
            role=assignment.role,
            prompt=assignment.prompt,
            endpoint=self.endpoint,
            key=os.environ.get(key) or None if key is not None else None,
            result_file=str(assignment.scratch / scratch.RESULT),
            result_schema=assignment.result_schema,
            trials=tuple(_trials(assignment)),
            named_files=assignment.touches,
            max_cost_usd=assignment.max_cost_usd,
            price=self.price,
            silence=_silence(assignment.limits),
        )
        env = environment(assignment, os.environ, self.pass_env)
        if key is not None and key not in self.pass_env:
            env.pop(key, None)
        return spec_of(assignment, self.program, env, msgspec.json.encode(order).decode())

    def _outcome(self, ran: Ran, assignment: Assignment) -> Outcome:
        told = _told(assignment) if ran.timed_out is None else {}
        usage = json.dumps({"usage": told.get("usage")})
        if isinstance(told.get(UNUSABLE), str):
            raise Unavailable(told[UNUSABLE], hint="Correct the agent's base_url and model in your configuration.")
        if isinstance(told.get(UNFIT), str):
            garbage = Garbage(reason=f"{told[UNFIT]}; its last output:\n{last_lines(ran.output, _LONGEST_TAIL)}")
            return with_what_is_told_besides(garbage, usage)
        met = told.get(TROUBLE)
        if not isinstance(met, dict):
            return outcome_of_program(ran, assignment)
        remedy = f"Set the variable {self.key_name} to a valid key." if self.key_name else "Name the key in aot.toml."
        outcome = outcome_of_trouble(msgspec.convert(met, Trouble), remedy)
        return with_what_is_told_besides(outcome, usage)


class _MeterReader:
    """Reads what was used so far, and passes all other lines on."""

    def __init__(self, assignment: Assignment, on_output: Callable[[str], None]) -> None:
        self._bill = PrintedBill(assignment, on_output)
        self._on_output = on_output

    def hear(self, line: str) -> None:
        if line.startswith(METER):
            self._bill.read(line.removeprefix(METER))
        else:
            self._on_output(line)

    def added_to(self, outcome: Outcome) -> Outcome:
        return self._bill.added_to(outcome)


def _without_meter(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(METER))


def make(settings: Settings) -> Backend:
    given = settings.endpoint
    endpoint = Endpoint(
        base_url=given.base_url or USUAL_URL,
        model=settings.model,
        temperature=given.temperature,
        context=given.context or USUAL_CONTEXT,
        tools=given.tools,
    )
    return OpenAi(endpoint=endpoint, key=given.key, price=settings.price, pass_env=settings.pass_env)


def is_installed() -> bool:
    return importlib.util.find_spec("openai") is not None


def _trials(assignment: Assignment) -> Iterator[Trial]:
    if assignment.check is None or not may_write(assignment.role):
        return
    for leaf in leaves(assignment.check):
        if leaf.check.type in {"command", "not_command"} and leaf.check.value:
            yield Trial(name=leaf.name, command=leaf.check.value, succeeds=leaf.check.type == "command")


def _silence(limits: Limits) -> float:
    """Less than we wait ourselves: so the agent can still tell that the service was silent."""
    return min(_SILENCE, 0.8 * limits.inactivity) if limits.inactivity is not None else _SILENCE


def _told(assignment: Assignment) -> dict[str, Any]:
    try:
        told = json.loads(answer_in_file(assignment.scratch / scratch.RESULT) or "{}")
    except (NotAResult, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
