"""
Imports of comments below imported stories. A story becomes an article, and keeps the id that it has in the file.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified` gives what
`upvote verify` finds wrong in the store.

Codes such as C6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from dataclasses import replace

import pytest

from bench.conversations import like_hacker_news
from store import effects, keys
from store.maintenance.import_comments import (
    Result,
    Status,
    StoryComment,
    create_posters,
    import_comments,
    partitions_of,
)
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import DAY
from store.records import Comment, ContentState, Profile, Vote
from store.store import Store
from store.threads import CommentOrder
from tests.conftest import registered
from tests.store import discussions
from tests.store.discussions import comments, thread
from tests.store.reading import article, everything, profile, upvoters, verified
from tests.store.replaying import Replay, entries, stored

pytestmark = pytest.mark.many_partitions

WEEK = 7 * DAY * 1000  # milliseconds
IMPORTED, KNOWN = Result(Status.IMPORTED), Result(Status.KNOWN)


@pytest.fixture
async def story(store, clock) -> Story:
    story = Story(
        "1", "A year of rivers", link="https://example.com/rivers", poster="Marlow", time=clock.now - 1_000_000, votes=5
    )
    await import_batch(store, [story])
    return story


@pytest.fixture
def comment(story) -> StoryComment:
    return StoryComment("2", parent="1", poster="Pim", time=story.time + 1000, content="a *text*", votes=3)


async def imported(store: Store, *found: StoryComment) -> list[Result]:
    """Import comments on a story of Marlow with their posters."""
    joined = {each.poster: each.time for each in reversed(found) if each.poster}
    posters = await create_posters(store, joined)
    partition = store.site.partition_of_user("Marlow")
    return await import_comments(store, [(partition, each) for each in found], posters.names)


async def number_of(store: Store, id: str) -> int:
    """The number of the article or comment that a story or comment of the file has become."""
    return int(await store.site.redis.run(("HGET", keys.imported(store.site.partition_of_user("Marlow")), id)))


async def the_comments(store: Store) -> list[Comment]:
    """All comments on the story."""
    return await comments(store, await number_of(store, "1"))


async def own_list(store: Store, name: str) -> list[tuple[int, int]]:
    """The numbers and times of a user's comments, the newest first."""
    key = keys.comments(store.site.partition_of_user(name), name)
    flat = await store.site.redis.run(("ZRANGE", key, 0, -1, "REV", "WITHSCORES"))
    return [(int(member), int(time)) for member, time in flat]


async def test_comment_is_posted_at_its_own_time_with_its_votes(store, story, comment):
    assert await imported(store, comment) == [IMPORTED]

    (found,) = await the_comments(store)
    about = await number_of(store, "1")
    assert found == Comment(
        number=found.number,
        article=about,
        parent=None,
        depth=0,
        poster="Pim",
        content="a *text*",
        posted_at=comment.time,
        edited_at=None,
        upvotes=3,
        downvotes=0,
        imported_votes=2,
        reply_count=0,
        state=ContentState.VISIBLE,
    )
    assert found.number % keys.SLOTS == keys.slot("marlow")
    assert found.number // keys.SLOTS == 2 * comment.time + 1
    assert await own_list(store, "Pim") == [(found.number, comment.time)]
    assert await profile(store, "pim") == Profile("Pim", joined_at=comment.time, karma=2)
    assert await verified(store) == []


async def test_reply_counts_for_its_parent_and_its_article(store, story, comment, redis):
    reply = replace(comment, id="3", parent="2", poster="Fennel", time=comment.time + 5)
    assert await imported(store, comment, reply) == [IMPORTED, IMPORTED]

    first, second = await the_comments(store)
    assert (first.reply_count, second.parent, second.depth) == (1, first.number, 1)
    about = await number_of(store, "1")
    hash = keys.article(store.site.partition_of_article(about), about)
    assert redis.hmget(hash, "comments", "active") == ["2", str(reply.time)]


async def test_existing_user_is_the_poster_as_registered(store, story, comment, clock):
    await registered(store, "PIM")
    posters = await create_posters(store, {"Pim": 7, "Lumen": 8})

    assert (posters.names, posters.created) == ({"pim": "PIM", "lumen": "Lumen"}, 1)
    await imported(store, comment)
    assert (await the_comments(store))[0].poster == "PIM"
    assert await profile(store, "pim") == Profile("PIM", joined_at=clock.now, karma=2)


async def test_comment_that_was_imported_before_is_not_changed(store, story, comment, redis):
    reply = replace(comment, id="3", parent="2", poster="Fennel")
    await imported(store, comment, reply)
    before = everything(redis)

    changed = replace(comment, content="another", votes=50, time=comment.time + 1)
    assert await imported(store, changed, reply) == [KNOWN, KNOWN]
    assert everything(redis) == before


async def test_comment_on_something_that_was_not_imported_is_refused(store, story, comment, redis):
    await create_posters(store, {"Pim": comment.time})
    before = everything(redis)

    orphan = replace(comment, id="3", parent="77")
    assert await imported(store, orphan, replace(comment, id="4", parent="3")) == [Result(Status.MISSING)] * 2
    assert everything(redis) == before


async def test_comment_on_a_deleted_article_or_comment_is_refused(store, story, comment):
    await imported(store, comment)
    number = await number_of(store, "2")
    await store.comments.delete(number, "Pim")
    reply = replace(comment, id="3", parent="2")

    assert await imported(store, reply) == [Result(Status.GONE, number)]
    about = await number_of(store, "1")
    await store.articles.delete(about, "Marlow")
    assert await imported(store, replace(comment, id="4")) == [Result(Status.GONE, about)]
    assert await imported(store, comment) == [KNOWN]


async def test_deleted_comment_with_replies_is_a_stub(store, story, comment, redis):  # C6
    stub = replace(comment, poster="", content="", votes=1)
    reply = replace(comment, id="3", parent="2", time=comment.time + 5)
    await imported(store, stub, reply)

    first, second = await the_comments(store)
    assert (first.state, first.poster, first.content, first.reply_count) == (ContentState.DELETED, None, None, 1)
    about = await number_of(store, "1")
    assert redis.hget(keys.article(store.site.partition_of_article(about), about), "comments") == "1"
    assert await verified(store) == []

    await store.comments.delete(second.number, "Pim")
    assert await the_comments(store) == []
    assert await verified(store) == []


async def test_imported_comment_is_voted_on_while_voting_is_open(store, story, comment, alice, redis):  # C2
    await imported(store, comment)
    number = await number_of(store, "2")
    assert upvoters(redis, store, number) == {"Pim"}

    assert (await store.comments.vote(number, alice, Vote.UP)).comment.upvotes == 4
    assert await verified(store) == []


async def test_voters_of_an_old_comment_are_not_kept(store, story, comment, redis):
    await imported(store, replace(comment, time=comment.time - WEEK))

    assert list(redis.scan_iter(f"voted:*:{await number_of(store, '2')}")) == []
    assert await verified(store) == []


async def test_nobody_is_notified_of_imported_comments(store, story, comment, redis):
    await imported(store, replace(comment, content="@Marlow"))

    assert list(redis.scan_iter("inbox:*")) == []
    assert all("notified" not in redis.hgetall(key) for key in redis.scan_iter("comment:*"))


async def test_import_is_published_once(store, story, comment, published):
    await imported(store, comment, replace(comment, id="3", poster="", content=""))
    await imported(store, comment)

    about, number, stub = [await number_of(store, id) for id in ("1", "2", "3")]
    found = [message.split() for message in published()]
    assert [[*words[:3], *words[4:]] for words in found if words[0] != "registered"] == [
        ["comment_imported", str(number), "Pim", str(about)],
        ["comment_imported", str(stub), "-", str(about)],
    ]


async def test_replayed_log_equals_the_store(store, story, comment):
    stub = replace(comment, id="3", poster="", content="", votes=1)
    await imported(store, comment, stub, replace(comment, id="4", parent="3", poster="Fennel", votes=1))

    replay = Replay().apply(await entries(store))
    assert replay.state() == await stored(store)
    assert replay.stories["4"] == await number_of(store, "4")


async def test_effects_in_other_partitions_are_applied_once(store, story, comment):
    several = [replace(comment, id=str(id), poster=f"person-{id % 7}") for id in range(2, 40)]
    await imported(store, *several)
    await imported(store, *several)

    assert await effects.pending(store.site) == []
    for person in range(7):
        count = sum(id % 7 == person for id in range(2, 40))
        assert len(await own_list(store, f"person-{person}")) == count
        assert (await profile(store, f"person-{person}")).karma == 2 * count


async def test_partitions_are_those_of_each_known_story_and_comment(store, story, comment):
    await imported(store, comment)

    partition = store.site.partition_of_user("Marlow")
    assert await partitions_of(store, ["1", "2", "77"]) == {"1": partition, "2": partition}


@pytest.mark.parametrize("seed", range(2))
async def test_thread_has_the_shape_of_the_conversation(store, story, comment, seed):  # C3, C4
    chance = random.Random(seed)
    made = like_hacker_news(120, chance)
    found = [
        replace(comment, id=str(i), parent="1" if parent is None else str(parent + 10), time=story.time + i // 3 * 1000)
        for i, parent in enumerate(made, 10)
    ]
    assert await imported(store, *found) == [IMPORTED] * 120

    about = await number_of(store, "1")
    stored_ones = await the_comments(store)
    numbers = {each.id: await number_of(store, each.id) for each in found}
    assert [(each.number, each.parent) for each in stored_ones] == sorted(
        (numbers[each.id], numbers.get(each.parent) if each.parent != "1" else None) for each in found
    )
    for order in CommentOrder:
        places = (await thread(store, about, order)).places
        assert [(place.number, place.depth, 0) for place in places] == discussions.expected(stored_ones, order)


async def test_number_of_a_comment_is_not_used_again_without_the_key_numbered(store, story, comment, redis):
    """The key has the numbers of imports. Stores of earlier versions lack it."""
    await imported(store, comment)
    redis.delete(*redis.scan_iter("numbered:*"))

    await imported(store, replace(comment, id="3"))
    await import_batch(store, [replace(story, id="4", time=comment.time)])
    first, second, third = [await number_of(store, id) for id in ("2", "3", "4")]
    assert (second - first, third - second) == (2 * keys.SLOTS, 2 * keys.SLOTS)
    assert (await article(store, third)).title == story.title
