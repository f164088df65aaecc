"""
A database that is rebuilt from the store and its log is the same as one that the mirror has kept up to date.

`mirrored` applies the log to a database, `rebuilt` makes all its rows again, and `rows_of` reads all of them.

`on_both` runs a test with SQLite and with PostgreSQL.
"""

import asyncio
import random
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text

from archive import banned_texts
from database import article_places
from database.database import Database
from store import bans, comment_moderation, keys, log, redactions, reverts, roles
from store.articles import Draft
from store.moderation_records import Role
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.database.histories import Crash, History, comparable, indexed, rows_of, rows_of_store
from tests.store.discussions import commented
from tests.store.reading import article
from tests.typed import typed


@pytest.fixture
def history(store, clock) -> History:
    """Runs random commands on the store: each time others, as all have to lead to the same."""
    return History(store, clock, random.Random(random.randrange(10**6)))


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_rebuilt_database_equals_the_running_one(store, clock, each_database, database_url, tmp_path, seed):
    history = History(store, clock, random.Random(seed))
    for _ in range(4):
        await history.run(50)
        await mirrored(store, each_database)
    running, found = await rows_of(each_database), await indexed(each_database)
    other = Database(f"sqlite:///{tmp_path}/other.db")
    await other.open()
    await mirrored(store, other)

    await rebuilt(store, each_database)

    assert await rows_of(each_database) == running
    assert await indexed(each_database) == found
    assert typed(await rows_of(other)) == typed(running)
    await other.close()


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_rebuild_keeps_what_the_store_no_longer_has(store, clock, each_database, redis, seed):
    """The entries are gone from the log, and so are the voters of old articles from the store."""
    history = History(store, clock, random.Random(seed))
    await history.run(150)
    await mirrored(store, each_database)
    clock.advance(store.site.policy.voting_window * 2)
    for number in (*history.posters, *history.comments):
        redis.delete(*(key(store.site.partition_of_article(number), number) for key in (keys.voted, keys.downvoted)))
    running, found = await rows_of(each_database), await indexed(each_database)
    await log.trim(store.site, kept_ms=0, max_entries=0)

    await rebuilt(store, each_database)

    assert (await rows_of(each_database), await indexed(each_database)) == (running, found)
    await history.run(20)
    await mirrored(store, each_database)
    assert typed(comparable(await rows_of(each_database))) == typed(await rows_of_store(history))


@on_both
async def test_rebuild_repairs_rows(store, history, each_database):
    await history.run(100)
    await mirrored(store, each_database)
    running, found = await rows_of(each_database), await indexed(each_database)
    await each_database.write(damage)
    assert await rows_of(each_database) != running

    await rebuilt(store, each_database)

    assert (await rows_of(each_database), await indexed(each_database)) == (running, found)


def damage(connection):
    """Change and delete rows, and add some that no store has."""
    for statement in (
        "UPDATE articles SET up = up + 1, title = 'x'",
        "INSERT INTO articles VALUES (7, 'x', 'x', NULL, NULL, 1, NULL, 1, 0, 0, false, 'VISIBLE', false, NULL,"
        " NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO votes VALUES (7, 'x', 1, 1, true)",
        "INSERT INTO votes SELECT number, 'stranger', 1, 1, true FROM articles WHERE posted_ms > 1470000000000",
        "INSERT INTO users VALUES ('x', 'x', 1, NULL, 'x', NULL, NULL)",
        "INSERT INTO follows VALUES ('x', 'y', 1), ('Alice', 'y', 1)",
        "INSERT INTO comments VALUES (8, 7, NULL, 0, 'x', 'x', 1, NULL, 1, 0, 0, 'VISIBLE', NULL, NULL, NULL, NULL)",
        "INSERT INTO comments SELECT 9, min(number), NULL, 0, 'x', 'x', 1, NULL, 1, 0, 0, 'VISIBLE', NULL, NULL, NULL,"
        " NULL FROM articles",
        "INSERT INTO comment_votes VALUES (8, 'x', 1, 1, true), (9, 'x', 1, 1, true)",
        "INSERT INTO comment_edits VALUES (0, '1-1', 9, 'x', 1, 'x')",
        "UPDATE comments SET depth = 7, content = 'x' WHERE number > 9",
        "INSERT INTO comment_votes SELECT number, 'stranger', 1, 1, true FROM comments WHERE posted_ms > 1470000000000",
        "DELETE FROM article_groups WHERE name = 'show'",
        "UPDATE users SET seen = 'x', about = 'x'",
    ):
        connection.execute(text(statement))


@on_both
async def test_writes_during_a_rebuild_are_kept(store, clock, each_database, monkeypatch):
    monkeypatch.setattr("database.rebuild.RECORDS_AT_ONCE", 3)
    history = History(store, clock, random.Random(5))
    await history.run(80)
    rebuilding = asyncio.create_task(rebuilt(store, each_database))
    while not rebuilding.done():
        await history.run(1)
        await asyncio.sleep(0)
    await rebuilding

    await mirrored(store, each_database)

    assert typed(comparable(await rows_of(each_database))) == typed(await rows_of_store(history))


@on_both
async def test_interrupted_rebuild_begins_again(store, history, each_database, monkeypatch):
    await history.run(60)
    await mirrored(store, each_database)
    running = await rows_of(each_database)
    with monkeypatch.context() as patch, pytest.raises(Crash):
        patch.setattr("database.rebuild.replay", crash)
        await rebuilt(store, each_database)

    await mirrored(store, each_database)

    assert await rows_of(each_database) == running


def crash(connection, site, entries):
    raise Crash


@on_both
async def test_gap_in_the_log_rebuilds_the_database(store, history, each_database, caplog):
    await history.run(60)
    await mirrored(store, each_database)
    await history.run(60)
    await log.trim(store.site, kept_ms=0, max_entries=0)

    await mirrored(store, each_database)
    await mirrored(store, each_database)

    assert typed(comparable(await rows_of(each_database))) == typed(await rows_of_store(history))
    of_mirror = [record for record in caplog.records if record.module == "mirror"]  # the log lost effects, too
    assert {record.getMessage().partition(":")[0] for record in of_mirror} == {"the database is rebuilt"}


@on_both
async def test_database_that_has_another_store_is_rebuilt(
    store, history, each_database, redis, redis_url, clock, policy
):
    await history.run(60)
    await mirrored(store, each_database)
    redis.flushall()
    async with opened(redis_url, store, clock) as other:
        await registered(other, "zoe")
        await mirrored(other, each_database)

    found = await rows_of(each_database)
    assert [row[1] for row in found["users"]] == ["zoe"]
    assert [name for name, rows in found.items() if rows] == ["users"]


@asynccontextmanager
async def opened(redis_url, store, clock):
    other = await Store.open(redis_url, store.site.policy, store.site.partitions, clock=clock)
    yield other
    await other.close()


@on_both
async def test_rebuild_keeps_what_the_store_has_archived(store, history, each_database, redis):
    """Archived articles are in the database only. A store that archives says so in its field `archived`."""
    await history.run(60)
    await mirrored(store, each_database)
    for number in list(history.posters)[::2]:
        await each_database.write(article_places.archive, store.site, [await article(store, number)])
        redis.delete(keys.article(store.site.partition_of_article(number), number))
    running = await rows_of(each_database)
    redis.hset(keys.store(), "archived", "an id")
    await log.trim(store.site, kept_ms=0, max_entries=0)
    await rebuilt(store, each_database)
    assert await rows_of(each_database) == running

    redis.hdel(keys.store(), "archived")
    await rebuilt(store, each_database)

    found = await rows_of(each_database)
    assert {row[0] for row in found["articles"]} == set(list(history.posters)[1::2])
    assert [found[name] for name in ("listings", "places", "place_counts")] == [[], [], []]


@on_both
async def test_actions_of_moderators_are_the_same_after_a_rebuild_and_redacted_texts_are_gone(
    store, alice, bob, each_database
):
    for group in (None, "show", "ask"):
        action = (
            await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group=group, reason="secret words")
        ).action
    await mirrored(store, each_database)
    await reverts.revert(store.site, OPERATOR, action.number, "a mistake", "a note")
    await redactions.redact(store.site, OPERATOR, action.number)
    await mirrored(store, each_database)
    running = await rows_of(each_database)
    await rebuilt(store, each_database)
    rebuilt_with_log = await rows_of(each_database)
    await log.trim(store.site, kept_ms=0, max_entries=0)
    await rebuilt(store, each_database)

    reasons = [row[6] for row in running["moderation_actions"]]
    assert sorted(reasons) == ["[redacted]", "a mistake", "secret words", "secret words"]
    assert running == rebuilt_with_log == await rows_of(each_database)


@on_both
async def test_removals_of_a_ban_name_it_also_after_a_rebuild(store, alice, bob, each_database):
    number = (await store.articles.post(alice, Draft("a title", content="text"))).article.number
    comment = await commented(store, number, bob)
    await comment_moderation.remove(store.site, OPERATOR, comment.number, group=None, reason="by itself")
    ban = (
        await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="spam", removes_texts=True)
    ).action
    await banned_texts.settle(store, database=None, number=ban.number)
    await mirrored(store, each_database)
    running = await rows_of(each_database)
    named = await each_database.run(lambda connection: [*map(tuple, connection.execute(text(
        "SELECT kind, subject_id, ban FROM moderation_actions_view ORDER BY subject_id"
    )))])  # fmt: skip
    await rebuilt(store, each_database)
    rebuilt_with_log = await rows_of(each_database)
    await log.trim(store.site, kept_ms=0, max_entries=0)
    await rebuilt(store, each_database)

    assert named == [
        ("REMOVE", f"article:{number}", ban.number), ("REMOVE", comment.id, None), ("BAN", "user:alice", None),
    ]  # fmt: skip
    assert running == rebuilt_with_log == await rows_of(each_database)
