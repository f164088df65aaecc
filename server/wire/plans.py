"""
Plans: what a compiled operation does, level by level, with whole columns in place of one field of one object at a time.

A plan answers only where every field can be answered. Any error, and any null where there must be none, raises: then
graphql-core executes the operation anew, and it alone makes error answers. What a mutation has done is not done anew:
its outcome is remembered, and graphql-core goes on from there.
"""

from asyncio import CancelledError, ensure_future, gather
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Column = list[Any]
Pending = Column | Awaitable[Column]


class Bail(Exception):
    """This execution is not for a plan; the message says why, in few words of which there are few."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the root field of a mutation came to: a value, or what it raised."""

    value: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        if self.error:
            raise self.error
        return self.value


class Begun(Exception):
    """The plan failed after its mutation was carried out, with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


@dataclass(slots=True)
class Run:
    """
    One execution: what resolvers get as their context, and the arguments of each field, coerced; then the outcome, if
    it is a mutation's.
    """

    context: Any
    arguments: Sequence[Mapping[str, Any]]
    outcome: Outcome | None = None


class Completion(Protocol):
    """Turns a column of what resolvers gave into a column of what the answer says."""

    @property
    def is_lasting(self) -> bool: ...

    def __call__(self, values: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Field:
    """
    `resolve` takes the parents of a level and gives their values, at once or later.

    `is_lasting` says that a parent's value, completed, is the same for everyone and for ever.
    """

    key: str
    resolve: Callable[[Column, Run], Pending]
    complete: Completion
    is_lasting: bool

    def column(self, parents: Column, run: Run) -> Pending:
        values = self.resolve(parents, run)
        return self.complete(values, run) if isinstance(values, list) else self._later(values, run)

    async def _later(self, values: Awaitable[Sequence[Any]], run: Run) -> Column:
        completed = self.complete(list(await values), run)
        return completed if isinstance(completed, list) else await completed


class Rows(Protocol):
    """All objects of one type at one place of an operation."""

    @property
    def is_lasting(self) -> bool: ...

    def rows(self, parents: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Level:
    """All fields of the objects of a level. What they wait for, they wait for at once."""

    fields: tuple[Field, ...]
    build: Callable[[list[Column]], Column]

    @property
    def is_lasting(self) -> bool:
        return all(field.is_lasting for field in self.fields)

    def rows(self, parents: Column, run: Run) -> Pending:
        columns: list[Any] = []
        waiting = []
        try:
            for place, field in enumerate(self.fields):
                columns.append(field.column(parents, run))
                if not isinstance(columns[place], list):
                    waiting.append(place)
        except BaseException:
            abandon(columns)
            raise
        return self._later(columns, waiting) if waiting else self._built(columns)

    async def _later(self, columns: list[Any], waiting: list[int]) -> Column:
        for place, column in zip(waiting, await together([columns[place] for place in waiting]), strict=True):
            columns[place] = column
        return self._built(columns)

    def _built(self, columns: list[Column]) -> Column:
        if len(set(map(len, columns))) > 1:
            raise Bail("length")
        return self.build(columns)


def builder(keys: Sequence[str], given: Container[str]) -> Callable[[list[Column]], Column]:
    """
    What makes rows of the columns that are given, with null for all other keys: one comprehension with a dict display.

    The keys are names of GraphQL, letters, digits and `_`, so that they can stand in the text of a function.
    """
    if not keys:
        raise Bail("nothing")
    names = {key: f"v{place}" for place, key in enumerate(keys) if key in given}
    pairs = ", ".join(f"{key!r}: {names.get(key)}" for key in keys)
    columns = ", ".join(names.values())
    built: Callable[[list[Column]], Column] = eval(f"lambda columns: [{{{pairs}}} for {columns}, in zip(*columns)]")
    return built


async def together(pending: Sequence[Awaitable[Column]]) -> list[Column]:
    """
    What is waited for at once. The first is waited for right here, so that one alone needs no task.

    Whatever fails, all are waited for; who is cancelled cancels them.
    """
    first, *rest = pending
    tasks = [ensure_future(each) for each in rest]
    try:
        return [await first, *[await task for task in tasks]]
    except Exception:
        await gather(*tasks, return_exceptions=True)
        raise
    except CancelledError:
        for task in tasks:
            task.cancel()
        raise


def abandon(begun: Iterable[Any]) -> None:
    """Where something raises, what was begun beside it is not left waiting for ever."""
    for pending in begun:
        if not isinstance(pending, list):
            pending.close()
