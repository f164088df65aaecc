"""A request whose operation is known, and what it is answered."""

from dataclasses import dataclass
from typing import NamedTuple
from weakref import ref

from graphql import OperationType

from engine.clients import Client
from engine.compiler.execution import Variables
from engine.documents.operations import Operation


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """
    What a request asks for, whoever sends it; `cost` in points. The same request asks for the same object.

    It is cached with its request, and holds no operation that the cache of operations has dropped.
    """

    found: "ref[Operation]"
    variables: Variables
    cost: int


class Call(NamedTuple):
    """All that is needed to answer an operation. `started` is a reading of `time.perf_counter`."""

    asked: Asked
    operation: Operation
    client: Client
    request_id: str
    started: float

    @property
    def is_subscription(self) -> bool:
        return self.operation.kind is OperationType.SUBSCRIPTION


class Answer(NamedTuple):
    body: bytes
    has_errors: bool
