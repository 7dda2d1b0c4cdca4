"""A run is a trace of generations, attempts and checks; without the user's wish nothing is sent."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aotloop.app.outlets.telemetry import Telemetry
from aotloop.app.report.foreign_text import ForeignText
from aotloop.config.outlet_settings import TelemetrySettings
from aotloop.core.model import AtomCheck, Used
from aotloop.execution import run_events, ship_events
from aotloop.text.secrets import Secrets
from tests.app.outlets.receivers import Receiver, receiving
from tests.loops import atom
from tests.patience import PATIENCE
from tests.runner.projects import Project, a_project

WORDS = "a description that stays at home"


def a_run(tmp_path: Path, settings: str) -> Project:
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(settings)
    check = AtomCheck(type="command", value="cat a.txt")
    return a_project(
        tmp_path,
        atom("A1", description=WORDS, run="echo a > a.txt", check=check),
        atom("A2", run="false"),
        base_case="test -f b.txt",
    )


def bodies(receiver: Receiver, path: str) -> list[bytes]:
    found = [body for where, body in receiver.got if where == path]
    return [gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body for body in found]


def spans_in(receiver: Receiver) -> list[Any]:
    requests = [ExportTraceServiceRequest.FromString(body) for body in bodies(receiver, "/v1/traces")]
    return [
        span for one in requests for group in one.resource_spans for scope in group.scope_spans for span in scope.spans
    ]


def values(span: Any) -> dict[str, Any]:
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


def test_a_trace_has_run_generation_attempt_and_check(tmp_path: Path) -> None:
    with receiving() as collector:
        project = a_run(
            tmp_path, f'[telemetry]\nenabled = true\ntimeout = "1m"\nendpoint = "http://{collector.address}"\n'
        )
        assert project.run().code != 0
    spans = spans_in(collector)
    by_id = {span.span_id: span for span in spans}
    assert len({span.trace_id for span in spans}) == 1

    def way(span: Any) -> list[str]:
        above = by_id.get(span.parent_span_id)
        return [*(way(above) if above is not None else []), span.name]

    assert ["invoke_workflow aotloop", "generation 1", "invoke_agent shell", "check part"] in map(way, spans)
    assert ["invoke_workflow aotloop", "generation 1", "check base case"] in map(way, spans)
    outcomes = {
        values(span)["aotloop.atom"]: (values(span)["aotloop.outcome"], span.status.code)
        for span in spans
        if span.name == "invoke_agent shell"
    }
    assert outcomes == {"A1": ("done", 0), "A2": ("failed", 2)}
    names = {metric.name for metric in metrics_in(collector)}
    assert names >= {"gen_ai.client.operation.duration", "aotloop.attempts"}
    assert WORDS.encode() not in b"".join(bodies(collector, "/v1/traces"))


AT = "2026-01-01T00:00:00Z"
USED = Used(input=10, output=5, cache_read=100, cache_write=20, turns=3)


def told(collector: Receiver, *events: run_events.RunEvent) -> list[Any]:
    settings = TelemetrySettings(enabled=True, endpoint=f"http://{collector.address}", timeout=PATIENCE)
    telemetry = Telemetry(settings, ForeignText(Secrets()))
    for event in events:
        telemetry.news(event)
    telemetry.close()
    return spans_in(collector)


def an_attempt(agent: str) -> list[run_events.RunEvent]:
    return [
        run_events.AgentFound(at=AT, agent=agent, backend="claude"),
        run_events.AttemptBegan(at=AT, atom="A1", attempt=1, role="worker", agent=agent),
        run_events.AttemptEnded(at=AT, atom="A1", attempt=1, outcome="failed", cost_usd=0.5, used=USED, seconds=2.0),
    ]


def test_tokens_cost_and_provider_are_told_by_the_conventions() -> None:
    begun = run_events.RunBegan(at=AT, run_id="r", pid=1, goal="g", isolation="none")
    ended = run_events.RunEnded(at=AT, status="completed", cost_usd=0.5, used=USED)
    with receiving() as collector:
        spans = {span.name: span for span in told(collector, begun, *an_attempt("mine"), ended)}
    tokens = {
        "gen_ai.usage.input_tokens": 130,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 20,
    }
    attempt, run = spans["invoke_agent mine"], spans["invoke_workflow aotloop"]
    said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "anthropic", "gen_ai.agent.name": "mine"}
    assert values(attempt).items() >= {**said, **tokens, "error.type": "failed"}.items()
    assert values(run).items() >= {"gen_ai.workflow.name": "aotloop", **tokens}.items()
    for span in (attempt, run):
        assert [one.value.double_value for one in span.attributes if one.key == "aotloop.cost_usd"] == [0.5]
    points = {metric.name: metric.histogram.data_points for metric in metrics_in(collector) if metric.histogram}
    sums = {
        one.value.string_value: point.sum
        for point in points["gen_ai.client.token.usage"]
        for one in point.attributes
        if one.key == "gen_ai.token.type"
    }
    assert sums == {"input": 130, "output": 5}
    (duration,) = points["gen_ai.client.operation.duration"]
    assert {"error.type", "gen_ai.provider.name"} <= {one.key for one in duration.attributes}


def test_a_feature_is_a_trace_of_phases_and_attempts() -> None:
    begun = ship_events.ShipBegan(at=AT, run_id="r", pid=1, feature="f", phase="plan")
    entered = ship_events.PhaseEntered(at=AT, phase="work")
    ended = ship_events.ShipEnded(at=AT, status="waiting", phase="work", cost_usd=0.5)
    with receiving() as collector:
        spans = told(collector, begun, entered, *an_attempt("mine"), ended)
    by_id = {span.span_id: span.name for span in spans}
    above = {span.name: by_id.get(span.parent_span_id) for span in spans}
    assert above == {
        "invoke_workflow aotloop ship": None,
        "phase plan": "invoke_workflow aotloop ship",
        "phase work": "invoke_workflow aotloop ship",
        "invoke_agent mine": "phase work",
    }


def metrics_in(receiver: Receiver) -> list[Any]:
    requests = [ExportMetricsServiceRequest.FromString(body) for body in bodies(receiver, "/v1/metrics")]
    return [
        metric
        for one in requests
        for group in one.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    ]


def test_content_is_sent_if_the_user_asks_for_it(tmp_path: Path) -> None:
    with receiving() as collector:
        told = f'[telemetry]\nenabled = true\ncontent = true\ntimeout = "1m"\nendpoint = "http://{collector.address}"\n'
        a_run(tmp_path, told).run()
    assert WORDS.encode() in b"".join(bodies(collector, "/v1/traces"))


def test_the_variables_of_other_programs_switch_nothing_on(tmp_path: Path) -> None:
    with receiving() as collector:
        project = a_run(tmp_path, "")
        project.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://{collector.address}"
        project.run()
    assert collector.got == []


def test_a_collector_that_hangs_or_fails_changes_nothing(tmp_path: Path) -> None:
    with receiving("hangs") as collector:
        told = f'[telemetry]\nenabled = true\ntimeout = "1s"\nendpoint = "http://{collector.address}"\n'
        ran = a_run(tmp_path, told).run()
    assert (ran.code, ran.err) == (4, "")
    assert ran.news[-1]["kind"] == "run_ended"
