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

from aotloop.app.outlets.conventions import SECOND_BOUNDS, TOKEN_BOUNDS, About, input_of
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
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens of one attempt",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDS,
        )
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Time of one attempt",
            explicit_bucket_boundaries_advisory=SECOND_BOUNDS,
        )
        self._attempts = meter.create_counter("aotloop.attempts", "{attempt}", "Attempts by outcome")
        self._cost = meter.create_counter("aotloop.cost", "USD", "Money that agents told")

    def span(self, name: str, parent: Span | None, attributes: Mapping[str, Any]) -> Span:
        context = set_span_in_context(parent) if parent is not None else None
        return self._tracer.start_span(name, context=context, attributes=dict(attributes))

    def fail(self, span: Span, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(Status(StatusCode.ERROR))

    def count_attempt(self, about: About, outcome: str, seconds: float, error: str | None) -> None:
        """`error`: its kind, if the attempt failed."""
        self._attempts.add(1, {**about.attributes, "aotloop.outcome": outcome})
        self._duration.record(seconds, {**about.attributes, **({"error.type": error} if error else {})})

    def count_tokens(self, about: About, used: Used) -> None:
        for kind, count in (("input", input_of(used)), ("output", used.output)):
            if count:
                self._tokens.record(count, {**about.attributes, "gen_ai.token.type": kind})

    def count_cost(self, about: About, usd: float) -> None:
        self._cost.add(usd, about.attributes)

    def close(self) -> None:
        """Sends the remaining spans and metrics, and ends the threads."""
        self._traces.shutdown()
        self._meters.shutdown()
