"""
Objects that are remembered: of records that never change and come again in many requests.

What a field says of such a record, if it looks at nothing else, it says for ever. So an object is written once, as the
text that it has in an answer, with holes for what passes; then only the holes are filled, and nothing else is looked
at. Texts of objects within it become part of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Any

import orjson

from caches import Usage
from engine.compiler.plan import EDGE, Column, Field, Holes, Level, Pending, Run, are_there, together
from engine.limits.answer_size import Budget

MOST = 32_000_000  # bytes that are remembered, of all plans together, unless a budget says otherwise
OVERHEAD = 600  # bytes of an object beside its text and what its record says that it holds, and of each of its holes


class Template:
    """The text of an object: `pieces` in turn with the numbers of the fields whose values fill the holes."""

    __slots__ = ("fragment", "holes", "length", "order", "pieces", "record", "size")

    def __init__(self, record: Any, row: Mapping[str, Any], holes: Holes) -> None:
        text = bytes(memoryview(orjson.dumps(row)))  # a copy: orjson's own keeps its buffer of some kB
        self.record = record  # as long as it is kept, no other can have its identity
        self.fragment = orjson.Fragment(text)
        self.holes = holes
        self.pieces = text.split(EDGE)
        self.order = [int(number) for number in self.pieces[1::2]]
        self.length = len(text)
        held = getattr(record, "held_bytes", 0)
        self.size = 2 * len(text) + held + OVERHEAD * (1 + sum(map(len, holes.values())))

    def filled(self, texts: Mapping[int, Iterator[bytes]]) -> orjson.Fragment:
        pieces = self.pieces.copy()
        pieces[1::2] = [next(texts[number]) for number in self.order]
        return orjson.Fragment(b"".join(pieces))


@dataclass(slots=True)
class Memory:
    """Templates by level and record; when they are too many, the oldest go."""

    most: int = MOST
    levels: "count[int]" = field(default_factory=count)  # numbers of levels: none is used twice
    _templates: dict[tuple[int, int], Template] = field(default_factory=dict)
    _size: int = 0
    _evictions: int = 0

    def __len__(self) -> int:
        return len(self._templates)

    @property
    def usage(self) -> Usage:
        return Usage(self._size, len(self._templates), self._evictions)

    def find(self, level: int, records: Column) -> list[Template | None]:
        return list(map(self._templates.get, zip(repeat(level), map(id, records), strict=False)))

    def keep(self, level: int, template: Template) -> None:
        key = level, id(template.record)
        if known := self._templates.pop(key, None):  # made for another place of the same answer, or for another
            self._size -= known.size
        self._templates[key] = template
        self._size += template.size
        while self._size > self.most:
            self._size -= self._templates.pop(next(iter(self._templates))).size
            self._evictions += 1


@dataclass(frozen=True, slots=True)
class Remembered:
    """
    A level of objects that are remembered where `is_cacheable` says so of their records, which are alike.

    `fields` are those of the level and of the levels below it, by number. A reference to fields above it would be a
    cycle, and a plan that is dropped would stay in memory until the garbage collector comes.
    """

    level: Level
    fields: Mapping[int, Field]
    memory: Memory
    number: int
    is_cacheable: Callable[[Any], bool]

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.holes is None and not self.is_cacheable(parents[0]):
            return self.level.rows(parents, run)
        templates = self._templates(parents, run)
        run.budget.add(sum([template.length for template in templates]))
        holes: Holes = {} if run.holes is None else run.holes
        for template in templates:
            for number, waiting in template.holes.items():
                holes.setdefault(number, []).extend(waiting)
        if run.holes is not None or not holes:
            return [template.fragment for template in templates]
        columns: list[Any] = [self.fields[number].column(waiting, run) for number, waiting in holes.items()]
        if are_there(columns):
            return _filled(templates, holes, columns)
        return run.later(self._later(templates, holes, columns))

    async def _later(self, templates: Sequence[Template], holes: Holes, columns: Sequence[Any]) -> Column:
        return _filled(templates, holes, await together(columns))

    def _templates(self, records: Column, run: Run) -> list[Template]:
        found: list[Any] = self.memory.find(self.number, records)
        if not all(found):
            for place, template in enumerate(found):
                if template is None:
                    found[place] = self._template(records[place], run)
        return found

    def _template(self, record: Any, run: Run) -> Template:
        holes: Holes = {}
        rows = self.level.rows([record], Run(run.context, run.arguments, holes=holes, budget=Budget(run.budget.limit)))
        assert isinstance(rows, list), "what is waited for is a hole"
        template = Template(record, rows[0], holes)
        if self.is_cacheable(record):
            self.memory.keep(self.number, template)
        return template


def _filled(templates: Sequence[Template], holes: Holes, columns: Sequence[Column]) -> Column:
    texts = {number: map(orjson.dumps, column) for number, column in zip(holes, columns, strict=True)}
    return [template.filled(texts) for template in templates]
