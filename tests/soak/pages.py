"""
Pages of listings: a whole listing is sorted, and the page is cut out of it.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from tests.soak import formulas
from tests.soak.input_checks import BadInput
from tests.soak.model import DAY, Model, canonical
from tests.soak.records import Article, Key, User

# a pin is the copy of a listing that a client reads page by page, so that votes meanwhile move nothing
PIN_MS = 1_000  # pins are shared by all who begin to read within this time
PINNED = 1_000  # entries of a pin, at most
OWN_PIN_MS = 5_000  # a viewer who has posted since so long before the shared pin gets another one
SINCE_ORDERS = ("TIME", "VOTES")  # orders of which the articles since an instant can be listed
Listing = tuple[Any, ...]  # the kind of a listing, and what distinguishes it from others: ("timeline", "alice")


class ThreadListing(NamedTuple):
    """The thread of an article, or of its comment `under`, `deepest` levels below the first one."""

    kind: str
    article: int
    order: str
    under: int | None
    deepest: int


class RepliesListing(NamedTuple):
    """The direct answers to an article or a comment."""

    kind: str
    answered: int
    order: str


class Position(NamedTuple):
    """The position of a cursor. `at` is the instant of its value, if values decay; `pin` has the entries of its pin."""

    listing: Listing
    key: Any
    at: int | None = None
    pin: tuple["ListingEntry", ...] | None = None

    @property
    def article_of_thread(self) -> int | None:
        """The number of the article in whose thread the position is; None for one in another listing."""
        return self.listing.article if isinstance(self.listing, ThreadListing) else None


class PageArguments(NamedTuple):
    """The page arguments of a field. `after` and `before` are a `Position`, or a text that is no known cursor."""

    first: int | None = None
    after: Any = None
    last: int | None = None
    before: Any = None
    page: int | None = None

    def check(self, most: int = 100) -> None:
        """Raise BadInput if the arguments contradict each other, or ask for a page of more than `most` entries."""
        first, after, last, before, page = self
        wrong = (
            (first is not None and not 1 <= first <= most)
            or (last is not None and not 1 <= last <= most)
            or (first is not None and last is not None)
            or (after is not None and last is not None)
            or (before is not None and last is None)
            or (page is not None and (after is not None or last is not None or not 1 <= page < 2**31))
        )
        if wrong:
            raise BadInput

    def position(self, listing: Listing) -> Position | None:
        """The position of the cursor, which has to be one of this listing."""
        cursor = self.before if self.last is not None else self.after
        if cursor is None:
            return None
        if not isinstance(cursor, Position) or cursor.listing != listing:
            raise BadInput
        return cursor


class Edge(NamedTuple):
    cursor: Position
    node: Any


@dataclass
class Page:
    """A page of a listing, as answers show it. Flags and the total may be objects that equal several values."""

    kind: str  # the type of the nodes
    edges: Sequence[Edge]
    has_previous: Any  # a bool, or such an object where the model does not know it
    has_next: Any
    total: Any
    ends: Sequence[Edge] = ()  # the edges whose cursors are in pageInfo
    suggestion: Any = None  # of a search


class ListingEntry(NamedTuple):
    key: Any
    node: Any


def cut(
    kind: str,
    listing: Listing,
    entries: Sequence[ListingEntry],
    paging: PageArguments,
    position: Position | None,
    usual: int = 25,
    *,
    at: int | None = None,
    pin: tuple[ListingEntry, ...] | None = None,
    rising: bool = False,
) -> Page:
    """
    The page of sorted entries: descending by key, or ascending if `rising`. `usual` is its size by default; `at` and
    `pin` become those of its cursors.
    """
    size = paging.first or paging.last or usual
    if paging.last is not None:
        end = len(entries) if position is None else sum(_is_before(each.key, position.key, rising) for each in entries)
        start = max(end - size, 0)
    else:
        start = size * ((paging.page or 1) - 1)
        if position is not None:
            start += sum(each.key == position.key or _is_before(each.key, position.key, rising) for each in entries)
        start = min(start, len(entries))
        end = min(start + size, len(entries))
    edges = [Edge(Position(listing, each.key, at, pin), each.node) for each in entries[start:end]]
    return Page(kind, edges, start > 0, end < len(entries), len(entries), edges)


def _is_before(key: Any, other: Any, rising: bool) -> bool:
    return bool(key < other if rising else key > other)


class Listings:
    """Sorted listings, cached until the model changes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._cache: dict[Any, list[ListingEntry]] = {}
        self._version = -1

    def articles(self, order: str, group: str | None, at: int) -> list[ListingEntry]:
        model = self._model
        if self._version != model.version:
            self._cache.clear()
            self._version = model.version
        key = (order, group, at if order == "GRAVITY" else None)
        if key not in self._cache:
            listed = [each for each in model.visible() if group is None or group in each.groups]
            self._cache[key] = descending([ListingEntry(self.key(order, each, at), each) for each in listed])
        return self._cache[key]

    def key(self, order: str, article: Article, at: int) -> Key:
        """The sort key of an article at an instant, on which it depends in the order GRAVITY only."""
        up, down = len(article.up), len(article.down)
        if order == "ACTIVE":
            value: float = self._model.active_at(article)
        else:
            value = formulas.value(self._model.policy, order, article.posted_at, up, down, at)
        return Key(value, article.posted_at, article.number)

    def page(
        self,
        order: str,
        group: str | None,
        since: int | None,
        paging: PageArguments,
        pinned: bool,
        viewer: User | None,
    ) -> Page:
        """`since` is refused in orders other than TIME and VOTES."""
        if since is not None and order not in SINCE_ORDERS:
            raise BadInput
        paging.check()
        listing, now = ("articles", order, group, since), self._model.now
        position = paging.position(listing)
        is_pinned = position.pin is not None if position else pinned
        if is_pinned:
            pin = position.pin if position else self._pin(order, group, since, viewer)
            return self._pinned(listing, paging, position, pin or ())
        at = (position.at if position else now) if order == "GRAVITY" else None
        entries = self._posted_since(since, self.articles(order, group, now if at is None else at))
        self._count_cases(entries, paging, position)
        return cut("Article", listing, entries, paging, position, at=at)

    def _posted_since(self, since: int | None, entries: list[ListingEntry]) -> list[ListingEntry]:
        if since is None:
            return entries
        later = [each for each in entries if each.node.posted_at >= since]
        self._model.reached.count("listings since an instant", 0 < len(later) < len(entries))
        return later

    def front_page(self, day: int | None, paging: PageArguments) -> Page:
        """Good articles, of the day that begins at an instant, if one is given."""
        paging.check()
        model = self._model
        listing = ("good", day)
        good = [each for each in model.visible() if each.votes >= model.policy.good_votes]
        if day is not None:
            good = [each for each in good if day <= each.posted_at < day + DAY]
        entries = descending([ListingEntry(self.key("TIME", each, at=0), each) for each in good])
        model.reached.count("front pages that have articles", bool(entries))
        return cut("Article", listing, entries, paging, paging.position(listing), usual=50)

    def by_link(self, link: str, paging: PageArguments) -> Page:
        paging.check()
        listing = ("links", canonical(link))
        entries = descending([ListingEntry(self.key("TIME", each, at=0), each) for each in self._model.by_link(link)])
        self._model.reached.count("links of several articles", len(entries) > 1)
        return cut("Article", listing, entries, paging, paging.position(listing))

    def timeline(self, user: User, paging: PageArguments) -> Page:
        paging.check()
        listing = ("timeline", user.lower)
        entries = descending([ListingEntry(self.key("TIME", each, at=0), each) for each in self._model.timeline(user)])
        self._model.reached.count("empty timelines", not entries)
        return cut("Article", listing, entries, paging, paging.position(listing))

    def feed(self, user: User, paging: PageArguments, unseen_only: bool) -> Page:
        paging.check()
        listing = ("feed", user.lower)
        position = paging.position(listing)
        entries = descending([ListingEntry(self.key("TIME", each, at=0), each) for each in self._model.feed(user)])
        self._count_feed_cases(user, entries, position, paging)
        if unseen_only and user.mark is not None:
            entries = [each for each in entries if each.key > user.mark]
            self._model.reached.count("unseenOnly from below the mark", bool(position and position.key < user.mark))
        return cut("Article", listing, entries, paging, position)

    def people(self, kind: str, user: User, paging: PageArguments) -> Page:
        """Followers or followees, the latest first."""
        paging.check()
        listing = (kind, user.lower)
        since = self._model.followers(user) if kind == "followers" else user.following
        entries = descending([ListingEntry((at, each.name), each) for each, at in since.items()])
        return cut("User", listing, entries, paging, paging.position(listing))

    def voters(self, article: Article, paging: PageArguments) -> Page | None:
        paging.check()
        listing = ("voters", article.number)
        position = paging.position(listing)
        if not self._model.has_voters(article):
            return None
        voters = sorted(article.up, key=lambda user: user.lower)
        entries = [ListingEntry(user.lower, user) for user in voters]
        return cut("User", listing, entries, paging, position, rising=True)

    def moderators(self, group: str | None, paging: PageArguments) -> Page:
        """Those with a role in a group, or in the whole site: the latest first."""
        paging.check()
        listing = ("moderators", group)
        entries = []
        for user in self._model.users.values():
            since = [at for (_, of), at in user.roles.items() if of == group]
            entries += [ListingEntry((max(since), user.name), user)] if since else []
        entries = descending(entries)
        self._model.reached.count("moderators of groups" if group else "moderators of the site", bool(entries))
        return cut("User", listing, entries, paging, paging.position(listing))

    def groups(self, paging: PageArguments) -> Page:
        paging.check()
        names = sorted({name for article in self._model.visible() for name in article.groups})
        entries = [ListingEntry(name, name) for name in names]
        return cut("Group", ("groups",), entries, paging, paging.position(("groups",)), rising=True)

    def _pin(self, order: str, group: str | None, since: int | None, viewer: User | None) -> tuple[ListingEntry, ...]:
        """A new pin, or the one shared within this second, unless the viewer has posted since."""
        model = self._model
        at = model.now // PIN_MS * PIN_MS
        shared = model.pins.get((order, group, since, at))
        if shared is None:
            shared = pinned_entries(self._posted_since(since, self.articles(order, group, at)))
            if shared:
                model.pins[order, group, since, at] = shared
        elif viewer and any(each.posted_at >= at - OWN_PIN_MS for each in model.timeline(viewer)):
            model.reached.count("pins of those who have posted")
            return pinned_entries(self._posted_since(since, self.articles(order, group, model.now)))
        return shared

    def _pinned(
        self, listing: Listing, paging: PageArguments, position: Position | None, pin: tuple[ListingEntry, ...]
    ) -> Page:
        """A page of a pin without articles that are gone. If all are, it still has the cursors of its ends."""
        page, reached = cut("Article", listing, pin, paging, position, pin=pin, rising=True), self._model.reached
        removed = [edge for edge in page.edges if not edge.node.is_visible]
        page.edges = [edge for edge in page.edges if edge.node.number in self._model.articles and edge.node.is_visible]
        reached.count("pinned pages with deleted articles", len(page.edges) + len(removed) < len(page.ends))
        reached.count("pinned pages with removed articles", bool(removed))
        reached.count("pinned pages of deleted articles alone", bool(page.ends) and not page.edges)
        page.ends = page.edges or page.ends
        return page

    def _count_cases(self, entries: Sequence[ListingEntry], paging: PageArguments, position: Position | None) -> None:
        reached = self._model.reached
        equal = [(one.node, other.node) for one, other in pairwise(entries) if one.key.value == other.key.value]
        are_apart = {self._model.partition(one) != self._model.partition(other) for one, other in equal}
        reached.count("equal values", False in are_apart)
        reached.count("equal values of several partitions", True in are_apart)
        reached.count("backward pages", paging.last is not None)
        reached.count("pages after a cursor", position is not None)

    def _count_feed_cases(
        self, user: User, entries: Sequence[ListingEntry], position: Position | None, paging: PageArguments
    ) -> None:
        if position is None or paging.last is not None:
            return
        below = [each.node.poster for each in entries if each.key < position.key]
        above = {each.node.poster for each in entries if each.key >= position.key}
        past = above - set(below)
        self._model.reached.count("feed pages past an empty timeline", len(below) > (paging.first or 25) and bool(past))


def pinned_entries(entries: Sequence[ListingEntry]) -> tuple[ListingEntry, ...]:
    """The first entries of a listing, with their indexes as keys."""
    return tuple(ListingEntry(index, entry.node) for index, entry in enumerate(entries[:PINNED]))


def descending(entries: list[ListingEntry]) -> list[ListingEntry]:
    return sorted(entries, key=lambda entry: entry.key, reverse=True)
