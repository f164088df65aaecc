"""
Pages in the order GRAVITY, whose values are votes divided by a power of the age, in large listings: what they show, and
what they cost. No index has these values, so a script looks for the articles of a page in steps.
"""

from typing import NamedTuple

import pytest

from bench import orders
from bench.orders import MINUTE
from store import keys
from store.listings import Window
from store.ranking.formulas import DAY, Order
from store.records import Article, Position
from tests.store.histories import listing_of, sorted_by_hand
from tests.store.reading import page

pytestmark = [
    pytest.mark.one_server,
    pytest.mark.parametrize("partitions", [1], indirect=True),
    pytest.mark.many_partitions,
]


class Cost(NamedTuple):
    """The calls of the script for a page, and the Redis commands that they run."""

    steps: int
    commands: int


async def test_first_page_takes_the_same_commands_at_any_size(store, redis):
    costs = []
    for size in (1_000, 20_000):
        redis.flushall()
        await orders.fill(store, size)
        listed = everything(store, redis)
        found, cost = await asked(store, redis, Window(25))
        assert found == listed[:25]
        costs.append(cost)

    assert [cost.steps for cost in costs] == [1, 1]
    assert costs[1].commands <= costs[0].commands + 4 and max(cost.commands for cost in costs) <= 50


async def test_page_among_articles_of_equal_age_is_one_step(store, redis, clock):
    """After weeks all have about the same age, so votes decide on which side of a position most articles are."""
    articles = [
        unstored(each * keys.SLOTS, posted_at=clock.now + each * MINUTE, upvotes=9 + each % 8)
        for each in range(1, 5_001)
    ]
    pipeline = store.site.redis.pipeline
    await pipeline([orders.placing_command(store, order, articles) for order in (Order.VOTES, Order.GRAVITY)])
    clock.advance(40 * DAY)
    listed = sorted_by_hand(store, Order.GRAVITY, articles, clock.now)

    for rank in range(400, 4_600, 500):
        for count in (25, 400):
            beyond = listed[rank]
            after, cost_after = await asked(store, redis, Window(count, beyond=beyond))
            before, cost_before = await asked(store, redis, Window(count, upwards=True, beyond=beyond))
            assert (before, after) == (listed[rank - count : rank], listed[rank + 1 : rank + 1 + count])
            assert count == 400 or cost_after.steps == cost_before.steps == 1


def unstored(number: int, *, posted_at: int, upvotes: int) -> Article:
    """An article of which only what decides its place is set."""
    return Article(
        number=number,
        title="",
        link=None,
        content=None,
        poster="",
        posted_at=posted_at,
        edited_at=None,
        upvotes=upvotes,
        downvotes=0,
        imported_votes=0,
        groups=(),
    )


async def asked(store, redis, window: Window) -> tuple[list[Position], Cost]:
    """The positions of a page, and what reading it has cost."""
    redis.config_resetstat()
    found = await page(store, listing_of(store, Order.GRAVITY, group=None), window)
    calls = {name: stats["calls"] for name, stats in redis.info("commandstats").items()}
    commands = sum(count for name, count in calls.items() if name.startswith("cmdstat_z"))
    return list(found.positions), Cost(calls["cmdstat_evalsha"], commands)


def everything(store, redis) -> list[Position]:
    """The positions of all articles by GRAVITY, sorted in Python."""
    posted = dict(redis.zrange(keys.index(0, Order.TIME.value), 0, -1, withscores=True))
    votes = redis.zrange(keys.index(0, Order.VOTES.value), 0, -1, withscores=True)
    articles = [unstored(int(each), posted_at=int(posted[each]), upvotes=int(up)) for each, up in votes]
    return sorted_by_hand(store, Order.GRAVITY, articles, store.site.clock())
