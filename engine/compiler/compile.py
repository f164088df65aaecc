"""
Compiles an operation into a plan (`engine.compiler.plan`), for any Strawberry schema. A plan is executed level by
level: a level is all the objects at one place of the operation, which are the parents of the fields below.

A field is resolved in one of three ways: a plain attribute is read off the parents, a declared resolver
(`engine.compiler.resolvers`) is called once for a level, and the resolver of any other field is called once for each
parent. Introspection, subscriptions and mutations of more than one field are left to graphql-core.

A record is a Python object of the application. A Strawberry type may have a static method `is_cacheable(record)`.
Records for which it is true are immutable: the JSON of their attributes and pure fields is cached. A field is pure if a
record has the same value for every client.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import iscoroutinefunction
from operator import attrgetter
from typing import Any

import strawberry
from graphql import (
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

from engine.bridge import (
    FieldDetails,
    FragmentDetails,
    StrawberryField,
    VariableValues,
    attribute_of,
    collect_fields,
    collect_subfields,
    core_schema,
    declared_field,
    has_resolver,
    origin_of,
)
from engine.compiler.arguments import CoreArguments, resolver_arguments
from engine.compiler.completion import (
    AbstractCompletion,
    CachedLevel,
    LeafCompletion,
    ListCompletion,
    ObjectCompletion,
    TemplateCache,
    serializer,
)
from engine.compiler.plan import (
    AttributeField,
    Completion,
    Field,
    FieldArguments,
    Level,
    NotCompilable,
    Plan,
    RootField,
    Rows,
    resolve_batch,
    resolve_mutation_root,
    resolve_root,
    resolve_typenames,
    row_builder,
    row_bytes,
)
from engine.compiler.resolvers import BatchResolver, DeclaredResolver, RowResolver, declared_resolver
from engine.documents import Operation

Resolve = Callable[..., Any]  # takes the parents of a level and the run; of an `AttributeField`, one parent


def compile_operation(
    schema: strawberry.Schema, operation: Operation, variables: VariableValues, templates: TemplateCache
) -> Plan:
    """
    Compile a valid operation, with the values of its variables that decide its `@include` and `@skip` directives.
    `templates` caches the JSON of records.

    Raises:
        NotCompilable: it contains something that is left to graphql-core.
    """
    compiler = Compiler(schema, operation, variables, templates)
    root = compiler.core.get_root_type(operation.kind)
    assert root is not None
    collected = collect_fields(compiler.core, compiler.fragments, variables, root, operation.node)
    is_single = operation.kind is OperationType.MUTATION and len(collected.grouped_field_set) == 1
    if operation.kind is not OperationType.QUERY and not is_single:
        raise NotCompilable(operation.kind.value)
    level = compiler.level(root, collected.grouped_field_set, is_root=True)
    constants = [each.values(variables) if each.is_constant else {} for each in compiler.arguments]
    computed = [(place, each) for place, each in enumerate(compiler.arguments) if not each.is_constant]
    return Plan(level, constants, computed, len(compiler.fields))


@dataclass
class Compiler:
    """
    Compiles one operation: collects its fields and their arguments, level by level. The index of an item of `arguments`
    is called its place, and is known to the field's resolver.
    """

    schema: strawberry.Schema
    operation: Operation
    variables: VariableValues
    templates: TemplateCache
    arguments: list[FieldArguments] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.core = core_schema(self.schema)
        definitions = self.operation.document.definitions
        nodes = [node for node in definitions if isinstance(node, FragmentDefinitionNode)]
        self.fragment_nodes = {node.name.value: node for node in nodes}
        self.fragments = {name: FragmentDetails(node) for name, node in self.fragment_nodes.items()}

    def level(
        self, parent: GraphQLObjectType, grouped: Mapping[str, list[FieldDetails]], *, is_root: bool = False
    ) -> Rows:
        """Compile a level of objects of one type, and the levels below. `grouped` has its fields by response key."""
        first = len(self.fields)
        fields = [self._field(parent, key, details, is_root) for key, details in grouped.items()]
        level = Level(tuple(fields), row_builder(list(grouped)), row_bytes(list(grouped)))
        is_cacheable = getattr(origin_of(parent), "is_cacheable", None)
        if is_cacheable is None:
            return level
        below = {each.number: each for each in self.fields[first:]}
        return CachedLevel(level, below, self.templates, next(self.templates.levels), is_cacheable)

    def _field(self, parent: GraphQLObjectType, key: str, details: list[FieldDetails], is_root: bool) -> Field:
        """Compile a field of a level. `details` has its nodes in the document, which are merged."""
        name = details[0].node.name.value
        if name == "__typename":
            resolve: Resolve = partial(resolve_typenames, parent.name)
            complete: Completion = LeafCompletion(serializer(GraphQLString), nullable=False, are_texts=True)
            kind, is_pure = Field, True
        elif definition := parent.fields.get(name):
            complete = self._completion(definition.type, details)
            kind, resolve, is_pure = self._resolver(parent, key if is_root else None, details)
        else:
            raise NotCompilable("introspection")
        self.fields.append(kind(len(self.fields), key, resolve, complete, is_pure))
        return self.fields[-1]

    def _resolver(
        self, parent: GraphQLObjectType, root_key: str | None, details: list[FieldDetails]
    ) -> tuple[type[Field], Resolve, bool]:
        """
        The kind of a field, its `resolve`, and whether it is pure. `root_key` is the response key of a root field, None
        for other fields.
        """
        node = details[0].node
        definition = parent.fields[node.name.value]
        own = declared_field(definition)
        if type(own) is not StrawberryField or own.permission_classes or own.extensions:
            return Field, self._row_resolver(parent, root_key, details), False
        if not has_resolver(own) and self.schema.config.default_resolver is getattr:
            return AttributeField, attrgetter(attribute_of(own)), True
        declared = declared_resolver(own)
        if declared is None:
            return Field, self._row_resolver(parent, root_key, details), False
        self.arguments.append(resolver_arguments(self.schema, own, definition, node))
        kind = Field if isinstance(declared, BatchResolver) else RootField
        return kind, self._declared(declared, parent, root_key), _is_pure(declared, own)

    def _declared(self, declared: DeclaredResolver, parent: GraphQLObjectType, root_key: str | None) -> Resolve:
        """The `resolve` of a field with a declared resolver."""
        place = len(self.arguments) - 1
        if isinstance(declared, BatchResolver):
            return partial(resolve_batch, declared.function, place)
        if root_key is not None and parent is self.core.mutation_type:
            return partial(resolve_mutation_root, declared.function, place, root_key)
        return partial(resolve_root, declared.function, place)

    def _row_resolver(
        self, parent: GraphQLObjectType, root_key: str | None, details: list[FieldDetails]
    ) -> RowResolver:
        """Resolves a field by the resolver that Strawberry made, once for each parent."""
        nodes = [each.node for each in details]
        definition = parent.fields[nodes[0].name.value]
        self.arguments.append(CoreArguments(definition, nodes[0]))
        return RowResolver(
            field=definition,
            nodes=nodes,
            parent_type=parent,
            key=root_key,
            is_mutation=parent is self.core.mutation_type,
            schema=self.core,
            fragments=self.fragment_nodes,
            operation=self.operation.node,
            place=len(self.arguments) - 1,
        )

    def _completion(self, type_: GraphQLOutputType, details: list[FieldDetails], nullable: bool = True) -> Completion:
        """How the values of a field of this type are completed, with the levels below."""
        if is_non_null_type(type_):
            return self._completion(type_.of_type, details, nullable=False)
        if is_list_type(type_):
            return ListCompletion(self._completion(type_.of_type, details), nullable)
        if is_leaf_type(type_):
            leaf: GraphQLLeafType = type_
            return LeafCompletion(serializer(leaf), nullable, are_texts=leaf in (GraphQLString, GraphQLID))
        if is_abstract_type(type_):
            possible = self.core.get_possible_types(type_)
            types = [(each.is_type_of, self._below(each, details)) for each in possible]
            origins = Counter(map(origin_of, possible))  # types of one generic class have one origin
            classes = {origin_of(each): place for place, each in enumerate(possible) if origins[origin_of(each)] == 1}
            return AbstractCompletion(tuple(types), classes, nullable)
        assert isinstance(type_, GraphQLObjectType)
        return ObjectCompletion(self._below(type_, details), nullable, type_.is_type_of)

    def _below(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Rows:
        """The level below a field, for its objects of a type."""
        collected = collect_subfields(self.core, self.fragments, self.variables, self.operation.node, type_, details)
        return self.level(type_, collected.grouped_field_set)


def _is_pure(declared: DeclaredResolver, own: StrawberryField) -> bool:
    """Whether a field's values may be cached in the JSON of records: declared pure, not awaited, and no arguments."""
    if not isinstance(declared, BatchResolver) or iscoroutinefunction(declared.function):
        return False
    return declared.is_pure and not own.arguments
