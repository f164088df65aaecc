"""Tracing: the trace id of each operation and, where OpenTelemetry is installed and configured, a span."""

import logging
import os
import re
from typing import Protocol

from engine import Observation

TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

logger = logging.getLogger("upvote")


class Tracing(Protocol):
    def began(self, observation: Observation) -> None:
        """Set the operation's trace id."""

    def ended(self, observation: Observation) -> None: ...

    def close(self) -> None:
        """Export the spans that are still queued."""


class Untraced:
    def began(self, observation: Observation) -> None:
        observation.trace_id = trace_id_of(observation.request.client.traceparent)

    def ended(self, observation: Observation) -> None:
        pass

    def close(self) -> None:
        pass


def trace_id_of(traceparent: str) -> str | None:
    found = TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return found and found[1]


def from_environment() -> Tracing:
    """The tracing that OpenTelemetry's environment variables configure."""
    if not is_enabled():
        return Untraced()
    try:
        from server.observability.spans import Spans, create_provider
    except ImportError as missing:
        logger.warning("OTEL_ variables enable tracing, but %s is not installed", missing.name)
        return Untraced()
    return Spans(create_provider())


def is_enabled() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporters = os.environ.get("OTEL_TRACES_EXPORTER")
    if exporters:
        return "otlp" in exporters.split(",")
    return any(os.environ.get(name) for name in ENDPOINTS)
