"""The database of a running server, and what the server says about it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx

from tests.server.conftest import POST, REGISTER, Live


def rows(folder: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / "upvote.db")) as connection:
        return connection.execute(statement).fetchall()


def posted(live: Live, title: str) -> None:
    """Register alice, and post an article as alice."""
    token = live.ask(REGISTER)["data"]["register"]["token"]
    assert live.ask(POST, token, title=title)["data"]["post"]["article"]


def ready(live: Live) -> dict[str, str]:
    """What the server says about itself: `database` is "up to date", or why it is not."""
    return httpx.get(f"{live.url}/readyz").json()


def status(live: Live) -> int:
    return httpx.get(f"{live.url}/readyz").status_code
