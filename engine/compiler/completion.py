"""
Completes columns of resolved values: leaf values (scalars and enums), objects, interfaces and unions, and lists of
them. To complete a value is to turn what a resolver returned into what the result has. A level is all objects at one
place of an operation; a column has the values of one field for all of them, and a row is the dict of one object in the
result (see `engine.compiler.plan`).

A column of scalars or enums is returned unchanged if its Python types are right, else serialized value by value. A
record is a Python object of the application. JSON of immutable records is cached as templates, with placeholders for
values that are not cached, such as those that differ between clients.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice, repeat
from math import isfinite
from operator import attrgetter
from typing import Any

import orjson
from graphql import GraphQLBoolean, GraphQLFloat, GraphQLID, GraphQLInt, GraphQLLeafType, GraphQLString

from caches import POOL, Cache, Pool
from engine.bridge import optimized_is_awaitable
from engine.compiler.plan import (
    MARK,
    Budget,
    Column,
    Completion,
    Field,
    Level,
    NotCompilable,
    Pending,
    Placeholders,
    Rows,
    Run,
    all_ready,
    gather_columns,
)

TypeTest = Callable[[Any, Any], Any]  # graphql-core's `is_type_of(value, info)`; compiled objects get no info
# fills templates: takes them, the numbers of the fields that fill them, and the column of each of these fields
Fill = Callable[[Sequence["JsonTemplate"], Iterable[int], Sequence[Column]], Column]
INTS = range(-(2**31), 2**31)
TEMPLATE_MICROSECONDS = 20  # to make a template, which a cached one saves
MIN_REPEATED_SHARE = 4  # a column counts as repetitive if its first text is more than a fourth of it
TEMPLATE_SIZE = 600  # bytes of a template beside its text and its record, and of each of its placeholders


@dataclass(frozen=True, slots=True)
class LeafCompletion:
    """Scalars and enums. `serialize` takes a column without nulls; with `are_texts` it returns strings."""

    serialize: Callable[[Column], Column]
    nullable: bool
    are_texts: bool = False

    def __call__(self, values: Column, run: Run) -> Pending:
        if None not in values:
            serialized = self.serialize(values)
            if self.are_texts:
                run.budget.add_texts(serialized)
            return serialized
        _allow_null(self.nullable)
        return _with_nulls(values, self._serialized([value for value in values if value is not None], run))

    def _serialized(self, values: Column, run: Run) -> Column:
        serialized = self.serialize(values)
        if self.are_texts:
            run.budget.add_texts(serialized)
        return serialized


@dataclass(frozen=True, slots=True)
class ObjectCompletion:
    """Objects of one type. `known` are the classes of values that are of this type: each is checked once."""

    level: Rows
    nullable: bool
    is_type_of: TypeTest | None = None
    known: set[type] = field(default_factory=set, compare=False)

    def __call__(self, values: Column, run: Run) -> Pending:
        present = values
        if None in values:
            _allow_null(self.nullable)
            present = [value for value in values if value is not None]
        if not present:
            return values
        if not self.known.issuperset(map(type, present)):
            self._check(present)
        rows = self.level.rows(present, run)
        if not isinstance(rows, list):
            return run.note(self._awaited(values, rows))
        return rows if present is values else _with_nulls(values, rows)

    def _check(self, values: Column) -> None:
        """
        Check a value of each class that was not seen before. Raises the exception that a resolver returned in place of
        a value, and NotCompilable for awaitables and for objects of another type.
        """
        for value in _one_of_each_class(values):
            if isinstance(value, Exception):
                raise value
            if optimized_is_awaitable(value):
                raise NotCompilable("awaitable")
            if self.is_type_of and self.is_type_of(value, None) is not True:
                raise NotCompilable("type")
            self.known.add(type(value))

    async def _awaited(self, values: Column, rows: Awaitable[Column]) -> Column:
        return _with_nulls(values, await rows)


@dataclass(frozen=True, slots=True)
class AbstractCompletion:
    """
    Objects of an interface or a union: those of one type are completed together.

    `types` has the `is_type_of` and the level of each possible type. `classes` has the index in `types` of each
    Strawberry class: an instance is of the type of its class. For other objects the types' `is_type_of` decides.
    """

    types: tuple[tuple[TypeTest | None, Rows], ...]
    classes: Mapping[type, int]
    nullable: bool

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        places: dict[int, list[int]] = {}  # by the index of a type in `types`: the indexes of its objects in the column
        for place, value in enumerate(values):
            if value is not None:
                places.setdefault(self._type_number(value), []).append(place)
        parts: list[Any] = [
            self.types[number][1].rows([values[place] for place in taken], run) for number, taken in places.items()
        ]
        if all_ready(parts):
            return self._placed(len(values), places, parts)
        return run.note(self._awaited(len(values), places, parts))

    def _type_number(self, value: Any) -> int:
        """The index in `types` of the type of an object."""
        known = self.classes.get(type(value))
        if known is not None:
            return known
        if isinstance(value, Exception):  # that a resolver returned in place of a value
            raise value
        for number, (is_type_of, _) in enumerate(self.types):
            if is_type_of is None:  # graphql-core decides then
                break
            if is_type_of(value, None) is True:
                return number
        raise NotCompilable("type")

    async def _awaited(self, size: int, places: Mapping[int, list[int]], parts: list[Any]) -> Column:
        return self._placed(size, places, await gather_columns(parts))

    def _placed(self, size: int, places: Mapping[int, list[int]], parts: list[Column]) -> Column:
        completed: Column = [None] * size
        for taken, rows in zip(places.values(), parts, strict=True):
            for place, row in zip(taken, rows, strict=True):
                completed[place] = row
        return completed


@dataclass(frozen=True, slots=True)
class ListCompletion:
    """Lists: their items are completed as one column, which is then split again."""

    item: Completion
    nullable: bool

    def __call__(self, values: Column, run: Run) -> Pending:
        if None in values:
            _allow_null(self.nullable)
        for value in values:
            if value is not None and not isinstance(value, list | tuple):
                raise NotCompilable("list")
        items = [item for value in values if value is not None for item in value]
        if not items:  # such as the list of errors of a mutation that succeeds
            return [None if value is None else [] for value in values]
        flat = self.item(items, run)
        return _split(values, flat) if isinstance(flat, list) else run.note(self._awaited(values, flat))

    async def _awaited(self, values: Column, flat: Awaitable[Column]) -> Column:
        return _split(values, await flat)


class JsonTemplate:
    """
    The JSON of a record with placeholders. Between `texts[i]` and `texts[i + 1]` stands the value of the field number
    `order[i]`. `length` are the bytes of the JSON, `size` those that the template takes in memory.

    `only_field` is the number of the field if all placeholders are for one field, `own_field` if there is exactly one
    placeholder, and it is for a field of the object itself; else they are None.
    """

    __slots__ = ("fragment", "length", "only_field", "order", "own_field", "placeholders", "record", "size", "texts")

    def __init__(self, record: Any, row: Mapping[str, Any], placeholders: Placeholders) -> None:
        text = bytes(memoryview(orjson.dumps(row)))  # a copy: orjson's own keeps its buffer of some kB
        pieces = text.split(MARK)
        self.record = record  # a reference: while it is cached, no other record has its id
        self.fragment = orjson.Fragment(text)
        self.placeholders = placeholders
        self.texts = pieces[::2]
        self.order = [int(number) for number in pieces[1::2]]
        self.only_field = self.order[0] if len(placeholders) == 1 else None
        is_own = len(self.order) == 1 and placeholders[self.order[0]][0] is record
        self.own_field = self.order[0] if is_own else None
        self.length = len(text)
        record_bytes = getattr(record, "held_bytes", 0)  # the memory that a record says it takes
        self.size = 2 * len(text) + record_bytes + TEMPLATE_SIZE * (1 + sum(map(len, placeholders.values())))

    def filled(self, values: Mapping[int, Iterator[bytes]]) -> orjson.Fragment:
        """The JSON with the next values, as JSON, of each field in the placeholders."""
        pieces = [b""] * (len(self.texts) + len(self.order))
        pieces[::2] = self.texts
        if self.only_field is None:
            pieces[1::2] = [next(values[number]) for number in self.order]
        else:
            pieces[1::2] = islice(values[self.only_field], len(self.order))
        return orjson.Fragment(b"".join(pieces))


FRAGMENT, LENGTH, OWN_FIELD, PLACEHOLDERS = map(attrgetter, ("fragment", "length", "own_field", "placeholders"))


class TemplateCache:
    """Templates by the number of a level of a plan, and the `id` of a record."""

    def __init__(self, pool: Pool = POOL) -> None:
        self.levels = count()  # numbers of levels: each is used once
        self._cache: Cache[tuple[int, int], JsonTemplate] = pool.cache("templates", TEMPLATE_MICROSECONDS)

    def __len__(self) -> int:
        return len(self._cache.entries)

    def find(self, level: int, records: Column) -> list[JsonTemplate | None]:
        return self._cache.get_all(zip(repeat(level), map(id, records), strict=False))

    def keep(self, level: int, template: JsonTemplate) -> None:
        self._cache.put((level, id(template.record)), template, template.size)


@dataclass(frozen=True, slots=True)
class CachedLevel:
    """
    A level of objects whose JSON is cached if `is_cacheable(record)`; the records of a level all are, or none is. The
    parents of the level's fields are these records.

    `fields` are those of the level and of the levels below it, by number. References to fields above would be cycles,
    and evicted plans would stay in memory until the next garbage collection.
    """

    level: Level
    fields: Mapping[int, Field]
    cache: TemplateCache
    number: int
    is_cacheable: Callable[[Any], bool]

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.placeholders is None and not self.is_cacheable(parents[0]):
            return self.level.rows(parents, run)
        templates = self._templates(parents, run)
        run.budget.add(sum(map(LENGTH, templates)))
        if run.placeholders is not None:  # a template of a level above is made: its placeholders are ours, too
            _collect(templates, run.placeholders)
            return list(map(FRAGMENT, templates))
        own_fields = set(map(OWN_FIELD, templates))
        if len(own_fields) == 1 and (number := own_fields.pop()) is not None:
            return self._filled(templates, {number: parents}, run, _with_own_values)
        placeholders: Placeholders = {}
        _collect(templates, placeholders)
        if not placeholders:
            return list(map(FRAGMENT, templates))
        return self._filled(templates, placeholders, run, _with_values)

    def _filled(
        self, templates: Sequence[JsonTemplate], placeholders: Mapping[int, Column], run: Run, fill: Fill
    ) -> Pending:
        """Fill the placeholders, which are given with their parents by the number of the field."""
        columns: list[Any] = [self.fields[number].column(parents, run) for number, parents in placeholders.items()]
        if all_ready(columns):
            return fill(templates, placeholders, columns)
        return run.note(self._awaited(templates, placeholders, columns, fill))

    async def _awaited(
        self, templates: Sequence[JsonTemplate], numbers: Iterable[int], columns: Sequence[Any], fill: Fill
    ) -> Column:
        if len(columns) == 1:  # the usual case, without more coroutines
            return fill(templates, numbers, [await columns[0]])
        return fill(templates, numbers, await gather_columns(columns))

    def _templates(self, records: Column, run: Run) -> list[JsonTemplate]:
        """The templates of records: cached ones, and new ones."""
        found: list[Any] = self.cache.find(self.number, records)
        if not all(found):
            for place, template in enumerate(found):
                if template is None:
                    found[place] = self._template(records[place], run)
        return found

    def _template(self, record: Any, run: Run) -> JsonTemplate:
        """Make the template of a record: in a run that resolves pure fields only."""
        placeholders: Placeholders = {}
        rows = self.level.rows(
            [record], Run(run.context, run.arguments, placeholders=placeholders, budget=Budget(run.budget.limit))
        )
        assert isinstance(rows, list), "awaitable values are placeholders"
        template = JsonTemplate(record, rows[0], placeholders)
        if self.is_cacheable(record):
            self.cache.keep(self.number, template)
        return template


def _one_of_each_class(values: Column) -> Iterable[Any]:
    """One value of each class, to check its type: objects of one class are of one GraphQL type."""
    return dict(zip(map(type, values), values, strict=True)).values()


def _split(values: Column, flat: Column) -> Column:
    """The items of lists, which `flat` has in a row, as lists again; null lists stay."""
    lists: Column = []
    start = 0
    for value in values:
        if value is None:
            lists.append(None)
        else:
            lists.append(flat[start : start + len(value)])
            start += len(value)
    return lists


def _with_nulls(values: Column, completed: Column) -> Column:
    """A completed column with the nulls of `values`, which were left out."""
    if len(values) == len(completed):
        return completed
    rest = iter(completed)
    return [None if value is None else next(rest) for value in values]


def _allow_null(nullable: bool) -> None:
    """Leave the execution to graphql-core, which describes the error, if the schema allows no null here."""
    if not nullable:
        raise NotCompilable("null")


def _collect(templates: Sequence[JsonTemplate], placeholders: Placeholders) -> None:
    """Add the placeholders of templates, in the order of their texts."""
    for each in filter(None, map(PLACEHOLDERS, templates)):
        for number, parents in each.items():
            placeholders.setdefault(number, []).extend(parents)


def _with_values(templates: Sequence[JsonTemplate], numbers: Iterable[int], columns: Sequence[Column]) -> Column:
    """The JSON of templates, filled with the columns of several fields."""
    values = {number: _texts(column) for number, column in zip(numbers, columns, strict=True)}
    return [template.filled(values) for template in templates]


def _with_own_values(templates: Sequence[JsonTemplate], numbers: Iterable[int], columns: Sequence[Column]) -> Column:
    """As `_with_values`, where each template has a single placeholder: a value joins its two texts."""
    (column,) = columns
    return list(map(orjson.Fragment, map(bytes.join, _texts(column), [each.texts for each in templates])))


def _texts(column: Column) -> Iterator[bytes]:
    """The values of a column as JSON. Those of an enum repeat, and each is encoded once."""
    repeats = column and column.count(column[0]) > len(column) // MIN_REPEATED_SHARE
    if repeats and set(map(type, column)) == {str}:
        encoded = {value: orjson.dumps(value) for value in set(column)}
        return map(encoded.__getitem__, column)
    return map(orjson.dumps, column)


def serializer(type_: GraphQLLeafType) -> Callable[[Column], Column]:
    """Return a function that serializes a column without nulls, with the errors of the GraphQL type."""
    one_by_one = partial(_one_by_one, type_.coerce_output_value)
    if type_ in (GraphQLString, GraphQLID):
        return partial(_of_one_type, {str}, one_by_one)
    if type_ is GraphQLBoolean:
        return partial(_of_one_type, {bool}, one_by_one)
    if type_ is GraphQLInt:
        return partial(_ints, one_by_one)
    if type_ is GraphQLFloat:
        return partial(_floats, one_by_one)
    members = getattr(type_, "wrapped_cls", None)  # of an enum made by Strawberry
    if members:
        names = {id(member): type_.coerce_output_value(member) for member in members}
        return partial(_members, names, one_by_one)
    return one_by_one


def _one_by_one(serialize: Callable[[Any], Any], values: Column) -> Column:
    """Serialize each value. An awaitable, or a value that becomes null, leaves the execution to graphql-core."""
    for value in _one_of_each_class(values):
        if isinstance(value, Exception):  # that a resolver returned in place of a value
            raise value
        if optimized_is_awaitable(value):
            raise NotCompilable("awaitable")
    serialized = list(map(serialize, values))
    if None in serialized:
        raise NotCompilable("null")
    return serialized


def _of_one_type(types: set[type], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= types else one_by_one(values)


def _ints(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    fits = set(map(type, values)) == {int} and min(values) in INTS and max(values) in INTS
    return values if fits else one_by_one(values)


def _members(names: Mapping[int, str], one_by_one: Callable[[Column], Column], values: Column) -> Column:
    """The names of members of an enum, found by identity: hashing a member is slow."""
    found = list(map(names.get, map(id, values)))
    return found if all(found) else one_by_one(values)


def _floats(one_by_one: Callable[[Column], Column], values: Column) -> Column:
    return values if set(map(type, values)) <= {float} and all(map(isfinite, values)) else one_by_one(values)
