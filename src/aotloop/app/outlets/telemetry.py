"""Traces and metrics of a run, by OpenTelemetry's conventions for generative AI: run → generation → attempt → check.

Off unless the user's own settings switch it on. Prompts and answers are sent only if the user asks for that. What
cannot be sent is dropped: the exporter has threads of its own, and the end of a run waits some seconds at most.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from typing import TYPE_CHECKING, Any

from aotloop.app.report.foreign_text import ForeignText
from aotloop.config.outlets import TelemetrySettings
from aotloop.core.model import Used
from aotloop.errors import Unavailable
from aotloop.execution import run_events
from aotloop.execution.observer import Watched

if TYPE_CHECKING:
    from opentelemetry.trace import Span

INSTALL = "pip install 'aotloop[otel]'"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
LONGEST = 4000
_FAILED = ("failed", "garbage", "timed_out", "crashed", "unavailable")


def wants_telemetry(settings: TelemetrySettings) -> bool:
    """An endpoint in the variables alone switches nothing on: other programs use the same variables."""
    has_place = settings.endpoint is not None or any(os.environ.get(name) for name in ENDPOINTS)
    return settings.enabled and has_place


class Telemetry:
    """An observer. Raises Unavailable without the libraries."""

    def __init__(self, settings: TelemetrySettings, foreign: ForeignText) -> None:
        try:
            from aotloop.app.outlets.otlp_export import Export  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise Unavailable(f"telemetry is not installed ({error.name} is missing)", hint=f"`{INSTALL}`") from None
        for name in ("opentelemetry", "urllib3", "requests"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._settings = settings
        self._foreign = foreign
        self._export = Export(settings.endpoint, settings.timeout)
        self._run: Span | None = None
        self._generation: Span | None = None
        self._number = 0
        self._attempts: dict[int, tuple[Span, run_events.AttemptBegan]] = {}
        self._checks: dict[str | None, Span] = {}

    def open(self, loop: Watched) -> None: ...

    def loop_changed(self, loop: Watched) -> None: ...

    def output(self, attempt: int, line: str) -> None: ...

    def news(self, event: run_events.RunEvent) -> None:
        match event:
            case run_events.RunBegan():
                self._begin(event)
            case run_events.AttemptBegan():
                self._attempt(event)
            case run_events.AttemptEnded():
                self._ended(event)
            case run_events.GenerationEnded():
                self._next_generation(event.stall_count)
            case run_events.Verifying():
                self._checks[event.atom] = self._export.span(_name(event.atom), self._generation, {})
            case run_events.Verified():
                self._verified(event)
            case run_events.JudgeAsked():
                self._spent(event.role, event.cost_usd, event.used, None)
            case run_events.RunEnded():
                self._end(event)

    def close(self) -> None:
        """Ends every open span here. What is not sent in time is lost."""
        for span in (*(one for one, _ in self._attempts.values()), *self._checks.values()):
            span.end()
        for one in (self._generation, self._run):
            if one is not None:
                one.end()
        ending = threading.Thread(target=self._export.close, name="telemetry", daemon=True)
        ending.start()
        ending.join(self._settings.timeout)

    # --- the run and its generations ---------------------------------------------------------------------------------

    def _begin(self, event: run_events.RunBegan) -> None:
        attributes = {
            "aotloop.run.id": event.run_id,
            "aotloop.isolation": event.isolation,
            "aotloop.slots": event.slots,
        }
        self._run = self._export.span("invoke_workflow aotloop", None, {**_operation("invoke_workflow"), **attributes})
        if self._settings.content:
            self._run.set_attribute("aotloop.goal", self._foreign.told(event.goal, LONGEST))
        self._next_generation(0)

    def _next_generation(self, stalls: int) -> None:
        if self._generation is not None:
            self._generation.set_attribute("aotloop.stall_count", stalls)
            self._generation.end()
        self._number += 1
        attributes = {"aotloop.generation": self._number}
        self._generation = self._export.span(f"generation {self._number}", self._run, attributes)

    def _end(self, event: run_events.RunEnded) -> None:
        if self._run is None:
            return
        kind = (event.reason or "").partition(":")[0] or event.status
        self._run.set_attributes({"aotloop.outcome": event.status, "aotloop.stop_reason": kind})
        self._run.set_attributes({"aotloop.cost_usd": event.cost_usd, **_tokens(event.used)})
        if event.status != "completed":
            self._export.fail(self._run, kind)

    # --- attempts and checks -----------------------------------------------------------------------------------------

    def _attempt(self, event: run_events.AttemptBegan) -> None:
        attributes: dict[str, Any] = {
            **_operation("invoke_agent"),
            "gen_ai.agent.name": event.agent or "command",
            "aotloop.atom": event.atom,
            "aotloop.attempt": event.name or str(event.attempt),
            "aotloop.role": event.role,
        }
        if self._settings.content:
            attributes["gen_ai.input.messages"] = self._message("user", event.description)
        span = self._export.span(f"invoke_agent {event.agent or 'command'}", self._generation, attributes)
        self._attempts[event.attempt] = span, event

    def _ended(self, event: run_events.AttemptEnded) -> None:
        span, began = self._attempts.pop(event.attempt, (None, None))
        if span is None or began is None:
            return
        span.set_attributes({"aotloop.outcome": event.outcome, **_tokens(event.used)})
        if event.cost_usd is not None:
            span.set_attribute("aotloop.cost_usd", event.cost_usd)
        if self._settings.content:
            span.set_attribute("gen_ai.output.messages", self._message("assistant", event.summary))
        for part in event.checks:
            self._checked(self._export.span("check part", span, {}), part.name, part.passed)
        if event.outcome in _FAILED:
            self._export.fail(span, event.outcome)
        span.end()
        self._export.count_attempt(began.agent or "command", event.outcome, event.seconds)
        self._spent(began.agent or "command", event.cost_usd, event.used, began.role)

    def _verified(self, event: run_events.Verified) -> None:
        span = self._checks.pop(event.atom, None) or self._export.span(_name(event.atom), self._generation, {})
        self._checked(span, event.atom or "base case", None if event.undecided else event.passed)

    def _checked(self, span: Span, name: str, passed: bool | None) -> None:
        outcome = {True: "passed", False: "failed", None: "undecided"}[passed]
        span.set_attribute("aotloop.outcome", outcome)
        if self._settings.content:
            span.set_attribute("aotloop.check", self._foreign.said(name))
        if passed is False:
            self._export.fail(span, "check_failed")
        span.end()

    def _spent(self, agent: str, usd: float | None, used: Used, role: str | None) -> None:
        self._export.count_tokens(agent, role, used)
        if usd:
            self._export.count_cost(agent, usd)

    def _message(self, role: str, text: str) -> str:
        parts = [{"type": "text", "content": self._foreign.told(text, LONGEST)}]
        return json.dumps([{"role": role, "parts": parts}])


def _operation(name: str) -> dict[str, Any]:
    return {"gen_ai.operation.name": name, "gen_ai.provider.name": "aotloop"}


def _name(atom: str | None) -> str:
    return "check base case" if atom is None else "check atom"


def _tokens(used: Used) -> dict[str, int]:
    """By the conventions, what was read from or written to a cache is input, too."""
    return {
        "gen_ai.usage.input_tokens": used.input + used.cache_read + used.cache_write,
        "gen_ai.usage.output_tokens": used.output,
        "gen_ai.usage.cache_read.input_tokens": used.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": used.cache_write,
    }
