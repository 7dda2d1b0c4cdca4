"""A run is a trace of generations, attempts and checks; without the user's wish nothing is sent."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aotloop.core.model import AtomCheck
from tests.app.outlets.receivers import Receiver, receiving
from tests.loops import atom
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
    metrics = [ExportMetricsServiceRequest.FromString(body) for body in bodies(collector, "/v1/metrics")]
    names = {
        metric.name
        for one in metrics
        for group in one.resource_metrics
        for scope in group.scope_metrics
        for metric in scope.metrics
    }
    assert names >= {"gen_ai.client.operation.duration", "aotloop.attempts"}
    assert WORDS.encode() not in b"".join(bodies(collector, "/v1/traces"))


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
