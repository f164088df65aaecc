"""How an application watches the operations that it answers, for its metrics, its logs or its traces."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

from server.wire.calls import Call
from server.wire.clients import Client


@dataclass(slots=True)
class Observation:
    """An operation, and what it has come to so far: answers, the sum of their cost, the codes of their errors."""

    call: Call
    answers: int = 0
    cost: Counter[str] = field(default_factory=Counter)
    codes: set[str] = field(default_factory=set)
    way: str = ""  # how a query or mutation was executed: "compiled", or why it was not
    trace_id: str | None = None
    span: Any = None  # of those who trace

    @property
    def seconds(self) -> float:
        return perf_counter() - self.call.started


class Observer(Protocol):
    def began(self, observation: Observation) -> None:
        """An operation is going to be answered."""

    def ended(self, observation: Observation) -> None:
        """It had its last answer or its refusal, or its client has no interest any more."""

    def answered(self, observation: Observation, cost: Mapping[str, int]) -> None:
        """An operation has one answer more, at this cost."""

    def refused(self, code: str, client: Client, request_id: str) -> None:
        """A request has no operation that can be answered."""


class Unobserved:
    """Watches nothing."""

    def began(self, observation: Observation) -> None:
        pass

    def ended(self, observation: Observation) -> None:
        pass

    def answered(self, observation: Observation, cost: Mapping[str, int]) -> None:
        pass

    def refused(self, code: str, client: Client, request_id: str) -> None:
        pass
