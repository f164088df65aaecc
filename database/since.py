"""
Listings of archived articles by VOTES, without those posted before an instant.

They are read from the indexes of GRAVITY, which hold articles of similar votes together, by time. Where many articles
of a class were posted since the instant, the index of VOTES is read instead, number of votes by number of votes: an
article's number is at least 2048 x its posting time (store/records.py), so older articles are passed over together.
Only numbers of early versions, which are lower than all others, do not contain the time.
"""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection

from database import place_reads as reads
from database.place_reads import EARLIEST, LAST_NUMBER, LATEST, Index, Key, Place, Range
from store import keys
from store.listings import Window
from store.ranking.formulas import Order
from store.records import FIRST_STORY_SEQUENCE, PartitionPage

DIGITS = 6  # leading binary digits of votes - 1 that the articles of a class share
CLASSES = 2 ** (DIGITS - 1)  # for each number of digits, from 2 ** DIGITS on
FIRST_BY_TIME = FIRST_STORY_SEQUENCE * keys.SLOTS  # the lowest number that contains the time
SORTED = 300  # articles of a listing that are read and sorted independently of their votes
SORTED_OF_CLASS = 100
CLASSES_AT_ONCE = 32
VALUES_AT_ONCE = 8


class Indexes(NamedTuple):
    """The indexes of the site or a group: of GRAVITY by class, highest votes first, and of VOTES and TIME."""

    classes: tuple[Index, ...]
    by_votes: Index
    by_time: Index


def indexes(connection: Connection, order: Order, name: str) -> Indexes | None:
    """The indexes of the listing whose name, in some order, this is; None if it is empty."""
    prefix = name.removesuffix(order.value)
    gravity, *others = (f"{prefix}{each.value}" for each in (Order.GRAVITY, Order.VOTES, Order.TIME))
    found = reads.indexes(connection, [gravity, *others])
    by_name = {each.name: each for each in found}
    if not by_name:
        return None
    classes = sorted((each for each in found if each.name == gravity), key=_class, reverse=True)
    return Indexes(tuple(classes), *(by_name[name] for name in others))


def votes_class(votes: int) -> int:
    """The class of an article in the indexes of GRAVITY. Classes ascend with votes; 0 is that of one vote."""
    size = abs(votes - 1)
    shifts = max(size.bit_length() - DIGITS, 0)
    number: int = shifts * CLASSES + (size >> shifts)
    return -number if votes < 1 else number


@cache
def bases(votes_class: int) -> tuple[int, int]:
    """The lowest and the highest |votes - 1| of a class."""
    number = abs(votes_class)
    if number < 2 * CLASSES:
        return number, number
    shifts = number // CLASSES - 1
    lowest = (CLASSES + number % CLASSES) << shifts
    return lowest, lowest + (1 << shifts) - 1


def page(connection: Connection, name: str, at: int, window: Window, without: Collection[int] = ()) -> PartitionPage:
    """The part of a page of VOTES since an instant that the archive holds. `name` is that of the listing of VOTES."""
    of = indexes(connection, Order.VOTES, name)
    if not of:
        return PartitionPage(0, 0, ())
    read = reads.rank(connection, of.by_time, (at, -1))
    number = read - sum(each.value >= at for each in reads.places_of(connection, of.by_time, without))
    key, upwards = reads.key_of(window.beyond) if window.beyond else None, window.upwards
    found = positions(connection, of, at, upwards, key, window.count + 1, read, without)
    shown, has_more, has_behind = found[: window.count], len(found) > window.count, False
    if key:
        has_behind = _has_behind(connection, of, at, upwards, key, read, without)
    has_above, has_below = (has_more, has_behind) if upwards else (has_behind, has_more)
    above = 0 if not has_above else 1 if has_below else max(number - len(shown), 0)
    placed = tuple(reads.position(*each) for each in (reversed(shown) if upwards else shown))
    return PartitionPage(above, number, placed)


def positions(
    connection: Connection,
    of: Indexes,
    at: int,
    upwards: bool,
    beyond: Key | None,
    count: int,
    total: int,
    without: Collection[int] = (),
) -> list[Key]:
    """
    The first `count` articles posted since an instant beyond a key of VOTES, as keys of VOTES, nearest first.

    `total` is the number of articles since the instant.
    """
    key = beyond or (EARLIEST if upwards else LATEST)
    if total <= SORTED:
        newest = reads.places_of_many(connection, [Range(of.by_time.id, (at, -1), LATEST)], SORTED, False)
        found = _sorted(newest[0], upwards, key)
    else:
        classes = [each for each in of.classes if _reaches(each, upwards, key)]
        ordered = classes[::-1] if upwards else classes
        found = _of_classes(connection, of, ordered, at, upwards, key)
    return list(islice((each for each in found if each[1] not in without), count))


def _has_behind(
    connection: Connection, of: Indexes, at: int, upwards: bool, key: Key, total: int, without: Collection[int]
) -> bool:
    """Whether an article is at a position, or behind it, opposite to the direction of the page."""
    for place in reads.places_of(connection, of.by_time, {key[1]}.difference(without)):
        votes = place.extra or 0
        if place.value >= at and (votes == key[0] or (votes < key[0]) == upwards):
            return True
    nudged = (key[0], key[1] + (1 if upwards else -1))
    return bool(positions(connection, of, at, not upwards, nudged, 1, total, without))


def _class(index: Index) -> int:
    return index.votes_class


def _votes(votes_class: int) -> tuple[int, int]:
    """The lowest and the highest votes of a class."""
    lowest, highest = bases(votes_class)
    return (1 - highest, 1 - lowest) if votes_class < 0 else (lowest + 1, highest + 1)


def _reaches(index: Index, upwards: bool, key: Key) -> bool:
    """Whether articles of a class may be beyond a key."""
    lowest, highest = _votes(index.votes_class)
    return highest >= key[0] if upwards else lowest <= key[0]


def _sorted(places: Sequence[Place], upwards: bool, key: Key) -> Iterator[Key]:
    """Those of some places by time that are beyond a key of VOTES, in the direction of the page."""
    found = [(float(place.extra or 0), place.number) for place in places]
    return iter(sorted((each for each in found if _is_beyond(each, upwards, key)), reverse=not upwards))


def _is_beyond(one: Key, upwards: bool, other: Key) -> bool:
    return one > other if upwards else one < other


def _of_classes(
    connection: Connection, of: Indexes, classes: Sequence[Index], at: int, upwards: bool, key: Key
) -> Iterator[Key]:
    start, number = 0, 1
    while some := classes[start : start + number]:
        start, number = start + number, min(2 * number, CLASSES_AT_ONCE)
        parts = [Range(each.id, (at, -1), LATEST) for each in some]
        for index, places in zip(
            some, reads.places_of_many(connection, parts, SORTED_OF_CLASS + 1, False), strict=True
        ):
            if len(places) <= SORTED_OF_CLASS:
                yield from _sorted(places, upwards, key)
            else:
                yield from _of_class(connection, of.by_votes, index, at, upwards, key)


def _of_class(connection: Connection, by_votes: Index, index: Index, at: int, upwards: bool, key: Key) -> Iterator[Key]:
    """The articles of a class with many since the instant."""
    lowest, highest = _votes(index.votes_class)
    all_votes = Range(by_votes.id, (lowest, -1), (highest, LAST_NUMBER))
    left = (
        all_votes._replace(low=max(all_votes.low, (key[0], -1)))
        if upwards
        else all_votes._replace(high=min(all_votes.high, (key[0], LAST_NUMBER)))
    )
    while values := reads.values(connection, left, VALUES_AT_ONCE, upwards):
        parts = [part for votes in values for part in _parts(by_votes, votes, at, upwards, key)]
        for part, places in zip(parts, reads.places_of_many(connection, parts, SORTED_OF_CLASS, upwards), strict=True):
            yield from _since(connection, part, places, at, upwards)
        last = values[-1]
        left = left._replace(low=(last, LAST_NUMBER)) if upwards else left._replace(high=(last, -1))


def _parts(by_votes: Index, votes: float, at: int, upwards: bool, key: Key) -> list[Range]:
    """The ranges of VOTES in which articles of this number of votes are that may be posted since the instant."""
    by_time = max(2 * keys.SLOTS * at, FIRST_BY_TIME)
    parts = [
        Range(by_votes.id, (votes, by_time - 1), (votes, LAST_NUMBER)),
        Range(by_votes.id, (votes, -1), (votes, FIRST_BY_TIME)),
    ]
    if upwards:
        return [part._replace(low=max(part.low, key)) for part in reversed(parts)]
    return [part._replace(high=min(part.high, key)) for part in parts]


def _since(connection: Connection, part: Range, places: list[Place], at: int, upwards: bool) -> Iterator[Key]:
    """The articles of a range of VOTES posted since the instant. The first `places` of it are read already."""
    while True:
        yield from (place.key for place in places if place.extra is not None and place.extra >= at)
        if len(places) < SORTED_OF_CLASS:
            return
        last = places[-1].key
        part = part._replace(low=last) if upwards else part._replace(high=last)
        places = reads.places(connection, part, SORTED_OF_CLASS, upwards)
