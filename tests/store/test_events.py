"""Events that scripts publish, and the listeners that receive them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
from redis import Redis

from store import events, keys
from store.client import connection
from store.errors import Refusal
from store.events import CAPACITY, Event, EventKind, Events, Mailbox
from store.maintenance.import_stories import Story, import_batch
from store.records import Vote
from store.store import Store
from tests.conftest import clients, kill, servers_of
from tests.servers import until
from tests.store.reading import post
from tests.store.replaying import entries

pytestmark = pytest.mark.routed


@pytest.fixture
async def received(redis_url: str, redis: Redis, partitions: int) -> AsyncIterator[Events]:
    async with events.connect(redis_url, partitions) as received:
        await wait_until_subscribed(redis, received)
        yield received


async def wait_until_subscribed(redis: Redis, received: Events) -> None:
    """Wait until all events published before are received, which takes time on a cluster."""
    with received.mailbox(events.of_listing("last")) as last:
        for number, server in enumerate(servers_of(redis)):
            redis.execute_command("PUBLISH", keys.events(0), f"imported {number} nobody last", **server)
            while (await anext(last)).number != number:
                pass


async def receive_all(store: Store, received: Events) -> None:
    """Wait until all events published by now, by any server, are received."""
    connection = store.site.redis
    with received.mailbox(events.of_listing("last")) as last:
        for number, server in enumerate(await connection._server.primaries()):
            await connection.pipeline([("PUBLISH", keys.events(0), f"imported {number} nobody last")], server)
            while (await anext(last)).number != number:
                pass


def as_tuple(event: Event) -> tuple[EventKind, int, str, tuple[str, ...]]:
    return event.kind, event.number, event.poster, event.groups


async def test_every_change_is_published_with_its_groups(store, alice, bob, published):
    number = (await post(store, alice, groups=["show", "ask"])).number
    await store.articles.vote(number, bob, Vote.UP)
    await store.articles.edit(number, alice, {"title": "another"})
    await store.articles.regroup(number, alice, ["new"], ["ask"])
    await store.articles.delete(number, alice)

    messages = [message.split() for message in published()]
    assert [" ".join([*words[:3], *words[4:]]) for words in messages] == [
        f"posted {number} Alice ask show",
        f"voted {number} Alice ask show",
        f"edited {number} Alice ask show",
        f"regrouped {number} Alice new ask",
        f"deleted {number} Alice new show",
    ]
    kinds = {entry.id: entry.kind for entry in await entries(store)}
    assert [kinds[words[3]] for words in (messages[1], messages[3])] == ["voted", "regrouped"]


async def test_import_is_an_event_of_listings_and_not_of_posts(store, clock, received):
    with received.mailbox(events.of_listing("show")) as show, received.mailbox(events.of_posts("show")) as posts:
        await import_batch(store, [Story("7", "a title", "https://example.com/", "Marlow", clock.now, 5, ("show",))])
        imported = await anext(show)
        posted = await post(store, "Marlow", groups=["show"])

        assert (imported.kind, imported.poster, imported.groups) == (EventKind.IMPORTED, "Marlow", ("show",))
        assert (await anext(posts)).number == posted.number


async def test_command_that_changes_nothing_publishes_nothing(store, alice, bob, published):
    number = (await post(store, alice, groups=["show"])).number
    published()
    await store.articles.vote(number, alice, Vote.UP)
    await store.articles.edit(number, alice, {})
    await store.articles.regroup(number, alice, ["show"], ["ask"])
    for refused in (
        store.articles.vote(number, alice, Vote.DOWN),
        store.articles.edit(number, bob, {"title": "another"}),
        store.articles.regroup(number, bob, ["ask"], []),
        store.articles.delete(number, bob),
    ):
        with pytest.raises(Refusal):
            await refused

    assert published() == []


async def test_listener_receives_only_events_of_its_topic(store, alice, bob, received):
    first, second = await post(store, alice), await post(store, bob, groups=["show"])
    await receive_all(store, received)
    with (
        received.mailbox(events.of_article(first.number)) as article,
        received.mailbox(events.of_listing("show")) as show,
        received.mailbox(events.of_posts("show")) as posts,
    ):
        await store.articles.vote(second.number, alice, Vote.UP)
        await receive_all(store, received)  # or else the next, of another server, might be received before it
        await store.articles.vote(first.number, bob, Vote.UP)
        third = await post(store, alice, groups=["show"])

        assert as_tuple(await anext(article)) == (EventKind.VOTED, first.number, "Alice", ())
        assert as_tuple(await anext(show)) == (EventKind.VOTED, second.number, "bob", ("show",))
        assert as_tuple(await anext(show)) == (EventKind.POSTED, third.number, "Alice", ("show",))
        assert as_tuple(await anext(posts)) == (EventKind.POSTED, third.number, "Alice", ("show",))


async def test_all_processes_receive_the_same_events(store, alice, received, redis_url, redis, partitions):
    async with events.connect(redis_url, partitions) as other:
        await wait_until_subscribed(redis, other)
        with received.mailbox(events.of_posts(None)) as here, other.mailbox(events.of_posts(None)) as there:
            number = (await post(store, alice)).number

            assert (await anext(here)).number == (await anext(there)).number == number


async def test_killed_connection_is_replaced_and_listeners_get_a_missed_event(store, alice, received, redis):
    number = (await post(store, alice)).number
    await receive_all(store, received)
    with received.mailbox(events.of_article(number)) as mailbox:
        kill(redis, "TYPE", "pubsub")
        missed = await anext(mailbox)
        await store.articles.edit(number, alice, {"title": "another"})
        edited = await anext(mailbox)

    assert (missed.kind, edited.kind) == (EventKind.MISSED, EventKind.EDITED)


async def test_connection_that_answers_the_check_is_kept(redis_url, partitions, redis, store, alice, monkeypatch):
    monkeypatch.setattr(events, "CHECK_INTERVAL", 0.01)
    async with events.connect(redis_url, partitions) as received:
        before = listeners(redis)
        with received.mailbox(events.of_posts(None)) as mailbox:
            await asyncio.sleep(0.2)
            number = (await post(store, alice)).number

            assert (await anext(mailbox)).number == number
        assert listeners(redis) == before


@pytest.mark.one_server
async def test_connection_that_does_not_answer_is_replaced(redis_url, partitions, redis, monkeypatch, caplog):
    """A stopped server does not answer PING, like one behind a failed network."""
    monkeypatch.setattr(events, "CHECK_INTERVAL", 0.05)
    server = redis.info("server")["process_id"]
    async with events.connect(redis_url, partitions) as received:
        (before,) = listeners(redis)
        with received.mailbox(events.of_posts(None)) as mailbox:
            with monkeypatch.context() as hasty:
                hasty.setattr(connection, "TIMEOUT", 0.3)
                os.kill(server, signal.SIGSTOP)
                try:
                    await asyncio.to_thread(until, lambda: "was lost" in caplog.text)
                finally:
                    os.kill(server, signal.SIGCONT)

            assert (await anext(mailbox)).kind is EventKind.MISSED
        (after,) = listeners(redis)
    assert after != before


def listeners(redis: Redis) -> list[str]:
    return [client["id"] for client in clients(redis, _type="pubsub")]


async def test_unknown_message_is_a_missed_event(received, redis):
    """A process of another version may publish it."""
    with received.mailbox(events.of_posts(None)) as mailbox:
        redis.publish(keys.events(0), "pondered 1773 alice")
        redis.publish(keys.events(0), "posted 1773 alice")

        assert [(await anext(mailbox)).kind for _ in range(2)] == [EventKind.MISSED, EventKind.POSTED]


async def test_mailbox_keeps_the_latest_event_of_each_article():
    mailbox = Mailbox()
    for number, kind in [(1, EventKind.VOTED), (2, EventKind.VOTED), (1, EventKind.EDITED)]:
        mailbox.put(Event(kind, number))

    assert [as_tuple(await anext(mailbox))[:2] for _ in range(2)] == [(EventKind.VOTED, 2), (EventKind.EDITED, 1)]


async def test_full_mailbox_has_one_missed_event():
    mailbox = Mailbox()
    for number in range(1, CAPACITY + 6):
        mailbox.put(Event(EventKind.POSTED, number))

    assert (await anext(mailbox)).kind is EventKind.MISSED
    assert [(await anext(mailbox)).number for _ in range(4)] == list(range(CAPACITY + 2, CAPACITY + 6))
