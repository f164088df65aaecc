"""
Reads of the places of archived articles, which only the database has: a part of a listing, parts of many listings, and
ranks; each is one statement.

A place is an article with its value in a listing. An index has the places of one listing, by value. Every statement
reads a range of the primary key of `places`, or of that of `place_counts`, whose rows count about 1,000 places each.
"""

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from database.statements import Statement, slices
from store import keys
from store.listings import Window
from store.records import PartitionPage, Position

if TYPE_CHECKING:
    from sqlalchemy import Connection

Key = tuple[float, int]  # the value and the number of a place

LAST_NUMBER = 2**63 - 1  # above the number of any article: the largest that SQL holds
LOWEST: Key = (-inf, -1)
HIGHEST: Key = (inf, LAST_NUMBER)
EARLIEST: Key = (-(2**62), -1)  # below and above all times and numbers of votes
LATEST: Key = (2**62, LAST_NUMBER)


class Index(NamedTuple):
    """
    The index of a listing of archived articles: how many places it has (`size`), and the weights of the ranking that
    their values depend on, as NAME=VALUE; "" if they depend on none.

    A listing by GRAVITY has one for each class of votes (see `classes`), whose places are ordered by time. Other
    listings have one, of class 0.
    """

    id: int
    name: str
    votes_class: int
    size: int
    weights: str


class Range(NamedTuple):
    """The places of an index above `low` and below `high`, both excluded. `listing` is the id of the index."""

    listing: int
    low: Key
    high: Key


class Place(NamedTuple):
    """
    An article with its value in an index. `extra` is the number of votes in an index by time, the posting time in one
    by votes, else None.
    """

    value: float
    number: int
    extra: int | None

    @property
    def key(self) -> Key:
        return self.value, self.number


def position(value: float, number: int) -> Position:
    """The position of a place. Its value is a float also where the database has integers, as cursors contain it."""
    return Position(float(value), keys.member(number))


def key_of(position: Position) -> Key:
    return position.value, position.number


def before(key: Key) -> Key:
    """The key just below another one."""
    return key[0], key[1] - 1


def nudged(key: Key, upwards: bool) -> Key:
    """The key just above (upwards) or below another one."""
    return key[0], key[1] + (1 if upwards else -1)


def page_of(found: Sequence[Key], window: Window, has_behind: bool, total: int, at: int | None = None) -> PartitionPage:
    """
    The page of a window, for listings in which the places above a page are not counted. `found` has the first
    `window.count` + 1 keys beyond the window's position, nearest first: the last one shows that there are more.

    `has_behind` says whether there are places on the other side of that position. `total` is the size of the listing,
    and `at` the instant of the values if these change with time. The page's `above`, how many places are above it, is
    exact at both ends of the listing; elsewhere it is 1, which means some.
    """
    shown, has_more = found[: window.count], len(found) > window.count
    has_above, has_below = (has_more, has_behind) if window.upwards else (has_behind, has_more)
    above = 0 if not has_above else 1 if has_below else max(total - len(shown), 0)
    positions = tuple(position(*key) for key in (reversed(shown) if window.upwards else shown))
    return PartitionPage(above, total, positions, at)


def indexes(connection: "Connection", names: Collection[str]) -> list[Index]:
    """The stored indexes of listings, by class within a listing."""
    return [Index(*row) for some in slices(names) for row in INDEXES.run(connection, {"names": some})]


def index(connection: "Connection", name: str) -> Index | None:
    """The index of a listing whose order is not GRAVITY; None if nothing is archived in it."""
    return next(iter(indexes(connection, [name])), None)


def places(connection: "Connection", part: Range, count: int, *, upwards: bool) -> list[Place]:
    """The highest places of a range, highest first, or the lowest ones, lowest first."""
    (low, low_number), (high, high_number) = part.low, part.high
    named = {
        "listing": part.listing,
        "low": low,
        "low_number": low_number,
        "high": high,
        "high_number": high_number,
        "count": count,
    }
    return [Place(*row) for row in (PLACES_UP if upwards else PLACES_DOWN).run(connection, named)]


def places_in_groups(
    connection: "Connection", part: Range, groups: Sequence[str], count: int, upwards: bool
) -> list[Place]:
    """As `places`, but only of articles that are in any of some groups, each once."""
    (low, low_number), (high, high_number) = part.low, part.high
    named = {
        "listing": part.listing, "low": low, "low_number": low_number, "high": high, "high_number": high_number,
        "groups": list(groups), "count": count,
    }  # fmt: skip
    statement = PLACES_IN_GROUPS_UP if upwards else PLACES_IN_GROUPS_DOWN
    return [Place(*row) for row in statement.run(connection, named)]


def places_of_many(connection: "Connection", parts: Sequence[Range], count: int, *, upwards: bool) -> list[list[Place]]:
    """As `places` for each of many ranges, at most `count` places of each. The values have to be integers."""
    if not parts:
        return []
    statement = _of_many(connection.dialect.name, _MANY_UP if upwards else _MANY_DOWN)
    found = _json(statement.run(connection, {"parts": _as_json(parts), "count": count}).scalar_one())
    return [list(map(Place._make, places or ())) for places in found]


def values(connection: "Connection", part: Range, count: int, upwards: bool) -> list[float]:
    """The highest values of a range, each once, highest first, or the lowest ones, lowest first."""
    (low, low_number), (high, high_number) = part.low, part.high
    named = {
        "listing": part.listing, "low": low, "low_number": low_number, "high": high, "high_number": high_number,
        "count": count,
    }  # fmt: skip
    named["beyond"] = LAST_NUMBER if upwards else -1  # beyond all places with the same value
    return list((VALUES_UP if upwards else VALUES_DOWN).run(connection, named).scalars())


def rank(connection: "Connection", index: Index, key: Key) -> int:
    """The number of places of an index above a key."""
    if key[0] == inf:
        return 0
    if key[0] == -inf:
        return index.size
    named = {"listing": index.id, "value": key[0], "number": key[1], "infinity": inf}
    above: int = RANK.run(connection, named).scalar_one()
    return above


def counts_above(connection: "Connection", values: Sequence[tuple[int, int]]) -> list[int]:
    """For each pair of the id of an index and a value: how many places of the index are above the value."""
    if not values:
        return []
    statement = _of_many(connection.dialect.name, _COUNTS_ABOVE)
    found: list[int] = _json(statement.run(connection, {"parts": json.dumps(values), "infinity": inf}).scalar_one())
    return found


def at_rank(connection: "Connection", index: Index, rank: int) -> Key | None:
    """The key with this many places of the index above it; None if there are not as many."""
    if not 0 <= rank < index.size:
        return None
    found = COUNT_AT_RANK.run(connection, {"listing": index.id, "rank": rank}).first()
    (value, number), above = (found[:2], found[2]) if found else (HIGHEST, 0)
    named = {"listing": index.id, "value": value, "number": number, "skipped": rank - above}
    row = PLACE_BELOW.run(connection, named).first()
    return (row[0], row[1]) if row else None


def places_of(connection: "Connection", index: Index | None, numbers: Collection[int]) -> list[Place]:
    """The places that articles with these numbers have in an index; none without an index."""
    if not numbers or not index:
        return []
    rows = PLACES_OF.run(connection, {"listing": index.id, "numbers": list(numbers)})
    return [Place(*row) for row in rows]


def _json(value: Any) -> Any:
    """JSON as a database returns it: psycopg decodes it, SQLite's driver does not."""
    return json.loads(value) if isinstance(value, str) else value


def _as_json(parts: Sequence[Range]) -> str:
    return json.dumps([[listing, *low, *high] for listing, low, high in parts])


INDEXES = Statement(
    "SELECT id, name, votes_class, size, weights FROM listings WHERE name IN :names ORDER BY name, votes_class",
    "names",
)

_PLACES = """
SELECT value, number, extra FROM places
WHERE listing = :listing AND (value, number) > (:low, :low_number) AND (value, number) < (:high, :high_number)
"""
_IN_GROUPS = f"{_PLACES} AND number IN (SELECT number FROM article_groups WHERE name IN :groups)"
PLACES_IN_GROUPS_UP = Statement(f"{_IN_GROUPS} ORDER BY value, number LIMIT :count", "groups")
PLACES_IN_GROUPS_DOWN = Statement(f"{_IN_GROUPS} ORDER BY value DESC, number DESC LIMIT :count", "groups")
PLACES_UP = Statement(f"{_PLACES} ORDER BY value, number LIMIT :count")
PLACES_DOWN = Statement(f"{_PLACES} ORDER BY value DESC, number DESC LIMIT :count")
PLACES_OF = Statement(  # "+" excludes the primary key, in whose order all places of the listing would be read
    "SELECT value, number, extra FROM places WHERE +listing = :listing AND number IN :numbers",
    "numbers",
)

# From each value the next one is found by a search in the primary key.
_VALUES = f"""
WITH RECURSIVE found (value) AS (
  SELECT value FROM ({_PLACES} ORDER BY value {{0}}, number {{0}} LIMIT 1) AS first
  UNION ALL
  SELECT (
    SELECT value FROM places
    WHERE listing = :listing AND {{1}} ORDER BY value {{0}}, number {{0}} LIMIT 1
  ) FROM found WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL LIMIT :count"""
VALUES_UP = Statement(
    _VALUES.format("ASC", "(value, number) > (found.value, :beyond) AND (value, number) < (:high, :high_number)")
)
VALUES_DOWN = Statement(
    _VALUES.format("DESC", "(value, number) < (found.value, :beyond) AND (value, number) > (:low, :low_number)")
)

# Of the ranges above the key, whole ones are counted by `place_counts`; the one that contains the key is counted here.
# A sum of integers is a NUMERIC in PostgreSQL, which would arrive as a Decimal.
RANK = Statement("""
SELECT (
  SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM place_counts
  WHERE listing = :listing AND (value, number) > (:value, :number)
) + (
  SELECT count(*) FROM places
  WHERE listing = :listing AND (value, number) > (:value, :number) AND (value, number) < (
    coalesce((
      SELECT value FROM place_counts WHERE listing = :listing AND (value, number) > (:value, :number)
      ORDER BY value, number LIMIT 1), :infinity),
    coalesce((
      SELECT number FROM place_counts WHERE listing = :listing AND (value, number) > (:value, :number)
      ORDER BY value, number LIMIT 1), 0)
  )
)""")
# The lower end of the range of places above the one that contains the rank, and how many places are above that.
COUNT_AT_RANK = Statement("""
SELECT value, number, through FROM (
  SELECT value, number, CAST(sum(size) OVER (ORDER BY value DESC, number DESC) AS BIGINT) AS through
  FROM place_counts WHERE listing = :listing
) AS counts WHERE through <= :rank ORDER BY value, number LIMIT 1""")
PLACE_BELOW = Statement("""
SELECT value, number FROM places WHERE listing = :listing AND (value, number) < (:value, :number)
ORDER BY value DESC, number DESC LIMIT 1 OFFSET :skipped""")

# `_of_many` puts in how a database makes an array of what is found, `{array}` of a range and `{all}` of all ranges.
_MANY = """
SELECT {{all}} FROM (
  SELECT part, (
    SELECT {{array}} FROM (
      SELECT value, number, extra FROM places
      WHERE listing = id AND (value, number) > (low, low_number) AND (value, number) < (high, high_number)
      ORDER BY value {0}, number {0} LIMIT :count
    ) AS nearest
  ) AS found FROM parts
) AS parts"""
_MANY_UP, _MANY_DOWN = _MANY.format("ASC"), _MANY.format("DESC")

# As RANK, in three ranges, because SQLite compares pairs in a subquery with each row again.
_COUNTS_ABOVE = """
SELECT {all} FROM (
  SELECT part, (
    SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM place_counts WHERE listing = id AND value > low
  ) + (
    SELECT count(*) FROM places WHERE listing = id AND value > low AND value < coalesce((
      SELECT min(value) FROM place_counts WHERE listing = id AND value > low), :infinity)
  ) + (
    SELECT count(*) FROM places WHERE listing = id AND value = (
      SELECT min(value) FROM place_counts WHERE listing = id AND value > low
    ) AND number < (
      SELECT number FROM place_counts WHERE listing = id AND value > low ORDER BY value, number LIMIT 1
    )
  ) AS found FROM parts
) AS parts"""


@lru_cache
def _of_many(dialect: str, statement: str) -> Statement:
    """A statement that reads the table `parts`, which has a row for each array of the JSON array `:parts`."""
    names = ("id", "low", "low_number", "high", "high_number")
    if dialect == "sqlite":
        columns = [f"json_extract(value, '$[{i}]') AS {name}" for i, name in enumerate(names)]
        array = "json_group_array(json_array(CAST(value AS BIGINT), number, extra))"
        source, all = "json_each(:parts)", "json_group_array(json(found))"  # in the order of json_each
    else:
        types = ("BIGINT", "DOUBLE PRECISION", "BIGINT", "DOUBLE PRECISION", "BIGINT")
        columns = [f"CAST(value ->> {i} AS {types[i]}) AS {name}" for i, name in enumerate(names)]
        array = "json_agg(json_build_array(CAST(value AS BIGINT), number, extra))"
        source = "jsonb_array_elements(CAST(:parts AS jsonb)) WITH ORDINALITY AS array_of (value, key)"
        all = "json_agg(found ORDER BY part)"
    parts = f"WITH parts AS MATERIALIZED (SELECT key AS part, {', '.join(columns)} FROM {source})"
    return Statement(parts + statement.format(array=array, all=all))
