"""
What an operation may cost, estimated before it is executed from the schema and the variables alone.

A field of objects costs a point each time it is resolved, and a page a point for each of its places; what hangs below
is multiplied. What is read off its parent, such as `pageInfo` or the `node` of an edge, is free, and so are single
values, except long texts: these cost what their bytes cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

from graphql import BooleanValueNode, IntValueNode, ListValueNode, NullValueNode, ValueNode

Values: TypeAlias = Mapping[str, Any]

INTROSPECTION = ("__schema", "__type")
REMEMBERED = 16  # costs of one operation, by the sizes that its variables give
MOST = 2**31  # a size from which on a cost is not remembered: a huge number takes memory


@dataclass(frozen=True, slots=True)
class Weights:
    """
    A page of no given size counts as `page` places, any other list as `items`; `introspection` is for each root.

    `texts` has the points of long texts, by type and field, `switches` those of arguments that are true. An answer
    costs at least a point for `bytes_of_point`, and a page by number a point for each `skipped_of_point` places before.

    A resolver that refuses pages of more than `largest_page` places tells its client so, if the cost does not refuse
    the operation first: below such a page nothing counts.
    """

    page: int = 50
    items: int = 10
    introspection: int = 50
    texts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    switches: Mapping[str, int] = field(default_factory=dict)
    bytes_of_point: int = 10_000
    skipped_of_point: int = 100
    largest_page: int | None = None

    def places(self, sizes: Sequence[int]) -> int:
        """How many places a page counts as, by the sizes that its arguments give."""
        if not sizes:
            return self.page
        largest = max(0, *sizes)
        return 0 if self.largest_page is not None and largest > self.largest_page else largest


@dataclass(frozen=True, slots=True)
class Size:
    """Where a size comes from: a variable of this name, or else what the document says."""

    measure: Callable[[Any], int | None]
    variable: str | None
    written: ValueNode | None

    def value(self, variables: Values) -> int | None:
        is_given = self.variable is not None and self.variable in variables
        return self.measure(variables[self.variable] if is_given and self.variable else self.written)


@dataclass(frozen=True, slots=True)
class Part:
    """
    One field: the points of its own, and its parts, which it has as often as its list is long.

    `sizes` are those that the arguments give: of the pages below it, or of its own list. `switches` are the places of
    arguments that cost points of their own where they are true, and these points. `page_number` is the place
    of the argument `page`: the pages before that one are passed over, which costs less than showing them.
    """

    own: int
    is_page: bool = False
    is_list: bool = False
    sizes: tuple[int, ...] = ()
    parts: "tuple[Part, ...]" = ()
    switches: tuple[tuple[int, int], ...] = ()
    page_number: int | None = None

    def points(self, sizes: Sequence[int | None], weights: Weights, page: int | None) -> int:
        given = [size for place in self.sizes if (size := sizes[place]) is not None]
        size = max(0, *given) if given else None
        below = weights.places(given) if self.is_page else None
        own = self.own + sum([points for place, points in self.switches if sizes[place]])
        own, times = own + self._skipped(sizes, weights, below), 1
        if self.is_list and page is not None:
            own, times = page, page
        elif self.is_list:
            times = weights.items if size is None else size
            own = own if size is None else size
        return own + times * sum(part.points(sizes, weights, below) for part in self.parts)

    def _skipped(self, sizes: Sequence[int | None], weights: Weights, places: int | None) -> int:
        """The points of the places before the page of a number."""
        number = None if self.page_number is None else sizes[self.page_number]
        return max(0, number - 1) * places // weights.skipped_of_point if number and places else 0


@dataclass(slots=True)
class Cost:
    """The cost of an operation, as a function of its variables."""

    weights: Weights
    parts: tuple[Part, ...]
    sizes: Sequence[Size]
    _known: dict[tuple[int | None, ...], int] = field(default_factory=dict)

    def points(self, variables: Values) -> int:
        sizes = tuple([size.value(variables) for size in self.sizes])
        known = self._known.get(sizes)
        if known is None:
            known = sum(part.points(sizes, self.weights, None) for part in self.parts)
            self._remember(sizes, known)
        return known

    def _remember(self, sizes: tuple[int | None, ...], points: int) -> None:
        if any(size is not None and size >= MOST for size in sizes):
            return
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[sizes] = points

    @property
    def held_bytes(self) -> int:
        """What the costs that are remembered hold at most."""
        return REMEMBERED * (200 + 40 * len(self.sizes))


def page_size(value: Any) -> int | None:
    """Of an argument, written in the document or given as a variable."""
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


def switched(value: Any) -> int | None:
    """1 where an argument, written in the document or given as a variable, is true."""
    is_true = value.value if isinstance(value, BooleanValueNode) else value is True
    return 1 if is_true else None


def length(value: Any) -> int | None:
    """A single value is taken for a list of one."""
    match value:
        case None | NullValueNode():
            return None
        case list():
            return len(value)
        case ListValueNode():
            return len(value.values)
        case _:
            return 1
