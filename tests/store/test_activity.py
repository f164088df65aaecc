"""
Comments move their article in the order ACTIVE: its value is the time of the newest visible comment, or of the article
if there is none. `article` is the number of an article of alice.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as L10 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest

from archive import steps
from store import keys, listings, threads
from store.errors import NotFound
from store.maintenance import reindex
from store.ranking.formulas import Order
from store.records import ContentState, Vote
from tests.store.discussions import PEOPLE, commented, comments
from tests.store.reading import article as stored_article
from tests.store.reading import numbers, post, verified

pytestmark = pytest.mark.many_partitions


async def test_comment_changes_nothing_of_its_article_but_its_count_and_activity(store, article, clock):
    before = await stored_article(store, article)
    clock.advance(1)
    await commented(store, article, "bob")

    assert await stored_article(store, article) == before._replace(active_at=clock.now, comment_count=1)


async def test_article_is_as_active_as_its_newest_visible_comment(store, article, clock, redis):  # L10
    posted_at, seen = clock.now, []
    clock.advance(1)
    first = await commented(store, article, "bob")
    clock.advance(1)
    newer = (await post(store, "bob")).number
    clock.advance(1)
    second = await commented(store, article, "carol", first)
    clock.advance(1)
    stub = await commented(store, article, "carol", second)
    last = await commented(store, article, "bob", stub)
    await store.comments.vote(first.number, "dave", Vote.UP)
    await store.comments.delete(stub.number, "carol")
    for deleted in (None, last, second, first):
        if deleted:
            await store.comments.delete(deleted.number, deleted.poster)
        seen.append(((await stored_article(store, article)).active_at, await by_activity(store)))
        assert await verified(store) == []
    clock.advance(1)
    await commented(store, article, "bob")

    assert seen == [
        (posted_at + 4000, [article, newer]),
        (posted_at + 3000, [article, newer]),
        (posted_at + 1000, [newer, article]),
        (None, [newer, article]),
    ]
    assert (await stored_article(store, article)).active_at == clock.now
    assert await by_activity(store) == [article, newer]


@pytest.mark.parametrize(("writers", "times"), [(1, 160), (60, 4)])
async def test_activity_is_exact_in_a_thread_of_any_size(store, article, clock, redis, writers, times):  # L10
    """It grows to more than 128 comments, from which on the key `latest` has their times, shrinks, and grows again."""
    chance, made = random.Random(6), [await commented(store, article, "bob")]
    partition = store.site.partition_of_article(article)

    async def change(share: float) -> None:
        if made and chance.random() < share:
            victim = made.pop(-1 if chance.random() < 0.5 else chance.randrange(len(made)))
            await store.comments.delete(victim.number, victim.poster)
            return
        parent = chance.choice(made) if made and chance.random() < 0.8 else None
        try:
            made.append(await commented(store, article, chance.choice(PEOPLE), parent))
        except NotFound:
            assert writers > 1  # the parent was deleted meanwhile

    async def check() -> None:
        found = [each for each in await comments(store, article) if each.state is ContentState.VISIBLE]
        newest = max([each.posted_at for each in found], default=None)
        assert (await stored_article(store, article)).active_at == newest
        assert redis.zscore(keys.index(partition, "active"), keys.member(article)) == (newest or posted_at)

    posted_at, has_latest = (await stored_article(store, article)).posted_at, set()
    for share in (0.1, 0.9, 0.1):  # of deletions
        for _ in range(times):
            clock.advance(chance.choice((-0.01, 0.001, 0.02)))
            await asyncio.gather(*(change(share) for _ in range(writers)))
            await check()
            has_latest.add(redis.exists(threads.LATEST(partition, article)))
    assert has_latest == {0, 1}
    assert await verified(store) == []


@pytest.fixture
async def long_thread(store, article, clock) -> list[int]:
    """So many comments, over 128, that the key `latest` has their times: each answers the one before it."""
    chain = [await commented(store, article, "bob")]
    for _ in range(149):
        clock.advance(0.001)
        chain.append(await commented(store, article, "bob", chain[-1]))
    return [each.number for each in chain]


async def test_index_of_comments_by_time_is_verified_and_repaired(store, article, long_thread, redis):
    partition = store.site.partition_of_article(article)
    latest = threads.LATEST(partition, article)
    before = redis.zrange(latest, 0, -1, withscores=True)
    missing, late, foreign = keys.member(long_thread[0]), keys.member(long_thread[1]), keys.member(article)
    redis.zrem(latest, missing)
    redis.zadd(latest, {late: before[-1][1] + 1, foreign: 5})
    found = {(each.where, each.found) for each in await verified(store)}
    await verified(store, repair=True)

    assert found == {
        (f"{latest} {missing}", "nothing"),
        (f"{latest} {late}", f"{before[-1][1] + 1:.0f}"),
        (f"{latest} {foreign}", "5"),
        (f"{keys.article(partition, article)} active", f"{before[-1][1]:.0f}"),
    }
    assert redis.zrange(latest, 0, -1, withscores=True) == before
    assert await verified(store) == []


async def test_index_of_comments_by_time_is_made_again_if_it_is_missing(store, article, long_thread, redis):  # L10
    """A store of an earlier version lacks it."""
    latest = threads.LATEST(store.site.partition_of_article(article), article)
    before = redis.zrange(latest, 0, -1)
    for delete_or_post in (
        lambda: store.comments.delete(long_thread[-1], "bob"),
        lambda: commented(store, article, "bob"),
    ):
        redis.delete(latest)
        assert await verified(store) == []
        await delete_or_post()
        assert redis.zrange(latest, 0, 148) == before[:-1]
        assert await verified(store) == []


async def test_deleted_article_leaves_no_comments_by_time(store, article, long_thread, redis):
    await store.articles.delete(article, "alice")

    assert not redis.exists(threads.LATEST(store.site.partition_of_article(article), article))


async def test_comment_by_a_late_clock_moves_nothing_back(store, article, clock):
    clock.advance(5)
    await commented(store, article, "bob")
    active_at = clock.now
    clock.advance(-60)
    await commented(store, article, "carol")

    assert (await stored_article(store, article)).active_at == active_at
    assert await by_activity(store) == [article]


async def by_activity(store) -> list[int]:
    """The numbers of all articles in the order ACTIVE."""
    return await numbers(store, listings.whole(store.site, Order.ACTIVE))


async def test_comments_move_an_article_in_its_groups_and_in_those_it_joins(store, article, clock):  # L10
    for each in ("show", "ask"):
        await post(store, "bob", groups=[each])
    clock.advance(1)
    await commented(store, article, "bob")
    await store.articles.regroup(article, "alice", add=["show", "ask"], remove=[])
    clock.advance(1)
    other = (await numbers(store, listings.group(store.site, "show", Order.ACTIVE)))[-1]
    await commented(store, other, "bob")

    assert await numbers(store, listings.group(store.site, "show", Order.ACTIVE)) == [other, article]
    assert (await numbers(store, listings.group(store.site, "ask", Order.ACTIVE)))[0] == article


async def test_store_without_the_order_has_no_index_of_activity(store, article, redis):
    await reindex.reindex(store.site, [Order.SCORE], progress=lambda count: None)
    await commented(store, article, "bob")
    without = list(redis.scan_iter("active:*"))
    await reindex.reindex(store.site, [Order.SCORE, Order.ACTIVE], progress=lambda count: None)

    assert without == []
    assert await by_activity(store) == [article]
    assert await verified(store) == []


@pytest.mark.parametrize("damage", [{"active": "5"}, {"active": "soon"}, {"comments": "0"}, None])
async def test_wrong_activity_is_reported_and_repaired(store, article, clock, redis, damage):
    await store.articles.regroup(article, "alice", add=["show"], remove=[])
    clock.advance(1)
    await commented(store, article, "bob")
    partition = store.site.partition_of_article(article)
    hash = keys.article(partition, article)
    indexes = [keys.index(partition, "active"), keys.group(partition, "show", "active")]
    if damage:
        redis.hset(hash, mapping=damage)
    else:
        redis.delete(*indexes)
    found = {finding.where for finding in await verified(store)}
    await verified(store, repair=True)

    fields = {f"{hash} {field}" for field in damage or ()}
    assert found == {*fields, *(f"{index} {keys.member(article)}" for index in indexes)}
    assert await verified(store) == []
    assert (await stored_article(store, article)).active_at == clock.now
    assert [redis.zscore(index, keys.member(article)) for index in indexes] == [clock.now] * 2


@pytest.mark.parametrize("field", ["locked", "state"])
async def test_locked_or_hidden_article_is_not_archived(store, article, redis, field):
    partition = store.site.partition_of_article(article)
    redis.hset(keys.article(partition, article), field, "1" if field == "locked" else "removed")

    assert await steps.archivable(store.site, partition, [article]) == []


async def test_article_with_comments_is_not_archived(store, article):
    partition = store.site.partition_of_article(article)
    posted = await commented(store, article, "bob")
    assert await steps.archivable(store.site, partition, [article]) == []

    await store.comments.delete(posted.number, "bob")
    assert [each.article.number for each in await steps.archivable(store.site, partition, [article])] == [article]
