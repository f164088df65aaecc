"""
Statements in SQL as text, for SQLite and PostgreSQL. They are parsed when they run for the first time, because
SQLAlchemy is slow to import.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection as Connection
    from sqlalchemy import CursorResult, Dialect, Executable, TextClause

T = TypeVar("T")
Parameters = Mapping[str, Any]

LISTED_AT_ONCE = 500  # values of a list in a statement
ROWS_AT_ONCE = 1_000  # so few that PostgreSQL finds each by an index
PARAMETER = re.compile(r":(\w+)")


class Statement:
    """
    A statement with parameters such as `:number`; `lists` names those that are lists, as in `IN :numbers`. To
    PostgreSQL a list is one parameter, so that the statement is the same for lists of all lengths, and prepared once:
    SQLAlchemy, the driver and the server each take longer for a parameter than for an item of an array.
    """

    def __init__(self, sql: str, *lists: str) -> None:
        self._sql = sql
        self._lists = lists

    def run(
        self, connection: "Connection", parameters: Parameters | Sequence[Parameters] | None = None
    ) -> "CursorResult[*tuple[Any, ...]]":
        """Run it, or run it for each item of a list of parameters, which is not empty then."""
        if isinstance(parameters, Sequence):
            return run_each(connection, self._parsed, parameters)
        if self._lists and parameters and connection.dialect.name == "postgresql":
            arrays = {name: _array(parameters[name], _are_texts(parameters[name])) for name in self._lists}
            return connection.execute(self._with_arrays, {**parameters, **arrays})
        return connection.execute(self._parsed, parameters)

    @cached_property
    def _with_arrays(self) -> "TextClause":
        from sqlalchemy import text  # slow

        listed = rf":({'|'.join(self._lists)})\b"
        sql = re.sub(rf"\bNOT IN {listed}", r"<> ALL (:\1)", self._sql)
        return text(re.sub(rf"\bIN {listed}", r"= ANY (:\1)", sql))

    @cached_property
    def _parsed(self) -> "TextClause":
        from sqlalchemy import bindparam, text  # slow

        return text(self._sql).bindparams(*(bindparam(name, expanding=True) for name in self._lists))


class RowsStatement:
    """
    A statement for many rows. SQLite runs `each`, the statement for one row, which names its values, as in `:number`. A
    row is a tuple of these values, in the order in which `each` first names them. PostgreSQL, for which a statement
    costs more than its row, runs `together`: there `{rows}` becomes a table `row` that has all rows. `types` has
    PostgreSQL's type of each value, by name. Only `fetch` takes statements that name a value twice.
    """

    def __init__(self, each: str, together: str, types: Mapping[str, str]) -> None:
        given = PARAMETER.findall(each)
        names = list(dict.fromkeys(given))
        self._each = PARAMETER.sub("?", each)
        self._places = [names.index(name) for name in given]  # for each `?` of `_each`: the index of its value in a row
        self._is_text = [types[name] == "TEXT" for name in names]
        arrays = ", ".join(f"CAST(%s AS {types[name]}[])" for name in names)
        self._together = together.format(rows=f"unnest({arrays}) AS row ({', '.join(names)})")

    def run(self, connection: "Connection", rows: Sequence[tuple[Any, ...]]) -> None:
        """Run it for some rows, which may be none. No row is given twice."""
        if connection.dialect.name == "sqlite":
            if rows:
                connection.exec_driver_sql(self._each, list(rows))
            return
        for some in slices(rows, ROWS_AT_ONCE):
            connection.exec_driver_sql(self._together, self._arrays(some))

    def fetch(self, connection: "Connection", rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What it returns for all of some rows."""
        found: list[Any] = []
        if connection.dialect.name == "sqlite":
            for row in rows:
                found += connection.exec_driver_sql(self._each, tuple(row[place] for place in self._places))
            return found
        for some in slices(rows, ROWS_AT_ONCE):
            found += connection.exec_driver_sql(self._together, self._arrays(some))
        return found

    def _arrays(self, rows: Sequence[tuple[Any, ...]]) -> tuple[object, ...]:
        return tuple(map(_array, zip(*rows, strict=True), self._is_text))


def _are_texts(values: Collection[Any]) -> bool:
    return isinstance(next(iter(values), None), str)


def _array(values: Collection[Any], is_text: bool) -> object:
    """An array as a parameter for PostgreSQL. To write numbers as text takes the driver much longer."""
    if is_text:
        return list(values)
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def run_each(
    connection: "Connection", statement: "Executable", rows: Sequence[Parameters]
) -> "CursorResult[*tuple[Any, ...]]":
    """
    Run a statement for each of some rows: one at least, all with the same names. The driver gets the rows as they are,
    because SQLAlchemy takes longer to prepare a row than SQLite to write it.
    """
    sql, names = _of_driver(statement, connection.dialect, tuple(rows[0]))
    return connection.exec_driver_sql(sql, [tuple(row[name] for name in names) for row in rows] if names else [*rows])


@lru_cache(maxsize=500)
def _of_driver(statement: "Executable", dialect: "Dialect", given: tuple[str, ...]) -> tuple[str, Sequence[str]]:
    """The text for the driver, and the names of its parameters if it takes them by their places."""
    compiled: Any = statement.compile(dialect=dialect, column_keys=given)  # type: ignore[attr-defined]
    return compiled.string, compiled.positiontup or ()


def slices(values: Collection[T], size: int = LISTED_AT_ONCE) -> list[list[T]]:
    """The values in lists that are short enough for one statement."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]
