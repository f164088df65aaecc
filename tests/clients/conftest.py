"""The server for client libraries. It has one article, which can no longer be voted on."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from server.managed_valkey import server
from store.articles import Draft
from store.ranking.formulas import Policy
from store.store import Store
from tests.conftest import Clock, registered
from tests.server.conftest import Live, serving

CLOSED = "article:3011197992960062"  # of 2016: the number is made of the time that `Clock` shows and the poster's name
ADDRESS = "http://127.0.0.1:8000"  # in the clients' configurations; tests replace it by the address of their server
HANGING = 60  # seconds after which a client is taken to wait for a message that is never sent


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with serving_closed_article(tmp_path_factory.mktemp("clients")) as live:
        yield live


@contextmanager
def serving_closed_article(folder: Path) -> Iterator[Live]:
    with server.running(folder / "valkey") as url:
        asyncio.run(post(url))
        with serving(folder, redis_url=url, rate_limits="off") as live:
            yield live


async def post(redis_url: str) -> None:
    """Post the article, by a clock that shows 2016."""
    store = await Store.open(redis_url, Policy(), 1, clock=Clock())
    posted = await store.articles.post(await registered(store, "carol"), Draft("Of 2016", content="Closed."))
    assert posted.article is not None and posted.article.id == CLOSED
    await store.close()


def call(*command: str | Path, cwd: Path) -> str:
    """The output of a program, which has to succeed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def json_of(*command: str | Path, cwd: Path) -> Any:
    """The JSON that a program prints. It has to succeed and print no errors."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=HANGING)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)
