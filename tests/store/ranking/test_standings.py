"""
The standing of an article in an order: its rank, its value, the terms whose sum the value is, and the votes missing to
the next rank.
"""

import random

import pytest

from store.ranking import standings
from store.ranking.formulas import Order
from tests.store.histories import HOUR, YEAR, history, listing_of, sorted_by_hand
from tests.store.reading import read

pytestmark = pytest.mark.many_partitions


async def ranked(store, listing, places):
    """How many articles of a listing are above each place, its value with an article, and the next place above."""
    return standings.merge(listing, await read(store, *standings.ranks(listing, places)))


@pytest.mark.parametrize("later", [0, 12 * HOUR, 10 * YEAR])
async def test_rank_is_the_index_in_the_sorted_articles(store, clock, later):
    articles, policy = await history(store, seed=3, size=80, with_comments=True), store.site.policy
    clock.now += later
    for order in Order:
        for group in (None, "show"):
            listed = [each for each in articles if group is None or group in each.groups]
            expected = sorted_by_hand(store, order, listed, clock.now)
            places = [standings.position(policy, order, each, clock.now) for each in listed]
            for each, position, rank in zip(
                listed, places, await ranked(store, listing_of(store, order, group), places), strict=True
            ):
                standing = standings.standing(policy, order, each, rank, clock.now)
                assert expected[standing.rank - 1] == position
                assert rank.next == (expected[standing.rank - 2] if standing.rank > 1 else None)
                assert sum(term.value for term in standing.terms) == pytest.approx(standing.value, rel=0, abs=1e-6)
                assert_least(policy, order, each, rank, standing.votes_to_next_rank, clock.now)


def assert_least(policy, order, article, rank, votes, now):
    """Check that these upvotes, and not one less, lift an article above the next; for None, that a few do not."""

    def passes(more: int) -> bool:
        lifted = article._replace(upvotes=article.upvotes + more)
        return standings.position(policy, order, lifted, now) > rank.next

    if rank.next is None:
        assert votes is None
    elif votes is None:
        assert not any(passes(more) for more in range(1, 30))
    else:
        assert passes(votes) and (votes == 1 or not passes(votes - 1))


async def test_position_without_an_article_has_a_rank(store):
    articles = await history(store, seed=4, size=30)
    chance = random.Random(4)
    for order in Order:
        expected = sorted_by_hand(store, order, articles, store.site.clock())
        places = [each._replace(member=each.member + "0") for each in chance.sample(expected, 5)]
        ranks = await ranked(store, listing_of(store, order, group=None), places)
        assert [rank.above for rank in ranks] == [sum(each > position for each in expected) for position in places]


async def test_article_that_has_risen_since_it_was_read_is_not_above_itself(store):
    """The record and the ranks are read one after the other, and a vote may come between."""
    articles, policy, now = await history(store, seed=4, size=30), store.site.policy, store.site.clock()
    for order in (each for each in Order if each is not Order.GRAVITY):
        expected = sorted_by_hand(store, order, articles, now)
        for each in articles:
            place = standings.position(policy, order, each, now)
            lower = place._replace(value=expected[-1].value - 1)
            (rank,) = await ranked(store, listing_of(store, order, group=None), [lower])
            others = [other for other in expected if other != place]
            assert (rank.above, rank.next) == (len(others), others[-1]), order
