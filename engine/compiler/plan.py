"""Plans: what a compiled operation does, level by level, with columns of values instead of one field at a time."""

from asyncio import CancelledError, ensure_future, gather
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from engine.limits.answer_size import PUNCTUATION, Budget
from engine.outcomes import Outcomes

Column = list[Any]
Pending = Column | Awaitable[Column]
Holes = dict[int, Column]  # what is left open in a text: by the number of a field, the parents that it is asked for
EDGE = b"\0"  # around the number of a field that fills a hole; no JSON has it


class Bail(Exception):
    """This execution is not for a plan; the message says why, in few words of which there are few."""


@dataclass(slots=True)
class Run:
    """
    One execution: what resolvers get as their context, and the arguments of each field, coerced. `outcomes` keeps what
    a mutation came to, and `budget` counts the bytes of its answer.

    With `holes` no field is resolved that does not last: it leaves a hole, which is noted there. `expected` is all that
    is waited for, to be disposed of where something fails.
    """

    context: Any
    arguments: Sequence[Mapping[str, Any]]
    outcomes: Outcomes = field(default_factory=Outcomes)
    holes: Holes | None = None
    budget: Budget = field(default_factory=Budget)
    expected: list[Awaitable[Any]] = field(default_factory=list)

    def later(self, column: Awaitable[Column]) -> Awaitable[Column]:
        """What is going to be waited for, once it is noted."""
        self.expected.append(column)
        return column


class Completion(Protocol):
    """Turns a column of what resolvers gave into a column of what the answer says."""

    def __call__(self, values: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Field:
    """
    `resolve` takes the parents of a level and gives their values, at once or later.

    `is_lasting` says that a parent's value is the same for everyone and for ever.
    """

    number: int  # of the fields of a plan
    key: str
    resolve: Callable[[Column, Run], Pending]
    complete: Completion
    is_lasting: bool = False

    def outline(self, parents: Column, run: Run) -> Pending:
        """As `column`, but for a hole where its value does not last."""
        if self.is_lasting:
            return self.column(parents, run)
        assert run.holes is not None, "asked for where there are holes"
        run.holes.setdefault(self.number, []).extend(parents)
        return [orjson.Fragment(b"%b%d%b" % (EDGE, self.number, EDGE))] * len(parents)

    def column(self, parents: Column, run: Run) -> Pending:
        values = self.resolve(parents, run)
        if isinstance(values, list):
            return self.complete(values, run)
        return run.later(self._later(run.later(values), run))

    async def _later(self, values: Awaitable[Sequence[Any]], run: Run) -> Column:
        completed = self.complete(list(await values), run)
        return completed if isinstance(completed, list) else await completed


class Rows(Protocol):
    """All objects of one type at one place of an operation."""

    def rows(self, parents: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Level:
    """All fields of the objects of a level. What they wait for, they wait for at once."""

    fields: tuple[Field, ...]
    build: Callable[[Sequence[Column]], Column]
    row_bytes: int = 0  # of an object without its values

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.holes is not None:
            return self._built([field.outline(parents, run) for field in self.fields], run)
        columns = [field.column(parents, run) for field in self.fields]
        return self._built(columns, run) if are_there(columns) else run.later(self._later(columns, run))

    async def _later(self, columns: Sequence[Pending], run: Run) -> Column:
        return self._built(await together(columns), run)

    def _built(self, columns: Sequence[Any], run: Run) -> Column:
        if len(set(map(len, columns))) > 1:
            raise Bail("length")
        run.budget.add(len(columns[0]) * self.row_bytes)
        return self.build(columns)


def row_bytes(keys: Sequence[str]) -> int:
    return sum(len(key) + 2 * PUNCTUATION for key in keys)


def builder(keys: Sequence[str]) -> Callable[[Sequence[Column]], Column]:
    """
    What makes rows of columns: one comprehension with a dict display.

    The keys are names of GraphQL, letters, digits and `_`, so that they can stand in the text of a function.
    """
    if not keys:
        raise Bail("nothing")
    pairs = ", ".join(f"{key!r}: v{place}" for place, key in enumerate(keys))
    columns = ", ".join(f"v{place}" for place, _ in enumerate(keys))
    built: Callable[[Sequence[Column]], Column] = eval(f"lambda columns: [{{{pairs}}} for {columns}, in zip(*columns)]")
    return built


def are_there(columns: Sequence[Any]) -> bool:
    """Whether none of these columns has to be waited for."""
    return all([isinstance(column, list) for column in columns])


async def together(columns: Sequence[Any]) -> list[Column]:
    """
    All columns, when those are there that have to be waited for, at least one. They are waited for at once; the first
    right here, so that one alone needs no task.

    Whatever fails, all are waited for; who is cancelled cancels them.
    """
    first, *rest = [place for place, column in enumerate(columns) if not isinstance(column, list)]
    complete = list(columns)
    tasks = [ensure_future(columns[place]) for place in rest]
    try:
        complete[first] = await columns[first]
        for place, task in zip(rest, tasks, strict=True):
            complete[place] = await task
        return complete
    except Exception:
        await gather(*tasks, return_exceptions=True)
        raise
    except CancelledError:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
        raise


def repeated(name: str, parents: Column, run: Run) -> Pending:
    return [name] * len(parents)


def attributes(get: Callable[[Any], Any], parents: Column, run: Run) -> Pending:
    return list(map(get, parents))


def batch(function: Callable[..., Pending], place: int, parents: Column, run: Run) -> Pending:
    return function(parents, run.context, **run.arguments[place])


async def root(function: Callable[..., Any], place: int, parents: Column, run: Run) -> Column:
    return [await function(run.context, **run.arguments[place])]


async def once(function: Callable[..., Any], place: int, key: str, parents: Column, run: Run) -> Column:
    """As `root`, and what it came to is remembered: it must not run again."""
    return [await run.outcomes.carry_out(key, function(run.context, **run.arguments[place]))]
