"""Pages of listings in the model: the whole listing is laid out, and cut where the arguments say."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from tests.soak import formulas
from tests.soak.model import Article, BadInput, Key, Model, User, canonical

PIN_MS = 1_000  # who begins to read within the same second reads the same pin
PINNED = 1_000  # places
OWN_PIN_MS = 5_000  # who has posted lately gets a pin of their own, which has their post
SINCE_ORDERS = ("TIME", "VOTES")
Listing = tuple[Any, ...]


class Position(NamedTuple):
    """What a cursor stands for. `at` is the instant of the values, where they decay; `pin` what stands still."""

    listing: Listing
    key: Any
    at: int | None = None
    pin: tuple["Entry", ...] | None = None


class Asked(NamedTuple):
    first: int | None = None
    after: Any = None
    last: int | None = None
    before: Any = None
    page: int | None = None

    def check(self) -> None:
        first, after, last, before, page = self
        wrong = (
            (first is not None and not 1 <= first <= 100)
            or (last is not None and not 1 <= last <= 100)
            or (first is not None and last is not None)
            or (after is not None and last is not None)
            or (before is not None and last is None)
            or (page is not None and (after is not None or last is not None or not 1 <= page < 2**31))
        )
        if wrong:
            raise BadInput

    def position(self, listing: Listing) -> Position | None:
        """What the cursor stands for; it has to be one of this listing."""
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
    kind: str
    edges: Sequence[Edge]
    has_previous: bool
    has_next: bool
    total: int
    ends: Sequence[Edge] = ()  # whose cursors are those of the page


class Entry(NamedTuple):
    key: Any
    node: Any


def cut(
    kind: str,
    listing: Listing,
    entries: Sequence[Entry],
    asked: Asked,
    position: Position | None,
    usual: int = 25,
    *,
    at: int | None = None,
    pin: tuple[Entry, ...] | None = None,
    rising: bool = False,
) -> Page:
    """The page of entries, which stand in their order: falling by key unless `rising`."""
    size = asked.first or asked.last or usual
    if asked.last is not None:
        end = len(entries) if position is None else sum(_is_before(each.key, position.key, rising) for each in entries)
        start = max(end - size, 0)
    else:
        start = size * ((asked.page or 1) - 1)
        if position is not None:
            start += sum(each.key == position.key or _is_before(each.key, position.key, rising) for each in entries)
        start = min(start, len(entries))
        end = min(start + size, len(entries))
    edges = [Edge(Position(listing, each.key, at, pin), each.node) for each in entries[start:end]]
    return Page(kind, edges, start > 0, end < len(entries), len(entries), edges)


def _is_before(key: Any, other: Any, rising: bool) -> bool:
    return bool(key < other if rising else key > other)


class Listings:
    """Lays listings out. What was laid out is kept until something changes, or the clock does where that matters."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._kept: dict[Any, list[Entry]] = {}
        self._version = -1

    def articles(self, order: str, group: str | None, at: int) -> list[Entry]:
        model = self._model
        if self._version != model.version:
            self._kept.clear()
            self._version = model.version
        wanted = (order, group, at if order == "GRAVITY" else None)
        if wanted not in self._kept:
            listed = [each for each in model.articles.values() if group is None or group in each.groups]
            self._kept[wanted] = falling([Entry(self.key(order, each, at), each) for each in listed])
        return self._kept[wanted]

    def key(self, order: str, article: Article, at: int) -> Key:
        up, down = len(article.up), len(article.down)
        value = formulas.value(self._model.policy, order, article.posted_at, up, down, at)
        return Key(value, article.posted_at, article.number)

    def page(
        self, order: str, group: str | None, since: int | None, asked: Asked, pinned: bool, viewer: User | None
    ) -> Page:
        """`since` is an instant before which articles were not posted, where the order takes one."""
        if since is not None and order not in SINCE_ORDERS:
            raise BadInput
        asked.check()
        listing, now = ("articles", order, group, since), self._model.now
        position = asked.position(listing)
        if position.pin is not None if position else pinned:
            pin = position.pin if position else self._pin(order, group, since, viewer)
            return self._pinned(listing, asked, position, pin or ())
        at = (position.at if position else now) if order == "GRAVITY" else None
        entries = self._posted_since(since, self.articles(order, group, now if at is None else at))
        self._look_at(entries, asked, position)
        return cut("Article", listing, entries, asked, position, at=at)

    def _posted_since(self, since: int | None, entries: list[Entry]) -> list[Entry]:
        if since is None:
            return entries
        later = [each for each in entries if each.node.posted_at >= since]
        self._model.reached.count("listings since an instant", 0 < len(later) < len(entries))
        return later

    def front_page(self, day: int | None, asked: Asked) -> Page:
        asked.check()
        model = self._model
        listing = ("good", day)
        good = [each for each in model.articles.values() if each.votes >= model.policy.good_votes]
        if day is not None:
            good = [each for each in good if day <= each.posted_at < day + 86_400_000]
        entries = falling([Entry(self.key("TIME", each, 0), each) for each in good])
        model.reached.count("front pages that have articles", bool(entries))
        return cut("Article", listing, entries, asked, asked.position(listing), 50)

    def by_link(self, link: str, asked: Asked) -> Page:
        asked.check()
        listing = ("links", canonical(link))
        entries = falling([Entry(self.key("TIME", each, 0), each) for each in self._model.by_link(link)])
        self._model.reached.count("links of several articles", len(entries) > 1)
        return cut("Article", listing, entries, asked, asked.position(listing))

    def timeline(self, user: User, asked: Asked) -> Page:
        asked.check()
        listing = ("timeline", user.lower)
        entries = falling([Entry(self.key("TIME", each, 0), each) for each in self._model.timeline(user)])
        self._model.reached.count("empty timelines", not entries)
        return cut("Article", listing, entries, asked, asked.position(listing))

    def feed(self, user: User, asked: Asked, unseen_only: bool) -> Page:
        asked.check()
        listing = ("feed", user.lower)
        position = asked.position(listing)
        entries = falling([Entry(self.key("TIME", each, 0), each) for each in self._model.feed(user)])
        self._look_at_feed(user, entries, position, asked)
        if unseen_only and user.mark is not None:
            entries = [each for each in entries if each.key > user.mark]
            self._model.reached.count("unseenOnly from below the mark", bool(position and position.key < user.mark))
        return cut("Article", listing, entries, asked, position)

    def people(self, kind: str, user: User, asked: Asked) -> Page:
        """Followers or followees, the latest first."""
        asked.check()
        listing = (kind, user.lower)
        since = self._model.followers(user) if kind == "followers" else user.following
        entries = falling([Entry((at, each.name), each) for each, at in since.items()])
        return cut("User", listing, entries, asked, asked.position(listing))

    def voters(self, article: Article, asked: Asked) -> Page | None:
        asked.check()
        listing = ("voters", article.number)
        position = asked.position(listing)
        if not self._model.is_open(article):
            return None
        voters = sorted(article.up | article.down, key=lambda user: user.lower)
        entries = [Entry(user.lower, user) for user in voters]
        return cut("User", listing, entries, asked, position, rising=True)

    def groups(self, asked: Asked) -> Page:
        asked.check()
        names = sorted({name for article in self._model.articles.values() for name in article.groups})
        entries = [Entry(name, name) for name in names]
        return cut("Group", ("groups",), entries, asked, asked.position(("groups",)), rising=True)

    def _pin(self, order: str, group: str | None, since: int | None, viewer: User | None) -> tuple[Entry, ...]:
        """What stands still from now on: what others pinned within this second, unless the viewer has posted since."""
        model = self._model
        at = model.now // PIN_MS * PIN_MS
        shared = model.pins.get((order, group, since, at))
        if shared is None:
            shared = standing_still(self._posted_since(since, self.articles(order, group, at)))
            if shared:
                model.pins[order, group, since, at] = shared
        elif viewer and any(each.posted_at >= at - OWN_PIN_MS for each in model.timeline(viewer)):
            model.reached.count("pins of those who have posted")
            return standing_still(self._posted_since(since, self.articles(order, group, model.now)))
        return shared

    def _pinned(self, listing: Listing, asked: Asked, position: Position | None, pin: tuple[Entry, ...]) -> Page:
        """Articles that were deleted since are left out; of a page of nothing else the cursors are left."""
        page, reached = cut("Article", listing, pin, asked, position, pin=pin, rising=True), self._model.reached
        page.edges = [edge for edge in page.edges if edge.node.number in self._model.articles]
        reached.count("pinned pages with deleted articles", len(page.edges) < len(page.ends))
        reached.count("pinned pages of deleted articles alone", bool(page.ends) and not page.edges)
        page.ends = page.edges or page.ends
        return page

    def _look_at(self, entries: Sequence[Entry], asked: Asked, position: Position | None) -> None:
        reached = self._model.reached
        homes = {}
        for one, other in pairwise(entries):
            if one.key.value == other.key.value:
                homes[self._model.partition(one.node) != self._model.partition(other.node)] = True
        reached.count("equal values", False in homes)
        reached.count("equal values of several partitions", True in homes)
        reached.count("backward pages", asked.last is not None)
        reached.count("pages after a cursor", position is not None)

    def _look_at_feed(self, user: User, entries: Sequence[Entry], position: Position | None, asked: Asked) -> None:
        if position is None or asked.last is not None:
            return
        below = [each.node.poster for each in entries if each.key < position.key]
        above = {each.node.poster for each in entries if each.key >= position.key}
        past = above - set(below)
        self._model.reached.count("feed pages past an empty timeline", len(below) > (asked.first or 25) and bool(past))


def standing_still(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The first of a listing by their places, whatever their values were."""
    return tuple(Entry(place, entry.node) for place, entry in enumerate(entries[:PINNED]))


def falling(entries: list[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.key, reverse=True)
