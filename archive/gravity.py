"""
Listings of archived articles, which are in the SQL database only, by GRAVITY: the order of Hacker News, in which an
article's value falls with its age. A listing is read at an instant: all its values are those of that time.

As no index can have values that change, such a listing has an index by posting time for each class of votes: articles
whose `votes - 1` have the same sign, the same length and the same first `DIGITS` binary digits
(`database/order_index/classes.py`). Within a class, votes change values by a few percent only, so all articles that may
stand next to a position in the listing were posted within a short time. A page takes two or three statements, each of
which reads a part of every class. Articles posted at or after the instant have no age: they are ordered by votes.

A place is a row of an index: an article with its value there, and its votes as `extra`. A key is what a listing is
sorted by: the value at the instant, and the number of the article.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest, nsmallest
from math import ceil, floor, inf
from typing import TYPE_CHECKING, NamedTuple

from archive import since
from archive.since import Indexes
from database.order_index import reads
from database.order_index.classes import bases
from database.order_index.reads import EARLIEST, LAST_NUMBER, LATEST, Key, Place, Range
from store.listings import Listing, Window
from store.ranking.formulas import Order
from store.ranking.standings import Rank
from store.records import PartitionPage, Position

if TYPE_CHECKING:
    from database.statements import Connection

TOLERANCE = 1e-9  # relative error of a computation with floats: bounds are wider by it
NEVER = 2**42  # milliseconds: above any posting time
MOST_VOTES = 2**40  # of an article, more than any has
FIRST_READ = 2  # places of each class to read at first
MOST_READ = 500  # places of each class to read in the second turn at most; each later turn reads twice as many
MOST_UNSURE = 2**31 - 1  # places of a class to read if their order is not sure: all


@dataclass(frozen=True, slots=True)
class Formula:
    """
    `Policy.gravity` at an instant: base ** votes_exponent / ((minutes of age + delay) / 60) ** age_exponent, where
    the base is the article's votes - 1. A base below 0 is divided without the exponent.

    Below, a *weight* is the dividend without its sign, a *decay* the divisor, and a *magnitude* the value without its
    sign: magnitude = weight / decay.
    """

    at: int  # the instant, unix milliseconds
    votes_exponent: float  # of the base
    age_exponent: float  # of the age
    delay: float  # minutes that are added to the age

    def value_of(self, place: Place) -> float:
        """The value of an article by its place in an index by time, which has its votes as `extra`."""
        base = (place.extra or 0) - 1
        minutes = max(self.at - int(place.value), 0) / 60_000
        dividend = base**self.votes_exponent if base > 0 else base
        value: float = dividend / ((minutes + self.delay) / 60) ** self.age_exponent
        return value

    def first_value(self, votes: int) -> float:
        """The value of an article of age 0."""
        return self.value_of(Place(value=self.at, number=0, extra=votes))

    def first_times(self, weights: Iterable[float], magnitude: float) -> list[int]:
        """
        For each weight, a posting time (unix milliseconds): the magnitude of any article posted before it is smaller
        than `magnitude`. 0 if none is smaller; NEVER if all are, even at the age 0.
        """
        times = self._times(weights, (1 + TOLERANCE) / magnitude)
        return [NEVER if time > self.at + 1 else floor(time) - 1 if time > 1 else 0 for time in times]

    def last_times(self, weights: Iterable[float], magnitude: float) -> list[int]:
        """
        For each weight, a posting time (unix milliseconds): the magnitude of any article posted after it is larger than
        `magnitude`. 0 if all are larger; NEVER if none is, not even at the age 0.
        """
        times = self._times(weights, (1 - TOLERANCE) / magnitude)
        return [NEVER if time >= self.at - 1 else ceil(time) + 1 if time > -1 else 0 for time in times]

    def _times(self, weights: Iterable[float], factor: float) -> list[float]:
        """When articles were posted whose decays at the instant are their weights x `factor`."""
        exponent, origin, times = 1 / self.age_exponent, self.at + self.delay * 60_000, []
        for weight in weights:
            try:
                times.append(origin - (weight * factor) ** exponent * 3_600_000)
            except OverflowError:
                times.append(-inf)
        return times


class UnreadPart(NamedTuple):
    """
    What is left to read of the index of a class, which is by time. `lightest` and `heaviest` are the weights of the
    lowest and the highest base of the class.
    """

    part: Range
    lightest: float
    heaviest: float


def page(connection: "Connection", listing: Listing, window: Window, without: Collection[int] = ()) -> PartitionPage:
    """
    The part of a page that the archive holds, by the values at the instant of the window or of the listing. Articles
    whose numbers are in `without` are ignored.
    """
    formula = _formula(listing, window.at)
    found = since.indexes(connection, Order.GRAVITY, listing.name)
    if not found:
        return PartitionPage(above=0, total=0, positions=(), at=formula.at)
    return GravityReader(connection, found, formula, without).page(window)


def ranks(
    connection: "Connection", listing: Listing, positions: Sequence[Position], without: Collection[int] = ()
) -> list[Rank]:
    """The ranks of positions at the instant of the listing."""
    found = since.indexes(connection, Order.GRAVITY, listing.name)
    if not found:
        return [Rank(above=0, next=None)] * len(positions)
    reader = GravityReader(connection, found, _formula(listing, at=None), without)
    return [reader.rank(reads.key_of(position)) for position in positions]


@dataclass(frozen=True, slots=True)
class GravityReader:
    """
    Reads a listing without the articles whose numbers are in `without`. Keys have the values at the instant of the
    formula. `upwards` is towards higher values; `outward` away from 0: to higher ones of positive values, to lower ones
    of negative.
    """

    connection: "Connection"
    indexes: Indexes
    formula: Formula
    without: Collection[int]

    def page(self, window: Window) -> PartitionPage:
        key = reads.key_of(window.beyond) if window.beyond else None
        by_votes = self.indexes.by_votes
        found = self.positions(window.upwards, key, window.count + 1)
        has_behind = key is not None and self._has_behind(window.upwards, key)
        total = by_votes.size - len(reads.places_of(self.connection, by_votes, self.without))
        return reads.page_of(found, window, has_behind, total, self.formula.at)

    def rank(self, key: Key) -> Rank:
        value, number = key
        if value > 0:
            above = self._count_further(sign=1, key=key)
        elif value < 0:  # all but those at the key or below it
            above = self.indexes.by_votes.size - self._count_further(sign=-1, key=(value, number + 1))
        else:  # the value of articles with one vote, at any age
            above = reads.rank(self.connection, self.indexes.by_votes, (1, number))
        hidden = reads.places_of(self.connection, self.indexes.by_time, self.without)
        above -= sum((self.formula.value_of(place), place.number) > key for place in hidden)
        following = self.positions(upwards=True, beyond=key, count=1)
        return Rank(above, reads.position(*following[0]) if following else None)

    def positions(self, upwards: bool, beyond: Key | None, count: int) -> list[Key]:
        """The first `count` keys beyond a key, nearest first."""
        found = self._of_age_0(upwards, beyond, count)
        start = _sign(beyond[0]) if beyond else None
        read = 0
        for sign in (-1, 0, 1) if upwards else (1, 0, -1):
            is_passed = start is not None and (sign < start if upwards else sign > start)
            if is_passed or read >= count:
                continue
            edge = beyond if sign == start else None
            wanted = count - read
            part = self._of_sign(sign, upwards, edge, wanted) if sign else self._of_value_0(upwards, edge, wanted)
            found |= part
            read += len(part)
        return sorted(found, reverse=not upwards)[:count]

    def _has_behind(self, upwards: bool, key: Key) -> bool:
        """Whether an article is at a key, or behind it, opposite to the direction of the page."""
        own = {key[1]}.difference(self.without)
        for place in reads.places_of(self.connection, self.indexes.by_time, own):
            value = self.formula.value_of(place)
            if value == key[0] or (value < key[0]) == upwards:
                return True
        return bool(self.positions(not upwards, reads.nudged(key, upwards), count=1))

    def _of_age_0(self, upwards: bool, beyond: Key | None, count: int) -> set[Key]:
        """The first keys of articles posted at or after the instant, which are ordered as by VOTES."""
        value, start = self.formula.first_value, None
        if beyond:
            # the most votes whose value is not above that of `beyond`
            votes = bisect_right(range(-MOST_VOTES, MOST_VOTES), beyond[0], key=value) - 1 - MOST_VOTES
            # the same position by VOTES; if no votes have its value, one between `votes` and `votes` + 1
            start = (votes, beyond[1]) if value(votes) == beyond[0] else (votes + 0.5, 0)
        reader = since.SinceReader(self.connection, self.indexes, self.formula.at, self.without)
        return {(value(int(votes)), number) for votes, number in reader.positions(upwards, start, count)}

    def _of_value_0(self, upwards: bool, edge: Key | None, count: int) -> set[Key]:
        """The first keys of articles of one vote, whatever their age."""
        low, high = (1, -1), (1, LAST_NUMBER)
        if edge:
            low, high = ((1, edge[1]), high) if upwards else (low, (1, edge[1]))
        part = Range(self.indexes.by_votes.id, low, high)
        found = reads.places(self.connection, part, count + len(self.without), upwards=upwards)
        return {(0.0, place.number) for place in [each for each in found if each.number not in self.without][:count]}

    def _of_sign(self, sign: int, upwards: bool, edge: Key | None, count: int) -> set[Key]:
        """
        The first `count` keys beyond `edge`, or at all, of articles with values of a sign that were posted before the
        instant. The set may have further keys, too.

        First a few articles of each class are read. Once there are `count`, what is left to read of the classes is cut
        at the magnitude of the last of the nearest `count`, and the rest is read.
        """
        formula, outward, found = self.formula, upwards == (sign > 0), set[Key]()
        unread, at_once = self._unread_of(sign, *self._bounds(outward)), FIRST_READ
        if edge:
            unread = _beyond(formula, unread, abs(edge[0]), outward)
        while unread := [each for each in unread if each.part.low < each.part.high]:
            read = reads.places_of_many(self.connection, [each.part for each in unread], at_once, upwards=outward)
            keys = [(formula.value_of(place), place.number) for places in read for place in places]
            if edge:
                keys = [key for key in keys if (key > edge if upwards else key < edge)]
            found.update(key for key in keys if key[1] not in self.without)
            unread = [
                each._replace(part=_after(each.part, places[-1].key, outward))
                for each, places in zip(unread, read, strict=True)
                if len(places) == at_once
            ]
            if len(found) >= count:
                magnitudes = [abs(value) for value, _ in found]
                limit = nsmallest(count, magnitudes)[-1] if outward else nlargest(count, magnitudes)[-1]
                unread = _beyond(formula, unread, limit, not outward)
            at_once = max(2 * at_once, min(count, MOST_READ))
        return found

    def _bounds(self, outward: bool) -> tuple[Key, Key]:
        """The keys by time before the instant: from the oldest article on or, outward, up to the newest one."""
        end = (self.formula.at, -1)
        whole = Range(self.indexes.by_time.id, EARLIEST, LATEST)
        nearest = reads.places(self.connection, whole, count=1, upwards=not outward)[0].key
        return (EARLIEST, min(end, (nearest[0], LAST_NUMBER))) if outward else (reads.before(nearest), end)

    def _unread_of(self, sign: int, low: Key, high: Key) -> list[UnreadPart]:
        """The classes of a sign, with the times between two keys."""
        exponent = self.formula.votes_exponent
        return [
            UnreadPart(Range(index.id, low, high), *_weights(exponent, index.votes_class))
            for index in self.indexes.classes
            if index.votes_class * sign > 0
        ]

    def _count_further(self, sign: int, key: Key) -> int:
        """
        The number of articles with values of a sign that are further from 0 than a key. Those whose posting time alone
        decides are counted; the others are read, and compared by value.
        """
        formula, magnitude, unread = self.formula, abs(key[0]), self._unread_of(sign, EARLIEST, LATEST)
        ids = [each.part.listing for each in unread]
        first = formula.first_times((each.heaviest for each in unread), magnitude)
        last = formula.last_times((each.lightest for each in unread), magnitude)
        unsure = [
            Range(id, (start, -1), (end, LAST_NUMBER))
            for id, start, end in zip(ids, first, last, strict=True)
            if start < end
        ]
        read = reads.places_of_many(self.connection, unsure, MOST_UNSURE, upwards=True)
        values = [(formula.value_of(place), place.number) for places in read for place in places]
        further = sum(each > key if sign > 0 else each < key for each in values)
        return further + sum(reads.counts_above(self.connection, list(zip(ids, last, strict=True))))


def _formula(listing: Listing, at: int | None) -> Formula:
    assert listing.decay
    return Formula(listing.decay.at if at is None else at, *listing.decay.numbers)


@lru_cache(maxsize=4_096)
def _weights(exponent: float, votes_class: int) -> tuple[float, float]:
    """The weights of the lowest and of the highest base of a class: see `Formula`."""
    lowest, highest = bases(votes_class)
    return (lowest**exponent, highest**exponent) if votes_class > 0 else (lowest, highest)


def _beyond(formula: Formula, unread: Sequence[UnreadPart], magnitude: float, outward: bool) -> list[UnreadPart]:
    """
    The parts of classes, cut to the posting times with which an article can have this magnitude or, outward, a larger
    one; else this or a smaller one.
    """
    if outward:
        times = formula.first_times((each.heaviest for each in unread), magnitude)
        return [
            UnreadPart(Range(id, max(low, (time, -1)), high), lightest, heaviest)
            for ((id, low, high), lightest, heaviest), time in zip(unread, times, strict=True)
        ]
    times = formula.last_times((each.lightest for each in unread), magnitude)
    return [
        UnreadPart(Range(id, low, min(high, (time, LAST_NUMBER))), lightest, heaviest)
        for ((id, low, high), lightest, heaviest), time in zip(unread, times, strict=True)
    ]


def _after(part: Range, last: Key, outward: bool) -> Range:
    """What is left of a part behind the last place that was read."""
    return Range(part.listing, last, part.high) if outward else Range(part.listing, part.low, last)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
