"""
The formulas by which articles are ordered: every order equals a sort in Python, on random histories, and every formula
its source.
"""

import random

import pytest

from store import keys
from store.listings import Window
from store.maintenance.import_stories import Story, import_batch
from store.ranking import gravity, standings
from store.ranking.formulas import CLASS_STEP, Order, Policy, best, controversial, gravity_class, hot
from store.records import Article, Vote
from tests.store.histories import HOUR, YEAR, history, listing_of, sorted_by_hand
from tests.store.reading import article, numbers, post, read
from tests.support.pages import assert_pages

pytestmark = pytest.mark.many_partitions


@pytest.mark.parametrize("seed", range(3))
async def test_every_order_is_the_sort_by_its_formula(store, seed, clock):
    articles = await history(store, seed, 80, with_comments=True)

    for instant in (clock.now, clock.now - 12 * HOUR, clock.now + 10 * YEAR):
        clock.now = instant
        for order in Order:
            for group in (None, "show"):
                listed = [each for each in articles if group is None or group in each.groups]
                expected = sorted_by_hand(store, order, listed, instant)
                await assert_pages(store, listing_of(store, order, group), expected, random.Random(seed))


async def test_scripts_and_python_have_the_same_formulas(store, redis):
    for each in await history(store, seed=7, size=40, with_comments=True):
        partition = store.site.partition_of_article(each.number)
        for order in Order:
            of_groups = [keys.group(partition, name, order.value) for name in each.groups]
            for index in (keys.index(partition, order.value), *of_groups):
                assert redis.zscore(index, keys.member(each.number)) == store.site.policy.value(order, each)


async def test_vote_writes_only_the_indexes_whose_values_change(store, alice, bob, redis):
    number = (await post(store, alice)).number
    index = keys.index(store.site.partition_of_article(number), Order.CONTROVERSIAL.value)
    redis.delete(index)
    await store.articles.vote(number, bob, Vote.UP)
    unmoved = redis.exists(index)
    await store.articles.vote(number, bob, Vote.DOWN)

    assert unmoved == 0
    assert redis.zscore(index, keys.member(number)) == 2


def test_formulas_equal_their_sources(unstored_article):
    """HOT is Reddit's, whose epoch is 1,134,028,003 (unix seconds). BEST is the lower bound of the Wilson interval."""
    of_time = (unstored_article.posted_at / 1000 - 1_134_028_003) / 45_000
    assert hot(unstored_article, 45_000) == 1 + round(of_time, 7)
    assert hot(replace_votes(unstored_article, up=0, down=10), 45_000) == round(-1 + of_time, 7)
    assert (controversial(5, 0), controversial(5, 5), controversial(8, 2)) == (0, 10, 10**0.25)
    z = Policy().best_z
    assert (best(0, 0, z), best(0, 3, z)) == (0, pytest.approx(0, abs=1e-12))
    assert best(1, 0, z) == pytest.approx(1 / (1 + z**2))
    bound = best(40, 20, z)  # where the share that was found is z standard deviations away
    assert 40 / 60 - bound == pytest.approx(z * (bound * (1 - bound) / 60) ** 0.5)


def test_gravity_equals_that_of_hacker_news(policy, unstored_article, clock):
    new, hour = clock.now, clock.now + HOUR
    assert policy.gravity(unstored_article, new) == 9**0.8 / 2**1.8
    assert policy.gravity(unstored_article, hour) == 9**0.8 / 3**1.8
    assert policy.gravity(replace_votes(unstored_article, up=1, down=0), hour) == 0
    assert policy.gravity(replace_votes(unstored_article, up=1, down=3), hour) == -3 / 3**1.8


@pytest.fixture
def unstored_article(clock) -> Article:
    return Article(
        number=1,
        title="a title",
        link=None,
        content=None,
        poster="alice",
        posted_at=clock.now,
        edited_at=None,
        upvotes=10,
        downvotes=0,
        imported_votes=0,
        groups=(),
    )


def replace_votes(article: Article, up: int, down: int) -> Article:
    return article._replace(upvotes=up, downvotes=down)


async def test_index_of_gravity_holds_class_and_time(store, alice, clock, redis):
    """
    A value is the number of the class, of about equally many votes, times `CLASS_STEP`, plus the posting time. Below
    one vote it is negative.
    """
    number = (await post(store, alice)).number
    index = keys.index(store.site.partition_of_article(number), Order.GRAVITY.value)

    assert redis.zscore(index, keys.member(number)) == clock.now
    await store.articles.vote(number, "bob", Vote.UP)
    assert redis.zscore(index, keys.member(number)) == CLASS_STEP + clock.now
    await store.articles.vote(number, "bob", Vote.DOWN)
    assert redis.zscore(index, keys.member(number)) == -CLASS_STEP - clock.now
    assert [gravity_class(votes) for votes in (8, 9, 10, 11, 17, 5_001)] == [7, 8, 8, 9, 12, 44]


async def test_articles_of_one_instant_are_listed_once_each(store, alice, clock):
    stories = [
        Story(str(each), "a title", link="", poster=alice, time=clock.now, votes=each % 40, groups=())
        for each in range(120)
    ]
    await import_batch(store, stories)
    articles = [
        await article(store, number)
        for number in await numbers(store, listing_of(store, Order.TIME, group=None), Window(200))
    ]
    clock.advance(3600)

    expected = sorted_by_hand(store, Order.GRAVITY, articles, clock.now)
    await assert_pages(store, listing_of(store, Order.GRAVITY, group=None), expected, random.Random(1))


@pytest.mark.slow
async def test_gravity_reads_in_many_short_steps_are_exact(store, monkeypatch, clock):
    monkeypatch.setattr(gravity, "STEP", 2)
    monkeypatch.setattr(gravity, "MAX_WANTED", 4)
    articles = await history(store, seed=5, size=60)
    for instant in (clock.now, clock.now + YEAR):
        clock.now = instant
        expected = sorted_by_hand(store, Order.GRAVITY, articles, instant)
        listing = listing_of(store, Order.GRAVITY, group=None)
        await assert_pages(store, listing, expected, random.Random(5))
        ranks = standings.merge(listing, await read(store, *standings.ranks(listing, expected)))
        assert [rank.above for rank in ranks] == list(range(len(expected)))
        assert [rank.next for rank in ranks] == [None, *expected[:-1]]
