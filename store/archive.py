"""
What Redis has of archived articles, which are in the database: how many there are, the greatest values of their places,
and which places in the database do not count.

An article leaves Redis in this order: it is marked as moving, the database writes its places, and `archive.lua` removes
it from Redis and the mark. To change it, `unarchive.lua` writes it back and marks it; later the database removes its
places, and then the mark is removed. So an article is archived if Redis does not have it and it is not marked, and a
crash between any two steps changes no answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import NamedTuple

from store import feeds, keys, links
from store.client import Argument
from store.feeds import Pull
from store.listings import TIMELINE, Listing, Window
from store.queries import Read
from store.ranking.formulas import Order
from store.records import Article, PartitionPage, Position, article, pairs
from store.scripts.registry import MISSING_ARTICLES, UNARCHIVE
from store.site import Site

NO_FIELD = "-"  # which no hash `archived` has
CALLS = count()  # makes reads different that must not be answered by an earlier one of the same request


@dataclass(frozen=True, slots=True)
class Summary:
    """
    What Redis has of the archived places of a listing. No value is above `greatest`, no posting time above `newest`,
    no votes above `most_votes`; all are -inf if there are none. `count` is None if only the database can count them.
    """

    count: int | None
    greatest: float
    newest: float
    most_votes: float


class State(NamedTuple):
    """Of an article that Redis did not have a moment ago: itself, or whether the database may have it archived."""

    article: Article | None
    may_be_archived: bool


class PosterState(NamedTuple):
    """What `archived` has of a poster (see `unarchive.lua`), and the articles of the partition that are moving."""

    known: str
    moving: frozenset[int]


def summary(site: Site, listing: Listing) -> list[Read[Summary]]:
    """The reads of a listing's summary, one for each partition that has the listing."""
    kind, *names = listing.name.split(":")
    if kind == TIMELINE:
        command = ("HGET", keys.archived(site.home_of_user(names[0])), f"user:{names[0]}")
        return [Read(command, _timeline_summary)]
    counter: str | None
    if kind == "good":
        counter, tops = "count:good", ["good"] * 3
    elif kind == "links":
        counter, tops = None, [Order.TIME.value] * 3
    else:
        group = f"group:{names[0]}" if kind == "group" else ""
        order = names[1] if kind == "group" else kind
        counter = f"count:{group}" if group else "count"
        tops = [f"{group}:{each}" if group else each for each in (order, Order.TIME.value, Order.VOTES.value)]
    if (listing.lowest, listing.highest, listing.since) != ("-inf", "+inf", None):
        counter = None
    fields = (counter or NO_FIELD, *(f"top:{each}" for each in tops))
    commands = [("HMGET", keys.archived(p), *fields) for p in range(site.partitions)]
    return [Read(command, _summary, (counter is not None,)) for command in commands]


def merged(parts: Sequence[Summary]) -> Summary:
    counts = [part.count for part in parts if part.count is not None]
    return Summary(
        sum(counts) if len(counts) == len(parts) else None,
        max(part.greatest for part in parts),
        max(part.newest for part in parts),
        max(part.most_votes for part in parts),
    )


def newest(site: Site) -> list[Read[float]]:
    """The reads of the time that no archived article of each partition was posted after; -inf without any."""
    return [Read(("HGET", keys.archived(p), f"top:{Order.TIME.value}"), _value) for p in range(site.partitions)]


def moving(site: Site) -> list[Read[frozenset[int]]]:
    """The reads of the articles whose places in the database do not count, one for each partition, each a new one."""
    call = next(CALLS)
    return [Read(("SMEMBERS", keys.moving(p)), _numbers, (call,)) for p in range(site.partitions)]


def counts(site: Site, usernames: Sequence[str]) -> list[Read[int]]:
    """The reads of the numbers of archived articles of users."""
    return [
        Read(("HMGET", keys.archived(p), *(f"user:{name.lower()}" for name in names)), _count_of_users)
        for p, names in feeds.calls(site, usernames, feeds.NAMES_PER_CALL)
    ]


def states(site: Site, numbers: Sequence[int]) -> list[Read[dict[int, State]]]:
    """The reads of the states of articles, one for each partition, each a new one."""
    call, by_partition = next(CALLS), dict[int, list[int]]()
    for number in numbers:
        by_partition.setdefault(site.home_of_article(number), []).append(number)
    return [
        Read(MISSING_ARTICLES.command([keys.article(p, ""), keys.moving(p)], *part), _states, (call, tuple(part)))
        for p, part in by_partition.items()
    ]


def part_without_database(
    listing: Listing, window: Window, parts: Sequence[PartitionPage], known: Summary
) -> PartitionPage | None:
    """
    The archive's part of a page, if no archived place is on the page or before it; else None: the database has to be
    asked. `parts` are those of all partitions, each with the positions that `window.skip` passes over.
    """
    at = parts[0].at
    lowest = listing.since.at if listing.since else float(listing.lowest)
    if known.count == 0 or known.newest == -inf or ((listing.by_time or listing.since) and lowest > known.newest):
        return PartitionPage(0, 0, (), at)
    if known.count is None:
        return None
    greatest, nothing_before = _greatest(listing, known, at), PartitionPage(0, known.count, (), at)
    if window.beyond is not None and window.beyond.value <= greatest:
        return None
    if window.upwards:
        return nothing_before if window.beyond else None
    values = sorted((position.value for part in parts for position in part.positions), reverse=True)
    size = window.skip + window.count
    return nothing_before if len(values) >= size and values[size - 1] > greatest else None


def is_above_all(listing: Listing, position: Position, known: Summary) -> bool:
    """Whether a position is above all archived places of a listing."""
    if known.count == 0 or known.newest == -inf:
        return True
    return position.value > _greatest(listing, known, None)


def is_feed_page_whole(pulled: Pull, window: Window, floor: Position | None, newest: float) -> bool:
    """
    Whether no archived article changes a page of a feed as Redis has it. `newest` is the time that no archived article
    was posted after.
    """
    if newest == -inf or (floor and floor.value > newest):
        return True
    if window.beyond and window.beyond.value <= newest:
        return False
    if window.upwards:
        return window.beyond is not None and pulled.behind
    return len(pulled.positions) >= window.count and pulled.positions[window.count - 1].value > newest


def without_known(part: PartitionPage, parts: Sequence[PartitionPage]) -> PartitionPage:
    """The archive's part of a page without articles that were in Redis when the other parts were read."""
    members = {position.member for each in parts for position in each.positions}
    return part._replace(positions=tuple([each for each in part.positions if each.member not in members]))


async def poster_state(site: Site, number: int, poster: str) -> PosterState:
    """What has to be read before the database is, to write an article back. One round trip."""
    p = site.home_of_article(number)
    commands = [("HGET", keys.archived(p), f"user:{poster.lower()}"), ("SMEMBERS", keys.moving(p))]
    known, marked = await site.redis.pipeline(commands)
    return PosterState(known or "", frozenset(map(int, marked)))


async def unarchive(site: Site, archived: Article, state: PosterState, newest: Position | None) -> str:
    """
    Write an archived article back. `newest` is the poster's newest other one. One round trip.

    The status is "unarchived", also if Redis has the article; "missing" if it was deleted; "changed" if articles of the
    poster have moved since `state` was read.
    """
    p = site.home_of_article(archived.number)
    place: tuple[Argument, Argument] = (round(newest.value), newest.number) if newest else ("", "")
    status: str
    (status,) = await site.redis.run(site.command(UNARCHIVE, p, archived.number, state.known, *place, *_flat(archived)))
    return status


def fields(archived: Article) -> dict[str, str]:
    """The fields of an article's hash, without what is derived from others."""
    values = {
        "title": archived.title,
        "poster": archived.poster,
        "time": archived.posted_at,
        "up": archived.upvotes,
        "down": archived.downvotes,
        "groups": " ".join(archived.groups),
        "link": archived.link,
        "content": archived.content,
        "imported": archived.imported or None,
        "edited": archived.edited_at,
        "active": archived.active_at,
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _flat(archived: Article) -> list[str]:
    digest = links.digest(archived.link or "")
    derived = {links.FIELD: digest} if digest else {}
    return [text for pair in (fields(archived) | derived).items() for text in pair]


def _greatest(listing: Listing, known: Summary, at: int | None) -> float:
    """A value that no archived place of a listing exceeds. By GRAVITY that of the most votes at the newest time."""
    if -inf in (known.greatest, known.most_votes if listing.decay else 0):
        return inf  # of an order that was added later
    if not listing.decay:
        return known.greatest
    votes_exponent, age_exponent, delay = listing.decay.numbers
    base = max(known.most_votes - 1, 0) ** votes_exponent
    minutes = max((listing.decay.at if at is None else at) - known.newest, 0) / 60_000
    greatest: float = base / ((minutes + delay) / 60) ** age_exponent
    return greatest * (1 + 1e-9)


def _summary(is_counted: bool, reply: list[str | None]) -> Summary:
    counter, *values = reply
    return Summary(int(counter or 0) if is_counted else None, *map(_value, values))


def _timeline_summary(reply: str | None) -> Summary:
    if reply is None:
        return Summary(0, -inf, -inf, -inf)
    number, newest, _ = map(int, reply.split())
    return Summary(number, newest, newest, -inf)


def _value(text: str | None) -> float:
    return -inf if text is None else float(text)


def _count_of_users(reply: Sequence[str | None]) -> int:
    return sum(int(text.split()[0]) for text in reply if text)


def _numbers(call: int, reply: Sequence[str]) -> frozenset[int]:
    return frozenset(map(int, reply))


def _states(call: int, numbers: Sequence[int], reply: Sequence[list[str]]) -> dict[int, State]:
    return {number: _state(number, flat) for number, flat in zip(numbers, reply, strict=True)}


def _state(number: int, flat: list[str]) -> State:
    if len(flat) == 1:
        return State(None, flat == ["absent"])
    return State(article(number, pairs(flat)), False)
