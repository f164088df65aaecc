"""
How the fields of a compiled operation are resolved. A schema may declare for a field a resolver that takes all parents
of a level at once; where it declares none, the Strawberry resolver is called once for each parent (`RowResolver`). A
level is all the objects that are at one place of an operation, such as all objects of a list.

A declaration is an entry `RESOLVER` in the metadata of a field:

    field = strawberry.field(resolver=of_one_parent, metadata={RESOLVER: BatchResolver(of_all_parents)})

The Strawberry resolver still defines the field. It is called where an operation is not compiled, and has to give the
same values.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLField,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationDefinitionNode,
)

from engine.bridge import GraphQLResolveInfoHelpers, Path, StrawberryField, optimized_is_awaitable
from engine.compiler.plan import Column, NotCompilable, Pending, Run, gather_all

RESOLVER = "resolver"  # the key in `StrawberryField.metadata`


@dataclass(frozen=True, slots=True)
class BatchResolver:
    """
    Resolves a field for all objects of a level in one call: `function(parents, context, **arguments)`.

    It returns a list, or an awaitable of one, with a value for each parent; an exception in place of a value is the
    error of that parent alone. With `is_pure`, a parent always has the same value, for every client: it may be cached
    together with the parent.
    """

    function: Callable[..., Any]
    is_pure: bool = False


@dataclass(frozen=True, slots=True)
class RootResolver:
    """Resolves a field of the query or mutation type: `await function(context, **arguments)`."""

    function: Callable[..., Awaitable[Any]]


# A declared resolver must not change its arguments: literals of a document are the same objects in each execution.
DeclaredResolver: TypeAlias = BatchResolver | RootResolver


def declared_resolver(field: StrawberryField) -> DeclaredResolver | None:
    return field.metadata.get(RESOLVER)


@dataclass(frozen=True, slots=True)
class RowResolver:
    """
    Calls the resolver that Strawberry made for graphql-core, once for each parent: with its permissions and extensions.

    `key` is the response key of a root field, None for other fields. A root field of a mutation is executed once: its
    outcome is recorded. `place` is the index of the field's arguments in `Run.arguments`.
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
                run.awaitables.append(value)
            values.append(value)
        return _awaited_values(values, awaited) if awaited else values

    def _value(self, parent: Any, info: Any, run: Run) -> Any:
        assert self.field.resolve is not None, "Strawberry gives each field a resolver"
        if self.is_mutation and self.key:
            call = partial(self.field.resolve, parent, info, **run.arguments[self.place])
            return run.outcomes.value(self.key, call)
        return self.field.resolve(parent, info, **run.arguments[self.place])


async def _awaited_values(values: Column, places: Sequence[int]) -> Column:
    """The values, of which those at these indexes are awaited first."""
    for place, value in zip(places, await gather_all([values[place] for place in places]), strict=True):
        values[place] = value
    return values


class RowInfo:
    """
    Stands in for graphql-core's `GraphQLResolveInfo` where a resolver is called for one parent.

    Only root fields have a `path`: a level does not have the indexes of its objects in lists. A resolver that reads it
    elsewhere raises NotCompilable, and graphql-core executes the operation.
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
        self.async_helpers = GraphQLResolveInfoHelpers(gather_all, run.awaitables.extend)
        self.operation_extensions = None

    @property
    def path(self) -> Path:
        if self._key is None:
            raise NotCompilable("info")
        return Path(None, self._key, self.parent_type.name)
