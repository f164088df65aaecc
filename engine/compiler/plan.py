"""
Plans of compiled operations. A plan is executed level by level: a field is resolved for all objects of a level at once,
and its values, a column, are completed together.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import orjson
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationDefinitionNode,
)
from graphql.execution.values import VariableValues
from graphql.pyutils import Path
from graphql.type.definition import GraphQLResolveInfoHelpers
from strawberry.execution import optimized_is_awaitable

from engine.compiler.arguments import FieldArguments
from engine.compiler.awaitables import dispose, gather_all
from engine.limits.answer_size import PUNCTUATION, Budget
from engine.outcomes import Outcomes

Column = list[Any]
Pending = Column | Awaitable[Column]
Placeholders = dict[int, Column]  # by field number, the parents whose values fill the placeholders of a JSON template
MARK = b"\0"  # on both sides of a field number in a template; JSON never has this byte


class NotCompilable(Exception):
    """This execution is left to graphql-core. The message is one of few reasons: it becomes a metric label."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A compiled operation. `arguments` are those of its fields, in the order of `Run.arguments`."""

    level: "Rows"
    arguments: Sequence[FieldArguments]
    fields: int  # how many

    async def data(self, context: Any, variables: VariableValues, budget: Budget, outcomes: Outcomes) -> dict[str, Any]:
        """
        Execute the plan and return the data of an answer without errors.

        Raises:
            NotCompilable, or any exception of a resolver or scalar: graphql-core has to execute the operation.
            AnswerTooLarge: the answer exceeds the budget.
        """
        arguments = [each.values(variables) for each in self.arguments]
        run = Run(context, arguments, outcomes, budget=budget, variables=variables.coerced)
        try:
            rows = self.level.rows([None], run)
            (row,) = rows if isinstance(rows, list) else await rows
        except BaseException:
            dispose(run.expected)
            raise
        data: dict[str, Any] = row
        return data


@dataclass(slots=True)
class Run:
    """
    One execution of a plan: its context, and the coerced arguments of each field.

    `outcomes` records the results of a mutation's root fields, and `budget` counts the bytes of the answer. With
    `placeholders` only pure fields are resolved, to make a JSON template; other fields add their parents there.
    `expected` lists what is awaited, to be disposed of after a failure.
    """

    context: Any
    arguments: Sequence[Mapping[str, Any]]
    outcomes: Outcomes = field(default_factory=Outcomes)
    placeholders: Placeholders | None = None
    budget: Budget = field(default_factory=Budget)
    variables: dict[str, Any] = field(default_factory=dict)
    expected: list[Any] = field(default_factory=list)

    def expect(self, column: Awaitable[Column]) -> Awaitable[Column]:
        self.expected.append(column)
        return column


class Rows(Protocol):
    """All objects of one type at one place of an operation."""

    def rows(self, parents: Column, run: Run) -> Pending: ...


class Completion(Protocol):
    """Turns a column of resolved values into a column of the answer (CompleteValue in the GraphQL specification)."""

    def __call__(self, values: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Field:
    """`resolve` returns the values of a level's parents, or an awaitable of them. `is_pure`: as in `BatchResolver`."""

    number: int  # of the fields of a plan
    key: str
    resolve: Callable[[Column, Run], Pending]
    complete: Completion
    is_pure: bool = False

    def column(self, parents: Column, run: Run) -> Pending:
        values = self.resolve(parents, run)
        if isinstance(values, list):
            return self.complete(values, run)
        return run.expect(self._awaited(run.expect(values), run))

    def column_or_placeholders(self, parents: Column, run: Run) -> Pending:
        if self.is_pure:
            return self.column(parents, run)
        assert run.placeholders is not None, "only called while a template is made"
        run.placeholders.setdefault(self.number, []).extend(parents)
        return [orjson.Fragment(b"%b%d%b" % (MARK, self.number, MARK))] * len(parents)

    async def _awaited(self, values: Awaitable[Sequence[Any]], run: Run) -> Column:
        completed = self.complete(list(await values), run)
        return completed if isinstance(completed, list) else await completed


@dataclass(frozen=True, slots=True)
class Level:
    """All fields of the objects of a level. Their awaitables are awaited concurrently."""

    fields: tuple[Field, ...]
    build: Callable[[Sequence[Column]], Column]
    row_bytes: int = 0  # of an object without its values

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.placeholders is not None:
            return self._built([field.column_or_placeholders(parents, run) for field in self.fields], run)
        columns = [field.column(parents, run) for field in self.fields]
        return self._built(columns, run) if all_ready(columns) else run.expect(self._awaited(columns, run))

    async def _awaited(self, columns: Sequence[Pending], run: Run) -> Column:
        return self._built(await gather_columns(columns), run)

    def _built(self, columns: Sequence[Any], run: Run) -> Column:
        if len(set(map(len, columns))) > 1:
            raise NotCompilable("length")
        run.budget.add(len(columns[0]) * self.row_bytes)
        return self.build(columns)


def row_bytes(keys: Sequence[str]) -> int:
    return sum(len(key) + 2 * PUNCTUATION for key in keys)


def row_builder(keys: Sequence[str]) -> Callable[[Sequence[Column]], Column]:
    """
    A function that makes rows of columns: one comprehension with a dict display.

    The keys are GraphQL names (letters, digits and `_`), so they are safe in the source of a function.
    """
    if not keys:
        raise NotCompilable("nothing")
    pairs = ", ".join(f"{key!r}: v{place}" for place, key in enumerate(keys))
    columns = ", ".join(f"v{place}" for place, _ in enumerate(keys))
    built: Callable[[Sequence[Column]], Column] = eval(f"lambda columns: [{{{pairs}}} for {columns}, in zip(*columns)]")
    return built


def all_ready(columns: Sequence[Any]) -> bool:
    """Whether none of these columns has to be awaited."""
    return all([isinstance(column, list) for column in columns])


async def gather_columns(columns: Sequence[Any]) -> list[Column]:
    """All columns, of which at least one has to be awaited."""
    places = [place for place, column in enumerate(columns) if not isinstance(column, list)]
    complete = list(columns)
    for place, column in zip(places, await gather_all([columns[place] for place in places]), strict=True):
        complete[place] = column
    return complete


def typenames(name: str, parents: Column, run: Run) -> Pending:
    return [name] * len(parents)


def attributes(get: Callable[[Any], Any], parents: Column, run: Run) -> Pending:
    return list(map(get, parents))


def batch(function: Callable[..., Pending], place: int, parents: Column, run: Run) -> Pending:
    return function(parents, run.context, **run.arguments[place])


async def root(function: Callable[..., Any], place: int, parents: Column, run: Run) -> Column:
    return [await function(run.context, **run.arguments[place])]


async def mutation_root(function: Callable[..., Any], place: int, key: str, parents: Column, run: Run) -> Column:
    """As `root`, and the outcome is recorded: the field must not be executed twice."""
    return [await run.outcomes.carry_out(key, function(run.context, **run.arguments[place]))]


@dataclass(frozen=True, slots=True)
class RowResolver:
    """
    Calls the resolver that Strawberry made for graphql-core, once for each parent: with its permissions and extensions.

    `key` is the response key of a root field. A root field of a mutation is executed once: its outcome is recorded.
    """

    field: GraphQLField
    nodes: list[FieldNode]
    parent_type: GraphQLObjectType
    key: str | None
    is_mutation: bool
    schema: GraphQLSchema
    fragments: dict[str, FragmentDefinitionNode]
    operation: OperationDefinitionNode
    place: int

    def __call__(self, parents: Column, run: Run) -> Pending:
        info, awaited = RowInfo(self, run), list[int]()
        values: Column = []
        for parent in parents:
            value = self._value(parent, info, run)
            if optimized_is_awaitable(value):
                awaited.append(len(values))
                run.expected.append(value)
            values.append(value)
        return _awaited_values(values, awaited) if awaited else values

    def _value(self, parent: Any, info: Any, run: Run) -> Any:
        assert self.field.resolve is not None, "Strawberry gives each field a resolver"
        if self.is_mutation and self.key:
            call = partial(self.field.resolve, parent, info, **run.arguments[self.place])
            return run.outcomes.value(self.key, call)
        return self.field.resolve(parent, info, **run.arguments[self.place])


async def _awaited_values(values: Column, places: Sequence[int]) -> Column:
    for place, value in zip(places, await gather_all([values[place] for place in places]), strict=True):
        values[place] = value
    return values


class RowInfo:
    """
    What a resolver of one row gets as graphql-core's resolve info.

    Only root fields have a `path`: a level knows nothing of the places of its objects in lists.
    """

    __slots__ = (*(name for name in GraphQLResolveInfo._fields if name != "path"), "_key", "operation_extensions")

    def __init__(self, resolver: RowResolver, run: Run) -> None:
        self._key = resolver.key
        self.field_name = resolver.nodes[0].name.value
        self.field_nodes = resolver.nodes
        self.return_type = resolver.field.type
        self.parent_type = resolver.parent_type
        self.schema = resolver.schema
        self.fragments = resolver.fragments
        self.root_value = None
        self.operation = resolver.operation
        self.variable_values = run.variables
        self.context = run.context
        self.is_awaitable = optimized_is_awaitable
        self.abort_signal = None
        self.async_helpers = GraphQLResolveInfoHelpers(gather_all, run.expected.extend)
        self.operation_extensions = None

    @property
    def path(self) -> Path:
        if self._key is None:
            raise NotCompilable("info")
        return Path(None, self._key, self.parent_type.name)
