"""
Votes on articles: counts, refusals, and votes at once. The parameter `policy` of tests is that of the fixture `store`.

Codes such as V1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import keys, listings
from store.errors import Forbidden, NotFound, StoreUnavailable, VotingClosed
from store.ranking.formulas import Order, Policy
from store.records import Vote
from tests.store.reading import article, downvoters, everything, numbers, page, post, profile, upvoters, voters
from tests.support.memory import full

WEEK = 7 * 86_400  # seconds
GRACE = 60_000  # milliseconds that sets of voters are kept for after voting has closed
VOTE_SCORE = 432_000  # milliseconds that a vote is worth in the order SCORE


async def test_upvote_adds_one_vote_and_its_points(store, alice, bob, clock):  # V1, V2
    number = (await post(store, alice)).number
    voted = await store.articles.vote(number, bob, Vote.UP)

    (position,) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert (voted.changed, voted.article.votes) == (True, 2)
    assert position.value == clock.now + 2 * VOTE_SCORE
    assert store.site.policy.score(voted.article) == (clock.now + 2 * VOTE_SCORE) / 1000
    assert (await profile(store, "alice")).karma == 1


async def test_downvote_takes_the_same_away(store, alice, bob, clock):  # V1, V2
    number = (await post(store, alice)).number
    voted = await store.articles.vote(number, bob, Vote.DOWN)

    (position,) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert (voted.article.upvotes, voted.article.downvotes, voted.article.votes) == (1, 1, 0)
    assert position.value == clock.now
    assert (await profile(store, "alice")).karma == -1


@pytest.mark.parametrize("policy", [Policy(vote_score=100)])
async def test_vote_is_worth_what_the_policy_says(store, alice, bob, clock):  # V1
    number = (await post(store, alice)).number
    await store.articles.vote(number, bob, Vote.UP)

    (position,) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert position.value == clock.now + 200_000


async def test_vote_sets_the_voters_value(store, alice, bob, redis):  # V3, V4
    number = (await post(store, alice)).number
    history = [Vote.UP, Vote.UP, Vote.DOWN, Vote.DOWN, Vote.NONE, Vote.NONE, Vote.DOWN, Vote.UP, Vote.NONE]
    voted = [await store.articles.vote(number, bob, vote) for vote in history]

    assert [each.changed for each in voted] == [True, False, True, False, True, False, True, True, True]
    assert [each.article.votes for each in voted] == [2, 2, 0, 0, 1, 1, 0, 2, 1]
    assert (upvoters(redis, store, number), downvoters(redis, store, number)) == ({"Alice"}, set())


async def test_setting_the_same_vote_again_writes_nothing(store, alice, bob, redis):  # V3
    number = (await post(store, alice)).number
    await store.articles.vote(number, bob, Vote.DOWN)
    before = everything(redis)

    assert not (await store.articles.vote(number, bob, Vote.DOWN)).changed
    assert everything(redis) == before


async def test_posters_own_vote_again_changes_nothing(store, alice, redis):  # A4
    number = (await post(store, alice)).number
    before = everything(redis)

    voted = await store.articles.vote(number, alice, Vote.UP)

    assert (voted.changed, voted.article.votes) == (False, 1)
    assert everything(redis) == before


@pytest.mark.parametrize("vote", [Vote.DOWN, Vote.NONE])
async def test_poster_cannot_withdraw_or_reverse_the_first_vote(store, alice, redis, vote):  # A5
    number = (await post(store, alice)).number
    before = everything(redis)

    with pytest.raises(Forbidden):
        await store.articles.vote(number, alice, vote)

    assert everything(redis) == before


async def test_vote_at_exactly_one_week_counts(store, alice, bob, clock):  # V5
    number = (await post(store, alice)).number
    clock.advance(WEEK)

    assert (await store.articles.vote(number, bob, Vote.UP)).article.votes == 2


async def test_late_vote_is_refused(store, alice, bob, clock, redis):  # V5
    posted = await post(store, alice)
    clock.advance(WEEK + 0.001)
    before = everything(redis)

    with pytest.raises(VotingClosed) as refusal:
        await store.articles.vote(posted.number, bob, Vote.UP)

    assert refusal.value.closed_at == posted.posted_at + WEEK * 1000
    assert everything(redis) == before


async def test_voter_sets_expire_when_voting_closes(store, alice, bob, clock, redis):  # V6
    number = (await post(store, alice)).number
    clock.advance(WEEK - 1)
    await store.articles.vote(number, bob, Vote.DOWN)

    partition = store.site.partition_of_article(number)
    assert GRACE < redis.pttl(keys.downvoted(partition, number)) <= GRACE + 1000
    assert GRACE < redis.pttl(keys.voted(partition, number)) <= GRACE + WEEK * 1000
    redis.delete(keys.voted(partition, number), keys.downvoted(partition, number))
    assert (await article(store, number)).votes == 0


@pytest.mark.parametrize("vote", list(Vote))
async def test_vote_cannot_create_an_expired_voter_set(store, alice, bob, clock, redis, vote):  # V7
    """Redis may delete the set of voters by its own clock a moment before voting closes by that of the process."""
    number = (await post(store, alice)).number
    clock.advance(WEEK)
    partition = store.site.partition_of_article(number)
    redis.delete(keys.voted(partition, number))
    before = everything(redis)

    with pytest.raises(VotingClosed):
        await store.articles.vote(number, bob, vote)

    assert everything(redis) == before


async def test_voter_sets_always_have_an_expiry(store, alice, bob, clock, redis):  # V7
    number = (await post(store, alice)).number
    clock.advance(WEEK)
    for vote in (Vote.DOWN, Vote.NONE, Vote.UP, Vote.NONE, Vote.DOWN):
        await store.articles.vote(number, bob, vote)
        kept = [key for key in redis.scan_iter() if "voted" in key]
        assert all(0 < redis.pttl(key) <= GRACE + WEEK * 1000 for key in kept)


async def test_vote_on_an_unknown_article_is_refused(store, alice, bob, redis):  # V8
    before = everything(redis)

    with pytest.raises(NotFound):
        await store.articles.vote(1541, bob, Vote.UP)

    assert everything(redis) == before


async def test_199_voters_at_once_who_vote_three_times_each_count_once(store, alice, redis):  # V9
    number = (await post(store, alice)).number
    voters_at_once = [f"voter-{each}" for each in range(199)] * 3
    await asyncio.gather(*(store.articles.vote(number, voter, Vote.UP) for voter in voters_at_once))

    assert (await article(store, number)).votes == 200
    assert len(upvoters(redis, store, number)) == 200
    assert await numbers(store, listings.front_page(store.site, day=None)) == [number]


async def test_concurrent_contradicting_votes_leave_counts_equal_to_sets(store, alice, redis):  # V4, V9
    number = (await post(store, alice)).number
    storm = [(f"voter-{each % 20}", list(Vote)[each % 3]) for each in range(400)]
    await asyncio.gather(*(store.articles.vote(number, voter, vote) for voter, vote in storm))

    found = await article(store, number)
    assert (found.upvotes, found.downvotes) == (
        len(upvoters(redis, store, number)),
        len(downvoters(redis, store, number)),
    )
    (position,) = (await page(store, listings.whole(store.site, Order.SCORE))).positions
    assert position.value == found.posted_at + VOTE_SCORE * found.votes
    assert (await profile(store, "alice")).karma == found.votes - 1


async def test_those_who_voted_up_can_be_listed(store, alice, bob):  # V10
    number = (await post(store, alice)).number
    await store.articles.vote(number, bob, Vote.UP)
    assert await voters(store, number) == ("Alice", "bob")

    await store.articles.vote(number, bob, Vote.DOWN)
    assert await voters(store, number) == ("Alice",)


@pytest.mark.parametrize("policy", [Policy(good_votes=2)])
async def test_article_is_good_while_it_has_enough_votes(store, alice, bob):  # V11
    number, front = (await post(store, alice)).number, listings.front_page(store.site, day=None)
    assert await numbers(store, front) == []

    await store.articles.vote(number, bob, Vote.UP)
    assert await numbers(store, front) == [number]

    await store.articles.vote(number, bob, Vote.NONE)
    assert await numbers(store, front) == []


@pytest.mark.one_server
@pytest.mark.parametrize(("first", "second"), [(Vote.UP, Vote.DOWN), (Vote.DOWN, Vote.UP)])
async def test_full_store_reverses_no_vote(store, alice, bob, redis, first, second):  # D6
    number = (await post(store, alice)).number
    await store.articles.vote(number, bob, first)
    before = everything(redis)

    with full(redis), pytest.raises(StoreUnavailable, match="out of memory"):
        await store.articles.vote(number, bob, second)
    assert everything(redis) == before
