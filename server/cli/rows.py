"""Rows of a file that is CSV or JSON lines, each with the number of its line. What they mean is not known here."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import orjson

from server.errors import CommandError


class NotStories(CommandError):
    """The file is neither JSON lines nor CSV with the columns that are required."""


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """`number` is that of its first line."""

    number: int
    fields: Mapping[str, object]


def read(file: Path, required: Iterable[str]) -> Iterator[Row | BadLine]:
    """
    A file's rows, or what is wrong with their lines; blank lines are passed over.

    Bytes that are no UTF-8 become lone surrogates, which no rule lets through.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as lines:
        first = next(lines, "")
        everything = chain([first], lines)
        is_json = first.lstrip().startswith("{") or file.suffix in {".json", ".jsonl", ".ndjson"}
        yield from _json_rows(everything) if is_json else _csv_rows(_Lines(everything), required)


def _json_rows(lines: Iterable[str]) -> Iterator[Row | BadLine]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            yield BadLine(number, f"this is not JSON: {error.msg}")
            continue
        yield Row(number, fields) if isinstance(fields, dict) else BadLine(number, "this is not a JSON object")


@dataclass(slots=True)
class _Lines:
    """Lines, counted, of which those that a row took beyond its first can be given back."""

    source: Iterator[str]
    number: int = 0
    taken: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.returned.pop() if self.returned else next(self.source)
        self.number += 1
        self.taken.append(line)
        return line

    def give_back(self) -> None:
        self.returned += reversed(self.taken[1:])
        self.number -= len(self.taken) - 1


def _csv_rows(lines: _Lines, required: Iterable[str]) -> Iterator[Row | BadLine]:
    rows = csv.reader(lines, strict=True)
    columns = _columns(rows, required)
    while True:
        start = lines.number + 1
        lines.taken.clear()
        try:
            values = next(rows)
            wrong = len(values) != len(columns) and f"it has {len(values)} columns, the first line {len(columns)}"
        except StopIteration:
            return
        except csv.Error as error:
            values, wrong = [""], str(error)
        if wrong and values:
            lines.give_back()  # a quotation mark that nothing closes takes in the lines that follow
            yield BadLine(start, wrong)
        elif values:
            yield Row(start, dict(zip(columns, values, strict=True)))


def _columns(rows: Iterator[list[str]], required: Iterable[str]) -> list[str]:
    try:
        columns = [name.strip().lower() for name in next(rows, [])]
    except csv.Error as error:
        raise NotStories(f"the first line is not CSV: {error}") from error
    if missing := [name for name in required if name not in columns]:
        raise NotStories(f"the first line is neither JSON nor names the columns {', '.join(missing)}")
    return columns
