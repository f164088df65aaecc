"""
The field `comments`: the newest comments of the site or of a group. Redis has an index of the newest ones in each
partition; older ones, below the floor of an index, come from the database.

`mirrored` brings the database up to date with the log of the store. `on_both` runs a test with SQLite and with
PostgreSQL. `first` marks all parameters of a test but the first ones as slow: `make test` leaves them out.
"""

import random
from dataclasses import replace

import pytest

from store.recent_comments import FLOORS, RECENT
from store.records import ContentState
from tests.archive.worlds import World
from tests.database.conftest import mirrored, on_both
from tests.examples import first
from tests.store.held import set_comment_state
from tests.store.reading import post
from tests.support.recent_comments import COMMENTS, GROUPS, say, walked


@pytest.fixture
async def world(store, each_database):
    return World(store, each_database)


def asking(world):
    """`await ask(query, **variables)` gives the answer of a store, which has no errors."""

    async def ask(query, **variables):
        answer = await world.ask(query, viewer=None, variables=variables)
        assert answer["errors"] is None, answer
        return answer

    return ask


def cut(redis, partition, place, floor):
    """
    Cut the comments up to an instant, the floor (unix milliseconds), off the index of a place, "all" or "group:NAME",
    as the script `cut_recent` does with one that is too large.
    """
    redis.zremrangebyscore(RECENT(partition, place), "-inf", floor)
    redis.hset(FLOORS(partition), place, floor)


@on_both
@pytest.mark.parametrize("seed", first(range(3)))
async def test_older_comments_follow_from_the_database(store, world, redis, clock, alice, bob, seed):
    chance, ask = random.Random(seed), asking(world)
    articles = [await post(store, chance.choice((alice, bob)), groups=chance.sample(GROUPS, 2)) for _ in range(6)]
    said = []
    for n in range(40):
        said.append(await say(store, clock, chance.choice(articles), chance.choice((alice, bob)), f"text {n}"))
        clock.advance(-0.001 * chance.randint(0, 1))  # so that some are of the same instant
    gone, hidden = chance.sample(said, 8), chance.sample(said, 4)
    for each in gone:
        await store.comments.delete(each.number, each.poster)
    for each in set(hidden) - set(gone):
        await set_comment_state(store, each.number, ContentState.PENDING)
    await mirrored(store, world.database)
    clock.advance(60)  # the database is complete up to a time before now: the comments below the floors are older
    remaining = [each for each in said if each not in gone and each not in hidden]
    remaining.sort(key=lambda each: (each.posted_at, each.number), reverse=True)
    groups = {article.number: article.groups for article in articles}

    for _ in range(4):
        for partition in range(store.site.partitions):
            for place in ("all", *(f"group:{name}" for name in GROUPS)):
                known = int(redis.hget(FLOORS(partition), place) or 0)
                cut(redis, partition, place, max(known, chance.choice(said).posted_at - chance.randint(0, 1)))
        for group in (None, *GROUPS):
            expected = [each.id for each in remaining if group is None or group in groups[each.article]]
            assert await walked(ask, group, size=chance.choice((1, 3, 7, 100))) == expected
            assert (await ask(COMMENTS, group=group))["data"]["comments"]["totalCount"] == len(expected)


@on_both
async def test_what_the_database_does_not_know_yet_is_left_out(store, world, redis, clock, alice):
    article, ask = await post(store, alice, groups=["go"]), asking(world)
    said = [await say(store, clock, article, alice, f"text {n}") for n in range(4)]
    await mirrored(store, world.database)
    partition = store.site.partition_of_article(article.number)
    for place in ("all", "group:go"):
        cut(redis, partition, place, said[3].posted_at)
    clock.advance(60)
    await store.comments.delete(said[0].number, alice)
    await set_comment_state(store, said[2].number, ContentState.REMOVED)

    assert await walked(ask, size=1) == await walked(ask, "go", size=1) == [said[3].id, said[1].id]


async def test_list_ends_with_the_index_where_there_is_no_database(store, redis, clock, alice, bob):
    ask = asking(World(store, database=None))
    articles = [await post(store, who) for who in (alice, bob)]
    said = [await say(store, clock, articles[n % 2], alice, f"text {n}") for n in range(6)]
    cut(redis, store.site.partition_of_article(articles[0].number), "all", said[2].posted_at)

    assert await walked(ask) == [each.id for each in reversed(said[3:])]
    assert (await ask(COMMENTS))["data"]["comments"]["totalCount"] == 3


@on_both
async def test_database_that_lacks_older_comments_is_no_hole_in_the_list(
    store, world, redis, clock, alice, monkeypatch
):
    article = await post(store, alice)
    said = [await say(store, clock, article, alice, f"text {n}") for n in range(3)]
    cut(redis, store.site.partition_of_article(article.number), "all", said[0].posted_at)
    await mirrored(store, world.database)
    lag = await world.database.lag(store.site)

    async def behind(site):
        return replace(lag, entries=5, seconds=60)

    monkeypatch.setattr(type(world.database), "lag", lambda self, site: behind(site))
    answer = await world.ask(COMMENTS, viewer=None, variables={"first": 1})
    assert [each["id"] for each in answer["data"]["comments"]["nodes"]] == [said[2].id]
    (error,) = (await world.ask(COMMENTS, viewer=None, variables={}))["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE"
