"""Custom scalars: instants, days and links. In Python, instants are unix milliseconds; a day is its first instant."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import NewType

import strawberry
from strawberry.types.scalar import ScalarDefinition

from caches import memo

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

DateTime = NewType("DateTime", int)
Date = NewType("Date", int)
Link = NewType("Link", str)

DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
INSTANT = re.compile(rf"{DAY.pattern}T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)  # as RFC 3339
LIKE_DAYS = "a day looks like 2016-08-04"
LIKE_INSTANTS = "an instant looks like 2016-08-04T12:00:00Z, with Z or another offset from UTC"


@memo(entry_bytes=200, call_microseconds=2)  # pages show the same few thousand articles
def write_instant(milliseconds: int) -> str:
    # isoformat ends with `+00:00`, six characters, in whose place stands Z
    return f"{(EPOCH + milliseconds * MILLISECOND).isoformat(timespec='milliseconds')[:-6]}Z"


def read_instant(text: object) -> int:
    """The unix milliseconds of an instant. Raises ValueError for anything else, such as a text without an offset."""
    if not isinstance(text, str) or not INSTANT.fullmatch(text):
        raise ValueError(LIKE_INSTANTS)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(LIKE_INSTANTS) from None
    return (instant - EPOCH) // MILLISECOND


def write_day(milliseconds: int) -> str:
    return (EPOCH + milliseconds * MILLISECOND).date().isoformat()


def read_day(text: object) -> int:
    """The first instant of the day, in unix milliseconds. Raises ValueError for anything else."""
    if not isinstance(text, str) or not DAY.fullmatch(text):
        raise ValueError(LIKE_DAYS)
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ValueError(LIKE_DAYS) from None
    return (datetime(day.year, day.month, day.day, tzinfo=UTC) - EPOCH) // MILLISECOND


def read_link(text: object) -> str:
    """Accept any string: the mutation that posts the link validates it, and its error names the field."""
    if not isinstance(text, str):
        raise ValueError("a URL is a string")
    return text


SCALARS: dict[object, ScalarDefinition] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description="An instant in UTC (RFC 3339), with milliseconds.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time",
        serialize=write_instant,
        parse_value=read_instant,
    ),
    Date: strawberry.scalar(
        name="Date",
        description="A day in UTC (RFC 3339 full-date).",
        specified_by_url="https://scalars.graphql.org/andimarek/local-date",
        serialize=write_day,
        parse_value=read_day,
    ),
    Link: strawberry.scalar(
        name="URL",
        description="An absolute http or https URL of at most 2,000 characters.",
        specified_by_url="https://url.spec.whatwg.org/",
        serialize=str,
        parse_value=read_link,
    ),
}
