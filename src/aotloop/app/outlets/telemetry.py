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

from aotloop.app.outlets.conventions import OWN, PROVIDERS, About, tokens_of
from aotloop.app.report.foreign_text import ForeignText
from aotloop.config.outlet_settings import TelemetrySettings
from aotloop.core.model import Used
from aotloop.errors import Unavailable
from aotloop.execution import run_events, ship_events
from aotloop.execution.observer import Watched
from aotloop.extras import install_command

if TYPE_CHECKING:
    from opentelemetry.trace import Span

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
            raise Unavailable(
                f"telemetry is not installed ({error.name} is missing)", hint=f"`{install_command('otel')}`"
            ) from None
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
        self._providers: dict[str, str] = {}
        """By the name of an agent."""

    def open(self, loop: Watched) -> None: ...

    def loop_changed(self, loop: Watched) -> None: ...

    def output(self, attempt: int, line: str) -> None: ...

    def news(self, event: run_events.RunEvent) -> None:
        self._hear_of_run(event)
        match event:
            case run_events.AgentFound():
                self._providers[event.agent] = PROVIDERS.get(event.backend, OWN)
            case run_events.AttemptBegan():
                self._attempt(event)
            case run_events.AttemptEnded():
                self._ended(event)
            case run_events.Verifying():
                self._checks[event.atom] = self._export.span(_name(event.atom), self._generation, {})
            case run_events.Verified():
                self._verified(event)
            case run_events.JudgeAsked():
                self._spent(About(agent=event.role, role=event.role), event.cost_usd, event.used)

    def _hear_of_run(self, event: run_events.RunEvent) -> None:
        match event:
            case run_events.RunBegan():
                self._begin(event)
            case ship_events.ShipBegan():
                self._begin_feature(event)
            case ship_events.PhaseEntered():
                self._open_generation(f"phase {event.phase}", {"aotloop.phase": event.phase})
            case run_events.GenerationEnded():
                self._next_generation(event.stall_count)
            case run_events.RunEnded() | ship_events.ShipEnded():
                self._end(event)

    def close(self) -> None:
        """Ends every open span here. What is not sent in time is lost."""
        for span in (*(attempt for attempt, _ in self._attempts.values()), *self._checks.values()):
            span.end()
        for parent in (self._generation, self._run):
            if parent is not None:
                parent.end()
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
        self._begin_workflow("aotloop", event.goal, attributes)
        self._next_generation(0)

    def _begin_feature(self, event: ship_events.ShipBegan) -> None:
        self._begin_workflow("aotloop ship", event.feature, {"aotloop.run.id": event.run_id})
        self._open_generation(f"phase {event.phase}", {"aotloop.phase": event.phase})

    def _begin_workflow(self, name: str, goal: str, attributes: dict[str, Any]) -> None:
        known = {**_operation("invoke_workflow"), "gen_ai.workflow.name": name, **attributes}
        self._run = self._export.span(f"invoke_workflow {name}", None, known)
        if self._settings.content:
            self._run.set_attribute("aotloop.goal", self._foreign.shown_block(goal, LONGEST))

    def _next_generation(self, stalls: int) -> None:
        if self._generation is not None:
            self._generation.set_attribute("aotloop.stall_count", stalls)
        self._number += 1
        self._open_generation(f"generation {self._number}", {"aotloop.generation": self._number})

    def _open_generation(self, name: str, attributes: dict[str, Any]) -> None:
        if self._generation is not None:
            self._generation.end()
        self._generation = self._export.span(name, self._run, attributes)

    def _end(self, event: run_events.RunEnded | ship_events.ShipEnded) -> None:
        if self._run is None:
            return
        kind = (event.reason or "").partition(":")[0] or event.status
        self._run.set_attributes({"aotloop.outcome": event.status, "aotloop.stop_reason": kind})
        self._run.set_attribute("aotloop.cost_usd", event.cost_usd)
        if isinstance(event, run_events.RunEnded):
            self._run.set_attributes(tokens_of(event.used))
        if event.status not in ("completed", "waiting"):
            self._export.fail(self._run, kind)

    # --- attempts and checks -----------------------------------------------------------------------------------------

    def _attempt(self, event: run_events.AttemptBegan) -> None:
        attributes: dict[str, Any] = {
            **_operation("invoke_agent", self._provider(event.agent)),
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
        span.set_attributes({"aotloop.outcome": event.outcome, **tokens_of(event.used)})
        if event.cost_usd is not None:
            span.set_attribute("aotloop.cost_usd", event.cost_usd)
        if self._settings.content:
            span.set_attribute("gen_ai.output.messages", self._message("assistant", event.summary))
        for part in event.checks:
            self._checked(self._export.span("check part", span, {}), part.name, part.passed)
        if event.outcome in _FAILED:
            self._export.fail(span, event.outcome)
        span.end()
        about = About(agent=began.agent or "command", provider=self._provider(began.agent), role=began.role)
        error = event.outcome if event.outcome in _FAILED else None
        self._export.count_attempt(about, event.outcome, event.seconds, error)
        self._spent(about, event.cost_usd, event.used)

    def _verified(self, event: run_events.Verified) -> None:
        span = self._checks.pop(event.atom, None) or self._export.span(_name(event.atom), self._generation, {})
        self._checked(span, event.atom or "base case", None if event.undecided else event.passed)

    def _checked(self, span: Span, name: str, passed: bool | None) -> None:
        outcome = {True: "passed", False: "failed", None: "undecided"}[passed]
        span.set_attribute("aotloop.outcome", outcome)
        if self._settings.content:
            span.set_attribute("aotloop.check", self._foreign.shown_line(name))
        if passed is False:
            self._export.fail(span, "check_failed")
        span.end()

    def _spent(self, about: About, usd: float | None, used: Used) -> None:
        self._export.count_tokens(about, used)
        if usd:
            self._export.count_cost(about, usd)

    def _provider(self, agent: str) -> str:
        return self._providers.get(agent, OWN)

    def _message(self, role: str, text: str) -> str:
        parts = [{"type": "text", "content": self._foreign.shown_block(text, LONGEST)}]
        return json.dumps([{"role": role, "parts": parts}])


def _operation(name: str, provider: str = OWN) -> dict[str, Any]:
    return {"gen_ai.operation.name": name, "gen_ai.provider.name": provider}


def _name(atom: str | None) -> str:
    return "check base case" if atom is None else "check atom"
