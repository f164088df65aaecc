"""Reads out of a valid document what the cost of an operation is made of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLList,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
)
from strawberry.types.field import StrawberryField

from engine.limits.cost import INTROSPECTION, Cost, Part, Size, Weights, length, page_size, switched

Typed: TypeAlias = tuple[GraphQLNamedType, SelectionSetNode]

PAGE_ARGUMENTS = ("first", "last")
PAGE_NUMBER = "page"


def cost_of(
    schema: GraphQLSchema,
    fragments: Mapping[str, FragmentDefinitionNode],
    operation: OperationDefinitionNode,
    weights: Weights,
) -> Cost:
    """The cost of a valid operation."""
    root = schema.get_root_type(operation.operation)
    assert root is not None, "the operation is valid"
    defaults = {each.variable.name.value: each.default_value for each in operation.variable_definitions or ()}
    reader = Reader(schema, fragments, weights, defaults)
    return Cost(weights, reader.parts([(root, operation.selection_set)]), reader.sizes)


@dataclass
class Reader:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    weights: Weights
    defaults: Mapping[str, ValueNode | None]
    sizes: list[Size] = field(default_factory=list)

    def parts(self, sets: Sequence[Typed]) -> tuple[Part, ...]:
        """The parts of a level, those counted once that answer under one name."""
        merged: dict[tuple[str, str], list[tuple[FieldNode, GraphQLField]]] = {}
        introspections = 0
        for type_, node in self._fields(sets):
            name = node.name.value
            introspections += name in INTROSPECTION
            if definition := getattr(type_, "fields", {}).get(name):
                merged.setdefault(((node.alias or node.name).value, type_.name), []).append((node, definition))
        below = [part for (_, parent), same in merged.items() if (part := self._part(parent, same))]
        return (*below, *[Part(self.weights.introspection)] * introspections)

    def _part(self, parent: str, same: Sequence[tuple[FieldNode, GraphQLField]]) -> Part | None:
        node, definition = same[0]
        named = get_named_type(definition.type)
        if is_leaf_type(named):
            points = self.weights.texts.get((parent, node.name.value))
            return Part(points) if points else None
        is_list = isinstance(get_nullable_type(definition.type), GraphQLList)
        is_page = any(name in definition.args for name in PAGE_ARGUMENTS)
        own = int(is_resolved(definition))
        parts = self.parts([(named, node.selection_set) for node, _ in same if node.selection_set])
        sizes, switches = self._sizes(node, is_page, is_list), self._switches(node)
        return Part(own, is_page, is_list, sizes, parts, switches, self._page_number(node, is_page))

    def _sizes(self, node: FieldNode, is_page: bool, is_list: bool) -> tuple[int, ...]:
        """The sizes of a page are its `first` and `last`; that of a list is the length of the longest argument."""
        if not is_page and not is_list:
            return ()
        measure = page_size if is_page else length
        sized = [each.value for each in node.arguments or () if not is_page or each.name.value in PAGE_ARGUMENTS]
        start = len(self.sizes)
        self.sizes += [self._size(measure, value) for value in sized]
        return tuple(range(start, len(self.sizes)))

    def _switches(self, node: FieldNode) -> tuple[tuple[int, int], ...]:
        """Where the values of arguments stand that cost points where they are true, and how many."""
        found = []
        for argument in node.arguments or ():
            if points := self.weights.switches.get(argument.name.value):
                found.append((len(self.sizes), points))
                self.sizes.append(self._size(switched, argument.value))
        return tuple(found)

    def _page_number(self, node: FieldNode, is_page: bool) -> int | None:
        for argument in node.arguments or ():
            if is_page and argument.name.value == PAGE_NUMBER:
                self.sizes.append(self._size(page_size, argument.value))
                return len(self.sizes) - 1
        return None

    def _size(self, measure: Callable[[Any], int | None], value: ValueNode) -> Size:
        if isinstance(value, VariableNode):
            return Size(measure, value.name.value, self.defaults.get(value.name.value))
        return Size(measure, None, value)

    def _fields(self, sets: Sequence[Typed]) -> list[tuple[GraphQLNamedType, FieldNode]]:
        """The fields of a level with the types that have them, each fragment once."""
        fields: list[tuple[GraphQLNamedType, FieldNode]] = []
        waiting = list(sets)
        spread: set[str] = set()
        while waiting:
            parent, selected = waiting.pop()
            for node in selected.selections:
                if isinstance(node, FieldNode):
                    fields.append((parent, node))
                    continue
                below = self._spread(node, spread)
                if below is not None:
                    condition = below.type_condition
                    type_ = self.schema.type_map[condition.name.value] if condition else parent
                    waiting.append((type_, below.selection_set))
        return fields

    def _spread(self, node: SelectionNode, spread: set[str]) -> InlineFragmentNode | FragmentDefinitionNode | None:
        if isinstance(node, InlineFragmentNode):
            return node
        assert isinstance(node, FragmentSpreadNode), "there is no other selection"
        name = node.name.value
        if name in spread:
            return None
        spread.add(name)
        return self.fragments[name]


def is_resolved(definition: GraphQLField) -> bool:
    own = definition.extensions.get("strawberry-definition")
    return not isinstance(own, StrawberryField) or own.base_resolver is not None
