"""A history: what was asked, by whom, when, and what happened in between. It can be run again on a fresh store."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Ref(NamedTuple):
    """A text that an earlier answer has: an id, a token or a cursor. Another run has another in its place."""

    operation: int
    path: tuple[str | int, ...]


@dataclass(frozen=True)
class Operation:
    """`token` is whose session it comes with: a reference, a text that is none, or None of nobody."""

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
    What happens at one instant. `kind`: "together" are operations sent at once of which none writes, or a single one;
    "writes" are independent ones sent at once; "overtaken" are reads, and then writes that overtake them; "restart",
    "kill", "drop" and "expire" are what happens to the server, its connections and its sessions.
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
    """The value with the texts of this run. What no answer has is an id of nothing."""
    if isinstance(value, Ref):
        return texts.get(value, "article:1")
    if isinstance(value, dict):
        return {name: resolved(each, texts) for name, each in value.items()}
    if isinstance(value, list):
        return [resolved(each, texts) for each in value]
    return value
