"""
The cost of an operation in points, estimated before execution from the document, the schema and the variables. Limits
and rate limits are in points.

A field that returns objects costs one point each time it is resolved, and a page one point for each item: a page is a
field with an argument that gives its size, such as `first`. The cost of nested fields is multiplied by the length of
their list. Fields without a resolver, such as `pageInfo` or the `node` of an edge, are free. So are scalars, except
those with points in `Weights.long_texts`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from graphql import (
    BooleanValueNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLList,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    NullValueNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    StringValueNode,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
)

from engine.bridge import StrawberryField, declared_field, has_resolver
from engine.errors import Code, Refused

Values: TypeAlias = Mapping[str, Any]  # of an operation's variables, by name
TypedSelection: TypeAlias = tuple[GraphQLNamedType, SelectionSetNode]  # fields, and the type that they are of
# Makes a number of an argument's value, which is a literal or a variable's value; None if it is not given.
Measure: TypeAlias = Callable[[Any], int | None]

INTROSPECTION = ("__schema", "__type")
PAGE_ARGUMENTS = ("first", "last")
PAGE_NUMBER = "page"  # the argument that selects a page by its number
MAX_CACHED_COSTS = 16  # for each operation, by the sizes that its variables give
MAX_CACHED_SIZE = 2**31  # costs of larger sizes are not cached: a huge integer takes memory


class PageSize(NamedTuple):
    """
    How many items a page has if no argument gives its size, and the largest size that its resolver accepts (None: any).
    """

    default: int
    largest: int | None = None

    def items(self, sizes: Sequence[int]) -> int:
        """Return as how many items a page counts, given its size arguments. One that is too large counts as none."""
        if not sizes:
            return self.default
        largest = max(0, *sizes)
        return 0 if self.largest is not None and largest > self.largest else largest


@dataclass(frozen=True, slots=True)
class Weights:
    """
    The points of fields.

    - `page`: the items of a page without a size argument. `pages` has other sizes, by type and field.
    - `items`: the items of any other list. `lists` has other numbers, by type and field.
    - `introspection`: the cost of each introspection field.
    - `long_texts`: the points of long texts, by type and field.
    - `true_arguments`: the points of boolean arguments that are true, by argument, or by type, field and argument.
    - `given_arguments`: the points of other arguments that are given and not null, by argument.
    - `string_costs`: functions that compute the points of a string argument from its value, by argument.
    - `bytes_per_point`: a response costs at least one point for this number of bytes.
    - `skipped_per_point`: a page that is selected by number costs one point for this number of items before it.
    - `sizes`: arguments beside `first` and `last` that give the size of a page.
    - `largest_page`: resolvers refuse larger pages with an error of their own. Fields below such a page count nothing,
      so that the client gets that error and not one about the cost.
    """

    page: int = 50
    items: int = 10
    introspection: int = 50
    long_texts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    true_arguments: Mapping[str | tuple[str, str, str], int] = field(default_factory=dict)
    given_arguments: Mapping[str, int] = field(default_factory=dict)
    string_costs: Mapping[str, Callable[[str], int]] = field(default_factory=dict)
    bytes_per_point: int = 10_000
    skipped_per_point: int = 100
    largest_page: int | None = None
    lists: Mapping[tuple[str, str], int] = field(default_factory=dict)
    pages: Mapping[tuple[str, str], PageSize] = field(default_factory=dict)
    sizes: Mapping[str, PageSize] = field(default_factory=dict)

    def page_size(self, argument: str) -> PageSize | None:
        """Return the size of a page with an argument of this name; None if the argument gives no size."""
        return PageSize(self.page, self.largest_page) if argument in PAGE_ARGUMENTS else self.sizes.get(argument)


@dataclass(frozen=True, slots=True)
class SizeArgument:
    """
    An argument that determines a part of the cost: the value of a variable, or else the literal in the document.
    `measure` makes a number of it, such as that of a size; None if it is not given.
    """

    measure: Measure
    variable: str | None
    literal: ValueNode | None

    def value(self, variables: Values) -> int | None:
        is_given = self.variable is not None and self.variable in variables
        return self.measure(variables[self.variable] if is_given and self.variable else self.literal)


@dataclass(frozen=True, slots=True)
class FieldCost:
    """
    The cost of one field: its own points, and those of its nested fields for each item of its list. `page` is set if
    the field is a page, `is_list` if its type is a list.

    `sizes`, `flags` and `page_number` hold indexes into `Cost.sizes`, the arguments of the operation that determine its
    cost. `sizes` are those that give the length of the page or of the list; without them a list has `items` items.
    `flags` are the other arguments that cost points, each with the points of one unit. `page_number` is the argument
    `page`: the items before that page are skipped, which costs a part of a point for each.
    """

    own: int  # points each time it is resolved, without nested fields
    page: PageSize | None = None
    is_list: bool = False
    items: int = 0
    sizes: tuple[int, ...] = ()
    nested: "tuple[FieldCost, ...]" = ()
    flags: tuple[tuple[int, int], ...] = ()
    page_number: int | None = None

    def points(self, values: Sequence[int | None], weights: Weights, page_items: int | None) -> int:
        """
        Return the points of this field and the nested ones.

        `values` are those of the arguments `Cost.sizes`. `page_items` is the number of items of the page that this
        field belongs to; None outside of pages.
        """
        given = [size for index in self.sizes if (size := values[index]) is not None]
        size = max(0, *given) if given else None
        items = self.page.items(given) if self.page else None
        own = self.own + sum([points * (values[index] or 0) for index, points in self.flags])
        own += self._skipped(values, weights, items)
        times = 1
        if self.is_list and page_items is not None:  # the `nodes` or `edges` of the page
            own = times = page_items
        elif self.is_list and size is not None:  # as long as its arguments say: a point for each item
            own = times = size
        elif self.is_list:
            times = self.items
        return own + times * sum(each.points(values, weights, items) for each in self.nested)

    def _skipped(self, values: Sequence[int | None], weights: Weights, items: int | None) -> int:
        """Return the points of the items before a page that is selected by number."""
        number = None if self.page_number is None else values[self.page_number]
        return max(0, number - 1) * items // weights.skipped_per_point if number and items else 0


@dataclass(slots=True)
class Cost:
    """
    The cost of an operation, as a function of its variables. `sizes` are the arguments on which it depends; `_cache`
    has the points by the values of these.
    """

    weights: Weights
    fields: tuple[FieldCost, ...]
    sizes: Sequence[SizeArgument]
    _cache: dict[tuple[int | None, ...], int] = field(default_factory=dict)

    def points(self, variables: Values) -> int:
        values = tuple([size.value(variables) for size in self.sizes])
        points = self._cache.get(values)
        if points is None:
            points = sum(each.points(values, self.weights, page_items=None) for each in self.fields)
            self._cache_points(values, points)
        return points

    def _cache_points(self, values: tuple[int | None, ...], points: int) -> None:
        if any(value is not None and value >= MAX_CACHED_SIZE for value in values):
            return
        if len(self._cache) >= MAX_CACHED_COSTS:
            self._cache.clear()
        self._cache[values] = points

    @property
    def memory(self) -> int:
        """The largest number of bytes that the cached costs take."""
        return MAX_CACHED_COSTS * (200 + 40 * len(self.sizes))  # of an entry, and of each value in its key


def cost_of(
    schema: GraphQLSchema,
    fragments: Mapping[str, FragmentDefinitionNode],
    operation: OperationDefinitionNode,
    weights: Weights,
) -> Cost:
    """Read the cost of a valid operation from its document."""
    root = schema.get_root_type(operation.operation)
    assert root is not None, "the operation is valid"
    defaults = {each.variable.name.value: each.default_value for each in operation.variable_definitions or ()}
    reader = CostReader(schema, fragments, weights, defaults)
    return Cost(weights, reader.fields([(root, operation.selection_set)]), reader.sizes)


@dataclass
class CostReader:
    """
    Walks the selections of an operation, and collects the costs of its fields and, in `sizes`, the arguments that these
    depend on. `defaults` are those of the operation's variables.
    """

    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    weights: Weights
    defaults: Mapping[str, ValueNode | None]
    sizes: list[SizeArgument] = field(default_factory=list)

    def fields(self, selections: Sequence[TypedSelection]) -> tuple[FieldCost, ...]:
        """Return the costs of a level's fields; fields of the same response name count once."""
        merged: dict[tuple[str, str], list[tuple[FieldNode, GraphQLField]]] = {}
        introspections = 0
        for type_, node in self._selected_fields(selections):
            name = node.name.value
            introspections += name in INTROSPECTION
            if definition := getattr(type_, "fields", {}).get(name):
                merged.setdefault(((node.alias or node.name).value, type_.name), []).append((node, definition))
        costs = [cost for (_, parent), same in merged.items() if (cost := self._field(parent, same))]
        return (*costs, *[FieldCost(self.weights.introspection)] * introspections)

    def _field(self, parent: str, same: Sequence[tuple[FieldNode, GraphQLField]]) -> FieldCost | None:
        """The cost of a field; `same` are its nodes of one response name. None for a scalar that is free."""
        node, definition = same[0]
        named = get_named_type(definition.type)
        if is_leaf_type(named):
            points = self.weights.long_texts.get((parent, node.name.value))
            return FieldCost(points) if points else None
        is_list = isinstance(get_nullable_type(definition.type), GraphQLList)
        names = parent, node.name.value
        page = next(filter(None, map(self.weights.page_size, definition.args)), None)
        page = page and self.weights.pages.get(names, page)
        items = self.weights.lists.get(names, self.weights.items)
        own = int(is_resolved(definition))
        nested = self.fields([(named, node.selection_set) for node, _ in same if node.selection_set])
        sizes, flags = self._sizes(node, page is not None, is_list), self._flags(parent, node)
        page_number = self._page_number(node, page is not None)
        return FieldCost(own, page, is_list, items, sizes, nested, flags, page_number)

    def _sizes(self, node: FieldNode, is_page: bool, is_list: bool) -> tuple[int, ...]:
        """
        The arguments that give the length of a field's result, as `FieldCost.sizes`; they are added to `sizes`. Of a
        page they are the arguments that `Weights.page_size` knows, of a list all arguments: the result is as long as
        the longest of these.
        """
        if not is_page and not is_list:
            return ()
        measure = page_size if is_page else length
        arguments = [each for each in node.arguments or () if not is_page or self.weights.page_size(each.name.value)]
        sized = [each.value for each in arguments]
        start = len(self.sizes)
        self.sizes += [self._size(measure, value) for value in sized]
        return tuple(range(start, len(self.sizes)))

    def _flags(self, parent: str, node: FieldNode) -> tuple[tuple[int, int], ...]:
        """The other arguments that cost points, as `FieldCost.flags`; they are added to `sizes`."""
        found = []
        for argument in node.arguments or ():
            for points, measure in self._measures(parent, node.name.value, argument.name.value):
                found.append((len(self.sizes), points))
                self.sizes.append(self._size(measure, argument.value))
        return tuple(found)

    def _measures(self, parent: str, field_name: str, name: str) -> Iterator[tuple[int, Measure]]:
        """How an argument is measured, with the points of each unit."""
        weights = self.weights
        if points := weights.true_arguments.get((parent, field_name, name), weights.true_arguments.get(name)):
            yield points, flag_value
        if points := weights.given_arguments.get(name):
            yield points, given_value
        if points_of := weights.string_costs.get(name):
            yield 1, partial(string_points, points_of)

    def _page_number(self, node: FieldNode, is_page: bool) -> int | None:
        """The index in `sizes` of the argument that selects a page by its number; None without one."""
        for argument in node.arguments or ():
            if is_page and argument.name.value == PAGE_NUMBER:
                self.sizes.append(self._size(page_size, argument.value))
                return len(self.sizes) - 1
        return None

    def _size(self, measure: Measure, value: ValueNode) -> SizeArgument:
        if isinstance(value, VariableNode):
            return SizeArgument(measure, value.name.value, self.defaults.get(value.name.value))
        return SizeArgument(measure, variable=None, literal=value)

    def _selected_fields(self, selections: Sequence[TypedSelection]) -> list[tuple[GraphQLNamedType, FieldNode]]:
        """Return the fields of a level with their parent types. Each fragment is visited once."""
        fields: list[tuple[GraphQLNamedType, FieldNode]] = []
        waiting = list(selections)
        visited: set[str] = set()
        while waiting:
            parent, selection_set = waiting.pop()
            for node in selection_set.selections:
                if isinstance(node, FieldNode):
                    fields.append((parent, node))
                    continue
                fragment = self._fragment(node, visited)
                if fragment is not None:
                    condition = fragment.type_condition
                    type_ = self.schema.type_map[condition.name.value] if condition else parent
                    waiting.append((type_, fragment.selection_set))
        return fields

    def _fragment(self, node: SelectionNode, visited: set[str]) -> InlineFragmentNode | FragmentDefinitionNode | None:
        """The fragment that a selection spreads; None if it was visited before."""
        if isinstance(node, InlineFragmentNode):
            return node
        assert isinstance(node, FragmentSpreadNode), "no other kind of selection exists"
        name = node.name.value
        if name in visited:
            return None
        visited.add(name)
        return self.fragments[name]


def is_resolved(definition: GraphQLField) -> bool:
    """Whether a field has a resolver, and is not an attribute of its object."""
    own = declared_field(definition)
    return not isinstance(own, StrawberryField) or has_resolver(own)


def check_cost(points: int, max_points: int) -> None:
    """
    Raises:
        Refused: the operation costs more points than it may.
    """
    if points > max_points:
        raise Refused(Code.TOO_COSTLY, f"the operation may cost {points} points, more than {max_points}")


def page_size(value: Any) -> int | None:
    """Return the number of an argument, given as a literal or a variable's value."""
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if isfinite(value):
            return int(value)
        case IntValueNode():
            return int(value.value)
        case _:
            return None


def flag_value(value: Any) -> int | None:
    """Return 1 if an argument, as a literal or a variable's value, is true."""
    is_true = value.value if isinstance(value, BooleanValueNode) else value is True
    return 1 if is_true else None


def given_value(value: Any) -> int | None:
    """Return 1 if an argument, as a literal or a variable's value, is given and not null."""
    return None if value is None or isinstance(value, NullValueNode) else 1


def string_points(points: Callable[[str], int], value: Any) -> int | None:
    """Return the points of a string, given as a literal or a variable's value."""
    text = value.value if isinstance(value, StringValueNode) else value
    return points(text) if isinstance(text, str) else None


def length(value: Any) -> int | None:
    """Return the length of a list argument; a single value is coerced to a list of one."""
    match value:
        case None | NullValueNode():
            return None
        case list():
            return len(value)
        case ListValueNode():
            return len(value.values)
        case _:
            return 1
