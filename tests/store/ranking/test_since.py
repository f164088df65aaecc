"""
Listings of the articles posted since an instant, compared with listings sorted in Python.

Codes such as L9 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from collections.abc import Sequence

import pytest

from store import keys, listings
from store.listings import Page, Window
from store.maintenance import reindex
from store.numbering import HIGHEST_NUMBER
from store.ranking import since
from store.ranking.formulas import DAY, Order
from store.records import INSTANTS, Article, Position
from tests.store.histories import HOUR, YEAR, history, sorted_by_hand
from tests.store.reading import page, post
from tests.support.made_up_articles import CROWDS, made_up, write

pytestmark = pytest.mark.many_partitions

SINCE_ORDERS = (Order.VOTES, Order.TIME)


@pytest.mark.parametrize("seed", range(3))
async def test_listing_since_an_instant_equals_a_sorted_one(store, clock, monkeypatch, seed):  # L9
    """After posts, votes, deletions, imports and changes of groups, at the times of articles and at others."""
    monkeypatch.setattr(since, "STEP", [10, 100, 1_000][seed])  # articles that a call of the script reads
    chance = random.Random(f"{seed} {store.site.partitions}")
    articles = await history(store, seed, size=220)
    instants = [each.posted_at + chance.choice([-1, 0, 1]) for each in chance.sample(articles, 8)]
    instants += [0, clock.now - DAY * 1000, clock.now - YEAR, clock.now, clock.now + 1]
    for group in (None, "show", "nothing"):
        listed = [each for each in articles if group is None or group in each.groups]
        for instant in instants:
            await check(store, group, instant, listed, chance)


@pytest.mark.parametrize("numbers", ["by time", "ahead of the clock", "of early versions"])
@pytest.mark.parametrize("crowd", CROWDS)
async def test_many_articles_of_similar_votes_are_sorted(store, monkeypatch, crowd, numbers):
    """More articles than are sorted at once, in many steps. Some numbers contain no time, or too little of it."""
    monkeypatch.setattr(since, "STEP", 50)
    chance = random.Random(f"{crowd} {numbers} {store.site.partitions}")
    count = max(900, 150 * store.site.partitions)
    articles = made_up(chance, count, CROWDS[crowd], numbers=numbers, now=store.site.clock())
    await write(store, articles)
    for share in (0.02, 0.5, 1):
        instant = sorted(each.posted_at for each in articles)[-int(share * len(articles))]
        await check(
            store, group=None, instant=instant, articles=articles, chance=chance, orders=[Order.VOTES], positions=2
        )


@pytest.mark.parametrize("partitions", [1], indirect=True)
@pytest.mark.one_server
async def test_first_page_takes_few_commands_at_any_size(store, redis):  # L9
    for size in (1_000, 20_000):
        redis.flushall()
        chance = random.Random(size)
        articles = made_up(chance, size, CROWDS["unlike"], numbers="by time", now=store.site.clock())
        await write(store, articles)
        for age in (HOUR, DAY * 1000, 7 * DAY * 1000, YEAR):
            redis.config_resetstat()
            await page(
                store, listings.posted_since(store.site, group=None, order=Order.VOTES, at=store.site.clock() - age)
            )
            calls = {name: stats["calls"] for name, stats in redis.info("commandstats").items()}
            assert calls["cmdstat_evalsha"] == 1
            assert sum(count for name, count in calls.items() if name.startswith("cmdstat_z")) <= 120


@pytest.mark.parametrize("partitions", [1], indirect=True)
@pytest.mark.one_server
async def test_high_page_numbers_among_equal_votes_are_one_step(store, redis):
    articles = made_up(random.Random(1), 20_000, CROWDS["similar"], numbers="by time", now=store.site.clock())
    await write(store, articles)
    instant = sorted(each.posted_at for each in articles)[2_000]
    listed = expected_positions(store, Order.VOTES, articles, instant)
    listing = listings.posted_since(store.site, group=None, order=Order.VOTES, at=instant)
    for skip in (1_000, 9_000, 17_000):
        redis.config_resetstat()
        found = await page(store, listing, Window(25, skip=skip))
        assert list(found.positions) == listed[skip : skip + 25]
        assert (found.above, found.total) == (skip, len(listed))
        assert redis.info("commandstats")["cmdstat_evalsha"]["calls"] == 1


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_orders_that_can_be_listed_since_an_instant(store):
    assert since.orders(tuple(Order)) == [Order.TIME, Order.VOTES]
    assert since.orders((Order.TIME, Order.VOTES)) == [Order.TIME]
    assert since.orders((Order.VOTES, Order.GRAVITY)) == [Order.VOTES]
    assert since.orders((Order.SCORE,)) == []


async def test_votes_can_be_listed_since_an_instant_after_a_reindex(store, alice, bob, clock):
    old = (await post(store, alice)).number
    await reindex.reindex(store.site, [Order.VOTES], progress=lambda count: None)
    clock.advance(1)
    young = (await post(store, bob)).number
    await reindex.reindex(store.site, [Order.VOTES, Order.GRAVITY], progress=lambda count: None)

    assert Order.VOTES in since.orders(store.site.rankings.orders)
    for instant, expected in ((clock.now - 1000, [young, old]), (clock.now - 999, [young]), (clock.now + 1, [])):
        found = await page(store, listings.posted_since(store.site, group=None, order=Order.VOTES, at=instant))
        assert [position.number for position in found.positions] == expected


async def test_instants_that_no_article_can_have_are_clamped(store):
    for order in SINCE_ORDERS:
        names = [listings.posted_since(store.site, group="show", order=order, at=at).name for at in (-1, 0, 10**18)]
        assert names == [f"group:show:{order.value}:since:{at}" for at in (0, 0, INSTANTS[-1])]
        assert (await page(store, listings.posted_since(store.site, group=None, order=order, at=10**18))).total == 0


async def check(
    store, group: str | None, instant: int, articles: Sequence[Article], chance: random.Random, *,
    orders: Sequence[Order] = SINCE_ORDERS, positions: int = 4,
) -> None:  # fmt: skip
    """Compare pages from both ends, from positions in the listing and beside it, and after a number of articles."""
    for order in orders:
        listing = listings.posted_since(store.site, group, order, at=instant)
        listed = expected_positions(store, order, articles, instant)
        others = sorted_by_hand(store, order, list(articles), now=0)
        beyond = [None, *chance.sample(others, min(positions, len(others)))]
        beyond += [Position(each.value + chance.choice([-0.5, 0.5]), each.member) for each in others[:1]]
        beyond += [Position(each.value, keys.member(HIGHEST_NUMBER)) for each in listed[-1:]]
        for count in (1, 25):
            for position in beyond:
                for upwards in (False, True):
                    window = Window(count, upwards, position)
                    assert_same(await page(store, listing, window), listed, window)
            window = Window(count, skip=chance.randrange(len(listed) + 30))
            assert_same(await page(store, listing, window), listed, window)


def expected_positions(store, order: Order, articles: Sequence[Article], instant: int) -> list[Position]:
    return sorted_by_hand(store, order, [each for each in articles if each.posted_at >= instant], now=0)


def assert_same(found: Page, listed: list[Position], window: Window) -> None:
    """Compare a page with the part of a whole listing that its window shows."""
    if window.upwards:
        end = sum(1 for each in listed if window.beyond is None or each > window.beyond)
        start = max(end - window.count, 0)
    else:
        start = window.skip + (sum(1 for each in listed if each >= window.beyond) if window.beyond else 0)
        start = min(start, len(listed))
        end = min(start + window.count, len(listed))
    assert list(found.positions) == listed[start:end], window
    assert found.total == len(listed), window
    assert (found.above > 0, found.below > 0) == (start > 0, end < len(listed)), window
