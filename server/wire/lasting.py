"""
Rows that are remembered: of records that never change and come again in many requests.

What a field says of such a record, if it looks at nothing else, it says for ever. So it is computed once, and later
rows are copies with the other fields filled in.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from server.wire.plans import Column, Field, Level, Pending, Rows, Run, builder

MOST = 20_000  # rows that are remembered, of all plans together


@dataclass(slots=True)
class Memory:
    """Rows by level and record, each with its record: as long as that is kept, no other can have its identity."""

    most: int = MOST
    levels: "count[int]" = field(default_factory=count)  # numbers of levels: none is used twice
    _rows: dict[tuple[int, int], tuple[Any, dict[str, Any]]] = field(default_factory=dict)

    def find(self, level: int, records: Column) -> list[dict[str, Any] | None]:
        rows = self._rows
        found = [rows.get((level, id(record))) for record in records]
        return [entry and entry[1] for entry in found]

    def keep(self, level: int, rows: Sequence[tuple[Any, dict[str, Any]]]) -> None:
        """Remember rows, each after its record."""
        if len(self._rows) + len(rows) > self.most:
            self._rows.clear()
        self._rows.update(((level, id(record)), (record, row)) for record, row in rows)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A level in two parts: `lasting` has the rows that are remembered, with a null for every key of `passing`."""

    lasting: Level
    passing: Level | None
    memory: Memory
    number: int
    is_short: Callable[[Any], bool]

    @property
    def is_lasting(self) -> bool:
        return self.passing is None

    def rows(self, parents: Column, run: Run) -> Pending:
        kept = self._kept(parents, run)
        if self.passing is None:
            return kept
        values = self.passing.rows(parents, run)
        return _filled(kept, values) if isinstance(values, list) else self._later(kept, values)

    async def _later(self, kept: Column, values: Awaitable[Column]) -> Column:
        return _filled(kept, await values)

    def _kept(self, parents: Column, run: Run) -> Column:
        found: Column = self.memory.find(self.number, parents)
        if None in found:
            places = [place for place, row in enumerate(found) if row is None]
            records = [parents[place] for place in places]
            rows = self.lasting.rows(records, run)
            assert isinstance(rows, list), "what lasts is not waited for"
            self.memory.keep(self.number, [pair for pair in zip(records, rows, strict=True) if self.is_short(pair[0])])
            for place, row in zip(places, rows, strict=True):
                found[place] = row
        return found


def level_of(fields: Sequence[Field], memory: Memory, is_short: Callable[[Any], bool] | None) -> Rows:
    """The level of these fields; of records that last, those that are short enough to keep have a part remembered."""
    keys = [field.key for field in fields]
    lasting = tuple(field for field in fields if field.is_lasting)
    passing = tuple(field for field in fields if not field.is_lasting)
    if not is_short or not lasting:
        return Level(tuple(fields), builder(keys, keys))
    return Remembered(
        Level(lasting, builder(keys, {field.key for field in lasting})),
        Level(passing, builder([field.key for field in passing], keys)) if passing else None,
        memory,
        next(memory.levels),
        is_short,
    )


def _filled(kept: Column, values: Column) -> Column:
    return [row | value for row, value in zip(kept, values, strict=True)]
