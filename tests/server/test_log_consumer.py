"""
The program of docs/log.md that reads the log, run as it is shown. It is a consumer of the log, which keeps how far it
has read, and writes the votes of each user to a database of its own.
"""

import random
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from store import keys, log
from store.records import Vote
from store.store import Store
from tests.server.commands import ROOT
from tests.store.reading import post

pytestmark = [pytest.mark.many_partitions, pytest.mark.one_server]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (shown,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/log.md").read_text(), re.DOTALL)
    file = tmp_path / "consumer.py"
    file.write_text(shown)
    return file


@pytest.fixture
def started(program, redis_url):
    """Starts the program, which ends after a second without changes."""
    running = []

    def start() -> "subprocess.Popen[str]":
        command = [sys.executable, str(program), redis_url, str(program.parent / "votes.db")]
        running.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


def votes(program: Path) -> set[tuple[str, str, int]]:
    """The article, the voter and the value of each vote in the program's database."""
    with closing(sqlite3.connect(program.parent / "votes.db")) as own:
        return set(own.execute("SELECT article, voter, value FROM votes WHERE value <> 0"))


async def write(store: Store, chance: random.Random, numbers: list[int], count: int) -> None:
    for _ in range(count):
        number, voter = chance.choice(numbers), f"voter-{chance.randrange(20)}"
        await store.articles.vote(number, voter, chance.choice(list(Vote)))


@pytest.mark.slow
async def test_consumer_that_is_killed_goes_on_where_it_was(store, alice, bob, redis, program, started):
    chance = random.Random(5)
    numbers = [(await post(store, poster)).number for poster in (alice, bob) for _ in range(5)]
    for _ in range(2):
        before, process = await log.positions(store.site), started()
        while await log.positions(store.site) == before:
            await write(store, chance, numbers, 20)
        process.kill()
    for number in numbers[:2]:
        await store.articles.delete(number, alice)
    process = started()
    await write(store, chance, numbers[2:], 100)

    assert (process.wait(timeout=20), process.communicate()[1]) == (0, "")
    expected = set()
    for number in numbers[2:]:
        partition, article = store.site.partition_of_article(number), f"article:{number}"
        expected |= {(article, name, 1) for name in redis.smembers(keys.voted(partition, number))}
        expected |= {(article, name, -1) for name in redis.smembers(keys.downvoted(partition, number))}
    # the first vote of a poster has no entry in the log: it comes with the post
    assert votes(program) == {vote for vote in expected if vote[1] not in ("Alice", "bob")}
    newest = await log.newest(store.site)
    taken = (await log.positions(store.site))["votes-of-users"]
    assert taken == {partition: id for partition, id in enumerate(newest) if id != log.START}


async def test_consumer_ends_with_an_error_if_entries_were_removed(store, alice, started):
    await post(store, alice)
    await post(store, alice)
    await log.trim(store.site, kept_ms=0, max_entries=1)
    process = started()

    message = process.communicate(timeout=20)[1]
    assert process.returncode == 1
    assert re.fullmatch(r"entries after 0-0 were removed from log:\{\d\}: read the whole store\n", message)
