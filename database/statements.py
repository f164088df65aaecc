"""Statements in SQL as text. They are parsed when they run for the first time, because SQLAlchemy is slow to import."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection as Connection
    from sqlalchemy import CursorResult, TextClause

T = TypeVar("T")
Parameters = Mapping[str, Any]

LISTED_AT_ONCE = 500  # values of a list in a statement


class Statement:
    """A statement with parameters such as `:number`; `lists` names those that are lists, as in `IN :numbers`."""

    def __init__(self, sql: str, *lists: str) -> None:
        self._sql = sql
        self._lists = lists

    def run(
        self, connection: "Connection", parameters: Parameters | Sequence[Parameters] | None = None
    ) -> "CursorResult[*tuple[Any, ...]]":
        """Run it, or run it for each item of a list of parameters."""
        return connection.execute(self._parsed, parameters)

    @cached_property
    def _parsed(self) -> "TextClause":
        from sqlalchemy import bindparam, text  # slow

        return text(self._sql).bindparams(*(bindparam(name, expanding=True) for name in self._lists))


def slices(values: Collection[T], size: int = LISTED_AT_ONCE) -> list[list[T]]:
    """The values in lists that are short enough for one statement."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]
