"""A request whose operation is known, and what it is answered."""

from dataclasses import dataclass
from typing import NamedTuple

from graphql import OperationType

from server.wire.clients import Client
from server.wire.execution import Variables
from server.wire.operations import Operation


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a request asks for, whoever sends it; `cost` in points. The same request asks for the same object."""

    operation: Operation
    variables: Variables
    cost: int


class Call(NamedTuple):
    """All that is needed to answer an operation. `started` is a reading of `time.perf_counter`."""

    asked: Asked
    client: Client
    request_id: str
    started: float

    @property
    def operation(self) -> Operation:
        return self.asked.operation

    @property
    def is_subscription(self) -> bool:
        return self.asked.operation.kind is OperationType.SUBSCRIPTION


class Answer(NamedTuple):
    body: bytes
    has_errors: bool
