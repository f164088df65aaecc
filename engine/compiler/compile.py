"""
Compiles an operation into a plan. Knows GraphQL and Strawberry, and nothing of what a schema is about.

A plain attribute is read off the parents, and a declared resolver (`engine.compiler.resolvers`) is called once for a
level. All else is for graphql-core, and so are mutations of more than one field, which run in series.

A Strawberry type may have a static method `is_cacheable(record)`. Records for which it is true are immutable: the JSON
of their attributes and pure fields is cached.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any

import strawberry
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLID,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    OperationType,
    is_abstract_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
)
from graphql.execution.collect_fields import FieldDetails, FragmentDetails, collect_fields, collect_subfields
from graphql.execution.values import VariableValues
from strawberry.types.field import StrawberryField

from engine.compiler import plan
from engine.compiler.arguments import Fields, arguments_of
from engine.compiler.completion import Abstracts, Leaves, Lists, Objects, TypeTest
from engine.compiler.disposal import dispose
from engine.compiler.json_templates import Memory, Remembered
from engine.compiler.plan import Bail, Column, Completion, Field, Level, Pending, Rows, Run, builder, row_bytes
from engine.compiler.resolvers import BatchResolver, DeclaredResolver, declared_resolver
from engine.compiler.serialize import writer
from engine.documents.operations import Operation
from engine.limits.answer_size import Budget
from engine.outcomes import Outcomes

Resolve = Callable[[Column, Run], Pending]


@dataclass(frozen=True, slots=True)
class Plan:
    """
    `arguments` are those of all fields that take any, each in the place that the field knows; `fields` is how many
    there are.
    """

    level: Rows
    arguments: Sequence[Fields]
    fields: int

    async def data(self, context: Any, variables: VariableValues, budget: Budget, outcomes: Outcomes) -> dict[str, Any]:
        """
        The data of an answer without errors.

        Raises:
            Bail, or whatever a resolver or a leaf raises: the answer is not this plan's to give.
            AnswerTooLarge: it is larger than the budget.
        """
        run = Run(context, [fields.values(variables) for fields in self.arguments], outcomes, budget=budget)
        try:
            rows = self.level.rows([None], run)
            (row,) = rows if isinstance(rows, list) else await rows
        except BaseException:
            dispose(run.expected)
            raise
        data: dict[str, Any] = row
        return data


def compiled(schema: strawberry.Schema, operation: Operation, variables: VariableValues, memory: Memory) -> Plan:
    """
    The plan of a valid operation, as far as its `@include` and `@skip` are decided by these variables.

    Raises:
        Bail: it asks for something that is not compiled.
    """
    compiler = Compiler(schema, operation, variables, memory)
    root = compiler.core.get_root_type(operation.kind)
    assert root is not None
    collected = collect_fields(compiler.core, compiler.fragments, variables, root, operation.node)
    is_single = operation.kind is OperationType.MUTATION and len(collected.grouped_field_set) == 1
    if operation.kind is not OperationType.QUERY and not is_single:
        raise Bail(operation.kind.value)
    level = compiler.level(root, collected.grouped_field_set)
    return Plan(level, compiler.arguments, len(compiler.fields))


@dataclass
class Compiler:
    schema: strawberry.Schema
    operation: Operation
    variables: VariableValues
    memory: Memory
    arguments: list[Fields] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.core = self.schema._schema
        definitions = self.operation.document.definitions
        nodes = [node for node in definitions if isinstance(node, FragmentDefinitionNode)]
        self.fragments = {node.name.value: FragmentDetails(node) for node in nodes}

    def level(self, parent: GraphQLObjectType, grouped: Mapping[str, list[FieldDetails]]) -> Rows:
        first = len(self.fields)
        fields = [self._field(parent, key, details) for key, details in grouped.items()]
        level = Level(tuple(fields), builder(list(grouped)), row_bytes(list(grouped)))
        is_cacheable = getattr(_origin(parent), "is_cacheable", None)
        if is_cacheable is None:
            return level
        below = {each.number: each for each in self.fields[first:]}
        return Remembered(level, below, self.memory, next(self.memory.levels), is_cacheable)

    def _field(self, parent: GraphQLObjectType, key: str, details: list[FieldDetails]) -> Field:
        resolve, complete, is_lasting = self._way(parent, details)
        self.fields.append(Field(len(self.fields), key, resolve, complete, is_lasting))
        return self.fields[-1]

    def _way(self, parent: GraphQLObjectType, details: list[FieldDetails]) -> tuple[Resolve, Completion, bool]:
        """How a field is resolved and completed, and whether its value lasts."""
        node = details[0].node
        name = node.name.value
        if name == "__typename":
            return partial(plan.repeated, parent.name), Leaves(writer(GraphQLString), False, are_texts=True), True
        definition = parent.fields.get(name)
        if definition is None:
            raise Bail("introspection")
        own = definition.extensions.get("strawberry-definition")
        if not isinstance(own, StrawberryField) or own.permission_classes or own.extensions:
            raise Bail("field")
        complete = self._completion(definition.type, details)
        if own.base_resolver is None:
            return partial(plan.attributes, attrgetter(own.python_name)), complete, True
        declared = declared_resolver(own)
        if declared is None:
            raise Bail("field")
        is_pure = isinstance(declared, BatchResolver) and declared.is_pure and not own.arguments
        return self._resolver(declared, own, node, parent), complete, is_pure

    def _resolver(
        self, declared: DeclaredResolver, own: StrawberryField, node: FieldNode, parent: GraphQLObjectType
    ) -> Resolve:
        place = len(self.arguments)
        self.arguments.append(arguments_of(self.schema, own, parent.fields[node.name.value], node))
        if isinstance(declared, BatchResolver):
            return partial(plan.batch, declared.function, place)
        if parent is self.core.mutation_type:
            return partial(plan.once, declared.function, place, response_key(node))
        return partial(plan.root, declared.function, place)

    def _completion(self, type_: GraphQLOutputType, details: list[FieldDetails], nullable: bool = True) -> Completion:
        if is_non_null_type(type_):
            return self._completion(type_.of_type, details, nullable=False)
        if is_list_type(type_):
            return Lists(self._completion(type_.of_type, details), nullable)
        if is_leaf_type(type_):
            leaf: GraphQLLeafType = type_
            return Leaves(writer(leaf), nullable, are_texts=leaf in (GraphQLString, GraphQLID))
        if is_abstract_type(type_):
            possible = self.core.get_possible_types(type_)
            tests = [(_test(each) or _undecided, self._below(each, details)) for each in possible]
            classes = {_origin(each): place for place, each in enumerate(possible)}
            return Abstracts(tuple(tests), classes, nullable)
        assert isinstance(type_, GraphQLObjectType)
        return Objects(self._below(type_, details), nullable, _test(type_))

    def _below(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Rows:
        collected = collect_subfields(self.core, self.fragments, self.variables, self.operation.node, type_, details)
        return self.level(type_, collected.grouped_field_set)


def response_key(node: FieldNode) -> str:
    return node.alias.value if node.alias else node.name.value


def _origin(type_: GraphQLObjectType) -> type:
    """The class that Strawberry made a type of."""
    origin: type = type_.extensions["strawberry-definition"].origin
    return origin


def _test(type_: GraphQLObjectType) -> TypeTest | None:
    is_type_of: Any = type_.is_type_of
    return is_type_of and partial(_is_of_type, is_type_of)


def _is_of_type(is_type_of: Callable[[Any, Any], Any], value: Any) -> bool:
    return is_type_of(value, None) is True


def _undecided(value: Any) -> bool:
    raise Bail("type")
