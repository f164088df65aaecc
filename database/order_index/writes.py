"""
Writes of the places of archived articles, and of the counts by which ranks are found.

A place is an article with its value in a listing. `place_counts` divides each listing of more than `MOST_COUNTED`
places into ranges: a row has the lower end of a range and its number of places. A range with more than `MOST_COUNTED`
is divided.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from database.order_index.reads import HIGHEST, LOWEST, Index, Key, Place, Range, before, indexes
from database.statements import RowsStatement, Statement, slices

if TYPE_CHECKING:
    from sqlalchemy import Connection

COUNTED = 1_000  # places of a range when it is made
MOST_COUNTED = 2 * COUNTED  # places in a range that is not divided

IndexName = tuple[str, int]  # the name of a listing, and the class of votes


class Move(NamedTuple):
    """The value that an article had in an index, and the place that it has there now."""

    old: float
    place: Place


def lock(connection: "Connection") -> None:
    """Let nobody else write places until the end of the transaction. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        LOCK.run(connection)


def create_indexes(connection: "Connection", weights: Mapping[IndexName, str]) -> dict[IndexName, Index]:
    """Create empty indexes of listings, with the weights that their values will depend on."""
    rows = [
        {"name": name, "votes_class": votes_class, "weights": text, "size": 0}
        for (name, votes_class), text in weights.items()
    ]
    if rows:
        CREATE_INDEXES.run(connection, rows)
    created = indexes(connection, {name for name, _ in weights})
    return {name: each for each in created if (name := (each.name, each.votes_class)) in weights}


def add(connection: "Connection", places: Mapping[int, Sequence[Place]]) -> None:
    """Add places to indexes, given by their ids. None of the numbers may be in the index already."""
    rows = [(index, *place) for index in sorted(places) for place in sorted(places[index])]
    if not rows:
        return
    ADD_PLACES.run(connection, rows)
    RESIZE.run(connection, [{"id": index, "change": len(own)} for index, own in sorted(places.items()) if own])
    counted = _counted(connection, places)
    for index in counted:
        _change_counts(connection, index, [place.key for place in places[index]], 1)
    for index in _large(connection, set(places) - counted):
        divide(connection, index)


def replace(connection: "Connection", numbers: Collection[int], places: Mapping[int, Sequence[Place]]) -> None:
    """Let articles have these places, by the ids of their indexes, and no others. Only what differs is written."""
    known = {(index, number): (value, number, extra) for index, value, number, extra in _places_of(connection, numbers)}
    moved, added = defaultdict[int, list[Move]](list), defaultdict[int, list[Place]](list)
    for index, of_index in places.items():
        for place in of_index:
            old = known.pop((index, place.number), None)
            if old is None:
                added[index].append(place)
            elif old != place:
                moved[index].append(Move(old[0], place))
    _move(connection, moved)
    add(connection, added)
    ended: defaultdict[int, list[Key]] = defaultdict(list)
    for (index, _), (value, number, _) in sorted(known.items()):
        ended[index].append((value, number))
    if ended:
        REMOVE_PLACE.run(connection, [(index, *key) for index, keys in ended.items() for key in keys])
        _count_removed(connection, ended)


def remove(connection: "Connection", numbers: Collection[int]) -> None:
    """Remove all places of articles, and the indexes that are empty then."""
    removed: defaultdict[int, list[Key]] = defaultdict(list)
    for index, value, number, _ in _places_of(connection, numbers):
        removed[index].append((value, number))
    if removed:
        for some in slices(numbers):
            REMOVE_ARTICLES.run(connection, {"numbers": some})
        _count_removed(connection, removed)


def remove_empty(connection: "Connection", indexes: Collection[int]) -> None:
    """Remove those of some indexes that have no places."""
    for some in slices(indexes):
        for statement in (REMOVE_EMPTY_COUNTS, REMOVE_EMPTY):
            statement.run(connection, {"indexes": some})


def remove_index(connection: "Connection", index: Index) -> None:
    """Remove an index with all its places."""
    for statement in REMOVE_INDEX:
        statement.run(connection, {"index": index.id})


def divide(connection: "Connection", index: int, low: Key = LOWEST, high: Key = HIGHEST) -> None:
    """Divide an index, or a range of it from `low` to below `high`, into ranges of `COUNTED` places."""
    part = Range(index, before(low), high)
    named = {
        "listing": part.listing,
        "low": part.low[0],
        "low_number": part.low[1],
        "high": part.high[0],
        "high_number": part.high[1],
    }
    found: list[Key] = [(value, number) for value, number in KEYS.run(connection, named)]
    starts = [low, *found[COUNTED::COUNTED]]
    sizes = [len(found[start : start + COUNTED]) for start in range(0, len(found), COUNTED)]
    rows = [
        {"index": index, "value": value, "number": number, "size": size}
        for (value, number), size in zip(starts, sizes, strict=True)
    ]
    REMOVE_COUNT.run(connection, {"index": index, "value": low[0], "number": low[1]})
    ADD_COUNT.run(connection, rows)


def _places_of(connection: "Connection", numbers: Collection[int]) -> list[tuple[int, float, int, int | None]]:
    """All places of articles: each the id of its index, and what `Place` has."""
    found: list[Any] = []
    for some in slices(numbers):
        found += PLACES_OF_ARTICLES.run(connection, {"numbers": some}).all()
    return found


def _move(connection: "Connection", moved: Mapping[int, Sequence[Move]]) -> None:
    """
    Let places of indexes, given by their ids, be other ones of the same articles. Sorted index by index, as nothing
    else of this process runs while a list is sorted.
    """
    if not moved:
        return
    rows = [
        (place.value, place.extra, index, old, place.number)
        for index in sorted(moved)
        for old, place in sorted(moved[index])
    ]
    MOVE_PLACE.run(connection, rows)
    changed = {index: [move for move in of_index if move.old != move.place.value] for index, of_index in moved.items()}
    for index in _counted(connection, [index for index, of_index in changed.items() if of_index]):
        _change_counts(connection, index, [(old, place.number) for old, place in changed[index]], -1)
        _change_counts(connection, index, [place.key for _, place in changed[index]], 1)


def _count_removed(connection: "Connection", removed: Mapping[int, Sequence[Key]]) -> None:
    """Count places that were removed from indexes, and remove those that are empty then."""
    RESIZE.run(connection, [{"id": index, "change": -len(keys)} for index, keys in sorted(removed.items())])
    for index in _counted(connection, removed):
        _change_counts(connection, index, removed[index], -1)
    remove_empty(connection, removed)


def _counted(connection: "Connection", indexes: Collection[int]) -> set[int]:
    """The ids of those of some indexes that have rows in `place_counts`."""
    return _selected(connection, COUNTED_INDEXES, indexes, {})


def _large(connection: "Connection", indexes: Collection[int]) -> set[int]:
    return _selected(connection, LARGE_INDEXES, indexes, {"most": MOST_COUNTED})


def _selected(
    connection: "Connection", statement: Statement, indexes: Collection[int], named: dict[str, Any]
) -> set[int]:
    return {index for some in slices(indexes) for (index,) in statement.run(connection, {"indexes": some, **named})}


def _change_counts(connection: "Connection", index: int, changed: Sequence[Key], change: int) -> None:
    """Count places that were added (1) or removed (-1)."""
    lowest, highest = min(changed), max(changed)
    named = {
        "index": index,
        "value": lowest[0],
        "number": lowest[1],
        "highest": highest[0],
        "highest_number": highest[1],
    }
    ends: list[Key] = [(value, number) for value, number in COUNT_ENDS.run(connection, named)]
    changes = Counter(bisect_right(ends, key) - 1 for key in changed)
    rows = [
        {"index": index, "value": ends[i][0], "number": ends[i][1], "change": change * number}
        for i, number in sorted(changes.items())
    ]
    CHANGE_COUNT.run(connection, rows)
    if change < 0:
        REMOVE_EMPTY_RANGES.run(connection, {"index": index, "lowest": LOWEST[0]})
        return
    for value, number in LARGE_RANGES.run(connection, {"index": index, "most": MOST_COUNTED}).all():
        end = NEXT_END.run(connection, {"index": index, "value": value, "number": number}).first()
        divide(connection, index, (value, number), (end[0], end[1]) if end else HIGHEST)


LOCK = Statement("LOCK TABLE listings IN SHARE ROW EXCLUSIVE MODE")
CREATE_INDEXES = Statement("""
INSERT INTO listings (name, votes_class, size, weights) VALUES (:name, :votes_class, :size, :weights)""")
TYPES = {
    name: "DOUBLE PRECISION" if name in ("value", "old") else "BIGINT"
    for name in ("listing", "value", "number", "extra", "old")
}
ADD_PLACES = RowsStatement(
    "INSERT INTO places (listing, value, number, extra) VALUES (:listing, :value, :number, :extra)",
    "INSERT INTO places (listing, value, number, extra) SELECT listing, value, number, extra FROM {rows}",
    TYPES,
)
RESIZE = Statement("UPDATE listings SET size = size + :change WHERE id = :id")
PLACES_OF_ARTICLES = Statement("SELECT listing, value, number, extra FROM places WHERE number IN :numbers", "numbers")
MOVE_PLACE = RowsStatement(
    "UPDATE places SET value = :value, extra = :extra WHERE listing = :listing AND value = :old AND number = :number",
    """
UPDATE places SET value = row.value, extra = row.extra FROM {rows}
WHERE places.listing = row.listing AND places.value = row.old AND places.number = row.number""",
    TYPES,
)
REMOVE_PLACE = RowsStatement(
    "DELETE FROM places WHERE listing = :listing AND value = :value AND number = :number",
    """
DELETE FROM places USING {rows}
WHERE places.listing = row.listing AND places.value = row.value AND places.number = row.number""",
    TYPES,
)
REMOVE_ARTICLES = Statement("DELETE FROM places WHERE number IN :numbers", "numbers")
REMOVE_EMPTY = Statement("DELETE FROM listings WHERE size = 0 AND id IN :indexes", "indexes")
REMOVE_EMPTY_COUNTS = Statement(
    "DELETE FROM place_counts WHERE listing IN (SELECT id FROM listings WHERE size = 0 AND id IN :indexes)",
    "indexes",
)
REMOVE_INDEX = [
    Statement("DELETE FROM places WHERE listing = :index"),
    Statement("DELETE FROM place_counts WHERE listing = :index"),
    Statement("DELETE FROM listings WHERE id = :index"),
]
COUNTED_INDEXES = Statement(
    "SELECT id FROM listings WHERE id IN :indexes AND EXISTS (SELECT 1 FROM place_counts WHERE listing = listings.id)",
    "indexes",
)
LARGE_INDEXES = Statement("SELECT id FROM listings WHERE id IN :indexes AND size > :most", "indexes")
# The lower ends of the ranges from one key to another: the first one contains the lower key.
COUNT_ENDS = Statement("""
SELECT value, number FROM (
  SELECT value, number FROM place_counts WHERE listing = :index AND (value, number) <= (:value, :number)
  ORDER BY value DESC, number DESC LIMIT 1
) AS first
UNION ALL
SELECT value, number FROM place_counts
WHERE listing = :index AND (value, number) > (:value, :number) AND (value, number) <= (:highest, :highest_number)
ORDER BY 1, 2""")
CHANGE_COUNT = Statement("""
UPDATE place_counts SET size = size + :change WHERE listing = :index AND value = :value AND number = :number""")
REMOVE_EMPTY_RANGES = Statement("DELETE FROM place_counts WHERE listing = :index AND size = 0 AND value > :lowest")
LARGE_RANGES = Statement("SELECT value, number FROM place_counts WHERE listing = :index AND size > :most")
NEXT_END = Statement("""
SELECT value, number FROM place_counts WHERE listing = :index AND (value, number) > (:value, :number)
ORDER BY value, number LIMIT 1""")
REMOVE_COUNT = Statement("DELETE FROM place_counts WHERE listing = :index AND value = :value AND number = :number")
ADD_COUNT = Statement("INSERT INTO place_counts (listing, value, number, size) VALUES (:index, :value, :number, :size)")
KEYS = Statement("""
SELECT value, number FROM places
WHERE listing = :listing AND (value, number) > (:low, :low_number) AND (value, number) < (:high, :high_number)
ORDER BY value, number""")
