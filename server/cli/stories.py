"""Stories of elsewhere, as a file holds them: which of its rows keep the rules, in what order, in which groups."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ada_url import URL

from server.cli import rows
from server.cli.rows import BadLine
from store import validation
from store.errors import Invalid
from store.maintenance.import_stories import Story

REQUIRED = ("id", "title", "author", "created_at")
COLUMNS = (*REQUIRED, "url", "points")  # `comments` is not kept
MOST_POINTS = 1_000_000
HOST_STORIES = 20  # from which on a host is a group

ID = re.compile(r"[!-~]{1,64}")
POINTS = re.compile(r"-?[0-9]{1,7}")
ASKED_OR_SHOWN = re.compile(r"(ask|show) hn\b", re.IGNORECASE)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(file: Path, now: int) -> Iterator[Story | BadLine]:
    """
    Each row's story, not yet in groups, or what is wrong with its line.

    `now` is in unix milliseconds: no story is younger.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    places: dict[str, int] = {}
    for row in rows.read(file, REQUIRED):
        if isinstance(row, BadLine):
            yield row
            continue
        try:
            story = _story(row.fields, now)
        except Invalid as error:
            yield BadLine(row.number, error.message)
            continue
        if places.setdefault(story.id, row.number) == row.number:
            yield story
        else:
            yield BadLine(row.number, f"the story of line {places[story.id]} has the same id")


def in_order(stories: Iterable[Story]) -> list[Story]:
    """By time, then id; text that is longer comes later, so that ids which are numbers stand in their order."""
    return sorted(stories, key=lambda story: (story.time, len(story.id), story.id))


def in_groups(stories: Iterable[Story]) -> list[Story]:
    """Stories with their groups: `ask` or `show` by the title, and the host if it has enough of them."""
    hosted = [(story, _host(story.link)) for story in stories]
    counts = Counter(host for _, host in hosted)
    return [replace(story, groups=_groups(story.title, host, counts[host])) for story, host in hosted]


def _groups(title: str, host: str, count: int) -> tuple[str, ...]:
    asked_or_shown = ASKED_OR_SHOWN.match(title)
    names = {asked_or_shown[1].lower()} if asked_or_shown else set()
    if host and count >= HOST_STORIES:
        names.add(host)
    return tuple(sorted(names))


def _host(link: str) -> str:
    """The name of a host's group, or "" where it cannot have one."""
    name = URL(link).hostname.removeprefix("www.").replace(".", "-") if link else ""
    return name if validation.GROUP.fullmatch(name) else ""


def _story(fields: Mapping[str, object], now: int) -> Story:
    text = {name: _text(fields.get(name), name) for name in COLUMNS}
    if not ID.fullmatch(text["id"]):
        raise Invalid("an id has 1 to 64 printable ASCII characters", "id")
    return Story(
        text["id"],
        validation.title(text["title"]),
        text["url"] and validation.link(text["url"]),
        validation.username(text["author"]),
        _time(text["created_at"], now),
        _votes(text["points"] or "1"),
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
        raise Invalid("created_at is no date and time like 2016-08-04T11:52:00Z", "created_at") from error
    time = (at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH
    milliseconds = time // timedelta(milliseconds=1)
    if not 0 <= milliseconds <= now:
        raise Invalid("created_at is before 1970 or in the future", "created_at")
    return milliseconds


def _votes(text: str) -> int:
    if not POINTS.fullmatch(text) or int(text) > MOST_POINTS:
        raise Invalid(f"points is no whole number up to {MOST_POINTS}", "points")
    return max(int(text), 1)
