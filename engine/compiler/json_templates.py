"""
JSON templates with placeholders for what is not cached.

The attributes and pure fields of an immutable record have the same JSON in every answer. That JSON is written once and
cached; what other fields say is inserted where the placeholders are. Templates of nested objects become part of the
outer one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Any

import orjson

from caches import Usage
from engine.compiler.plan import (
    MARK,
    Budget,
    Column,
    Field,
    Level,
    Pending,
    Placeholders,
    Run,
    all_ready,
    gather_columns,
)

MOST = 32_000_000  # bytes of all templates, unless a cache budget says otherwise
OVERHEAD = 600  # bytes of a template beside its text and its record, and of each of its placeholders


class JsonTemplate:
    """The JSON of an object. `pieces` alternates text and the numbers of the fields whose values are inserted."""

    __slots__ = ("fragment", "length", "order", "pieces", "placeholders", "record", "size")

    def __init__(self, record: Any, row: Mapping[str, Any], placeholders: Placeholders) -> None:
        text = bytes(memoryview(orjson.dumps(row)))  # a copy: orjson's own keeps its buffer of some kB
        self.record = record  # a reference: while it is cached, no other record has its id
        self.fragment = orjson.Fragment(text)
        self.placeholders = placeholders
        self.pieces = text.split(MARK)
        self.order = [int(number) for number in self.pieces[1::2]]
        self.length = len(text)
        held = getattr(record, "held_bytes", 0)
        self.size = 2 * len(text) + held + OVERHEAD * (1 + sum(map(len, placeholders.values())))

    def filled(self, texts: Mapping[int, Iterator[bytes]]) -> orjson.Fragment:
        pieces = self.pieces.copy()
        pieces[1::2] = [next(texts[number]) for number in self.order]
        return orjson.Fragment(b"".join(pieces))


@dataclass(slots=True)
class TemplateCache:
    """Templates by level and record, evicted in the order in which they were added."""

    most: int = MOST
    levels: "count[int]" = field(default_factory=count)  # numbers of levels: each is used once
    _templates: dict[tuple[int, int], JsonTemplate] = field(default_factory=dict)
    _size: int = 0
    _evictions: int = 0

    def __len__(self) -> int:
        return len(self._templates)

    @property
    def usage(self) -> Usage:
        return Usage(self._size, len(self._templates), self._evictions)

    def find(self, level: int, records: Column) -> list[JsonTemplate | None]:
        return list(map(self._templates.get, zip(repeat(level), map(id, records), strict=False)))

    def keep(self, level: int, template: JsonTemplate) -> None:
        key = level, id(template.record)
        if known := self._templates.pop(key, None):  # replaced: made twice for one answer, or concurrently
            self._size -= known.size
        self._templates[key] = template
        self._size += template.size
        while self._size > self.most:
            self._size -= self._templates.pop(next(iter(self._templates))).size
            self._evictions += 1


@dataclass(frozen=True, slots=True)
class CachedLevel:
    """
    A level of objects whose JSON is cached if `is_cacheable(record)`; records of one level are alike.

    `fields` are those of the level and of the levels below it, by number. References to fields above would be cycles,
    and evicted plans would stay in memory until the next garbage collection.
    """

    level: Level
    fields: Mapping[int, Field]
    cache: TemplateCache
    number: int
    is_cacheable: Callable[[Any], bool]

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.placeholders is None and not self.is_cacheable(parents[0]):
            return self.level.rows(parents, run)
        templates = self._templates(parents, run)
        run.budget.add(sum([template.length for template in templates]))
        placeholders: Placeholders = {} if run.placeholders is None else run.placeholders
        for template in templates:
            for number, waiting in template.placeholders.items():
                placeholders.setdefault(number, []).extend(waiting)
        if run.placeholders is not None or not placeholders:
            return [template.fragment for template in templates]
        columns: list[Any] = [self.fields[number].column(waiting, run) for number, waiting in placeholders.items()]
        if all_ready(columns):
            return _filled(templates, placeholders, columns)
        return run.expect(self._awaited(templates, placeholders, columns))

    async def _awaited(
        self, templates: Sequence[JsonTemplate], placeholders: Placeholders, columns: Sequence[Any]
    ) -> Column:
        return _filled(templates, placeholders, await gather_columns(columns))

    def _templates(self, records: Column, run: Run) -> list[JsonTemplate]:
        found: list[Any] = self.cache.find(self.number, records)
        if not all(found):
            for place, template in enumerate(found):
                if template is None:
                    found[place] = self._template(records[place], run)
        return found

    def _template(self, record: Any, run: Run) -> JsonTemplate:
        placeholders: Placeholders = {}
        rows = self.level.rows(
            [record], Run(run.context, run.arguments, placeholders=placeholders, budget=Budget(run.budget.limit))
        )
        assert isinstance(rows, list), "what has to be awaited is a placeholder"
        template = JsonTemplate(record, rows[0], placeholders)
        if self.is_cacheable(record):
            self.cache.keep(self.number, template)
        return template


def _filled(templates: Sequence[JsonTemplate], placeholders: Placeholders, columns: Sequence[Column]) -> Column:
    texts = {number: map(orjson.dumps, column) for number, column in zip(placeholders, columns, strict=True)}
    return [template.filled(texts) for template in templates]
