"""
Comments of deleted articles, and stubs (deleted comments) that have no replies any more, are removed in steps. What is
left to remove is noted in `removing`, so that another process goes on after an interruption. `article` is the number of
an article of alice.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as C6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest

from store import comments as commands
from store import effects, keys, removals
from store.errors import NotFound
from store.log import START
from store.log import read as read_log
from store.records import Vote
from store.store import Store
from tests.store import discussions
from tests.store.discussions import PEOPLE, commented, comments, died, numbers_by
from tests.store.reading import everything, profile, verified

pytestmark = pytest.mark.many_partitions


async def test_deleting_an_article_takes_its_comments_with_it(store, article, redis, caplog):
    made: list = []
    await discussions.discuss(store, article, random.Random(5), turns=400, made=made)
    await store.articles.delete(article, "alice")
    partition = store.site.partition_of_article(article)
    for call in (
        store.comments.vote(made[0].number, "zoe", Vote.UP),
        store.comments.post(article, parent=None, poster="bob", content="a text"),
        store.comments.edit(made[0].number, made[0].poster, "a text"),
    ):
        with pytest.raises(NotFound):
            await call
    await removals.remove_all(store.site, partition)

    kinds = {key.split(":")[0] for key in everything(redis)}
    assert not kinds & {"comment", "replies", "tree", "stubs", "voted", "downvoted", "removing", "comments", "logged"}
    assert [(await profile(store, name)).karma for name in PEOPLE] == [0] * 5
    assert await effects.pending(store.site) == []
    assert "are lost" not in caplog.text


@pytest.mark.parametrize("partitions", [8], ids=["8 partitions"], indirect=True)
async def test_deletion_succeeds_if_the_thread_cannot_be_removed_at_once(store, article, redis, monkeypatch):
    """A partition that is closed, as a move closes it, takes no writes."""
    await commented(store, article, "bob")
    partition, remove = store.site.partition_of_article(article), removals.remove_thread

    async def remove_in_a_closed_partition(*arguments):
        redis.set(keys.closed(partition), "1")
        await remove(*arguments)

    monkeypatch.setattr(removals, "remove_thread", remove_in_a_closed_partition)
    await store.articles.delete(article, "alice")
    assert redis.zrange(removals.REMOVING(partition), 0, -1) == [str(article)]

    redis.delete(keys.closed(partition))
    await removals.remove_all(store.site, partition)
    assert not {key.split(":")[0] for key in everything(redis)} & {"comment", "tree", "removing"}


async def test_comments_of_a_deleted_article_are_removed_by_another_process(
    store, article, redis_url, partitions, policy, clock, monkeypatch
):
    await commented(store, article, "bob")
    monkeypatch.setattr(removals, "remove_thread", died)
    await store.articles.delete(article, "alice")
    monkeypatch.setattr(removals, "INTERVAL", 0.01)
    other = await Store.open(redis_url, policy, partitions, clock=clock)

    async with removals.removing(other.site):
        async with asyncio.timeout(10):
            while await numbers_by(store, "bob"):  # noqa: ASYNC110 - a task of another store removes it
                await asyncio.sleep(0.01)
    assert await numbers_by(store, "bob") == []
    await other.close()


@pytest.fixture
async def stubs(store, article, monkeypatch) -> list[int]:
    """A chain of 30 comments, of which only the last is not deleted. Few are removed at once."""
    monkeypatch.setattr(commands, "STUBS_AT_ONCE", 8)
    monkeypatch.setattr(removals, "REMOVED_AT_ONCE", 3)
    chain = [await commented(store, article, "bob")]
    for _ in range(29):
        chain.append(await commented(store, article, "bob", chain[-1]))
    for each in chain[:-1]:
        await store.comments.delete(each.number, "bob")
    return [each.number for each in chain]


@pytest.mark.parametrize("is_interrupted", [False, True])
async def test_long_chain_of_stubs_vanishes_in_steps(store, article, stubs, redis, monkeypatch, is_interrupted):  # C6
    """The deletion of the last comment removes the chain; a task removes the rest if it stops. The log names all."""
    partition = store.site.partition_of_article(article)
    monkeypatch.setattr(removals, "INTERVAL", 0.01)
    if is_interrupted:
        monkeypatch.setattr(removals, "update_places", died)
    await store.comments.delete(stubs[-1], "bob")
    left = stubs[:21] if is_interrupted else []  # without the last comment and the 8 stubs above it
    assert [each.number for each in await comments(store, article)] == left

    async with removals.removing(store.site), asyncio.timeout(10):
        while redis.exists(removals.REMOVING(partition)):  # noqa: ASYNC110 - a task removes it
            await asyncio.sleep(0.01)

    kinds = {key.split(":")[0] for key in everything(redis)}
    assert not kinds & {"comment", "replies", "tree", "stubs", "removing"}
    named = []
    for entry in await read_log(store.site, partition, START, count=10_000):
        if entry.kind == "comment_deleted" and not entry.values["stub"]:
            named += [int(entry.subject.removeprefix("comment:")), *map(int, entry.values["removed"].split())]
    assert named == stubs[::-1]
    assert await effects.pending(store.site) == []
    assert await verified(store) == []


async def test_chain_of_stubs_of_a_deleted_article_goes_with_it(store, article, stubs, redis, monkeypatch):
    monkeypatch.setattr(removals, "update_places", died)
    await store.comments.delete(stubs[-1], "bob")
    await store.articles.delete(article, "alice")
    await removals.remove_all(store.site, store.site.partition_of_article(article))

    kinds = {key.split(":")[0] for key in everything(redis)}
    assert not kinds & {"comment", "replies", "tree", "stubs", "removing", "logged"}
