"""An OpenTelemetry span for each operation. Imported only if tracing is on: OpenTelemetry is an optional dependency."""

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, StatusCode, format_trace_id
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from engine import Code, Observation

SERVER_ERRORS = {Code.FAULT, Code.UNAVAILABLE}
PROPAGATOR = TraceContextTextMapPropagator()


class Spans:
    """Exports a span for each operation and sets the operation's trace id: that of the client, or a new one."""

    def __init__(self) -> None:
        self._provider = _provider()
        self._tracer = self._provider.get_tracer("upvote")

    def on_start(self, observation: Observation) -> None:
        request = observation.request
        kind, name = request.operation.kind.value, request.operation.name or ""
        observation.span = self._tracer.start_span(
            f"{kind} {name}".strip(),
            PROPAGATOR.extract({"traceparent": request.client.traceparent}),
            SpanKind.SERVER,
            {
                "graphql.operation.type": kind,
                "graphql.operation.name": name,
                "upvote.document": request.operation.digest,
                "upvote.request_id": request.request_id,
            },
        )
        observation.trace_id = format_trace_id(observation.span.get_span_context().trace_id)

    def on_end(self, observation: Observation) -> None:
        span = observation.span
        span.set_attribute("upvote.round_trips", observation.round_trips)
        span.set_attribute("upvote.commands", observation.commands)
        span.set_attribute("upvote.errors", sorted(observation.codes))
        if observation.codes & SERVER_ERRORS:
            span.set_status(StatusCode.ERROR)
        span.end()

    def close(self) -> None:
        """Export the spans that are still queued."""
        self._provider.shutdown()


def _provider() -> TracerProvider:
    """A provider that exports spans in a background thread, configured by the OTEL_ variables."""
    resource = Resource.create({"service.name": "upvote"}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
