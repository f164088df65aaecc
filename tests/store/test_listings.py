"""
Pages of listings, such as the site by SCORE, merged from all partitions. A position is the value of an article in a
listing, with its number.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as L4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from itertools import pairwise

import pytest

from store import listings
from store.listings import Window
from store.ranking.formulas import Order, Policy
from store.records import Position, Vote
from tests.conftest import registered
from tests.store.reading import article, numbers, page, post, read

pytestmark = pytest.mark.many_partitions

DAY = 86_400  # seconds


async def test_empty_store_has_an_empty_listing(store):  # L4
    for order in Order:
        assert await numbers(store, listings.whole(store.site, order)) == []
        assert await numbers(store, listings.group(store.site, "nothing", order)) == []  # G6


async def test_two_hundred_votes_make_up_for_exactly_one_day(store, alice, bob, clock):  # L5
    old = await post(store, alice)
    for each in range(200):
        await store.articles.vote(old.number, f"voter-{each}", Vote.UP)
    clock.advance(DAY)
    young = await post(store, bob)

    (first, second) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert first.value == second.value
    assert {first.number, second.number} == {old.number, young.number}
    await store.articles.vote(young.number, "carol", Vote.UP)
    assert await numbers(store, listings.whole(store.site, Order.SCORE)) == [young.number, old.number]


async def test_newer_article_of_equal_votes_comes_first(store, alice, bob, clock):  # L5
    old = await post(store, alice)
    clock.advance(0.001)
    young = await post(store, bob)

    assert await numbers(store, listings.whole(store.site, Order.SCORE)) == [young.number, old.number]


async def test_ties_are_broken_by_the_higher_number(store, alice, bob):  # L1
    posted = [(await post(store, poster)).number for poster in (alice, bob) * 5]

    for order in Order:
        assert await numbers(store, listings.whole(store.site, order)) == sorted(posted, reverse=True)


async def test_pages_by_number_have_the_expected_articles(store, alice, bob):  # L2
    posted = sorted([(await post(store, poster)).number for poster in (alice, bob) * 30], reverse=True)
    site = listings.whole(store.site, Order.TIME)

    for number in range(1, 5):
        found = await page(store, site, Window(25, skip=25 * (number - 1)))
        assert [position.number for position in found.positions] == posted[25 * (number - 1) : 25 * number]
        assert (found.above, found.total) == (min(25 * (number - 1), 60), 60)


async def test_no_article_is_skipped_after_others_moved_above_it(store, alice):  # L3
    posted = [(await post(store, alice)).number for _ in range(6)]
    site = listings.whole(store.site, Order.SCORE)
    first = await page(store, site, Window(3))
    await store.articles.vote(posted[0], "bob", Vote.UP)

    rest = await page(store, site, Window(3, beyond=first.positions[-1]))
    assert [position.number for position in rest.positions] == [posted[2], posted[1]]
    assert rest.above == 4


async def test_position_of_a_deleted_article_can_be_paged_from(store, alice):  # L3
    posted = [(await post(store, alice)).number for _ in range(4)]
    site = listings.whole(store.site, Order.SCORE)
    first = await page(store, site, Window(2))
    await store.articles.delete(first.positions[-1].number, alice)

    assert await numbers(store, site, Window(2, beyond=first.positions[-1])) == posted[1::-1]


async def test_paging_forward_and_backward_shows_every_article_once_in_the_same_order(store):  # L1, L8, G3
    chance = random.Random(store.site.partitions)
    people = [await registered(store, name) for name in ("alice", "bob", "carol", "dave", "erin")]
    for _ in range(120):
        groups = chance.sample(["show", "ask"], chance.randrange(3))
        number = (await post(store, chance.choice(people), groups=groups)).number
        for voter in range(chance.randrange(4)):
            await store.articles.vote(number, f"voter-{voter}", chance.choice(list(Vote)))
        store.site.clock.advance(chance.choice([0, 0, 0.001, 432]))

    for order in Order:
        for listing in (listings.whole(store.site, order), listings.group(store.site, "show", order)):
            everyone = (await page(store, listing, Window(1000))).positions
            found = [await article(store, position.number) for position in everyone]
            policy, now = store.site.policy, store.site.clock()
            assert [position.value for position in everyone] == [policy.value_at(order, each, now) for each in found]
            assert all((a.value, a.number) > (b.value, b.number) for a, b in pairwise(everyone))
            for size in (1, 7, 25):
                assert await _walk(store, listing, size, upwards=False) == [*everyone]
                assert await _walk(store, listing, size, upwards=True) == [*everyone]


async def _walk(store, listing, size, upwards):
    """All positions of a listing, page by page; how many are above and below each page is checked."""
    walked: list[Position] = []
    beyond = None
    while True:
        found = await page(store, listing, Window(size, upwards, beyond))
        walked = [*found.positions, *walked] if upwards else [*walked, *found.positions]
        behind, ahead = (found.below, found.above) if upwards else (found.above, found.below)
        counted = (len(walked) - len(found.positions), found.total - len(walked))
        if listing.decay:  # if values decay, a page says only whether there are more
            assert (behind > 0, ahead > 0) == (counted[0] > 0, counted[1] > 0)
        else:
            assert (behind, ahead) == counted
        if not (found.above if upwards else found.below):
            return walked
        beyond = found.positions[0 if upwards else -1]


@pytest.mark.parametrize("policy", [Policy(good_votes=1)])
async def test_front_page_of_a_day_has_only_that_utc_day(store, alice, clock):  # L6
    midnight = 1_470_355_200_000  # 2016-08-05T00:00:00Z
    posted = []
    for clock.now in (midnight - DAY * 1000 - 1, midnight - DAY * 1000, midnight - 1, midnight):
        posted.append((await post(store, alice)).number)
    day = listings.front_page(store.site, midnight - DAY * 1000)

    found = await page(store, day)
    assert [position.number for position in found.positions] == [posted[2], posted[1]]
    assert (found.above, found.below, found.total) == (0, 0, 2)
    assert await numbers(store, day, Window(1, beyond=found.positions[0])) == [posted[1]]
    assert await numbers(store, day, Window(1, upwards=True)) == [posted[1]]
    assert await numbers(store, listings.front_page(store.site, day=None)) == posted[::-1]


async def test_timeline_is_not_truncated(store, alice):  # F3
    posted = [(await post(store, alice)).number for _ in range(1_001)]
    timeline = listings.timeline(store.site, "ALICE")

    oldest = await page(store, timeline, Window(1, skip=1_000))
    assert oldest.positions[0].number == posted[0]
    assert (oldest.above, oldest.total) == (1_000, 1_001)
    assert await numbers(store, timeline, Window(25)) == posted[: -25 - 1 : -1]


async def test_page_is_one_read_for_each_partition(store):
    site = listings.whole(store.site, Order.SCORE)

    assert len(listings.partition_pages(site, Window(25))) == store.site.partitions
    assert await read(store) == []
