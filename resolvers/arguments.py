"""Arguments of queries and subscriptions: pages, ids, groups and orders. A wrong one is BadInput."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import wraps
from inspect import Parameter, signature
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from store import listings, records, validation
from store.errors import Invalid
from store.listings import Listing
from store.ranking import since
from store.ranking.formulas import PAGE_SIZE, Order
from store.site import Site

SIZES = range(1, 101)  # items of a page
MAX_IDS = 100
HIGHEST_PAGE = 2**31 - 1  # the highest integer of GraphQL
NO_GROUP = "-"  # no valid name: nothing is ever posted to it

P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")


class BadInput(Exception):
    """A malformed id, a cursor of another listing, a page size out of bounds: the message says what and where."""


class PageArguments(NamedTuple):
    """
    The paging arguments of a field, as in the Relay specification: `first` and `last` are numbers of items, `after` and
    `before` are cursors. `page` is the number of a page, counted from 1.
    """

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None
    page: int | None = None

    def size(self, default: int = PAGE_SIZE, largest: int = SIZES[-1]) -> int:
        for name, value in (("first", self.first), ("last", self.last)):
            if value is not None and not 1 <= value <= largest:
                raise BadInput(f"{name} is 1 to {largest}, not {value}")
        return self.first or self.last or default

    def check(self) -> None:
        """Raise BadInput for arguments that exclude each other."""
        if self.first is not None and self.last is not None:
            raise BadInput("first and last exclude each other")
        if self.after is not None and self.last is not None:
            raise BadInput("after goes with first; last goes with before")
        if self.before is not None and self.last is None:
            raise BadInput("before goes with last")
        if self.page is not None and (self.after is not None or self.last is not None):
            raise BadInput("page excludes after, before and last")
        if self.page is not None and not 1 <= self.page <= HIGHEST_PAGE:
            raise BadInput(f"page counts from 1, not {self.page}")

    @property
    def cursor(self) -> str | None:
        return self.before if self.last is not None else self.after


RELAY_ARGUMENTS = [
    Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=PageArguments.__annotations__[name])
    for name in ("first", "after", "last", "before")
]


def paginated(resolver: Callable[..., Awaitable[R]]) -> Callable[..., Awaitable[R]]:
    """
    Give a field Relay's four paging arguments, and its resolver one parameter `paging` in their place.

    The signature of the decorated resolver has the four, because fields are made from signatures.
    """

    @wraps(resolver)
    async def resolve(
        *positional: Any,
        first: int | None = None,
        after: str | None = None,
        last: int | None = None,
        before: str | None = None,
        **others: Any,
    ) -> R:
        return await resolver(*positional, paging=PageArguments(first, after, last, before), **others)

    declared = signature(resolver)
    expanded = [RELAY_ARGUMENTS if each.name == "paging" else [each] for each in declared.parameters.values()]
    resolve.__signature__ = declared.replace(parameters=list(chain(*expanded)))  # type: ignore[attr-defined]  # read by inspect
    return resolve


def article_number(id: str) -> int:
    """The number in the argument `id`."""
    number = records.article_number(id)
    if number is None:
        raise BadInput(f"an article's id looks like article:1541, not {id[:100]}")
    return number


def check_count(ids: Sequence[str]) -> None:
    """Raise BadInput for more than `MAX_IDS` ids."""
    if len(ids) > MAX_IDS:
        raise BadInput(f"at most {MAX_IDS} ids at once, not {len(ids)}")


def comment_number(id: str) -> int:
    """The number in the argument `id`, of a comment."""
    number = records.comment_number(id)
    if number is None:
        raise BadInput(f"a comment's id looks like comment:1541, not {id[:100]}")
    return number


def group_name(name: str) -> str:
    """
    The name of a group in lower case, from the argument `group` or `name`.

    A name that no group can have becomes `NO_GROUP`, whose listings are empty as those of any unknown group.
    """
    return name.lower() if validation.GROUP.fullmatch(name) else NO_GROUP


def checked_link(text: str) -> str:
    try:
        return validation.link(text)
    except Invalid as fault:
        raise BadInput(fault.message) from fault


def maintained_order(site: Site, order: Order | None) -> Order:
    """
    The order, SCORE if it is null.

    Raises:
        BadInput: the store does not maintain it, as each site chooses its orders. The message lists the valid ones.
    """
    order = order or Order.SCORE
    if order not in site.rankings.orders:
        valid = ", ".join(each.name for each in site.rankings.orders)
        raise BadInput(f"{order.name} is not maintained here; valid orders are {valid}")
    return order


def articles_by(site: Site, order: Order | None, group: str | None, posted_since: int | None = None) -> Listing:
    """
    The listing of all articles, or of those of a group; without those posted before an instant (unix milliseconds).

    Raises:
        BadInput: the store does not maintain the order, or `posted_since` is given and the order cannot be combined
            with it.
    """
    order = maintained_order(site, order)
    if posted_since is None:
        return listings.whole(site, order) if group is None else listings.group(site, group, order)
    possible = since.orders(site.rankings.orders)
    if order not in possible:
        valid = ", ".join(each.name for each in possible) or "none"
        raise BadInput(f"{order.name} does not take since; orders that take it here are {valid}")
    return listings.posted_since(site, group, order, posted_since)


def for_each(parents: Sequence[P], value: Callable[[P], T]) -> list[T | BadInput]:
    """The value of each parent, or its BadInput: the error of one parent does not affect the others."""
    with suppress(BadInput):  # the usual case is fast
        return [value(parent) for parent in parents]
    return [_value_or_error(value, parent) for parent in parents]


def _value_or_error(value: Callable[[P], T], parent: P) -> T | BadInput:
    try:
        return value(parent)
    except BadInput as error:
        return error
