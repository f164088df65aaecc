"""
Votes of Mallory are annulled in steps: what each step waits for and tells listeners, and what `verify` and backups have
of it.

A `pair` is two stores with the same history: `pair.world`, in which they are annulled, and `pair.other`, in which they
never are. `fill` writes articles, comments and votes to both. `bare` is a pair without an SQL database.

`on_both` runs a test with SQLite and with PostgreSQL.

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from dataclasses import replace

import pytest

from archive import annulments
from store import annulments as steps
from store import events, keys, log
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.moderation_records import AnnulmentState
from store.records import Vote
from store.site import Site
from store.store import Store
from tests.archive.annulling import POLICY, VOTES_OF_MALLORY, WINDOW, Pair, World, counts_of
from tests.conftest import Clock, client
from tests.database.conftest import on_both
from tests.store.reading import contents, findings, verified

pytestmark = pytest.mark.one_server


@on_both
async def test_verify_repairs_annulled_votes(pair: Pair):
    await pair.fill()
    action = await pair.world.annul()
    await pair.world.settle()
    site, redis, number = pair.world.store.site, pair.world.redis, pair.articles[0]
    p = site.partition_of_article(number)
    right = contents(redis)
    # the number of no article, in the same partition
    gone, held_by_action = number + keys.SLOTS, steps.cases(p, action.number)
    redis.zrem(held_by_action, keys.member(number))
    redis.zadd(held_by_action, {keys.member(gone): 0})
    redis.hset(keys.annulled(p, number), "bob", "2 1541")  # not the value of a vote, and not an action
    redis.hset(keys.annulled(p, gone), "bob", f"1 {action.number}")  # a vote, and the action that annuls it
    redis.sadd(keys.downvoted(p, number), "Mallory")

    assert len(await pair.findings()) >= 5
    for _ in range(2):  # the set of voters is repaired before what is derived from it
        await verified(pair.world.store, repair=True)
    assert await pair.findings() == []
    found = contents(redis)
    repaired = (keys.annulled.name, steps.cases.name)
    assert {key for key in right if key.startswith(repaired) and found.get(key) != right[key]} == set()
    assert not redis.exists(keys.annulled(p, gone))


@on_both
async def test_backup_has_annulled_votes_and_what_is_left_to_do(pair: Pair, redis_url: str, clock: Clock):  # M8
    await pair.fill()
    done = await pair.world.annul()
    await pair.world.settle()
    clock.advance(1)
    left = await pair.world.annul()
    restoration = await Restoration.begin(f"{redis_url}?db=2", "a backup", 4, POLICY, clock)
    async for records in dump.records_of(
        pair.world.store.site, progress=lambda count: None, on_skipped=lambda key: None
    ):
        await restoration.put(records)
    await restoration.end()
    await restoration.close()

    store = await Store.open(f"{redis_url}?db=2", POLICY, partitions=4, clock=clock)
    restored = World(store, client(f"{redis_url}?db=2"), database=None)
    assert counts_of(restored) == counts_of(pair.world)
    assert await findings(store) == []
    await restored.settle()
    assert [(await restored.read(each)).annulled_votes for each in (done, left)] == [VOTES_OF_MALLORY] * 2
    for each in (done, left):
        await restored.revert(each)
        await restored.settle()
    assert counts_of(restored) == counts_of(pair.other)
    assert await findings(store) == []
    await store.close()
    restored.redis.close()


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_steps_wait_for_the_database_and_for_consumers(pair: Pair, monkeypatch: pytest.MonkeyPatch):
    await pair.fill()
    monkeypatch.setattr(annulments, "PATIENCE", 0)
    action = await pair.world.annul()
    world = pair.world
    with pytest.raises(annulments.ConsumerBehind):
        await annulments.settle(world.store, world.database, action.number)
    await annulments.begin(world.store, world.database, action.number)
    assert (await world.read(action)).annulled_votes == 0

    await world.mirror()
    monkeypatch.setattr(annulments, "MAX_BEHIND", 10)
    monkeypatch.setattr(annulments, "READ_AT_ONCE", 4)
    await log.advance(world.store.site, "slow", 0, log.START)
    with pytest.raises(annulments.ConsumerBehind):
        await annulments.settle(world.store, world.database, action.number)
    found = await world.read(action)
    assert found.annulment and (found.annulled_votes, found.annulment.state) == (4, AnnulmentState.RUNNING)
    assert found.annulment.total == VOTES_OF_MALLORY


@on_both
async def test_votes_are_annulled_on_what_closed_before_the_voting_window_was_raised(
    pair: Pair, redis_url: str, clock: Clock
):  # M7
    number = await pair.post("alice", "show")
    comment = await pair.comment("bob", number)
    await pair.vote("Mallory", number, Vote.UP)
    await pair.vote("Mallory", comment, Vote.DOWN)
    pair.close_voting()
    policy, partitions = replace(POLICY, voting_window=100 * WINDOW), pair.world.store.site.partitions
    store = await Store.open(f"{redis_url}?db=0", policy, partitions, clock=clock)
    world = World(store, pair.world.redis, pair.world.database)

    action = await world.annul()
    await world.settle()
    found = await world.read(action)
    assert found.annulment and (found.annulled_votes, found.annulment.state) == (2, AnnulmentState.DONE)
    assert counts_of(world) == {number: (1, 0), comment: (1, 0)}

    await world.revert(action)
    await world.settle()
    assert counts_of(world) == {number: (2, 0), comment: (1, 1)}
    await store.close()


@on_both
async def test_vote_that_was_withdrawn_before_its_voters_were_gone_is_not_annulled(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
):  # M7, M8
    """After the database was read as far as it had to be, Mallory withdraws a vote and voting closes."""
    number, other = await pair.post("alice"), await pair.post("bob")
    for each in (number, other):
        await pair.vote("Mallory", each, Vote.UP)
    world, read = pair.world, annulments.wait_for_database

    async def read_before_the_end(site: Site) -> int:
        complete_at = await read(site)
        monkeypatch.setattr(annulments, "wait_for_database", read)
        await world.store.articles.vote(number, "Mallory", Vote.NONE)
        for each in (number, other):
            world.redis.delete(keys.voted(site.partition_of_article(each), each))
        return complete_at

    monkeypatch.setattr(annulments, "wait_for_database", read_before_the_end)
    action = await world.annul()
    await world.settle()

    assert (await world.read(action)).annulled_votes == 1
    assert counts_of(world) == {number: (1, 0), other: (1, 0)}


async def test_request_of_a_moderator_waits_for_some_votes_only(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
):  # all votes that one query reads are annulled before the limit is checked
    monkeypatch.setattr(annulments, "WAITED_FOR", 4)
    await pair.fill()
    action = await pair.world.annul()
    await pair.world.mirror()

    await annulments.begin(pair.world.store, pair.world.database, action.number)

    found = await pair.world.read(action)
    assert found.annulment and (found.annulled_votes, found.annulment.state) == (4, AnnulmentState.RUNNING)


@pytest.mark.parametrize("partitions", [8], indirect=True)
async def test_listeners_learn_what_is_annulled(bare: Pair):
    """One message a step; listeners get an event for each article and comment."""
    number = await bare.post("alice", "show", "ask")
    comment = await bare.comment("bob", number)
    other = await bare.post("alice")
    for each in (number, comment, other):
        await bare.vote("Mallory", each, Vote.UP)
    await bare.world.annul()
    messages = bare.world.redis.pubsub()
    messages.psubscribe("events:*")
    await bare.world.settle()
    texts = []
    while message := messages.get_message(timeout=0.2):
        if message["type"] == "pmessage":
            texts.append(message["data"])
    found = [event for text in texts if text.startswith("votes_annulled") for event in events.events_in(text)]
    messages.close()

    partitions = {bare.world.store.site.partition_of_article(each) for each in (number, comment)}
    assert sum(text.startswith("votes_annulled") for text in texts) == len(partitions)
    assert {(event.kind, event.number, event.username, event.groups, event.article) for event in found} == {
        (events.EventKind.VOTED, number, "alice", ("ask", "show"), 0),
        (events.EventKind.VOTED, other, "alice", (), 0),
        (events.EventKind.COMMENT_VOTED, comment, "bob", (), number),
    }
    heard = []
    listeners = events.Events()
    with listeners.subscribed(heard.append, events.of_article(number), events.of_comment_changes(number)):
        for text in texts:
            listeners.receive(text)
    assert sorted(event.number for event in heard) == sorted([number, comment])
    (missed,) = events.events_in("votes_annulled 0 Mallory 1-0 article:x")  # a message that cannot be parsed
    assert missed.kind is events.EventKind.MISSED
