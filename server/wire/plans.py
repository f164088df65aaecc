"""
Plans: what a compiled operation does, level by level, with whole columns in place of one field of one object at a time.

A plan answers only where every field can be answered. Any error, and any null where there must be none, raises: then
graphql-core executes the operation anew, and it alone makes error answers. What a mutation has done is not done anew:
its outcome is remembered, and graphql-core goes on from there.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

Column = list[Any]
Pending = Column | Awaitable[Column]
TypeTest = Callable[[Any], bool]


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
        if len(waiting) == 1:
            columns[waiting[0]] = await columns[waiting[0]]
        else:
            for place, column in zip(waiting, await gather(*(columns[place] for place in waiting)), strict=True):
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


@dataclass(frozen=True, slots=True)
class Leaves:
    """`write` takes a column without nulls."""

    write: Callable[[Column], Column]
    nullable: bool
    is_lasting: ClassVar[bool] = True

    def __call__(self, values: Column, run: Run) -> Pending:
        if None not in values:
            return self.write(values)
        _allow_null(self.nullable)
        return _with_nulls(values, self.write([value for value in values if value is not None]))


@dataclass(frozen=True, slots=True)
class Objects:
    level: Rows
    nullable: bool
    is_type_of: TypeTest | None = None

    @property
    def is_lasting(self) -> bool:
        return self.level.is_lasting

    def __call__(self, values: Column, run: Run) -> Pending:
        present = values
        if None in values:
            _allow_null(self.nullable)
            present = [value for value in values if value is not None]
        if not present:
            return values
        if self.is_type_of and not all(map(self.is_type_of, _one_of_each_class(present))):
            raise Bail("type")
        rows = self.level.rows(present, run)
        if not isinstance(rows, list):
            return self._later(values, rows)
        return rows if present is values else _with_nulls(values, rows)

    async def _later(self, values: Column, rows: Awaitable[Column]) -> Column:
        return _with_nulls(values, await rows)


@dataclass(frozen=True, slots=True)
class Abstracts:
    """
    Objects of an interface or a union: each goes the way of its type.

    Those of Strawberry's own classes are of the type of their class, whatever the tests say.
    """

    ways: tuple[tuple[TypeTest, Rows], ...]
    classes: Mapping[type, int]
    nullable: bool
    is_lasting: ClassVar[bool] = False

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        places: dict[int, list[int]] = {}
        for place, value in enumerate(values):
            if value is not None:
                places.setdefault(self._way(value), []).append(place)
        parts = self._parts(values, places, run)
        if all(isinstance(part, list) for part in parts):
            return self._placed(len(values), places, parts)
        return self._later(len(values), places, parts)

    def _way(self, value: Any) -> int:
        known = self.classes.get(type(value))
        if known is not None:
            return known
        for way, (is_type_of, _) in enumerate(self.ways):
            if is_type_of(value):
                return way
        raise Bail("type")

    def _parts(self, values: Column, places: Mapping[int, list[int]], run: Run) -> list[Any]:
        parts: list[Pending] = []
        try:
            for way, taken in places.items():
                parts.append(self.ways[way][1].rows([values[place] for place in taken], run))
        except BaseException:
            abandon(parts)
            raise
        return parts

    async def _later(self, size: int, places: Mapping[int, list[int]], parts: list[Any]) -> Column:
        return self._placed(size, places, await gather(*map(_now, parts)))

    def _placed(self, size: int, places: Mapping[int, list[int]], parts: list[Column]) -> Column:
        answers: Column = [None] * size
        for taken, rows in zip(places.values(), parts, strict=True):
            for place, row in zip(taken, rows, strict=True):
                answers[place] = row
        return answers


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists are laid end to end, completed as one column, and cut again."""

    item: Completion
    nullable: bool

    @property
    def is_lasting(self) -> bool:
        return self.item.is_lasting

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        for value in values:
            if value is not None and not isinstance(value, list | tuple):
                raise Bail("list")
        flat = self.item([item for value in values if value is not None for item in value], run)
        return _cut(values, flat) if isinstance(flat, list) else self._later(values, flat)

    async def _later(self, values: Column, flat: Awaitable[Column]) -> Column:
        return _cut(values, await flat)


def _one_of_each_class(values: Column) -> Iterable[Any]:
    """That a resolver gave objects of the right type is a check on the resolver, which one of each class satisfies."""
    return {type(value): value for value in values}.values()


def abandon(begun: Iterable[Any]) -> None:
    """Where something raises, what was begun beside it is not left waiting for ever."""
    for pending in begun:
        if not isinstance(pending, list):
            pending.close()


async def _now(pending: Pending) -> Column:
    return pending if isinstance(pending, list) else await pending


def _cut(values: Column, flat: Column) -> Column:
    answers: Column = []
    start = 0
    for value in values:
        if value is None:
            answers.append(None)
        else:
            answers.append(flat[start : start + len(value)])
            start += len(value)
    return answers


def _with_nulls(values: Column, completed: Column) -> Column:
    if len(values) == len(completed):
        return completed
    rest = iter(completed)
    return [None if value is None else next(rest) for value in values]


def _allow_null(nullable: bool) -> None:
    if not nullable:
        raise Bail("null")
