"""How columns of what resolvers gave become columns of what the answer says: leaves, objects, lists of them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.compiler.plan import Bail, Column, Completion, Pending, Rows, Run, are_there, together

TypeTest = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Leaves:
    """`write` takes a column without nulls; of texts it gives texts."""

    write: Callable[[Column], Column]
    nullable: bool
    are_texts: bool = False

    def __call__(self, values: Column, run: Run) -> Pending:
        if None not in values:
            return self._written(values, run)
        _allow_null(self.nullable)
        return _with_nulls(values, self._written([value for value in values if value is not None], run))

    def _written(self, values: Column, run: Run) -> Column:
        written = self.write(values)
        if self.are_texts:
            run.budget.add_texts(written)
        return written


@dataclass(frozen=True, slots=True)
class Objects:
    level: Rows
    nullable: bool
    is_type_of: TypeTest | None = None

    def __call__(self, values: Column, run: Run) -> Pending:
        present = values
        if None in values:
            _allow_null(self.nullable)
            present = [value for value in values if value is not None]
        if not present:
            return values
        self._check(_one_of_each_class(present))
        rows = self.level.rows(present, run)
        if not isinstance(rows, list):
            return run.later(self._later(values, rows))
        return rows if present is values else _with_nulls(values, rows)

    def _check(self, values: Iterable[Any]) -> None:
        """Raise what a resolver gave in place of a parent's value."""
        for value in values:
            if isinstance(value, Exception):
                raise value
            if self.is_type_of and not self.is_type_of(value):
                raise Bail("type")

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

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        places: dict[int, list[int]] = {}
        for place, value in enumerate(values):
            if value is not None:
                places.setdefault(self._way(value), []).append(place)
        parts: list[Any] = [
            self.ways[way][1].rows([values[place] for place in taken], run) for way, taken in places.items()
        ]
        if are_there(parts):
            return self._placed(len(values), places, parts)
        return run.later(self._later(len(values), places, parts))

    def _way(self, value: Any) -> int:
        known = self.classes.get(type(value))
        if known is not None:
            return known
        for way, (is_type_of, _) in enumerate(self.ways):
            if is_type_of(value):
                return way
        raise Bail("type")

    async def _later(self, size: int, places: Mapping[int, list[int]], parts: list[Any]) -> Column:
        return self._placed(size, places, await together(parts))

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

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        for value in values:
            if value is not None and not isinstance(value, list | tuple):
                raise Bail("list")
        flat = self.item([item for value in values if value is not None for item in value], run)
        return _cut(values, flat) if isinstance(flat, list) else run.later(self._later(values, flat))

    async def _later(self, values: Column, flat: Awaitable[Column]) -> Column:
        return _cut(values, await flat)


def _one_of_each_class(values: Column) -> Iterable[Any]:
    """That a resolver gave objects of the right type is a check on the resolver, which one of each class satisfies."""
    return dict(zip(map(type, values), values, strict=True)).values()


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
