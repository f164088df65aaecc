"""How an application watches the operations that it answers, for its metrics, its logs or its traces."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.calls import Call
from engine.clients import BackendUsage, Client


@dataclass(slots=True)
class Observation:
    """
    An operation, and what it has come to so far: answers, the sum of their cost, the codes of their errors.

    When it has ended, it took this many `seconds`.
    """

    call: Call
    answers: int = 0
    round_trips: int = 0
    commands: int = 0
    codes: set[str] = field(default_factory=set)
    seconds: float = 0.0
    execution_path: str = ""  # "compiled", "coalesced" with an equal query, or the reason for neither
    trace_id: str | None = None
    span: Any = None  # of those who trace

    def count(self, usage: BackendUsage) -> None:
        """One answer more."""
        self.answers += 1
        self.round_trips += usage.round_trips
        self.commands += usage.commands


class Observer(Protocol):
    def began(self, observation: Observation) -> None:
        """An operation is going to be answered."""

    def ended(self, observation: Observation) -> None:
        """It had its last answer or its refusal, or its client has no interest any more."""

    def answered(self, observation: Observation, usage: BackendUsage) -> None:
        """An operation has one answer more, at this cost."""

    def refused(self, code: str, client: Client, request_id: str) -> None:
        """A request has no operation that can be answered."""


class Unobserved:
    """Watches nothing."""

    def began(self, observation: Observation) -> None:
        pass

    def ended(self, observation: Observation) -> None:
        pass

    def answered(self, observation: Observation, usage: BackendUsage) -> None:
        pass

    def refused(self, code: str, client: Client, request_id: str) -> None:
        pass
