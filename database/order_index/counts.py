"""
The counts by which the rank of a place is found without counting all above it. A place is an article that only the
database has, with its value in an index; its key is the value and the number of the article. An index is named by its
id, an integer, which the column `listing` has.

The table `place_counts` divides each index of more than `MOST_COUNTED` places into ranges: a row has the lower end of a
range (the end belongs to it) and its number of places. A range that grows beyond `MOST_COUNTED` is divided again.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from database.order_index.reads import HIGHEST, LOWEST, Key, Range, before
from database.statements import RowsStatement, Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection

COUNTED = 1_000  # places of a range when it is made
MOST_COUNTED = 2 * COUNTED  # places in a range that is not divided

KeyChanges = Sequence[tuple[Key, int]]  # of an index: the key of each place that was added (1) or removed (-1)


class CountedRange(NamedTuple):
    """A range of an index: its lower end, and how many places it has."""

    low: Key
    size: int


def update(connection: "Connection", changes: Mapping[int, KeyChanges]) -> set[int]:
    """
    Count places that were added to indexes or removed: `changes` is by the id of the index. Returns the ids of the
    indexes that have ranges. In PostgreSQL three statements for all indexes, and four more for each range that is
    divided.
    """
    ranges = _ranges(connection, changes)
    changed, emptied, large = list[tuple[int, int, float, int]](), list[tuple[int, float, int]](), []
    for index in sorted(ranges):
        for (low, size), change in _changed_ranges(ranges[index], changes[index]):
            if size + change == 0 and low != LOWEST:
                emptied.append((index, *low))
                continue
            changed.append((change, index, *low))
            if size + change > MOST_COUNTED:
                large.append((index, low))
    CHANGE_SIZE.run(connection, changed)
    REMOVE_RANGE.run(connection, emptied)
    for index, low in large:
        end = NEXT_END.run(connection, {"index": index, "value": low[0], "number": low[1]}).first()
        divide(connection, index, low, (end[0], end[1]) if end else HIGHEST)
    return set(ranges)


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
    REMOVE_RANGE.run(connection, [(index, *low)])
    ADD_COUNT.run(connection, rows)


def _ranges(connection: "Connection", changes: Mapping[int, KeyChanges]) -> dict[int, list[CountedRange]]:
    """By index: the ranges that have changed keys, or lie between two of them, in ascending order."""
    ends = [(index, *min(changed)[0], *max(changed)[0]) for index, changed in sorted(changes.items())]
    found: defaultdict[int, list[CountedRange]] = defaultdict(list)
    for index, value, number, size in RANGES.fetch(connection, ends):
        found[index].append(CountedRange((value, number), size))
    return {index: sorted(ranges) for index, ranges in found.items()}


def _changed_ranges(ranges: Sequence[CountedRange], changes: KeyChanges) -> list[tuple[CountedRange, int]]:
    """The ranges whose number of places changes, and by how much."""
    lows = [each.low for each in ranges]
    counter = Counter[int]()
    for key, change in changes:
        counter[bisect_right(lows, key) - 1] += change
    return [(ranges[at], change) for at, change in sorted(counter.items()) if change]


TYPES = {  # of columns and parameters, in PostgreSQL
    name: "DOUBLE PRECISION" if name in ("value", "low", "high") else "BIGINT"
    for name in ("listing", "value", "number", "change", "low", "low_number", "high", "high_number")
}
# The range of an index that contains the key `low`, and those that begin above this key and not above `high`.
_RANGES = """
SELECT * FROM (
  SELECT listing, value, number, size FROM place_counts
  WHERE listing = {listing} AND (value, number) <= ({low}, {low_number}) ORDER BY value DESC, number DESC LIMIT 1
) AS first
UNION ALL
SELECT listing, value, number, size FROM place_counts
WHERE listing = {listing} AND (value, number) > ({low}, {low_number}) AND (value, number) <= ({high}, {high_number})"""
_ENDS = ("listing", "low", "low_number", "high", "high_number")
_OF_ROW = _RANGES.format(**{name: f"row.{name}" for name in _ENDS})
RANGES = RowsStatement(
    _RANGES.format(**{name: f":{name}" for name in _ENDS}),
    f"SELECT ranges.* FROM {{rows}} CROSS JOIN LATERAL ({_OF_ROW}) AS ranges",
    TYPES,
)
CHANGE_SIZE = RowsStatement(
    "UPDATE place_counts SET size = size + :change WHERE listing = :listing AND value = :value AND number = :number",
    """
UPDATE place_counts SET size = size + row.change FROM {rows}
WHERE place_counts.listing = row.listing AND place_counts.value = row.value AND place_counts.number = row.number""",
    TYPES,
)
REMOVE_RANGE = RowsStatement(
    "DELETE FROM place_counts WHERE listing = :listing AND value = :value AND number = :number",
    """
DELETE FROM place_counts USING {rows}
WHERE place_counts.listing = row.listing AND place_counts.value = row.value AND place_counts.number = row.number""",
    TYPES,
)
NEXT_END = Statement("""
SELECT value, number FROM place_counts WHERE listing = :index AND (value, number) > (:value, :number)
ORDER BY value, number LIMIT 1""")
ADD_COUNT = Statement("INSERT INTO place_counts (listing, value, number, size) VALUES (:index, :value, :number, :size)")
KEYS = Statement("""
SELECT value, number FROM places
WHERE listing = :listing AND (value, number) > (:low, :low_number) AND (value, number) < (:high, :high_number)
ORDER BY value, number""")
