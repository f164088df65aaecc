"""
Listings of archived articles, which are in the SQL database only, by VOTES, without those posted before an instant.

They are read from the indexes of GRAVITY: there is one for each class of votes, which holds articles with about as many
votes by time (`database/order_index/classes.py`). If many articles of a class were posted since the instant, the index
of VOTES is read instead, one number of votes after the other. There articles with equal votes are sorted by their
numbers, and a number is at least 2,048 x the posting time in milliseconds (`store/numbering.py`), so older articles are
passed over together. Only numbers of early versions, which are lower than all others, do not contain the time.

A place is a row of an index: an article with its value there. A key is what a listing is sorted by: here the number of
votes, then the number of the article.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from database.order_index import reads
from database.order_index.classes import bases
from database.order_index.reads import EARLIEST, LAST_NUMBER, LATEST, Index, Key, Place, Range
from store import keys
from store.listings import Window
from store.numbering import FIRST_STORY_SEQUENCE
from store.ranking.formulas import Order
from store.records import PartitionPage

if TYPE_CHECKING:
    from database.statements import Connection

FIRST_BY_TIME = FIRST_STORY_SEQUENCE * keys.SLOTS  # the lowest number that contains the time
SORTED = 300  # articles since the instant: with no more, a listing is read whole and sorted here
SORTED_OF_CLASS = 100  # articles of one class since the instant: with more, the class is read from the index of VOTES
CLASSES_AT_ONCE = 32  # classes of votes that are read in one statement
VALUES_AT_ONCE = 8  # numbers of votes that are read in one statement


class Indexes(NamedTuple):
    """The indexes of the site or a group: of GRAVITY by class, highest votes first, and of VOTES and TIME."""

    classes: tuple[Index, ...]
    by_votes: Index
    by_time: Index


def indexes(connection: "Connection", order: Order, name: str) -> Indexes | None:
    """The indexes of the site or group of a listing, by the listing's name in `order`; None if nothing is archived."""
    prefix = name.removesuffix(order.value)
    gravity, *others = (f"{prefix}{each.value}" for each in (Order.GRAVITY, Order.VOTES, Order.TIME))
    found = reads.indexes(connection, [gravity, *others])
    by_name = {each.name: each for each in found}
    if not by_name:
        return None
    classes = sorted((each for each in found if each.name == gravity), key=_class, reverse=True)
    return Indexes(tuple(classes), *(by_name[name] for name in others))


def page(connection: "Connection", name: str, at: int, window: Window, without: Collection[int] = ()) -> PartitionPage:
    """The part of a page of VOTES since an instant that the archive holds. `name` is that of the listing of VOTES."""
    found = indexes(connection, Order.VOTES, name)
    if not found:
        return PartitionPage(above=0, total=0, positions=())
    return SinceReader(connection, found, at, without).page(window)


@dataclass(frozen=True, slots=True)
class SinceReader:
    """
    Reads the articles posted since the instant `at` (unix milliseconds), without those whose numbers are in `without`.
    `Place.extra` is the posting time in the index of VOTES, and the number of votes in the indexes by time. `upwards`
    is towards more votes.
    """

    connection: "Connection"
    indexes: Indexes
    at: int
    without: Collection[int]

    @property
    def start(self) -> Key:
        """The key below all places of an index by time since the instant: numbers are not negative."""
        return self.at, -1

    def page(self, window: Window) -> PartitionPage:
        key = reads.key_of(window.beyond) if window.beyond else None
        found = self.positions(window.upwards, key, window.count + 1)
        has_behind = key is not None and self._has_behind(window.upwards, key)
        hidden = reads.places_of(self.connection, self.indexes.by_time, self.without)
        total = self._count() - sum(place.value >= self.at for place in hidden)
        return reads.page_of(found, window, has_behind, total)

    def positions(self, upwards: bool, beyond: Key | None, count: int) -> list[Key]:
        """The first `count` keys beyond a key, nearest first."""
        key, total = beyond or (EARLIEST if upwards else LATEST), self._count()
        if not total:
            return []
        if total <= SORTED:
            since = Range(self.indexes.by_time.id, self.start, LATEST)
            found = _sorted(reads.places_of_many(self.connection, [since], SORTED, upwards=False)[0], upwards, key)
        else:
            found = self._by_class(upwards, key)
        return list(islice((each for each in found if each[1] not in self.without), count))

    def _count(self) -> int:
        """The number of articles since the instant, with those in `without`."""
        return reads.rank(self.connection, self.indexes.by_time, self.start)

    def _has_behind(self, upwards: bool, key: Key) -> bool:
        """Whether an article is at a key, or behind it, opposite to the direction of the page."""
        own = {key[1]}.difference(self.without)
        for place in reads.places_of(self.connection, self.indexes.by_time, own):
            votes = place.extra or 0
            if place.value >= self.at and (votes == key[0] or (votes < key[0]) == upwards):
                return True
        return bool(self.positions(not upwards, reads.nudged(key, upwards), count=1))

    def _by_class(self, upwards: bool, key: Key) -> Iterator[Key]:
        """The keys beyond a key, nearest first: class by class, some classes in a statement."""
        classes = [each for each in self.indexes.classes if _reaches(each, upwards, key)]
        if upwards:
            classes.reverse()
        start, size = 0, 1
        while some := classes[start : start + size]:
            parts = [Range(each.id, self.start, LATEST) for each in some]
            read = reads.places_of_many(self.connection, parts, SORTED_OF_CLASS + 1, upwards=False)
            for index, places in zip(some, read, strict=True):
                if len(places) <= SORTED_OF_CLASS:
                    yield from _sorted(places, upwards, key)
                else:
                    yield from self._of_class(index, upwards, key)
            start, size = start + size, min(2 * size, CLASSES_AT_ONCE)

    def _of_class(self, index: Index, upwards: bool, key: Key) -> Iterator[Key]:
        """As `_by_class` for one class with many articles since the instant: these are read from the index of VOTES."""
        lowest, highest = _votes(index.votes_class)
        low: Key = (max(lowest, key[0]) if upwards else lowest, -1)
        high: Key = (highest if upwards else min(highest, key[0]), LAST_NUMBER)
        while values := reads.values(
            self.connection, Range(self.indexes.by_votes.id, low, high), VALUES_AT_ONCE, upwards
        ):
            parts = [part for votes in values for part in self._of_votes(votes, upwards, key)]
            read = reads.places_of_many(self.connection, parts, SORTED_OF_CLASS, upwards=upwards)
            for part, places in zip(parts, read, strict=True):
                yield from self._since(part, places, upwards)
            low, high = ((values[-1], LAST_NUMBER), high) if upwards else (low, (values[-1], -1))

    def _of_votes(self, votes: float, upwards: bool, key: Key) -> list[Range]:
        """
        The ranges of the index of VOTES in which articles with so many votes may have been posted since the instant:
        numbers that contain a time from then on, and numbers of early versions, which contain none.
        """
        first, index = max(2 * keys.SLOTS * self.at, FIRST_BY_TIME), self.indexes.by_votes.id
        parts = [
            Range(index, (votes, first - 1), (votes, LAST_NUMBER)),
            Range(index, (votes, -1), (votes, FIRST_BY_TIME)),
        ]
        if upwards:
            return [part._replace(low=max(part.low, key)) for part in reversed(parts)]
        return [part._replace(high=min(part.high, key)) for part in parts]

    def _since(self, part: Range, places: list[Place], upwards: bool) -> Iterator[Key]:
        """The articles of a range of VOTES posted since the instant. The first `places` of it are read already."""
        while True:
            yield from (place.key for place in places if place.extra is not None and place.extra >= self.at)
            if len(places) < SORTED_OF_CLASS:
                return
            last = places[-1].key
            part = part._replace(low=last) if upwards else part._replace(high=last)
            places = reads.places(self.connection, part, SORTED_OF_CLASS, upwards=upwards)


def _class(index: Index) -> int:
    return index.votes_class


def _votes(votes_class: int) -> tuple[int, int]:
    """The lowest and the highest number of votes of an article in a class."""
    lowest, highest = bases(votes_class)
    return (1 - highest, 1 - lowest) if votes_class < 0 else (lowest + 1, highest + 1)


def _reaches(index: Index, upwards: bool, key: Key) -> bool:
    """Whether articles of a class may be beyond a key."""
    lowest, highest = _votes(index.votes_class)
    return highest >= key[0] if upwards else lowest <= key[0]


def _sorted(places: Sequence[Place], upwards: bool, key: Key) -> Iterator[Key]:
    """What places of an index by time have as keys of VOTES: those beyond `key`, nearest first."""
    found = [(float(place.extra or 0), place.number) for place in places]
    beyond = [each for each in found if (each > key if upwards else each < key)]
    return iter(sorted(beyond, reverse=not upwards))
