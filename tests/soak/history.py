"""A history: operations with their times and sessions, and restarts and the like. It can be run on a new store."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Ref(NamedTuple):
    """A reference to an id, a token or a cursor in an earlier answer, which differs from run to run."""

    operation: int
    path: tuple[str | int, ...]


@dataclass(frozen=True)
class Operation:
    """`token` is the token that is sent: a reference, an invalid text, or None."""

    number: int
    token: Ref | str | None
    text: str
    variables: dict[str, Any]
    mutations: tuple[tuple[str, str], ...] = ()

    def refs(self) -> Iterable[Ref]:
        yield from refs_in(self.token)
        yield from refs_in(self.variables)


@dataclass(frozen=True)
class Step:
    """
    What happens at one instant. `kind`: "together" is one operation, or several reads at once; "writes" are several
    independent writes at once; "overtaken" are reads, and a write that is sent before they are answered; "restart" and
    "kill" the server, "drop" its Redis connections, "expire" all sessions.
    """

    kind: str
    at: int
    operations: tuple[Operation, ...] = ()
    connections: tuple[int, ...] = field(default=())


def refs_in(value: Any) -> Iterable[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from refs_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from refs_in(each)


def resolved(value: Any, texts: dict[Ref, str]) -> Any:
    """The value with the references replaced by the texts of this run, or by an unknown id."""
    if isinstance(value, Ref):
        return texts.get(value, "article:1")
    if isinstance(value, dict):
        return {name: resolved(each, texts) for name, each in value.items()}
    if isinstance(value, list):
        return [resolved(each, texts) for each in value]
    return value
