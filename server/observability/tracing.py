"""Traces: whose trace an operation belongs to, and a span for it where OpenTelemetry is installed and wanted."""

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
        """Tell an operation the id of its trace."""

    def ended(self, observation: Observation) -> None: ...

    def close(self) -> None:
        """Send what was not sent yet."""


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
    """What OpenTelemetry's own variables ask for."""
    if not is_wanted():
        return Untraced()
    try:
        from server.observability.spans import Spans, exporting
    except ImportError as missing:
        logger.warning("OTEL_ variables ask for traces, but %s is not installed", missing.name)
        return Untraced()
    return Spans(exporting())


def is_wanted() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporters = os.environ.get("OTEL_TRACES_EXPORTER")
    if exporters:
        return "otlp" in exporters.split(",")
    return any(os.environ.get(name) for name in ENDPOINTS)
