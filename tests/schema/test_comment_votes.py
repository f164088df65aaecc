"""
Votes on comments, and the karma that they give, as clients see them. Karma is kept in the partition of the poster,
which may be another one than that of the vote: it arrives there as an effect, which any process completes if the first
one dies.

The fixture `community` has users who are logged in and an article of alice; `run(mutation, username, **input)` returns
the payload. Codes such as C2 name rows of docs/behaviours.md.
"""

import asyncio

import pytest

from store import effects, keys
from store.store import Store
from tests.conftest import registered
from tests.schema.community import DELETE, PEOPLE, VOTE
from tests.store.reading import everything
from tests.support.refusals import WEEK

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_vote_sets_the_value_of_the_voter(community):  # C2: V1, V2, V3, V4
    posted = (await community.comment("bob"))["id"]
    values = [{}, {"value": "UP"}, {"value": "DOWN"}, {"value": "DOWN"}, {"value": "NONE"}, {"value": None}]
    voted = [await community.run(VOTE, "carol", commentId=posted, **value) for value in values]

    assert [each["changed"] for each in voted] == [True, False, True, False, True, True]
    shown = [each["comment"] for each in voted]
    assert [(each["votes"], each["upvotes"], each["downvotes"], each["viewerVote"]) for each in shown] == [
        (2, 2, 0, "UP"), (2, 2, 0, "UP"), (0, 1, 1, "DOWN"), (0, 1, 1, "DOWN"), (1, 1, 0, "NONE"), (2, 2, 0, "UP")
    ]  # fmt: skip
    assert await community.read(posted, "carol") == shown[-1]


async def test_first_vote_of_the_poster_stays(community, redis):  # C2: A4, A5
    posted = (await community.comment("bob"))["id"]
    before = everything(redis)

    assert not (await community.run(VOTE, "bob", commentId=posted))["changed"]
    for value in ("DOWN", "NONE"):
        assert await community.refusals(VOTE, "bob", commentId=posted, value=value) == [("FORBIDDEN", "value")]
    assert everything(redis) == before


async def test_voting_closes_a_week_after_the_comment_was_posted(store, community, clock, redis):  # C2: V5, V6
    async def log_in_after(seconds):  # sessions would end within the week
        clock.advance(seconds)
        community.tokens |= {name: (await store.sessions.open(name)).token for name in ("bob", "carol")}

    await log_in_after(WEEK - 10)
    posted = await community.comment("bob")
    await log_in_after(WEEK)
    assert (await community.run(VOTE, "carol", commentId=posted["id"]))["changed"]
    clock.advance(0.001)
    before = everything(redis)
    late = await community.run(VOTE, "bob", commentId=posted["id"], value="DOWN")

    assert (late["comment"], late["changed"]) == (None, False)
    assert late["userErrors"] == [
        {
            "__typename": "VotingClosed",
            "code": "VOTING_CLOSED",
            "message": f"voting on {posted['id']} closed",
            "field": ["input", "commentId"],
            "closedAt": "2016-08-18T11:51:50.000Z",
        }
    ]
    assert everything(redis) == before
    shown = await community.read(posted["id"], "carol")
    assert (shown["votes"], shown["viewerVote"]) == (2, None)


async def test_each_of_many_voters_at_once_counts_once(store, community):  # C2: V9, V10; C7
    posted = (await community.comment("bob"))["id"]
    voters = [f"voter-{number}" for number in range(40)]
    for name in voters:
        await registered(store, name)
        community.tokens[name] = (await store.sessions.open(name)).token
    await asyncio.gather(*(community.run(VOTE, name, commentId=posted) for name in voters for _ in range(2)))

    assert (await community.read(posted))["votes"] == 41
    number = int(posted.partition(":")[2])
    partition = store.site.partition_of_article(number)
    assert set(await store.site.redis.run(("SMEMBERS", keys.voted(partition, number)))) == {"bob", *voters}
    assert await community.karma("bob") == 40


async def test_karma_counts_votes_on_comments_once(community, clock):  # C7
    posted = (await community.comment("bob"))["id"]
    for who, value in (("carol", "UP"), ("dave", "DOWN"), ("alice", "UP"), ("alice", "UP"), ("dave", "NONE")):
        await community.run(VOTE, who, commentId=posted, value=value)
    assert await community.karma("bob") == 2

    await community.run(VOTE, "carol", commentId=posted, value="DOWN")
    assert await community.karma("bob") == 0
    await community.run(VOTE, "dave", commentId=posted, value="UP")
    await community.run(DELETE, "bob", commentId=posted)
    assert [await community.karma(name) for name in PEOPLE] == [0] * 4


async def test_karma_that_a_dead_process_left_arrives_once(
    store, community, redis_url, partitions, policy, clock, monkeypatch
):  # C7
    async def apply_nothing(*arguments):
        pass

    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply", apply_nothing)
        posted = [(await community.comment(name))["id"] for name in PEOPLE]
        for id in posted:
            await asyncio.gather(*(community.run(VOTE, name, commentId=id) for name in PEOPLE))
    monkeypatch.setattr(effects, "INTERVAL", 0.02)
    other = await Store.open(redis_url, policy, partitions, clock=clock)

    async with effects.completing(store.site), effects.completing(other.site):
        async with asyncio.timeout(10):
            while [await community.karma(name) for name in PEOPLE] != [3] * 4:  # noqa: ASYNC110 - another task applies it
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert [await community.karma(name) for name in PEOPLE] == [3] * 4
    await other.close()
