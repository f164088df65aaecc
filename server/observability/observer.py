"""Combines metrics, logs and traces into the one observer that the endpoint takes."""

from dataclasses import dataclass

from engine import BackendUsage, Client, Observation
from server.observability.logs import Logs
from server.observability.metrics import Metrics
from server.observability.tracing import Tracing, trace_id_of


@dataclass(frozen=True, slots=True)
class CompositeObserver:
    metrics: Metrics
    logs: Logs
    tracing: Tracing

    def began(self, observation: Observation) -> None:
        self.tracing.began(observation)
        self.metrics.began(observation)

    def ended(self, observation: Observation) -> None:
        self.metrics.ended(observation)
        self.logs.ended(observation)
        self.tracing.ended(observation)

    def answered(self, observation: Observation, usage: BackendUsage) -> None:
        self.metrics.answered(observation, usage)

    def refused(self, code: str, client: Client, request_id: str) -> None:
        self.metrics.refused(code)
        self.logs.refused(code, request_id, trace_id_of(client.traceparent))
