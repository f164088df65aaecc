"""Reads stories and comments from a CSV or JSON lines file: validates each line, orders the stories, assigns groups."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import orjson
from ada_url import URL

from server.cli import hacker_news
from server.cli.hacker_news import Skipped
from server.errors import CommandError
from store import validation
from store.errors import Invalid
from store.maintenance.import_comments import StoryComment
from store.maintenance.import_stories import MOST_VOTES, Story

REQUIRED = ("id", "title", "author", "created_at")
COLUMNS = (*REQUIRED, "url", "points")  # others, such as `comments`, are ignored
HOST_STORIES = 20  # a host with so many stories, or more, becomes a group

ID = re.compile(r"[!-~]{1,64}")
POINTS = re.compile(r"-?[0-9]{1,7}")
BREAKS = re.compile("[\t-\r\x1c-\x1f\x85\u2028\u2029]+")  # control characters that separate words
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
ASK_OR_SHOW = re.compile(r"(ask|show) hn\b", re.IGNORECASE)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class NotStories(CommandError):
    """The file is neither JSON lines nor CSV with the required columns."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no valid story or comment."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """A story or a comment as the file has it. `number` is that of its first line, `fields` are by name of column."""

    number: int
    fields: Mapping[str, object]


@dataclass(slots=True)
class Notes:
    """
    What is noted while a file is read: by the id of each story and comment, its line; how many were `cleaned` (control
    characters were removed from the title or the link); and how many have a text that was `cut`.
    """

    lines: dict[str, int] = field(default_factory=dict)
    cleaned: int = 0
    cut: int = 0


def read(file: Path, now: int, notes: Notes | None = None) -> Iterator[Story | StoryComment | Skipped | BadLine]:
    """
    What each row has: a story, without groups, or a comment, or an item that is skipped. For a row that is not valid,
    its line and the reason.

    A JSON object that has a type is an item of Hacker News. `now` is in unix milliseconds; a later time is an error.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    notes = notes or Notes()
    for row in _rows(file, REQUIRED):
        if isinstance(row, BadLine):
            yield row
            continue
        try:
            found, was_cleaned, was_cut = _read(row.fields, now)
        except Invalid as error:
            yield BadLine(row.number, error.message)
            continue
        if notes.lines.setdefault(found.id, row.number) == row.number:
            notes.cleaned += was_cleaned
            notes.cut += was_cut
            yield found
        else:
            yield BadLine(row.number, f"line {notes.lines[found.id]} has the same id")


def in_order(stories: Iterable[Story]) -> list[Story]:
    """Sort by time, then id. Shorter ids come first, so that numeric ids are in numeric order."""
    return sorted(stories, key=lambda story: (story.time, len(story.id), story.id))


def with_groups(stories: Iterable[Story]) -> list[Story]:
    """Assign groups: `ask` or `show` by the title, and the host if it has enough stories."""
    hosted = [(story, _host(story.link)) for story in stories]
    counts = Counter(host for _, host in hosted)
    return [replace(story, groups=_groups(story.title, host, counts[host])) for story, host in hosted]


def _groups(title: str, host: str, count: int) -> tuple[str, ...]:
    kind = ASK_OR_SHOW.match(title)
    names = {kind[1].lower()} if kind else set()
    if host and count >= HOST_STORIES:
        names.add(host)
    return tuple(sorted(names))


def _host(link: str) -> str:
    """The name of a host's group, or "" if the host is not a valid group name."""
    name = URL(link).hostname.removeprefix("www.").replace(".", "-") if link else ""
    return name if validation.GROUP.fullmatch(name) else ""


def _read(fields: Mapping[str, object], now: int) -> tuple[Story | StoryComment | Skipped, bool, bool]:
    """What a row has, whether its title or link was cleaned, and whether its text was cut."""
    is_item = hacker_news.is_item(fields)
    text = {name: _text(fields.get(name), name) for name in (("title", "url", "id") if is_item else COLUMNS)}
    was_cleaned = _clean(text)
    if not ID.fullmatch(text["id"]):
        raise Invalid("an id has 1 to 64 printable ASCII characters", "id")
    if not is_item:
        return _story(text, now), was_cleaned, False
    found, was_cut = hacker_news.item(text["id"], {**fields, **text}, now)
    return found, was_cleaned, was_cut


def _clean(text: dict[str, str]) -> bool:
    """Remove control characters from title and link; in a title some of them become a space. Whether there were any."""
    title, link = CONTROLS.sub("", BREAKS.sub(" ", text["title"])), CONTROLS.sub("", text["url"])
    was_cleaned = (title, link) != (text["title"], text["url"])
    text.update(title=title, url=link)
    return was_cleaned


def _story(text: Mapping[str, str], now: int) -> Story:
    return Story(
        text["id"],
        validation.title(text["title"]),
        link=text["url"] and validation.link(text["url"]),
        poster=validation.username(text["author"]),
        time=_time(text["created_at"], now),
        votes=_votes(text["points"] or "1"),
    )


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Invalid(f"{name} is neither text nor a number", name)
    return str(value).strip()


def _time(text: str, now: int) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Invalid("created_at is not a date and time like 2016-08-04T11:52:00Z", "created_at") from error
    time = (at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH
    milliseconds = time // timedelta(milliseconds=1)
    if not 0 <= milliseconds <= now:
        raise Invalid("created_at is before 1970 or in the future", "created_at")
    return milliseconds


def _votes(text: str) -> int:
    if not POINTS.fullmatch(text) or int(text) > MOST_VOTES:
        raise Invalid(f"points is not a whole number up to {MOST_VOTES}", "points")
    return max(int(text), 1)


def _rows(file: Path, required: Iterable[str]) -> Iterator[Row | BadLine]:
    """
    The rows of a file, or the lines that are not valid; blank lines are skipped.

    Bytes that are not UTF-8 become lone surrogates, which no field accepts.
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
    """
    The lines of a CSV file, counted. A row takes as many as it needs; `give_back` returns all but its first, so that
    they are read again as rows of their own.
    """

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
    """The rows of a CSV file. Of one that is not valid, all lines but the first are read again."""
    rows = csv.reader(lines, strict=True)
    columns = _columns(rows, required)
    while True:
        start = lines.number + 1
        lines.taken.clear()
        try:
            values = next(rows)
            wrong = len(values) != len(columns) and f"it has {len(values)} columns, the first line has {len(columns)}"
        except StopIteration:
            return
        except csv.Error as error:
            values, wrong = [""], str(error)
        if wrong and values:  # a blank line has none
            lines.give_back()  # an unclosed quotation mark has consumed the following lines
            yield BadLine(start, wrong)
        elif values:
            yield Row(start, dict(zip(columns, values, strict=True)))


def _columns(rows: Iterator[list[str]], required: Iterable[str]) -> list[str]:
    try:
        columns = [name.strip().lower() for name in next(rows, [])]
    except csv.Error as error:
        raise NotStories(f"the first line is not CSV: {error}") from error
    if missing := [name for name in required if name not in columns]:
        raise NotStories(f"the first line is not JSON and has no columns {', '.join(missing)}")
    return columns
