"""
Imports of stories from a file: each becomes an article, its poster a user. Votes of a story whose voting is still open
get users as voters, who are called `voter-0001` and so on.

Codes such as V5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from dataclasses import replace

import pytest

from store import keys, listings
from store.errors import VotingClosed
from store.maintenance.import_stories import Imported, Story, create_voters, import_batch, shift_to_now
from store.ranking.formulas import DAY, Order, Policy
from store.records import Article, Profile, Vote
from tests.conftest import registered
from tests.store.reading import article, everything, numbers, page, profile, upvoters

pytestmark = pytest.mark.many_partitions

WEEK = 7 * DAY * 1000  # milliseconds
VOTE_SCORE = 432_000  # milliseconds that a vote is worth in the order SCORE


@pytest.fixture
def story(clock) -> Story:
    return Story(
        "7",
        "A year of rivers",
        link="https://example.com/rivers",
        poster="Marlow",
        time=clock.now - 1000,
        votes=5,
        groups=("show",),
    )


async def the_article(store) -> Article:
    (number,) = await numbers(store, listings.whole(store.site, Order.TIME))
    return await article(store, number)


async def none_archived(number: int) -> None:
    """Takes the place of the look-up of archived articles: there are none, as Redis has all."""


async def import_with_voters(store, stories) -> Imported:
    """Import stories with users as voters, and count these among the users that were created."""
    voters = await create_voters(store, stories)
    result = await import_batch(store, stories, voters.names)
    return Imported(result.stories, result.created + voters.created)


async def test_story_becomes_an_article_at_its_own_time_with_its_votes(store, story):
    result = await import_batch(store, [story])

    imported = await the_article(store)
    assert (result.stories, result.created) == ([story], 1)
    assert imported == Article(
        number=imported.number,
        title=story.title,
        link=story.link,
        content=None,
        poster="Marlow",
        posted_at=story.time,
        edited_at=None,
        upvotes=5,
        downvotes=0,
        imported_votes=4,
        groups=("show",),
    )
    assert imported.number % keys.SLOTS == keys.slot("marlow")
    for order, value in (Order.TIME, story.time), (Order.SCORE, story.time + 5 * VOTE_SCORE), (Order.VOTES, 5):
        for listing in listings.whole(store.site, order), listings.group(store.site, "show", order):
            assert [position.value for position in (await page(store, listing)).positions] == [value]
    assert await numbers(store, listings.timeline(store.site, "marlow")) == [imported.number]


async def test_poster_becomes_a_user_without_a_password(store, story, redis):
    await import_batch(store, [story, replace(story, id="8", time=story.time + 1, poster="marlow", votes=1)])

    assert await profile(store, "marlow") == Profile("Marlow", joined_at=story.time, karma=4)
    assert redis.hget(keys.user(store.site.partition_of_user("marlow"), "marlow"), "password") is None


async def test_existing_user_is_not_changed(store, story, alice, clock):
    result = await import_batch(store, [replace(story, poster="ALICE")])

    assert result.created == 0
    assert await profile(store, "alice") == Profile("Alice", joined_at=clock.now, karma=4)
    assert (await the_article(store)).poster == "Alice"


async def test_story_that_was_imported_before_is_not_changed(store, story, redis):
    await import_batch(store, [story])
    before = everything(redis)

    result = await import_batch(store, [replace(story, title="Another", votes=50, time=story.time + 1)])

    assert (result.stories, result.created) == ([], 0)
    assert everything(redis) == before


async def test_import_is_published_once(store, story, published):
    await import_batch(store, [story])
    await import_batch(store, [story])

    registered, imported = (message.split() for message in published())
    assert [*registered[:3], *imported[:3], *imported[4:]] == [
        *("registered", "0", "Marlow"),
        *("imported", str((await the_article(store)).number), "Marlow", "show"),
    ]


async def test_deleted_story_is_not_imported_again(store, story):
    await import_batch(store, [story])
    await store.articles.delete((await the_article(store)).number, "Marlow")

    assert (await import_batch(store, [story])).stories == []
    assert await numbers(store, listings.whole(store.site, Order.TIME)) == []


async def test_numbers_rise_in_the_order_given(store, story):
    posters = ["marlow", "pim", "fennel", "lumen-o", "otis_w"]
    stories = [replace(story, id=str(n), time=story.time + n, poster=posters[n % 5]) for n in range(20)]
    await import_batch(store, stories)

    for poster in posters:
        newest_first = await numbers(store, listings.timeline(store.site, poster))
        assert newest_first == sorted(newest_first, reverse=True)
        assert len(newest_first) == 4


async def test_vote_of_the_poster_of_a_story_changes_nothing(store, story, alice, redis):
    await import_batch(store, [story])
    number = (await the_article(store)).number

    assert not (await store.articles.vote(number, "Marlow", Vote.UP)).changed
    assert (await store.articles.vote(number, alice, Vote.UP)).article.upvotes == 6
    assert upvoters(redis, store, number) == {"Marlow", "Alice"}


async def test_voting_on_a_story_is_open_for_a_week_from_its_own_time(store, story, alice, clock):  # V5
    await import_batch(store, [replace(story, time=clock.now - WEEK)])

    voted = await store.articles.vote((await the_article(store)).number, alice, Vote.UP)
    assert voted.article.upvotes == 6


async def test_voting_on_a_story_closes_a_week_after_its_own_time(store, story, alice, clock, redis):  # V5, V6
    await import_with_voters(store, [replace(story, time=clock.now - WEEK - 1)])
    before = everything(redis)

    with pytest.raises(VotingClosed):
        await store.articles.vote((await the_article(store)).number, alice, Vote.UP)

    assert everything(redis) == before
    assert list(redis.scan_iter("voted:*")) == []


@pytest.mark.parametrize("policy", [Policy(good_votes=5)])
async def test_story_with_enough_votes_is_good(store, story):  # V11
    await import_batch(store, [story, replace(story, id="8", votes=4)])

    assert len(await numbers(store, listings.front_page(store.site, day=None))) == 1


async def test_voters_of_open_stories_are_users(store, story, redis):  # V4
    old = replace(story, id="8", time=story.time - WEEK, votes=50)
    result = await import_with_voters(store, [old, story])

    number, closed = await numbers(store, listings.whole(store.site, Order.TIME))
    assert upvoters(redis, store, number) == {"Marlow", "voter-0001", "voter-0002", "voter-0003", "voter-0004"}
    assert (await article(store, number)).imported_votes == 0
    assert (await article(store, closed)).imported_votes == 49
    assert await profile(store, "voter-0004") == Profile("voter-0004", joined_at=story.time, karma=0)
    assert result.created == 1 + 5


async def test_voters_are_created_once(store, story, redis):
    await import_with_voters(store, [story])
    more = replace(story, id="8", votes=7, time=story.time + 1)

    assert (await import_with_voters(store, [more])).created == 2
    assert await profile(store, "voter-0001") == Profile("voter-0001", joined_at=story.time, karma=0)


async def test_created_voters_do_not_include_the_poster(store, story, redis):
    await import_with_voters(store, [replace(story, poster="voter-0002", votes=3)])

    imported = await the_article(store)
    assert upvoters(redis, store, imported.number) == {"voter-0001", "voter-0002", "voter-0003"}
    assert imported.imported_votes == 0


async def test_registered_user_with_the_name_of_a_voter_does_not_vote(store, story, redis):
    await registered(store, "Voter-0001")
    await store.users.register("voter-0002", "correct horse")
    await import_with_voters(store, [story])

    imported = await the_article(store)
    assert upvoters(redis, store, imported.number) == {"Marlow", "voter-0003", "voter-0004", "voter-0005"}
    assert imported.imported_votes == 1


async def test_votes_above_the_limit_have_no_voter(store, story, redis, monkeypatch):
    monkeypatch.setattr("store.maintenance.import_stories.MAX_VOTERS", 3)
    await import_with_voters(store, [replace(story, votes=1_000_000)])

    imported = await the_article(store)
    assert len(upvoters(redis, store, imported.number)) == 4
    assert imported.upvotes == 4 + imported.imported_votes == 1_000_000


async def test_shift_moves_the_newest_story_to_now(store, story, clock):
    older = replace(story, id="6", time=story.time - DAY * 1000)

    assert await shift_to_now(store, [older, story], none_archived) == clock.now - story.time == 1000


async def test_repeated_import_keeps_its_shift(store, story, clock):
    older = replace(story, id="6", time=story.time - DAY * 1000)
    await import_batch(store, [replace(older, time=older.time + 1000)])
    clock.advance(60)

    assert await shift_to_now(store, [older, story], none_archived) == 1000


async def test_shift_of_a_file_that_grew_does_not_reach_the_future(store, story, clock):
    older = replace(story, id="6", time=story.time - DAY * 1000)
    await import_batch(store, [replace(older, time=clock.now)])

    assert await shift_to_now(store, [older, story], none_archived) == 1000


async def test_shift_is_new_if_the_oldest_story_was_deleted(store, story, clock):
    await import_batch(store, [story])
    await store.articles.delete((await the_article(store)).number, "Marlow")
    clock.advance(60)

    assert await shift_to_now(store, [story], none_archived) == 61_000
