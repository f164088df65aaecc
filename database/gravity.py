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
    found = since.indexes(connection, Order.GRAVITY, listing.name)
    if not found:
        return PartitionPage(0, 0, (), formula.at)
    return Reader(connection, found, formula, without).page(window)


def ranks(
    connection: Connection, listing: Listing, positions: Sequence[Position], without: Collection[int] = ()
) -> list[Rank]:
    """The ranks of positions at the instant of the listing."""
    found = since.indexes(connection, Order.GRAVITY, listing.name)
    if not found:
        return [Rank(0, None)] * len(positions)
    reader = Reader(connection, found, _formula(listing, None), without)
    return [reader.rank(reads.key_of(position)) for position in positions]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads a listing but for the articles in `without`. Keys have the values at the instant of the formula."""

    connection: Connection
    indexes: Indexes
    formula: Formula
    without: Collection[int]

    def page(self, window: Window) -> PartitionPage:
        key, by_votes = reads.key_of(window.beyond) if window.beyond else None, self.indexes.by_votes
        found = self.positions(window.upwards, key, window.count + 1)
        has_behind = key is not None and self._has_behind(window.upwards, key)
        total = by_votes.size - len(reads.places_of(self.connection, by_votes, self.without))
        return reads.page_of(found, window, has_behind, total, self.formula.at)

    def rank(self, key: Key) -> Rank:
        value, number = key
        if value > 0:
            above = self._count_further(1, key)
        elif value < 0:
            above = self.indexes.by_votes.size - self._count_further(-1, (value, number + 1))
        else:
            above = reads.rank(self.connection, self.indexes.by_votes, (1, number))
        hidden = reads.places_of(self.connection, self.indexes.by_time, self.without)
        above -= sum((self.formula.value_of(place), place.number) > key for place in hidden)
        next = self.positions(True, key, 1)
        return Rank(above, reads.position(*next[0]) if next else None)

    def positions(self, upwards: bool, beyond: Key | None, count: int) -> list[Key]:
        """The first `count` keys beyond a key, nearest first."""
        found = self._of_age_0(upwards, beyond, count)
        start, number = _sign(beyond[0]) if beyond else None, 0
        for sign in (-1, 0, 1) if upwards else (1, 0, -1):
            is_passed = start is not None and (sign < start if upwards else sign > start)
            if is_passed or number >= count:
                continue
            edge, wanted = beyond if sign == start else None, count - number
            part = self._of_sign(sign, upwards, edge, wanted) if sign else self._of_value_0(upwards, edge, wanted)
            found |= part
            number += len(part)
        return sorted(found, reverse=not upwards)[:count]

    def _has_behind(self, upwards: bool, key: Key) -> bool:
        """Whether an article is at a key, or behind it, opposite to the direction of the page."""
        own = {key[1]}.difference(self.without)
        for place in reads.places_of(self.connection, self.indexes.by_time, own):
            value = self.formula.value_of(place)
            if value == key[0] or (value < key[0]) == upwards:
                return True
        return bool(self.positions(not upwards, reads.nudged(key, upwards), 1))

    def _of_age_0(self, upwards: bool, beyond: Key | None, count: int) -> set[Key]:
        """The first keys of articles posted at or after the instant: their order is that of VOTES."""
        value, start = self.formula.first_value, None
        if beyond:
            votes = bisect_right(range(-MOST_VOTES, MOST_VOTES), beyond[0], key=value) - 1 - MOST_VOTES
            start = (votes, beyond[1]) if value(votes) == beyond[0] else (votes + 0.5, 0)
        reader = since.Reader(self.connection, self.indexes, self.formula.at, self.without)
        return {(value(int(votes)), number) for votes, number in reader.positions(upwards, start, count)}

    def _of_value_0(self, upwards: bool, edge: Key | None, count: int) -> set[Key]:
        """The first keys of articles of one vote, whatever their age."""
        low, high = (1, -1), (1, LAST_NUMBER)
        if edge:
            low, high = ((1, edge[1]), high) if upwards else (low, (1, edge[1]))
        part = Range(self.indexes.by_votes.id, low, high)
        found = reads.places(self.connection, part, count + len(self.without), upwards)
        return {(0.0, place.number) for place in [each for each in found if each.number not in self.without][:count]}

    def _of_sign(self, sign: int, upwards: bool, edge: Key | None, count: int) -> set[Key]:
        """
        The first keys of articles with values of a sign, posted before the instant, and others of equal values.

        First a few articles of each class are read. The last of the best `count` bounds what is read of the classes
        then.
        """
        formula, outward, found = self.formula, upwards == (sign > 0), set[Key]()  # outward: away from 0
        whole, size = self._times(outward), FIRST_READ
        left = [
            (run, _beyond(formula, run, whole, abs(edge[0]), outward) if edge else Range(run.listing, *whole))
            for run in self._runs(sign)
        ]
        while left := [(run, part) for run, part in left if part.low < part.high]:
            read = reads.places_of_many(self.connection, [part for _, part in left], size, outward)
            for place in (place for places in read for place in places):
                key = (formula.value_of(place), place.number)
                if place.number not in self.without and (not edge or (key > edge if upwards else key < edge)):
                    found.add(key)
            limit = _limit([abs(value) for value, _ in found], count, outward)
            left = [
                (run, _after(formula, run, part, places[-1].key, limit, outward))
                for (run, part), places in zip(left, read, strict=True)
                if len(places) == size
            ]
            size = max(2 * size, min(count, MOST_READ))
        return found

    def _times(self, outward: bool) -> tuple[Key, Key]:
        """The times before the instant, from the oldest article or (outward) up to the newest."""
        end = (self.formula.at, -1)
        whole = Range(self.indexes.by_time.id, EARLIEST, LATEST)
        nearest = reads.places(self.connection, whole, 1, not outward)[0].key
        return (EARLIEST, min(end, (nearest[0], LAST_NUMBER))) if outward else (reads.before(nearest), end)

    def _runs(self, sign: int) -> list[Run]:
        runs, weight = [], self.formula.weight
        for index in self.indexes.classes:
            if index.votes_class * sign > 0:
                lowest, highest = since.bases(index.votes_class)
                lightest = weight(sign, lowest)
                runs.append(Run(index.id, lightest, weight(sign, highest) if highest > lowest else lightest))
        return runs

    def _count_further(self, sign: int, key: Key) -> int:
        """The number of articles of a sign beyond a key, away from 0: by time where it decides, else by value."""
        formula, size, surely, unsure = self.formula, abs(key[0]), [], []
        for run in self._runs(sign):
            first, last = formula.first_time(run.heaviest, size), formula.last_time(run.lightest, size)
            surely.append((run.listing, last))
            if first < last:
                unsure.append(Range(run.listing, (first, -1), (last, LAST_NUMBER)))
        read = reads.places_of_many(self.connection, unsure, MOST_UNSURE, True)
        values = [(formula.value_of(place), place.number) for places in read for place in places]
        further = sum(each > key if sign > 0 else each < key for each in values)
        return further + sum(reads.counts_above(self.connection, surely))


def _formula(listing: Listing, at: int | None) -> Formula:
    assert listing.decay
    return Formula(listing.decay.at if at is None else at, *listing.decay.numbers)


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


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
