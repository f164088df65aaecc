"""
The client-side cache of a process, which Redis tells what has changed, gives what a new read would give.

`request` reads a page of the newest articles, and returns the articles and the number of commands that were sent: one
for each partition finds the page, and one more reads each article that is not in the cache.

A store is split into partitions by user: the partition of a user has all that the user owns.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE
from functools import partial

import pytest

from resolvers.dataloader import Reads
from store import keys, listings, records
from store.client import client, tracking_cache
from store.client.client import RedisUsage
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Vote
from store.sessions import parse_token
from store.store import Store
from tests.conftest import kill, registered
from tests.servers import until
from tests.store.reading import post, request

pytestmark = pytest.mark.many_partitions

VOTES = 300  # of the other process, in the last test


@pytest.fixture
async def other(store, redis_url, partitions, clock):
    """The store, opened as by another process."""
    other = await Store.open(redis_url, partitions=partitions, clock=clock)
    yield other
    await other.close()


async def test_second_read_of_a_page_reads_no_article_again(store, alice):
    for _ in range(3):
        await post(store, alice)
    (first, commands), second = await request(store), await request(store)

    assert commands >= store.site.partitions + 3
    assert second == (first, store.site.partitions)


async def test_later_reads_see_a_change_of_another_process(store, other, alice, bob):
    posted = await post(store, alice)
    for vote in (Vote.UP, Vote.NONE, Vote.DOWN):
        await request(store)
        await request(store)
        voted = await other.articles.vote(posted.number, bob, vote)
        assert await request(store) == ([voted.article], store.site.partitions + 1)
        assert (await request(other))[0] == [voted.article]
    await other.articles.delete(posted.number, alice)
    assert (await request(store))[0] == []


async def test_cached_profile_is_current(store, other, alice, bob):
    posted = await post(store, alice)
    for expected, vote in ((1, Vote.UP), (-1, Vote.DOWN)):
        await other.articles.vote(posted.number, bob, vote)
        await request(store)
        (profile,) = await Reads(store, login=None).profiles([alice])
        assert profile.karma == expected


async def test_cached_records_of_other_kinds_may_have_equal_ids(store, alice):
    article = await post(store, alice)
    comment = (await store.comments.post(article.number, parent=None, poster=alice, content="a text")).comment
    for _ in range(2):
        articles = await Reads(store, login=None).articles([article.number, comment.number])
        comments = await Reads(store, login=None).comments([article.number, comment.number])
        assert articles == [article._replace(comment_count=1), None]
        assert comments == [None, comment]


async def test_cached_vote_is_current_and_read_once(store, other, alice, bob):
    posted = await post(store, alice)

    async def vote_of(voter: str) -> tuple[Vote, int]:
        client.current_usage.set(cost := RedisUsage())
        reads = Reads(store, login=None)
        await reads.pages([(listings.whole(store.site, Order.TIME), Window(25))])
        (vote,) = await reads.votes([posted.number], voter)
        return vote, cost.round_trips

    await vote_of(alice)
    for vote in (Vote.UP, Vote.NONE, Vote.DOWN):
        await other.articles.vote(posted.number, bob, vote)
        assert [await vote_of(bob), await vote_of(bob)] == [(vote, 2), (vote, 1)]
        assert [await vote_of(alice), await vote_of(alice)] == [(Vote.UP, 2), (Vote.UP, 1)]
    await other.articles.delete(posted.number, alice)
    assert await vote_of(alice) == (Vote.NONE, 2)


async def test_cached_voters_are_current_and_read_once(store, other, alice, bob):
    posted = await post(store, alice)

    async def voters() -> tuple[tuple[str, ...], int]:
        client.current_usage.set(cost := RedisUsage())
        reads = Reads(store, login=None)
        await reads.articles([posted.number])
        (names,) = await reads.voters([posted.number])
        return names, cost.round_trips

    for vote, names, trips in ((Vote.UP, (alice, bob), 2), (Vote.DOWN, (alice,), 2), (Vote.NONE, (alice,), 1)):
        await other.articles.vote(posted.number, bob, vote)
        assert [await voters(), await voters()] == [(names, trips), (names, 1)]
    await other.articles.delete(posted.number, alice)
    assert await voters() == ((), 2)


async def test_read_of_the_session_proves_that_the_cache_is_current(store, redis, alice):
    posted, grant = await post(store, alice), await store.sessions.open(alice)
    partition = store.site.partition_of_article(posted.number)
    login = store.sessions.read(parse_token(grant.token))

    async def article() -> tuple[int, int]:
        client.current_usage.set(cost := RedisUsage())
        (article,) = await Reads(store, login).articles([posted.number])
        return article.upvotes, cost.commands

    alone = 1 if store.site.redis.has_one_server else 2
    assert [await article(), await article()] == [(1, 2), (1, alone)]
    redis.hset(keys.article(partition, posted.number), "up", 7)
    assert [await article(), await article()] == [(7, 2), (7, alone)]


async def test_cache_is_not_used_before_the_first_reply_of_a_request(store, redis, alice):
    """Without a reply since then the cache may be old: here the invalidation has not arrived yet."""
    posted = await post(store, alice)
    await request(store)
    await request(store)
    redis.hset(keys.article(store.site.partition_of_article(posted.number), posted.number), "up", 7)
    (article,) = await Reads(store, login=None).articles([posted.number])

    assert article.upvotes == 7


async def test_size_of_the_cache_is_limited(redis_url, partitions, clock):
    store = await Store.open(redis_url, partitions=partitions, clock=clock, cached_keys=5)
    await registered(store, "alice")
    for _ in range(9):
        await post(store, "alice")
    await store.site.redis.run(("HSET", keys.article(0, 7), "title", "x" * (tracking_cache.MAX_HASH_LENGTH + 1)))
    await store.site.redis.run(("HGETALL", keys.article(0, 7)))
    await request(store)
    kept = store.site.redis.cache(keys.article(store.site.partition_of_user("alice"), ""), since=0)
    await store.close()

    assert kept.size == 5
    assert kept.hashes.find([7], partial(keys.article, 0), records.article) == [None]


@pytest.mark.one_server
@pytest.mark.parametrize("key", ["voted:{0}:x", "downvoted:{0}:", "voted:{x}:1:y", "article:{0}:x", "user:{0}:"])
async def test_change_of_a_foreign_key_leaves_the_connection_open(store, redis, key):
    before = await store.site.redis.run(("CLIENT", "ID"))
    redis.sadd(key, "member")

    assert await store.site.redis.run(("CLIENT", "ID")) == before


@pytest.mark.one_server
async def test_reply_about_a_foreign_key_leaves_the_connection_open(store, redis):
    redis.sadd("voted:{0}:x", "member")
    before = await store.site.redis.run(("CLIENT", "ID"))

    assert await store.site.redis.run(("SMEMBERS", "voted:{0}:x")) == ["member"]
    assert await store.site.redis.run(("CLIENT", "ID")) == before


@pytest.mark.parametrize("killing", [False, True], ids=["connected", "while connections are closed"])
async def test_no_read_is_older_than_one_before(store, redis, redis_url, alice, killing):
    """Another process votes and reports it; each read that begins after that has to see the vote."""
    posted = await post(store, alice)
    command = [sys.executable, "-m", "tests.store.voting", redis_url, str(posted.number), str(VOTES)]
    writer = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    login = store.sessions.read(parse_token((await store.sessions.open(alice)).token))
    acknowledged = seen = cache_hits = 0

    async def listen() -> None:
        nonlocal acknowledged
        async for line in writer.stdout:
            acknowledged = int(line)

    async def cut() -> None:
        """Close all connections again and again, each time after the cache was used: it is lost with them."""
        while killing:
            kill(redis, "TYPE", "normal")
            before = cache_hits
            await asyncio.sleep(0.1)
            await asyncio.to_thread(until, lambda before=before: cache_hits > before)

    async def read() -> None:
        nonlocal seen, cache_hits
        expected = max(acknowledged, seen)
        ((article,), commands) = await request(store)
        assert article.upvotes >= expected
        seen = article.upvotes
        cache_hits += commands == store.site.partitions
        (vote,) = await Reads(store, login=None).votes([posted.number], f"voter-{expected - 2}")
        assert expected < 2 or vote is Vote.UP
        reads = Reads(store, login)
        (article,) = await reads.articles([posted.number])
        (voters,) = await reads.voters([posted.number])
        assert seen <= article.upvotes <= len(voters)

    listening, cutting = asyncio.create_task(listen()), asyncio.create_task(cut())
    try:
        while not listening.done():
            await read()
    finally:
        cutting.cancel()
        if not listening.done():
            writer.kill()

    assert await writer.wait() == 0
    assert seen == VOTES + 1
    assert cache_hits
