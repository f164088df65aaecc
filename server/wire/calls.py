"""A request whose operation is known, and what it is answered."""

from typing import NamedTuple

from graphql import OperationType

from server.wire.clients import Client
from server.wire.execution import Variables
from server.wire.operations import Operation


class Call(NamedTuple):
    """All that is needed to answer an operation. `started` is a reading of `time.perf_counter`, `cost` in points."""

    operation: Operation
    variables: Variables
    client: Client
    request_id: str
    started: float
    cost: int

    @property
    def is_subscription(self) -> bool:
        return self.operation.kind is OperationType.SUBSCRIPTION


class Answer(NamedTuple):
    body: bytes
    has_errors: bool
