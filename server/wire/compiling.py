"""
Compiles an operation into a plan. Knows GraphQL and Strawberry, and nothing of what a schema is about.

A field is compiled in one of three ways: a plain attribute is read off the parents; a resolver function that carries
`batch` names the function that takes all parents of a level, `batch(parents, context, **arguments)`; one that carries
`root` names one that needs no parent, `root(context, **arguments)`. All else is for graphql-core.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import strawberry
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    OperationType,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    print_ast,
)
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, collect_fields, collect_subfields
from graphql.execution.values import VariableValues, get_argument_values
from strawberry.types.arguments import convert_arguments
from strawberry.types.field import StrawberryField

from server.wire.leaves import writer
from server.wire.operations import Operation
from server.wire.plans import (
    Abstracts,
    Bail,
    Column,
    Completion,
    Field,
    Leaves,
    Level,
    Lists,
    Objects,
    Pending,
    Run,
    TypeTest,
    builder,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """`constants` are the arguments of fields without variables, `arguments` coerce those of all others."""

    level: Level
    constants: Mapping[int, Mapping[str, Any]]
    arguments: Mapping[int, Callable[[VariableValues], dict[str, Any]]]

    async def data(self, context: Any, variables: VariableValues) -> dict[str, Any]:
        """
        The data of an answer without errors.

        Raises:
            Bail, or whatever a resolver or a leaf raises: the answer is not this plan's to give.
        """
        coerced = {place: coerce(variables) for place, coerce in self.arguments.items()}
        run = Run(context, {**self.constants, **coerced} if coerced else self.constants)
        rows = self.level.rows([None], run)
        (row,) = rows if isinstance(rows, list) else await rows
        data: dict[str, Any] = row
        return data


def compiled(schema: strawberry.Schema, operation: Operation, variables: VariableValues) -> Plan:
    """
    The plan of a valid query, as far as its `@include` and `@skip` are decided by these variables.

    Raises:
        Bail: it asks for something that is not compiled.
    """
    if operation.kind is not OperationType.QUERY:
        raise Bail(operation.kind.value)
    compiler = Compiler(schema, operation, variables)
    root = compiler.core.query_type
    assert root is not None
    collected = collect_fields(compiler.core, compiler.fragments, variables, root, operation.node)
    return Plan(compiler.level(root, collected.grouped_field_set), compiler.constants, compiler.arguments)


@dataclass
class Compiler:
    schema: strawberry.Schema
    operation: Operation
    variables: VariableValues
    constants: dict[int, dict[str, Any]] = field(default_factory=dict)
    arguments: dict[int, Callable[[VariableValues], dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.core = self.schema._schema
        definitions = self.operation.document.definitions
        nodes = [node for node in definitions if isinstance(node, FragmentDefinitionNode)]
        self.fragments = {node.name.value: FragmentDetails(node) for node in nodes}

    def level(self, parent: GraphQLObjectType, grouped: Mapping[str, list[FieldDetails]]) -> Level:
        fields = tuple(self._field(parent, key, details) for key, details in grouped.items())
        return Level(fields, builder(tuple(grouped)))

    def _field(self, parent: GraphQLObjectType, key: str, details: list[FieldDetails]) -> Field:
        node = details[0].node
        name = node.name.value
        if name == "__typename":
            return Field(key, partial(_repeated, parent.name), Leaves(_as_it_is, False))
        definition = parent.fields.get(name)
        if definition is None:
            raise Bail("introspection")
        own = definition.extensions.get("strawberry-definition")
        if not isinstance(own, StrawberryField) or own.permission_classes or own.extensions:
            raise Bail("field")
        return Field(key, self._resolver(own, node, parent), self._completion(definition.type, details))

    def _resolver(
        self, own: StrawberryField, node: FieldNode, parent: GraphQLObjectType
    ) -> Callable[[Column, Run], Pending]:
        if own.base_resolver is None:
            return partial(_attributes, attrgetter(own.python_name))
        function: Any = own.base_resolver.wrapped_func
        place = self._arguments(partial(_coerced, self.schema, own, parent.fields[node.name.value], node), node)
        if hasattr(function, "batch"):
            return partial(_batch, function.batch, place)
        if hasattr(function, "root"):
            return partial(_root, function.root, place)
        raise Bail("field")

    def _arguments(self, coerced: Callable[[VariableValues], dict[str, Any]], node: FieldNode) -> int:
        """Where a field finds its arguments: coerced once for all if there is no variable in them."""
        place = len(self.arguments) + len(self.constants)
        if any("$" in print_ast(argument) for argument in node.arguments or ()):
            self.arguments[place] = coerced
        else:
            self.constants[place] = coerced(self.variables)
        return place

    def _completion(self, type_: GraphQLOutputType, details: list[FieldDetails], nullable: bool = True) -> Completion:
        if is_non_null_type(type_):
            return self._completion(type_.of_type, details, nullable=False)
        if is_list_type(type_):
            return Lists(self._completion(type_.of_type, details), nullable)
        if is_leaf_type(type_):
            leaf: GraphQLLeafType = type_
            return Leaves(writer(leaf), nullable)
        if is_abstract_type(type_):
            possible = self.core.get_possible_types(type_)
            tests = [(_test(each) or _undecided, self._below(each, details)) for each in possible]
            return Abstracts(tuple(tests), nullable)
        assert isinstance(type_, GraphQLObjectType)
        return Objects(self._below(type_, details), nullable, _test(type_))

    def _below(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Level:
        collected = collect_subfields(self.core, self.fragments, self.variables, self.operation.node, type_, details)
        return self.level(type_, collected.grouped_field_set)


def _test(type_: GraphQLObjectType) -> TypeTest | None:
    is_type_of: Any = type_.is_type_of
    return is_type_of and partial(_is_of_type, is_type_of)


def _is_of_type(is_type_of: Callable[[Any, Any], Any], value: Any) -> bool:
    return is_type_of(value, None) is True


def _undecided(value: Any) -> bool:
    raise Bail("type")


def _coerced(
    schema: strawberry.Schema, own: StrawberryField, definition: Any, node: FieldNode, variables: VariableValues
) -> dict[str, Any]:
    values = get_argument_values(definition, node, variables)
    return convert_arguments(
        values, own.arguments, scalar_registry=schema.schema_converter.scalar_registry, config=schema.config
    )


def _as_it_is(values: Column) -> Column:
    return values


def _repeated(name: str, parents: Column, run: Run) -> Pending:
    return [name] * len(parents)


def _attributes(get: Callable[[Any], Any], parents: Column, run: Run) -> Pending:
    return list(map(get, parents))


def _batch(function: Callable[..., Pending], place: int, parents: Column, run: Run) -> Pending:
    return function(parents, run.context, **run.arguments[place])


async def _root(function: Callable[..., Any], place: int, parents: Column, run: Run) -> Column:
    return [await function(run.context, **run.arguments[place])]
