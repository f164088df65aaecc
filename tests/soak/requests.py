"""
A request to the model, the server in plain Python with which the soak test compares the real one: viewer, session, page
arguments and instants.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphql import build_schema

from tests.soak.model import Model
from tests.soak.pages import Listings, PageArguments
from tests.soak.records import User
from tests.soak.threads import Threads

SCHEMA = build_schema((Path(__file__).parents[2] / "schema" / "schema.graphql").read_text())
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Request:
    """
    One operation of a viewer. `listings` and `threads` are what the model knows of pages. `hints` are the tokens and
    numbers that the server has assigned, by response name of the root field; `cursor` gives the `Position` of a cursor.
    `undone` are the mutations, by response name, that were not done because the database did not answer.
    """

    model: Model
    listings: Listings
    threads: Threads
    token: str | None
    variables: Mapping[str, Any]
    cursor: Callable[[str], Any]
    hints: Mapping[str, Any] = field(default_factory=dict)
    is_junk: bool = False  # its token is malformed, or was never given out
    has_read_viewer: bool = False
    undone: frozenset[str] = frozenset()

    def viewer(self) -> User | None:
        """The viewer, for whom the server reads the session: if it has ended, the response says so."""
        self.has_read_viewer = True
        return self.peek_viewer()

    def peek_viewer(self) -> User | None:
        """The viewer, where the server may fail before it reads the session, and so not say that it has ended."""
        return self.model.sessions.get(self.token) if self.token else None

    def session_ended(self) -> bool | None:
        """Whether the response says that the session has ended; None if it may say so."""
        if self.is_junk or self.token is None or self.token in self.model.sessions:
            return self.is_junk
        return True if self.has_read_viewer else None

    def paging(self, given: Mapping[str, Any]) -> PageArguments:
        """The page arguments among the arguments of a field."""
        after, before = given.get("after"), given.get("before")
        return PageArguments(
            given.get("first"),
            None if after is None else self.cursor(after),
            given.get("last"),
            None if before is None else self.cursor(before),
            given.get("page"),
        )


@dataclass(frozen=True)
class SessionEnd:
    """
    The end of a session that is used now: equal to each instant that the server may give. A session is extended once a
    24th of its lifetime (milliseconds) is over.
    """

    now: int
    lifetime: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return False
        remaining = (datetime.fromisoformat(other) - EPOCH) // timedelta(milliseconds=1) - self.now
        return self.lifetime - self.lifetime // 24 <= remaining <= self.lifetime


def instant(milliseconds: int) -> str:
    return f"{(EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec='milliseconds')[:-6]}Z"


def milliseconds(text: str) -> int:
    """Unix milliseconds, rounded down. Instants before 1970 count as 1970."""
    return max((datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1), 0)
