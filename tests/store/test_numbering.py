"""
Numbers of articles: they rise with the posting time in all partitions, and none is given out twice.

A number is a sequence, twice the milliseconds of the posting time (plus 1 for imported stories), and below it in ten
bits the slot: in which of 1,024 shares the poster is.

`verified` gives what `upvote verify` finds wrong in the store, `findings` the same without late expiries.

Codes such as L1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from dataclasses import replace

import pytest

from store import keys, listings, numbering
from store.errors import StoreUnavailable
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import Order
from store.records import Article, Position, Vote
from store.store import Store
from tests.conftest import registered
from tests.store.histories import listing_of
from tests.store.reading import article, everything, findings, page, post, verified
from tests.support.pages import assert_pages

pytestmark = pytest.mark.many_partitions

PEOPLE = [f"user-{number}" for number in range(12)]
STEP = 2 * keys.SLOTS  # between the numbers of two posts of one instant in one partition
EQUAL = (Order.VOTES, Order.BEST, Order.CONTROVERSIAL, Order.GRAVITY)  # orders in which new articles have equal values


@pytest.fixture
def story(clock) -> Story:
    return Story(
        "7", "A year of rivers", link="https://example.com/rivers", poster="Marlow", time=clock.now - 1000, votes=1
    )


async def imported(store: Store, story: Story) -> int:
    """Import a story, if it was not imported before, and return its number."""
    await import_batch(store, [story])
    partition = store.site.partition_of_user(story.poster)
    return int(await store.site.redis.run(("HGET", keys.imported(partition), story.id)))


async def test_newest_of_equal_articles_comes_first_across_partitions(store, clock):  # L1
    for name in ("Alice", "bob"):
        await registered(store, name)
    posted = []
    for name in ("Alice", "Alice", "Alice", "Alice", "bob"):
        posted.append((await post(store, name, groups=["show"])).number)
        clock.advance(1)

    for order in EQUAL:
        for group in (None, "show"):
            found = (await page(store, listing_of(store, order, group))).positions
            assert [position.number for position in found] == posted[::-1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("partitions", [1, 4, 16], indirect=True)
async def test_order_is_by_value_then_posting_time_then_number(store, clock, seed):  # L1
    articles = await history(store, random.Random(seed))

    for order in Order:
        for group in (None, "show"):
            listed = [each for each in articles if group is None or group in each.groups]
            value = store.site.policy_of(group).value_at
            ranked = sorted(
                ((value(order, each, clock.now), each.posted_at, each.number) for each in listed), reverse=True
            )
            expected = [Position(value, keys.member(number)) for value, _, number in ranked]
            await assert_pages(store, listing_of(store, order, group), expected, random.Random(seed))
    assert await findings(store) == []


async def history(store: Store, chance: random.Random) -> list[Article]:
    """
    Articles of few different votes, posted and imported in mixed order, some deleted.

    In one partition at most one is posted in a millisecond, and at most one imported with a time of the same second:
    the number of a second one would contain a later time than its own.
    """
    clock, found, seconds = store.site.clock, [], random.Random(0).sample(range(100_000), 1_000)
    for name in PEOPLE:
        await registered(store, name)
    for turn in range(60):
        clock.advance(chance.choice([0.001, 0.001, 1, 60]))
        for poster in one_of_each_partition(store, chance):
            groups = chance.sample(["show", "ask"], chance.randrange(3))
            if chance.random() < 0.4:
                time = clock.now // 1000 * 1000 - 1000 * seconds.pop()
                story = Story(
                    f"{turn}-{poster}",
                    "a title",
                    link="",
                    poster=poster,
                    time=time,
                    votes=chance.choice([1, 1, 2]),
                    groups=tuple(groups),
                )
                found.append(await imported(store, story))
            else:
                found.append((await post(store, poster, groups=groups)).number)
                await store.articles.vote(found[-1], "a-voter", chance.choice([Vote.NONE, Vote.UP, Vote.DOWN]))
            if chance.random() < 0.1:
                gone = await article(store, found.pop())
                await store.articles.delete(gone.number, gone.poster)
    return [await article(store, number) for number in found]


def one_of_each_partition(store: Store, chance: random.Random) -> list[str]:
    """Some of the users in random order, at most one of each partition."""
    people = chance.sample(PEOPLE, chance.randint(1, 4))
    return list({store.site.partition_of_user(name): name for name in people}.values())


async def test_number_contains_the_posting_time_and_the_slot(store, alice, clock):
    posted = await post(store, alice)

    assert posted.number == 2 * clock.now * keys.SLOTS + keys.slot("alice")
    assert posted.number < 2**53


async def test_numbers_of_posts_of_the_same_millisecond_rise(store, alice):  # A2
    posted = await asyncio.gather(*(post(store, alice) for _ in range(30)))

    given = sorted(each.number for each in posted)
    assert given == list(range(given[0], given[0] + 30 * STEP, STEP))


async def test_numbers_rise_while_the_clock_goes_back(store, alice, clock):  # A2
    given = []
    for seconds in (0, -3600, 0.001, -86_400 * 3650, 1, 86_400 * 3650 + 3600):
        clock.advance(seconds)
        given.append((await post(store, alice)).number)

    first = given[0]
    assert given[:5] == [first + turn * STEP for turn in range(5)]
    assert given[5] == first + 2 * 1001 * keys.SLOTS  # by the clock again, which shows 1001 ms more than at first


async def test_numbers_are_higher_than_those_of_early_versions(store, alice, clock, redis):
    redis.set(keys.sequence(store.site.partition_of_user("alice")), 41)

    assert (await post(store, alice)).number == 2 * clock.now * keys.SLOTS + keys.slot("alice")


async def test_post_after_the_highest_number_is_refused(store, alice, clock, redis):
    clock.now = 2**42
    before = everything(redis)

    with pytest.raises(StoreUnavailable):
        await post(store, alice)
    assert everything(redis) == before


async def test_highest_number_is_exact(store, alice, bob, clock, redis):
    clock.now = 2**42 - 1
    posted = await post(store, alice, groups=["show"])

    assert 2**53 - 2 * keys.SLOTS <= posted.number < 2**53
    assert (await store.articles.vote(posted.number, bob, Vote.UP)).article.votes == 2
    for order in Order:
        (found,) = (await page(store, listings.whole(store.site, order))).positions
        assert (found.number, found.member) == (posted.number, str(posted.number))
    assert await verified(store) == []
    await store.articles.delete(posted.number, alice)
    assert await verified(store) == []


async def test_number_of_a_story_contains_its_time(store, story):
    number = await imported(store, story)

    assert number == (2 * story.time + 1) * keys.SLOTS + keys.slot("marlow")


@pytest.mark.parametrize("time", [0, 1, 2**36 - 1])
async def test_number_of_an_old_story_is_higher_than_those_of_early_versions(store, story, time):
    number = await imported(store, replace(story, time=time))

    assert number // keys.SLOTS == numbering.FIRST_STORY_SEQUENCE


async def test_numbers_of_stories_with_equal_times_rise_in_the_given_order(store, story):
    given = [await imported(store, replace(story, id=str(id))) for id in range(70)]
    between = await imported(store, replace(story, id="70", time=story.time + 10))

    assert given == [given[0] + turn * STEP for turn in range(70)]
    assert between == given[-1] + STEP


async def test_number_of_a_deleted_story_is_not_used_again(store, story):  # A2
    given = set()
    for id in range(20):
        number = await imported(store, replace(story, id=str(id)))
        await store.articles.delete(number, story.poster)
        given.add(number)

    assert len(given) == 20
    assert await imported(store, story) in given  # the story 7 was imported before, and is not again


async def test_posts_and_stories_with_equal_times_have_different_numbers(store, story, clock):  # A2
    chance, given = random.Random(5), []
    await registered(store, "Marlow")
    start = clock.now
    for turn in range(300):
        clock.now = start + chance.randrange(20)
        if chance.random() < 0.5:
            given.append(await imported(store, replace(story, id=str(turn), time=start + chance.randrange(20))))
        else:
            given.append((await post(store, "Marlow")).number)
        if chance.random() < 0.3:
            await store.articles.delete(given[-1], "Marlow")

    assert len(set(given)) == len(given)


async def test_story_does_not_take_the_number_of_an_article(store, story, redis):
    """Also if `numbered`, which has the sequences of stories, was lost."""
    first = await imported(store, story)
    redis.delete(keys.numbered(store.site.partition_of_user("marlow")))

    assert await imported(store, replace(story, id="8")) == first + STEP
