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
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from math import ceil, floor, inf
from typing import NamedTuple

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
FIRST_READ = 2  # places of each class to read at first
MOST_READ = 500  # places of a class to read next
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
        return (base**self.votes if base > 0 else base) / self.decay(time)

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

    def first_time(self, weight: float, size: float) -> int:
        """
        The first posting time at which an article of this weight may have a size: one posted earlier is smaller. NEVER
        if it is smaller even at the age 0.
        """
        time = self._time(weight / size * (1 + TOLERANCE)) - 1
        return NEVER if time > self.at else floor(max(time, 0.0))

    def last_time(self, weight: float, size: float) -> int:
        """
        The last posting time at which an article of this weight may have a size: one posted later is larger. NEVER if
        none is larger, as even at the age 0 it is not.
        """
        time = self._time(weight / size * (1 - TOLERANCE)) + 1
        return NEVER if time >= self.at else ceil(max(time, 0.0))

    def _time(self, decay: float) -> float:
        try:
            hours: float = decay ** (1 / self.age)
        except OverflowError:
            return -inf
        return self.at + self.delay * 60_000 - hours * 3_600_000


class Run(NamedTuple):
    """A class that is read. `lightest` and `heaviest` are the weights of its lowest and its highest base."""

    listing: int
    lightest: float
    heaviest: float


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
        has_behind = _has_behind(connection, of, formula, upwards, key, without)
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


def _has_behind(
    connection: Connection, of: Indexes, formula: Formula, upwards: bool, key: Key, without: Collection[int]
) -> bool:
    """Whether an article is at a position, or behind it, opposite to the direction of the page."""
    for place in reads.places_of(connection, of.by_time, {key[1]}.difference(without)):
        value = formula.value_of(place)
        if value == key[0] or (value < key[0]) == upwards:
            return True
    nudged = (key[0], key[1] + (1 if upwards else -1))
    return bool(_positions(connection, of, formula, not upwards, nudged, 1, without))


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
    total = reads.rank(connection, of.by_time, (formula.at, -1))
    if not total:
        return set()
    start = None
    if beyond:
        below = bisect_right(range(-MOST_VOTES, MOST_VOTES), beyond[0], key=formula.first_value) - 1 - MOST_VOTES
        start = (below, beyond[1]) if formula.first_value(below) == beyond[0] else (below + 0.5, 0)
    found = since.positions(connection, of, formula.at, upwards, start, count, total, without)
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
    The first positions of articles with values of a sign, posted before the instant, and others of equal values.

    First a few articles of each class are read. The last of the best `count` bounds what is read of the classes then.
    """
    outward = upwards == (sign > 0)  # the page goes away from 0
    end = reads.places(connection, Range(of.by_time.id, EARLIEST, LATEST), 1, not outward)[0].key
    whole = (
        (EARLIEST, min((formula.at, -1), (end[0], LAST_NUMBER))) if outward else (reads.before(end), (formula.at, -1))
    )
    found: set[Key] = set()
    left = [
        (run, _beyond(formula, run, whole, abs(edge[0]), outward) if edge else Range(run.listing, *whole))
        for run in _runs(of, formula, sign)
    ]
    size = FIRST_READ
    while left := [(run, part) for run, part in left if part.low < part.high]:
        read = reads.places_of_many(connection, [part for _, part in left], size, outward)
        for place in (place for places in read for place in places):
            key = (formula.value_of(place), place.number)
            if place.number not in without and (not edge or (key > edge if upwards else key < edge)):
                found.add(key)
        limit = _limit([abs(value) for value, _ in found], count, outward)
        left = [
            (run, _after(formula, run, part, places[-1].key, limit, outward))
            for (run, part), places in zip(left, read, strict=True)
            if len(places) == size
        ]
        size = max(2 * size, min(count, MOST_READ))
    return found


def _runs(of: Indexes, formula: Formula, sign: int) -> list[Run]:
    runs = []
    for index in of.classes:
        if index.votes_class * sign > 0:
            lowest, highest = since.bases(index.votes_class)
            lightest = formula.weight(sign, lowest)
            runs.append(Run(index.id, lightest, formula.weight(sign, highest) if highest > lowest else lightest))
    return runs


def _beyond(formula: Formula, run: Run, part: tuple[Key, Key], size: float, outward: bool) -> Range:
    """The times of a part without those at which no article is at least (outward) or at most of a size."""
    low, high = part
    if outward:
        return Range(run.listing, max(low, (formula.first_time(run.heaviest, size), -1)), high)
    return Range(run.listing, low, min(high, (formula.last_time(run.lightest, size), LAST_NUMBER)))


def _after(formula: Formula, run: Run, part: Range, last: Key, limit: float | None, outward: bool) -> Range:
    """What is left of a part behind the last place that was read, up to the size that limits the page."""
    left = (last, part.high) if outward else (part.low, last)
    return Range(run.listing, *left) if limit is None else _beyond(formula, run, left, limit, not outward)


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
    size, surely, unsure = abs(key[0]), [], []
    for run in _runs(of, formula, sign):
        first, last = formula.first_time(run.heaviest, size), formula.last_time(run.lightest, size)
        surely.append((run.listing, last))
        if first < last:
            unsure.append(Range(run.listing, (first, -1), (last, LAST_NUMBER)))
    values = [
        (formula.value_of(place), place.number)
        for places in reads.places_of_many(connection, unsure, MOST_UNSURE, True)
        for place in places
    ]
    further = sum(each > key if sign > 0 else each < key for each in values)
    return further + sum(reads.counts_above(connection, surely))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
