"""What the subscriptions of a process share: reads after an event, and rankings."""

import asyncio
from functools import partial
from typing import Any

import pytest

from resolvers.errors import TooManyRankings
from resolvers.live import Live
from store.client import client
from store.client.client import RedisUsage
from store.errors import StoreUnavailable
from store.events import Event, EventKind
from store.ranking.formulas import Order
from store.records import Article
from tests.store.reading import post


@pytest.fixture
def live(store) -> Live:
    return Live(store, ranking_places=110)


def article_of(number: int) -> Any:
    return lambda reads: reads.articles([number])


async def test_subscribers_share_the_read_after_an_event(store, live, alice):
    article = await post(store, alice)
    client.current_usage.set(usage := RedisUsage())
    event = Event(EventKind.VOTED, article.number)
    found = await asyncio.gather(*(live.read_after(event, article_of(article.number)) for _ in range(5)))

    assert found == [[article]] * 5
    assert (usage.round_trips, usage.commands) == (1, 1)


async def test_cancelled_subscriber_does_not_cancel_the_read_of_others(store, live, alice):
    article = await post(store, alice)
    event = Event(EventKind.VOTED, article.number)
    first, second = (asyncio.create_task(live.read_after(event, article_of(article.number))) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()

    assert await second == [article]


async def test_read_is_repeated_until_the_store_answers(live, monkeypatch):
    monkeypatch.setattr("resolvers.live.RECONNECT_PAUSE", 0.01)
    errors = iter([StoreUnavailable("the store does not answer")] * 2)

    async def failing_twice(reads: object) -> str:
        if error := next(errors, None):
            raise error
        return "an answer"

    assert await live.read_after(Event(EventKind.MISSED), failing_twice) == "an answer"


async def test_ranking_is_shared_and_read_again_after_a_refresh(store, live, alice):
    older = await post(store, alice)
    with live.ranking(Order.TIME, None, 3, "1.1.1.1") as one, live.ranking(Order.TIME, None, 3, None) as two:
        assert one is two
        before = one.latest
        one.refresh()
        first = await one.newer_than(before)
        newer = await post(store, alice)
        one.refresh()
        second = await one.newer_than(first)

    assert numbers(first.articles) == [older.number]
    assert numbers(second.articles) == [newer.number, older.number]


async def test_rankings_of_an_address_are_limited_by_their_places(live):
    watch = partial(live.ranking, Order.TIME, None)
    with watch(60, "1.1.1.1"), watch(60, "1.1.1.1"), watch(3, "1.1.1.1"):  # 60, nothing more, and at least 50
        with pytest.raises(TooManyRankings), watch(1, "1.1.1.1"):
            pass
        with watch(100, "2.2.2.2"), watch(100, None):
            pass
    with watch(100, "1.1.1.1"):
        pass


def numbers(articles: "list[Article]") -> list[int]:
    return [article.number for article in articles]
