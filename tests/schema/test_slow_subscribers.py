"""
Subscribers that read more slowly than events arrive: clients, and the generators of subscriptions. The events of a
subscriber wait in its mailbox, which holds `CAPACITY` of them.

The fixture `token` is a session token of the user vera. `listen` subscribes with a document of
tests/schema/subscribers.py, such as POSTED, and `value()` of what it returns waits for the next value.
"""

import asyncio
from contextlib import aclosing

import httpx
import pytest

from resolvers import subscriptions
from resolvers.context import Context
from resolvers.subscriptions import SubscriberTooSlow
from store.events import CAPACITY, Event, EventKind
from store.ranking.formulas import Order
from store.records import Vote
from tests.engine.sample import until
from tests.schema.subscribers import FED_IDS, POSTED, listeners
from tests.servers import PATIENCE
from tests.store.reading import post
from tests.support.events import receive_all

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_slow_reader_of_an_article_gets_its_latest_state(store, live, alice):
    article = await post(store, alice)
    async with aclosing(subscriptions.article_changed(Context(store, live=live), article.id)) as changes:
        reading = asyncio.create_task(anext(changes))
        await until(lambda: listeners(live) == 1)
        await store.articles.vote(article.number, "voter", Vote.UP)
        assert (await reading).votes == 2
        for each in range(200):
            await store.articles.vote(article.number, f"voter-{each}", Vote.UP)
        await receive_all(store, live.events)

        await states_up_to(changes, 202)
        await store.articles.vote(article.number, "last", Vote.UP)
        await states_up_to(changes, 203)


async def states_up_to(changes, votes):
    """
    Read states up to the one with so many votes. A read goes on while events come, so a few states may come before it,
    or again.
    """
    found = [(await anext(changes)).votes]
    while found[-1] != votes:
        found.append((await anext(changes)).votes)
    assert found == sorted(found) and len(found) < 5


async def test_slow_reader_of_new_articles_gets_each_of_them_once(store, live, alice, clock):
    async with aclosing(subscriptions.article_posted(Context(store, live=live))) as posts:
        reading = asyncio.create_task(anext(posts))
        await until(lambda: listeners(live) == 1)
        first = await post(store, alice)
        assert (await reading).number == first.number
        for _ in range(2):
            posted = [(await post(store, alice)).number for _ in range(2 * CAPACITY + 10)]
            clock.advance(40)
            await receive_all(store, live.events)
            assert sorted([(await anext(posts)).number for _ in posted]) == sorted(posted)

        last = await post(store, alice)
        assert (await anext(posts)).number == last.number


async def test_slow_reader_of_a_ranking_can_apply_its_moves(store, live, alice, clock):
    def top_3():
        return subscriptions.ranking_changed(Context(store, live=live), Order.TIME, group=None, first=3)

    async with aclosing(top_3()) as rankings:
        assert (await anext(rankings)).moves == []
        async with aclosing(top_3()) as others:
            for _ in range(3):
                clock.advance(1)
                await post(store, alice)
                await anext(others)
        latest = await anext(rankings)

    assert [(move.before, move.after) for move in latest.moves] == [(None, 1), (None, 2), (None, 3)]
    assert [article.id for article in latest.articles] == [move.article_id for move in latest.moves]


async def test_subscription_with_too_many_pending_articles_ends_with_an_error(store, live, url, alice, monkeypatch):
    monkeypatch.setattr("resolvers.subscriptions.MOST_PENDING", 150)
    async with aclosing(subscriptions.article_posted(Context(store, live=live))) as posts:
        reading = asyncio.create_task(anext(posts))
        await until(lambda: listeners(live) == 1)
        await post(store, alice)
        await reading
        await asyncio.gather(*[post(store, alice) for _ in range(300)])
        await receive_all(store, live.events)

        with pytest.raises(SubscriberTooSlow, match="more than 150 articles wait to be sent"):
            await anext(posts)


@pytest.mark.parametrize("media", ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"])
async def test_stream_of_a_slow_client_ends_with_an_error(live, url, alice, store, media, monkeypatch):
    monkeypatch.setattr("resolvers.subscriptions.MOST_PENDING", -1)
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        query = {"query": "subscription { articlePosted { id } }"}
        request = client.get(url.replace("ws", "http"), params=query, headers={"accept": media})
        response = asyncio.create_task(request)
        await until(lambda: listeners(live) == 1)
        live.events.dispatch(Event(EventKind.MISSED))
        text = (await response).text

    assert text.count("SUBSCRIBER_TOO_SLOW") == 1
    assert text.rstrip().endswith("event: complete\ndata:" if media.startswith("text") else "--graphql--")


async def test_websocket_of_a_slow_client_receives_an_error(live, listen, alice, monkeypatch):
    monkeypatch.setattr("resolvers.subscriptions.MOST_PENDING", -1)
    subscriber = await listen(POSTED)
    live.events.dispatch(Event(EventKind.MISSED))

    assert (await subscriber.refusal())[0] == "SUBSCRIBER_TOO_SLOW"


async def test_many_posts_are_sent_to_each_subscriber_once(store, listen, live, alice, bob, token):
    """They are more than a mailbox holds."""
    for followee in (alice, bob):
        await store.follows.follow("vera", followee)
    subscribers = [await listen(POSTED) for _ in range(3)] + [await listen(FED_IDS, token) for _ in range(2)]

    posted = await asyncio.gather(*[post(store, (alice, bob)[turn % 2]) for turn in range(400)])

    expected = sorted(article.id for article in posted)
    for each in subscribers:
        assert sorted([(await each.value())["id"] for _ in expected]) == expected
    last = await post(store, alice)
    assert [(await each.value())["id"] for each in subscribers] == [last.id] * 5
