"""
Writes the places of archived articles, which only the database has. A place is an article with its value in a listing;
an index has the places of one listing, and is named by its id, an integer, which the column `listing` has. `counts`
keeps how many places are in each range of an index.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from database.order_index import counts
from database.order_index.reads import Index, Key, Place, indexes
from database.statements import RowsStatement, Statement, slices

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
    """Add places to indexes: `places` is by the id of the index. No article may have a place there already."""
    rows = [(index, *place) for index in sorted(places) for place in sorted(places[index])]
    if not rows:
        return
    ADD_PLACES.run(connection, rows)
    _count(connection, {index: [(place.key, 1) for place in own] for index, own in places.items() if own})


def replace(connection: "Connection", numbers: Collection[int], places: Mapping[int, Sequence[Place]]) -> None:
    """
    Let the articles with some numbers have these places, given by the id of the index, and no others. Only what differs
    from the places that they have is written.
    """
    known = {(index, number): (value, number, extra) for index, value, number, extra in _places_of(connection, numbers)}
    moved, added = defaultdict[int, list[Move]](list), defaultdict[int, list[Place]](list)
    for index, of_index in places.items():
        for place in of_index:
            old = known.pop((index, place.number), None)
            if old is None:
                added[index].append(place)
            elif old != place:
                moved[index].append(Move(old[0], place))
    ended = [(index, value, number) for (index, number), (value, *_) in sorted(known.items())]
    _write(connection, moved, added, ended)
    _count(connection, _key_changes(moved, added, ended))


def remove(connection: "Connection", numbers: Collection[int]) -> None:
    """Remove all places of articles, and the indexes that are empty then."""
    removed: defaultdict[int, list[tuple[Key, int]]] = defaultdict(list)
    for index, value, number, _ in _places_of(connection, numbers):
        removed[index].append(((value, number), -1))
    if removed:
        for some in slices(numbers):
            REMOVE_ARTICLES.run(connection, {"numbers": some})
        _count(connection, removed)


def remove_empty(connection: "Connection", indexes: Collection[int]) -> None:
    """Remove those of some indexes that have no places."""
    for some in slices(indexes):
        for statement in (REMOVE_EMPTY_COUNTS, REMOVE_EMPTY):
            statement.run(connection, {"indexes": some})


def remove_index(connection: "Connection", index: Index) -> None:
    """Remove an index with all its places."""
    for statement in REMOVE_INDEX:
        statement.run(connection, {"index": index.id})


def _places_of(connection: "Connection", numbers: Collection[int]) -> list[tuple[int, float, int, int | None]]:
    """All places of articles: each the id of its index, and what `Place` has."""
    found: list[Any] = []
    for some in slices(numbers):
        found += PLACES_OF_ARTICLES.run(connection, {"numbers": some}).all()
    return found


def _write(
    connection: "Connection",
    moved: Mapping[int, Sequence[Move]],
    added: Mapping[int, Sequence[Place]],
    ended: Sequence[tuple[int, float, int]],
) -> None:
    """
    Replace, add and remove rows of places: `moved` and `added` are by the id of the index, `ended` has the id, the
    value and the number of each. The lists are sorted index by index and not at once, as no other thread of the process
    runs while a list is sorted.
    """
    rows = [
        (place.value, place.extra, index, old, place.number)
        for index in sorted(moved)
        for old, place in sorted(moved[index])
    ]
    MOVE_PLACE.run(connection, rows)
    ADD_PLACES.run(connection, [(index, *place) for index in sorted(added) for place in sorted(added[index])])
    REMOVE_PLACE.run(connection, ended)


def _key_changes(
    moved: Mapping[int, Sequence[Move]],
    added: Mapping[int, Sequence[Place]],
    ended: Sequence[tuple[int, float, int]],
) -> dict[int, counts.KeyChanges]:
    """By the id of the index: the key of each place that `_write` adds (1) or removes (-1)."""
    changes: defaultdict[int, list[tuple[Key, int]]] = defaultdict(list)
    for index, moves in moved.items():
        for before, place in moves:
            if before != place.value:
                changes[index] += ((before, place.number), -1), (place.key, 1)
    for index, new in added.items():
        changes[index] += [(place.key, 1) for place in new]
    for index, value, number in ended:
        changes[index].append(((value, number), -1))
    return dict(changes)


def _count(connection: "Connection", changes: Mapping[int, counts.KeyChanges]) -> None:
    """
    Bring the sizes of indexes and the counts of their ranges up to date, and remove indexes that are empty then.
    `changes` is by the id of the index.
    """
    if not changes:
        return
    sizes = {index: sum(change for _, change in changed) for index, changed in sorted(changes.items())}
    RESIZE.run(connection, [(change, index) for index, change in sizes.items() if change])
    counted = counts.update(connection, changes)
    for index in _large(connection, {index for index, change in sizes.items() if change > 0} - counted):
        counts.divide(connection, index)
    remove_empty(connection, {index for index, change in sizes.items() if change < 0})


def _large(connection: "Connection", indexes: Collection[int]) -> list[int]:
    """Which of some indexes have so many places that they are divided into counted ranges."""
    named = {"most": counts.MOST_COUNTED}
    return [index for some in slices(indexes) for (index,) in LARGE_INDEXES.run(connection, {"indexes": some, **named})]


LOCK = Statement("LOCK TABLE listings IN SHARE ROW EXCLUSIVE MODE")
CREATE_INDEXES = Statement("""
INSERT INTO listings (name, votes_class, size, weights) VALUES (:name, :votes_class, :size, :weights)""")
TYPES = {  # of columns and parameters, in PostgreSQL
    name: "DOUBLE PRECISION" if name in ("value", "old") else "BIGINT"
    for name in ("listing", "value", "number", "extra", "old", "id", "change")
}
ADD_PLACES = RowsStatement(
    "INSERT INTO places (listing, value, number, extra) VALUES (:listing, :value, :number, :extra)",
    "INSERT INTO places (listing, value, number, extra) SELECT listing, value, number, extra FROM {rows}",
    TYPES,
)
RESIZE = RowsStatement(
    "UPDATE listings SET size = size + :change WHERE id = :id",
    "UPDATE listings SET size = listings.size + row.change FROM {rows} WHERE listings.id = row.id",
    TYPES,
)
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
LARGE_INDEXES = Statement("SELECT id FROM listings WHERE id IN :indexes AND size > :most", "indexes")
