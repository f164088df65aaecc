"""
Listings of archived articles by GRAVITY, whose values change with age.

As no index can have values that change, such a listing has an index by posting time for each class of votes: articles
whose `votes - 1` have the same sign and the same first `DIGITS` binary digits. Within a class, values differ by votes
by a few percent only, so all that may stand next to a position was posted within a short time. A page takes two or
three statements, each of which reads a part of every class. Articles posted at or after the instant have no age: they
are ordered by votes.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from math import ceil, floor, inf

from sqlalchemy import Connection

from database import place_reads as reads
from database import since
from database.place_reads import EARLIEST, LAST_NUMBER, LATEST, Key, Place, Range
from database.since import Indexes
from store.listings import Listing, Window
from store.ranking.formulas import Order
from store.ranking.standings import Rank
from store.records import PartitionPage, Position

TOLERANCE = 1e-9  # relative error of a computation
NEVER = 2**42  # milliseconds: above any posting time
MOST_VOTES = 2**40
MAX_READ = 500  # places of a class to read at first
MOST_UNSURE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Formula:
    """`Policy.gravity` at an instant. A size is the distance of a value from 0."""

    at: int
    votes: float
    age: float
    delay: float

    def value(self, votes: int, time: int) -> float:
        base = votes - 1
        sign = _sign(base)
        return sign * self.weight(sign, abs(base)) / self.decay(time)

    def value_of(self, place: Place) -> float:
        """The value of an article by its place in an index by time."""
        return self.value(place.extra or 0, int(place.value))

    def first_value(self, votes: int) -> float:
        """The value of an article of age 0."""
        return self.value(votes, self.at)

    def weight(self, sign: int, base: int) -> float:
        """The size of an article of |votes - 1| = `base`, without its decay."""
        return float(base**self.votes) if sign > 0 else base

    def decay(self, time: int) -> float:
        decay: float = ((max(self.at - time, 0) / 60_000 + self.delay) / 60) ** self.age
        return decay

    def times(self, weight: float, size: float) -> tuple[int, int]:
        """
        The first and last posting time at which an article of this weight may have a size: one posted earlier is
        smaller, one posted later is larger. The first is NEVER if even an article of age 0 is smaller, the last if none
        is larger.
        """
        ratio, instant = weight / size, self.at + self.delay * 60_000
        first = instant - self._hours(ratio * (1 + TOLERANCE)) * 3_600_000 - 1
        last = instant - self._hours(ratio * (1 - TOLERANCE)) * 3_600_000 + 1
        if first > self.at:
            return NEVER, NEVER
        return floor(max(first, 0.0)), NEVER if last >= self.at else ceil(max(last, 0.0))

    def _hours(self, decay: float) -> float:
        try:
            hours: float = decay ** (1 / self.age)
        except OverflowError:
            return inf
        return hours


@dataclass(slots=True)
class Run:
    """
    The times of a class that are still to be read, as keys. `lightest` and `heaviest` are the weights of its lowest and
    its highest base.
    """

    index: int
    lightest: float
    heaviest: float
    low: Key
    high: Key

    @property
    def range(self) -> Range:
        return Range(self.index, self.low, self.high)

    def after(self, key: Key, upwards: bool) -> "Run":
        """The run after a key that was read."""
        return replace(self, low=key) if upwards else replace(self, high=key)

    def beyond(self, formula: Formula, size: float, outward: bool) -> "Run":
        """The run without the times at which no article is larger (outward) or smaller than a size, or of that size."""
        if outward:
            return replace(self, low=max(self.low, (formula.times(self.heaviest, size)[0], -1)))
        return replace(self, high=min(self.high, (formula.times(self.lightest, size)[1], LAST_NUMBER)))

    def surely_beyond(self, formula: Formula, size: float, outward: bool) -> Range:
        """The times at which all articles are larger (outward) or smaller than a size."""
        if outward:
            return Range(self.index, max(self.low, (formula.times(self.lightest, size)[1], LAST_NUMBER)), self.high)
        return Range(self.index, self.low, min(self.high, (formula.times(self.heaviest, size)[0], -1)))


def page(connection: Connection, listing: Listing, window: Window, without: Collection[int] = ()) -> PartitionPage:
    """The part of a page that the archive holds, by the values at the instant of the window or of the listing."""
    formula = _formula(listing, window.at)
    of = since.indexes(connection, Order.GRAVITY, listing.name)
    if not of:
        return PartitionPage(0, 0, (), formula.at)
    total = of.by_votes.size - len(reads.places_of(connection, of.by_votes, without))
    key, upwards = reads.key_of(window.beyond) if window.beyond else None, window.upwards
    found = _positions(connection, of, formula, upwards, key, window.count + 1, without)
    shown, has_more, has_behind = found[: window.count], len(found) > window.count, False
    if key:
        nudged = (key[0], key[1] + (1 if upwards else -1))
        has_behind = bool(_positions(connection, of, formula, not upwards, nudged, 1, without))
    has_above, has_below = (has_more, has_behind) if upwards else (has_behind, has_more)
    above = 0 if not has_above else 1 if has_below else max(total - len(shown), 0)
    placed = tuple(reads.position(*each) for each in (reversed(shown) if upwards else shown))
    return PartitionPage(above, total, placed, formula.at)


def ranks(
    connection: Connection, listing: Listing, positions: Sequence[Position], without: Collection[int] = ()
) -> list[Rank]:
    """The ranks of positions at the instant of the listing."""
    formula = _formula(listing, None)
    of = since.indexes(connection, Order.GRAVITY, listing.name)
    return [_rank(connection, of, formula, reads.key_of(each), without) if of else Rank(0, None) for each in positions]


def _formula(listing: Listing, at: int | None) -> Formula:
    assert listing.decay
    return Formula(listing.decay.at if at is None else at, *listing.decay.numbers)


def _positions(
    connection: Connection,
    of: Indexes,
    formula: Formula,
    upwards: bool,
    beyond: Key | None,
    count: int,
    without: Collection[int],
) -> list[Key]:
    """The first `count` positions beyond a key, nearest first."""
    found = _of_age_0(connection, of, formula, upwards, beyond, count, without)
    start, number = _sign(beyond[0]) if beyond else None, 0
    for sign in (-1, 0, 1) if upwards else (1, 0, -1):
        is_passed = start is not None and (sign < start if upwards else sign > start)
        if is_passed or number >= count:
            continue
        edge = beyond if sign == start else None
        if sign:
            part = _of_sign(connection, of, formula, sign, upwards, edge, count - number, without)
        else:
            part = _of_value_0(connection, of, upwards, edge, count - number, without)
        found.update(part)
        number += len(part)
    return sorted(found, reverse=not upwards)[:count]


def _of_age_0(
    connection: Connection,
    of: Indexes,
    formula: Formula,
    upwards: bool,
    beyond: Key | None,
    count: int,
    without: Collection[int],
) -> set[Key]:
    """The first positions of articles posted at or after the instant: their order is that of VOTES."""
    if not reads.places(connection, Range(of.by_time.id, (formula.at, -1), LATEST), 1, False):
        return set()
    start = None
    if beyond:
        below = bisect_right(range(-MOST_VOTES, MOST_VOTES), beyond[0], key=formula.first_value) - 1 - MOST_VOTES
        start = (below, beyond[1]) if formula.first_value(below) == beyond[0] else (below + 0.5, 0)
    found = since.positions(connection, of, formula.at, upwards, start, count, without)
    return {(formula.first_value(int(votes)), number) for votes, number in found}


def _of_value_0(
    connection: Connection, of: Indexes, upwards: bool, edge: Key | None, count: int, without: Collection[int]
) -> set[Key]:
    """The first positions of articles of one vote, whatever their age."""
    low, high = (1, -1), (1, LAST_NUMBER)
    if edge:
        low, high = ((1, edge[1]), high) if upwards else (low, (1, edge[1]))
    found = reads.places(connection, Range(of.by_votes.id, low, high), count + len(without), upwards)
    return {(0.0, place.number) for place in [each for each in found if each.number not in without][:count]}


def _of_sign(
    connection: Connection,
    of: Indexes,
    formula: Formula,
    sign: int,
    upwards: bool,
    edge: Key | None,
    count: int,
    without: Collection[int],
) -> set[Key]:
    """
    The first positions of articles with values of a sign, posted before the instant, with those of equal values.

    The nearest surely beyond the edge, one of each class, bound what has to be read of all classes.
    """
    outward = upwards == (sign > 0)  # the page goes away from 0
    runs = _runs(of, formula, sign, edge, outward)
    sure = [run.surely_beyond(formula, abs(edge[0]), outward) if edge else run.range for run in runs]
    nearest = [place for part in _read(connection, sure, 1, outward) for place in part]
    found: set[Key] = set()
    limit = _limit([abs(formula.value_of(place)) for place in nearest if place.number not in without], count, outward)
    size = min(count + 1, MAX_READ)
    while runs:
        if limit is not None:
            runs = [run.beyond(formula, limit, not outward) for run in runs]
        parts = _read(connection, [run.range for run in runs], size, outward)
        for place in (place for part in parts for place in part):
            key = (formula.value_of(place), place.number)
            if place.number not in without and (not edge or (key > edge if upwards else key < edge)):
                found.add(key)
        runs = [run.after(part[-1].key, outward) for run, part in zip(runs, parts, strict=True) if len(part) == size]
        limit = _limit([abs(value) for value, _ in found], count, outward) or limit
        size *= 2
    return found


def _runs(of: Indexes, formula: Formula, sign: int, edge: Key | None, outward: bool) -> list[Run]:
    """The classes of a sign, with the times before the instant at which articles may be beyond the edge."""
    runs = []
    for index in of.classes:
        if _sign(index.votes_class) == sign:
            lightest, heaviest = (formula.weight(sign, base) for base in since.bases(index.votes_class))
            run = Run(index.id, lightest, heaviest, EARLIEST, (formula.at, -1))
            runs.append(run.beyond(formula, abs(edge[0]), outward) if edge else run)
    return runs


def _read(connection: Connection, parts: Sequence[Range], count: int, upwards: bool) -> list[list[Place]]:
    """Like `places_of_many`, without reading empty ranges."""
    read = iter(reads.places_of_many(connection, [part for part in parts if part.low < part.high], count, upwards))
    return [next(read) if part.low < part.high else [] for part in parts]


def _limit(sizes: Sequence[float], count: int, outward: bool) -> float | None:
    """The size of the last of the first `count` of some articles; None if there are not as many."""
    if len(sizes) < count:
        return None
    return nsmallest(count, sizes)[-1] if outward else nlargest(count, sizes)[-1]


def _rank(connection: Connection, of: Indexes, formula: Formula, key: Key, without: Collection[int]) -> Rank:
    value, number = key
    if value > 0:
        above = _count_further(connection, of, formula, 1, key)
    elif value < 0:
        above = of.by_votes.size - _count_further(connection, of, formula, -1, (value, number + 1))
    else:
        above = reads.rank(connection, of.by_votes, (1, number))
    hidden = reads.places_of(connection, of.by_time, without)
    above -= sum((formula.value_of(place), place.number) > key for place in hidden)
    next = _positions(connection, of, formula, True, key, 1, without)
    return Rank(above, reads.position(*next[0]) if next else None)


def _count_further(connection: Connection, of: Indexes, formula: Formula, sign: int, key: Key) -> int:
    """The number of articles of a sign beyond a key, away from 0: by their times where these decide, else by values."""
    surely, unsure = [], []
    for index in of.classes:
        if _sign(index.votes_class) == sign:
            lightest, heaviest = (formula.weight(sign, base) for base in since.bases(index.votes_class))
            first, last = formula.times(heaviest, abs(key[0]))[0], formula.times(lightest, abs(key[0]))[1]
            surely.append((index.id, (last, LAST_NUMBER)))
            unsure.append(Range(index.id, (first, -1), (last, LAST_NUMBER)))
    values = [
        (formula.value_of(place), place.number)
        for part in _read(connection, unsure, MOST_UNSURE, True)
        for place in part
    ]
    further = sum(each > key if sign > 0 else each < key for each in values)
    return further + sum(reads.ranks_of_many(connection, surely))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
