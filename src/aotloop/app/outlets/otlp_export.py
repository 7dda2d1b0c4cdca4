"""The only module that loads OpenTelemetry: spans and instruments of our own, with no global state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, Status, StatusCode, set_span_in_context

from aotloop.core.model import Used

NAME = "aotloop"


class Export:
    def __init__(self, endpoint: str | None, timeout: float) -> None:
        """`endpoint` None: as the variables of OpenTelemetry say."""
        base = endpoint.rstrip("/") if endpoint is not None else None
        resource = Resource.create({"service.name": NAME})
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces" if base else None, timeout=timeout)
        self._traces.add_span_processor(BatchSpanProcessor(spans))
        metrics = OTLPMetricExporter(endpoint=f"{base}/v1/metrics" if base else None, timeout=timeout)
        reader = PeriodicExportingMetricReader(metrics)
        self._meters = MeterProvider(resource=resource, metric_readers=[reader], shutdown_on_exit=False)
        self._tracer = self._traces.get_tracer(NAME)
        meter = self._meters.get_meter(NAME)
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens of one attempt")
        self._duration = meter.create_histogram("gen_ai.client.operation.duration", "s", "Time of one attempt")
        self._attempts = meter.create_counter("aotloop.attempts", "{attempt}", "Attempts by outcome")
        self._cost = meter.create_counter("aotloop.cost", "USD", "Money that agents told")

    def span(self, name: str, parent: Span | None, attributes: Mapping[str, Any]) -> Span:
        context = set_span_in_context(parent) if parent is not None else None
        return self._tracer.start_span(name, context=context, attributes=dict(attributes))

    def fail(self, span: Span, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))

    def count_attempt(self, agent: str, outcome: str, seconds: float) -> None:
        self._attempts.add(1, {**_about(agent), "aotloop.outcome": outcome})
        self._duration.record(seconds, _about(agent))

    def count_tokens(self, agent: str, role: str | None, used: Used) -> None:
        about = {**_about(agent), **({"aotloop.role": role} if role else {})}
        for kind, count in (("input", used.input), ("output", used.output)):
            if count:
                self._tokens.record(count, {**about, "gen_ai.token.type": kind})

    def count_cost(self, agent: str, usd: float) -> None:
        self._cost.add(usd, _about(agent))

    def close(self) -> None:
        """Sends what is left, and ends the threads."""
        self._traces.shutdown()
        self._meters.shutdown()


def _about(agent: str) -> dict[str, str]:
    return {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": NAME, "gen_ai.agent.name": agent}
