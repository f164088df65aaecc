"""
A user's home: the articles of the groups that they follow, or of the whole site while they follow none, in any order,
without the articles that they hide, or whose posters they block.

Nothing is stored for it: a read merges the beginnings of the groups' indexes. Below, a list is what one group, or the
whole site, has in one partition (a share of the data), and a place is the position of an article in it. One call of a
script looks at some lists of a partition, and replies with their first places together; a further call goes on where it
has stopped, if places beyond that may be on the page.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from itertools import chain
from math import ceil
from typing import Any, NamedTuple

from store import followed, hidden, keys
from store.client.connection import encoded
from store.hidden import BLOCKED, HIDDEN
from store.home_indexes import SITE_RANKED
from store.listings import Listing, Page, Window
from store.queries import Read
from store.ranking import since
from store.ranking.formulas import Order
from store.records import Position, parse_positions
from store.scripts.registry import Script
from store.site import Site

HOME_GRAVITY = Script("home_gravity")
HOME_NEWEST = Script("home_newest")
HOME_PAGE = Script("home_page")
HOME_SINCE = Script("home_since")

UNBOUNDED_LISTS = 100  # of all partitions; if there are more, some are read first, for a bound (see `Ahead`)
FEW_LISTS = 5  # lists that are read for the bound where much is hidden
LISTS_PER_CALL = 50  # so that no call takes longer than a millisecond
LISTS_BEYOND = 25  # likewise, if the call has to find a position in each list, or reads down to a bound
SEARCHED_LISTS = 20  # likewise, by GRAVITY or by VOTES since an instant: no index has these orders, so each is a search
STEPS = 100  # articles and commands that one search by VOTES since an instant may take
MOST_PLACES = 500  # places that a call of such a search looks at
MOST_READ = 450  # articles that a call reads, about; the lists that it leaves are for the next one
READ_TO_BOUND = 500  # articles of a list that are read down to a bound; if it may be more, they are searched for

# the weights that the values of these orders depend on; the values of other orders depend on none
WEIGHTED_BY = {Order.SCORE: "vote_score", Order.HOT: "hot_seconds", Order.BEST: "best_z"}

# sends reads, and returns their results
Load = Callable[[Sequence[Read[Any]]], Awaitable[list[Any]]]


class Choices(NamedTuple):
    """What a user has chosen: the groups that they follow, and the names of the users whom they block."""

    username: str
    groups: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Chosen(NamedTuple):
    """What a user has chosen at a moment. `hides` changes whenever the user hides or shows an article."""

    choices: Choices
    hides: tuple[object, ...]

    @classmethod
    def of(cls, username: str, results: Sequence[Any]) -> "Chosen":
        """What the reads of `chosen` result in, in their order."""
        names, blocked_names, *hides = results
        return cls(Choices(username, tuple(names), tuple(blocked_names)), tuple(hides))


class HomeListing(NamedTuple):
    """The home of a user in an order. `whole` is the listing of the whole site in that order, with its bounds."""

    name: str
    choices: Choices
    order: Order
    whole: Listing


class IndexGroup(NamedTuple):
    """Lists of one partition that a call reads. Each is the keys of the indexes that have it: see `_indexes`."""

    partition: int
    lists: tuple[tuple[str, ...], ...]


class Ahead(NamedTuple):
    """
    How a page is read ahead: its direction, how many places are wanted, and the instant of the values, if they decay.
    With a `bound`, all places down to that one are looked at: the last place of the page is there, or above it.
    """

    upwards: bool
    wanted: int
    at: int | None
    bound: Position | None = None


class NextPlaces(NamedTuple):
    """
    The next places of an IndexGroup. Only its first `lists` lists were read, as a call may leave the others. Those that
    were read have more places beyond `stop`, unless that is None.
    """

    positions: Sequence[Position]
    stop: Position | None
    lists: int


def groups(site: Site, username: str) -> Read[list[str]]:
    """The names of the groups that a user follows, sorted."""
    return Read(("ZRANGE", followed.followed_groups(site.partition_of_user(username), username), 0, -1), sorted)


def follows_group(site: Site, username: str, group: str) -> Read[bool]:
    key = followed.followed_groups(site.partition_of_user(username), username)
    return Read(("ZSCORE", key, group), _exists)


def follower_count(site: Site, group: str) -> Read[int]:
    return Read(("ZCARD", followed.group_followers(site.partition_of_group(group), group)), int)


def blocked(site: Site, username: str) -> Read[list[str]]:
    """The names, as written, of the users whom a user blocks."""
    return Read(("ZRANGE", BLOCKED(site.partition_of_user(username), username), 0, -1), list)


def chosen(site: Site, username: str) -> list[Read[Any]]:
    """What a user has chosen, for `Chosen.of`. Two commands, and two for each partition."""
    return [groups(site, username), blocked(site, username), *hidden.versions(site, username)]


def listing_of(choices: Choices, order: Order, whole: Listing) -> HomeListing:
    return HomeListing(f"home:{choices.username.lower()}:{whole.name}", choices, order, whole)


async def page(site: Site, load: Load, listing: HomeListing, window: Window) -> Page:
    """
    A page of a home: its counts say only whether there is more on each side. One round trip, two if many lists are
    searched; further ones where much is hidden.
    """
    ahead = places(site, load, listing, window.upwards, count=window.count + 1, beyond=window.beyond, at=window.at)
    if window.beyond is None:
        return page_of(await ahead, [], listing, window)
    just_before = before(window.beyond, window.upwards)
    back = places(site, load, listing, not window.upwards, count=1, beyond=just_before, at=window.at)
    return page_of(*await gather(ahead, back), listing, window)


def page_of(ahead: Sequence[Position], back: Sequence[Position], listing: HomeListing, window: Window) -> Page:
    """
    The page made of the positions `ahead`, one more than the page has if there are more, and of some positions `back`,
    on its other side.
    """
    more, behind, shown = len(ahead) > window.count, len(back), tuple(ahead[: window.count])
    at = instant_of(listing, window)
    if window.upwards:
        return Page(shown[::-1], above=more, below=behind, at=at)
    return Page(shown, above=behind, below=more, at=at)


def instant_of(listing: HomeListing, window: Window) -> int | None:
    """The instant of the values, if they decay."""
    decay = listing.whole.decay
    return None if decay is None else decay.at if window.at is None else window.at


def before(position: Position, upwards: bool) -> Position:
    """
    The position just before another one in the direction of a page. A read against that direction, beyond the result,
    begins with the other one.
    """
    return Position(position.value, keys.member(position.number + (1 if upwards else -1)))


async def places(
    site: Site,
    load: Load,
    listing: HomeListing,
    upwards: bool,
    count: int,
    beyond: Position | None,
    at: int | None = None,
) -> list[Position]:
    """The next `count` places that are shown, each article once, nearest to the position first."""
    ahead, is_searched = Ahead(upwards, count, at), _is_searched(listing.whole)
    followed_groups = len(listing.choices.groups)
    is_many = followed_groups > SEARCHED_LISTS if is_searched else followed_groups * site.partitions > UNBOUNDED_LISTS
    has_bound = is_many and not upwards
    sources = _sources(site, listing, _lists_per_call(beyond, is_searched, has_bound))
    found, stages = dict[str, Position](), [sources]
    if has_bound:
        first = ceil(len(sources) / 10)  # a tenth: see `_sources`
        ahead = await _bounded(load, listing, ahead, sources[:first], beyond)
        if is_searched:  # the bound that the newest articles give is low: each stage raises it for the next one
            stages = [sources[:first], sources[first : 3 * first], sources[3 * first :]]
    for stage in stages:
        await _merge(load, listing, ahead, dict.fromkeys(stage, beyond), found)
        ahead = _with_bound(ahead, found.values()) if has_bound else ahead
    return _ordered(ahead, found.values())


async def _bounded(
    load: Load, listing: HomeListing, ahead: Ahead, some: Sequence[IndexGroup], beyond: Position | None
) -> Ahead:
    """
    The read-ahead with a bound: some of the lists have as many places above it as are wanted. One round trip; more
    where much is hidden.

    If these places lose votes meanwhile, the bound is too high, and the read goes on below it.
    """
    other_script = HOME_NEWEST if _is_searched(listing.whole) else None
    parts = await _read_lists(load, listing, ahead, dict.fromkeys(some, beyond), other_script)
    found = {place.member: place for part in parts.values() for place in part.positions}
    if len(found) < ahead.wanted and not other_script and any(part.stop for part in parts.values()):
        few = IndexGroup(some[0].partition, some[0].lists[:FEW_LISTS])
        await _merge(load, listing, ahead, {few: beyond}, found)
        if len(found) < ahead.wanted and listing.whole.lowest != "-inf":  # the listing's own bound
            return ahead._replace(bound=Position(float(listing.whole.lowest), ""))
    return _with_bound(ahead, found.values())


def _with_bound(ahead: Ahead, found: Collection[Position]) -> Ahead:
    """The read-ahead with the last place that is wanted as its bound, if there are as many."""
    ordered = _ordered(ahead, found)
    return ahead._replace(bound=ordered[-1]) if len(ordered) == ahead.wanted else ahead


def _ordered(ahead: Ahead, found: Collection[Position]) -> list[Position]:
    """The nearest of the places that are found, as many as are wanted, in the direction of the page."""
    return sorted(found, reverse=not ahead.upwards)[: ahead.wanted]


async def _merge(
    load: Load,
    listing: HomeListing,
    ahead: Ahead,
    sources: Mapping[IndexGroup, Position | None],
    found: dict[str, Position],
) -> None:
    """
    Add to `found`, by member, all places that are wanted of some sources. A source is an IndexGroup, with the position
    beyond which it is read.
    """
    is_searched, count = _is_searched(listing.whole), ahead.wanted
    while sources:
        parts = await _read_lists(load, listing, ahead, sources)
        for position in chain.from_iterable(part.positions for part in parts.values()):
            found.setdefault(position.member, position)
        ordered = _ordered(ahead._replace(wanted=count), found.values())
        last = ordered[-1] if len(ordered) == count else None
        stops = {source: part.stop for source, part in parts.items()}
        sources = {source: stop for source, stop in stops.items() if stop and _may_matter(stop, last, ahead.upwards)}
        is_above = ahead.bound is not None and all(stop > ahead.bound for stop in sources.values() if stop)
        wanted = min(4 * ahead.wanted, MOST_PLACES) if is_searched else count
        ahead = ahead._replace(wanted=wanted, bound=ahead.bound if is_above else None)


async def _read_lists(
    load: Load,
    listing: HomeListing,
    ahead: Ahead,
    sources: Mapping[IndexGroup, Position | None],
    other_script: Script | None = None,
) -> dict[IndexGroup, NextPlaces]:
    """
    The next places of all lists of some sources: what one call leaves, the next one reads. `other_script` is called
    instead of that of the order.
    """
    found = dict[IndexGroup, NextPlaces]()
    while sources:
        reads = [_read(listing, source, ahead, beyond, other_script) for source, beyond in sources.items()]
        parts: list[NextPlaces] = await load(reads)
        unread = dict[IndexGroup, Position | None]()
        for (source, beyond), part in zip(sources.items(), parts, strict=True):
            found[IndexGroup(source.partition, source.lists[: part.lists])] = part
            if part.lists < len(source.lists):
                unread[IndexGroup(source.partition, source.lists[part.lists :])] = beyond
        sources = unread
    return found


def _lists_per_call(beyond: Position | None, is_searched: bool, has_bound: bool) -> int:
    if is_searched:
        return LISTS_BEYOND if has_bound else SEARCHED_LISTS
    return LISTS_BEYOND if beyond else LISTS_PER_CALL


def _is_searched(whole: Listing) -> bool:
    """Whether no index has the places in their order, so that a search finds them: see `SEARCHED_LISTS`."""
    return bool(whole.decay or whole.since)


def _may_matter(stop: Position, last: Position | None, upwards: bool) -> bool:
    """Whether a place beyond a stop may come before the last place of a page."""
    return last is None or (stop < last if upwards else stop > last)


def _sources(site: Site, listing: HomeListing, size: int) -> list[IndexGroup]:
    """
    The lists of all partitions, at most `size` in each call. Each call has every n-th of them, so that a few calls are
    a sample of all groups.
    """
    found = []
    for partition in range(site.partitions):
        lists = [_indexes(partition, group, listing) for group in listing.choices.groups or (None,)]
        calls = ceil(len(lists) / size)
        found += [IndexGroup(partition, tuple(lists[first::calls])) for first in range(calls)]
    return found


def _indexes(partition: int, group: str | None, listing: HomeListing) -> tuple[str, ...]:
    """The indexes of a group, or of the whole site, in a partition, as the script of the order takes them."""
    needed: Sequence[Order] = (listing.order,)
    if _is_searched(listing.whole):
        needed = since.INDEXES
    return tuple(
        keys.index(partition, each.value) if group is None else keys.group(partition, group, each.value)
        for each in needed
    )


def _read(
    listing: HomeListing, source: IndexGroup, ahead: Ahead, beyond: Position | None, other_script: Script | None = None
) -> Read[NextPlaces]:
    whole, choices = listing.whole, listing.choices
    # `given` has ARGV 1-5, which differ by script, then ARGV 6-14, which home_places.lua reads in each of them
    script, given = HOME_PAGE, [whole.lowest if whole.lowest != "-inf" else "", "", "", "", ""]
    if whole.decay:
        numbers = (whole.decay.at if ahead.at is None else ahead.at, *whole.decay.numbers)
        no_budget = "0"  # the script sets its own
        script, given = HOME_GRAVITY, [*map(repr, numbers), no_budget]
    elif whole.since:
        script, given = HOME_SINCE, [str(whole.since.at), "", "", "", str(STEPS)]
    position = (repr(beyond.value), beyond.member) if beyond else ("", "")
    names = " ".join(f"{keys.slot(name)}:{name.lower()}" for name in choices.blocked)
    partition, weight = source.partition, WEIGHTED_BY.get(listing.order, "") if choices.groups else ""
    given[1] = given[1] or weight  # only HOME_PAGE takes a weight
    first = [
        keys.article(partition, ""),
        HIDDEN(partition, choices.username),
        keys.ranking(partition),
        SITE_RANKED(partition, "", "")[:-1],  # what keys of this kind begin with
    ]
    direction = "up" if ahead.upwards else "down"
    bound = (repr(ahead.bound.value), ahead.bound.member) if ahead.bound else ("", "")
    given += [direction, str(ahead.wanted), *position, names, *bound, str(READ_TO_BOUND), str(MOST_READ)]
    command = (other_script or script).command([*first, *chain.from_iterable(source.lists)], *given)
    return Read(encoded(command), _places)


def _places(reply: list[str]) -> NextPlaces:
    value, member, lists, *flat = reply
    return NextPlaces(parse_positions(flat), Position(float(value), member) if value else None, int(lists))


def _exists(reply: object) -> bool:
    return reply is not None
