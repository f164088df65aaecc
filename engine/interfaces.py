"""What an application implements to use the engine: the context of an operation, and an observer of operations."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from engine.requests import Client, OperationRequest


class BackendUsage(Protocol):
    """The round trips to the application's data store, and the commands, that an execution took."""

    round_trips: int
    commands: int


class Context(Protocol):
    """The context of one operation, or of one event of a subscription."""

    @property
    def usage(self) -> BackendUsage: ...

    def notes(self) -> dict[str, Any]:
        """Return further entries of the response's `extensions`."""
        ...


OpenContext: TypeAlias = Callable[[Client], Context]
ViewerKey: TypeAlias = Callable[[Client], Hashable]


@dataclass(slots=True)
class Observation:
    """
    The execution of an operation, as far as it has come: number of results, their total usage, codes of their errors.

    `seconds` is set at the end. `execution_path` of a query or mutation is "compiled", "coalesced" with an equal
    query, or the reason why it was not compiled.
    """

    request: OperationRequest
    results: int = 0
    round_trips: int = 0
    commands: int = 0
    codes: set[str] = field(default_factory=set)
    seconds: float = 0.0
    execution_path: str = ""
    trace_id: str | None = None
    span: Any = None  # set by an observer that traces


class Observer(Protocol):
    """Is called for each operation, for example to count, log or trace it."""

    def on_start(self, observation: Observation) -> None:
        """The execution of an operation begins."""

    def on_end(self, observation: Observation) -> None:
        """It ended: with its last result, by a refusal, or because its client left."""

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        """The operation has one more result, which took this."""

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        """A request was refused before its operation was executed."""


class NullObserver:
    """Does nothing."""

    def on_start(self, observation: Observation) -> None:
        pass

    def on_end(self, observation: Observation) -> None:
        pass

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        pass

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        pass
