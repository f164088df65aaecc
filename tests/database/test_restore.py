"""
Backups of a store, and the database of the store that is restored from one.

`mirrored` brings the database up to date with the log of the store. `on_both` runs a test with SQLite and with
PostgreSQL.
"""

import asyncio
import random
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from database import rebuild
from server.cli.backup import back_up
from server.cli.restore import restore
from server.settings import Settings
from store import log
from store.maintenance.restore import log_point_of
from store.store import Store
from tests.database.conftest import mirrored, on_both, opened
from tests.database.histories import History, comparable, rows_of, rows_of_store
from tests.typed import typed

pytestmark = pytest.mark.one_server


@pytest.fixture
def empty(redis_url, partitions, tmp_path) -> Settings:
    """The settings of an empty store for a backup. Voting is open for a century, as it has the real clock."""
    return Settings(redis_url=f"{redis_url}?db=1", data_dir=tmp_path, voting_window=100 * 365 * 86_400)


@pytest.fixture
async def history(store, clock) -> History:
    """A store after 200 random commands."""
    history = History(store, clock, random.Random(3))
    await history.run(200)
    return history


async def test_restore_makes_the_database(history, store, redis_url, empty, sqlite_url, tmp_path, capsys):
    file = tmp_path / "backup"
    await asyncio.to_thread(back_up, Settings(redis_url=redis_url), file)
    await asyncio.to_thread(restore, empty.model_copy(update={"database_url": sqlite_url}), file)

    assert capsys.readouterr().out.splitlines()[2] == f"rebuilt {sqlite_url}"
    async with opened(sqlite_url) as database:
        assert typed(comparable(await rows_of(database))) == typed(await rows_of_store(history))


@on_both
async def test_database_fits_the_backup_that_is_restored(
    history, store, redis_url, empty, each_database, tmp_path, clock
):
    """The database is newer than the backup: it loses what came after it, and keeps the edits from before."""
    file = tmp_path / "backup"
    await mirrored(store, each_database)
    before = await rows_of(each_database)
    await asyncio.to_thread(back_up, Settings(redis_url=redis_url, voting_window=empty.voting_window), file)
    clock.advance(1)
    await history.run(100)
    await mirrored(store, each_database)
    assert await rows_of(each_database) != before

    await asyncio.to_thread(restore, empty, file)
    async with opened_store(empty, clock) as restored:
        await mirrored(restored, each_database)
        found = await rows_of(each_database)
        votes = {"votes": votes_of(before["votes"]), "comment_votes": votes_of(before["comment_votes"])}
        assert typed(comparable(found)) == typed(await rows_of_store(replace(history, store=restored, **votes)))

    # numbers of articles, and then of comments, that are there still and were edited
    kept = {row[2] for row in before["edits"]} & {row[0] for row in found["articles"]}
    assert set(found["edits"]) <= set(before["edits"]) and kept
    kept = {row[2] for row in before["comment_edits"]} & {row[0] for row in found["comments"]}
    assert set(found["comment_edits"]) <= set(before["comment_edits"]) and kept


@on_both
async def test_votes_and_edits_after_the_backup_are_removed(history, store, each_database, clock):
    await mirrored(store, each_database)
    before = await rows_of(each_database)
    identity, positions = await log.identity(store.site), await log.newest(store.site)
    header = {"log": identity, "taken_at": clock.now, "log_positions": " ".join(positions)}
    clock.advance(1)
    await history.run(100)
    await mirrored(store, each_database)
    later = await rows_of(each_database)

    await each_database.write(rebuild.delete_positions, log_point_of(header | {"log": "abc"}))
    assert await rows_of(each_database) == later
    await each_database.write(rebuild.set_positions, identity, positions)
    await each_database.write(rebuild.delete_positions, log_point_of(header))

    found = await rows_of(each_database)
    for edits, votes in (("edits", "votes"), ("comment_edits", "comment_votes")):
        assert set(found[edits]) == set(later[edits]) & set(before[edits])
        assert set(later[edits]) - set(before[edits])
        cast_later = {cast_at for _, _, _, cast_at, *_ in later[votes]}
        assert {cast_at for _, _, _, cast_at, *_ in found[votes]} == {
            cast_at for cast_at in cast_later if (cast_at or 0) <= header["taken_at"]
        }


@pytest.mark.parametrize(
    "header", [{}, {"log": "ab", "taken_at": 1}, {"log": "x", "taken_at": 1, "log_positions": "1-1"}]
)
def test_backup_of_an_earlier_version_names_no_point_of_the_log(header):
    """Then nothing is removed that the database has of later changes."""
    assert log_point_of(header) == ""


def votes_of(rows):
    """The value of each vote by number and voter, as `History` has them."""
    return {(number, voter): value for number, voter, value, *_ in rows}


@asynccontextmanager
async def opened_store(settings, clock):
    store = await Store.open(settings.redis_url, settings.policy, clock=clock)
    yield store
    await store.close()


async def test_store_is_restored_while_the_database_does_not_answer(store, alice, redis_url, empty, tmp_path, capsys):
    file = tmp_path / "backup"
    await asyncio.to_thread(back_up, Settings(redis_url=redis_url), file)
    url = f"sqlite:///{tmp_path}/missing/upvote.db"

    assert await asyncio.to_thread(restore, empty.model_copy(update={"database_url": url}), file) == 0

    shown = capsys.readouterr()
    assert shown.out.splitlines()[-1] == f"restored 0 articles, 1 users from {file}"
    assert shown.err == (
        "the database does not answer (unable to open database file): a server rebuilds it when it starts\n"
    )
