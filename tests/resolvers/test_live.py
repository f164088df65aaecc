"""What the subscriptions of a process share: the reads after an event, and the rankings that they watch."""

import asyncio
from contextlib import AsyncExitStack, ExitStack, aclosing
from itertools import pairwise
from time import monotonic
from typing import Any

import pytest

from resolvers.live import Live, RankedArticles, SharedRanking, TooManyRankings
from store.client import client
from store.client.client import RedisUsage
from store.errors import StoreUnavailable
from store.events import Event, EventKind
from store.ranking.formulas import Order
from store.records import Article, Vote
from tests.store.reading import post


@pytest.fixture
def live(store) -> Live:
    return Live(store, ranking_places=110)  # that an address may watch, in all its rankings


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
    with (
        live.ranking(Order.TIME, group=None, size=3, address="1.1.1.1") as one,
        live.ranking(Order.TIME, group=None, size=3, address=None) as two,
    ):
        assert one is two
        async with aclosing(one.changes()) as changes:
            first = await anext(changes)
            newer = await post(store, alice)
            one.refresh()
            second = await anext(changes)

    assert numbers(first.articles) == [older.number]
    assert numbers(second.articles) == [newer.number, older.number]


async def test_subscribers_of_a_ranking_share_its_changes_and_their_read(store, live, alice, bob):
    article = await post(store, alice)
    async with AsyncExitStack() as stack:
        ranking = stack.enter_context(live.ranking(Order.TIME, group=None, size=3, address=None))
        subscribers = [await stack.enter_async_context(aclosing(ranking.changes())) for _ in range(5)]
        await asyncio.gather(*map(anext, subscribers))
        waiting = [asyncio.ensure_future(anext(each)) for each in subscribers]
        await store.articles.vote(article.number, bob, Vote.UP)
        ranking.refresh()
        changes = await asyncio.gather(*waiting)

    assert [changes[0].articles[0].votes, changes[0].moves] == [2, []]
    assert all(change is changes[0] for change in changes)


async def test_slow_subscriber_is_sent_no_change_that_was_undone_meanwhile(store, live, alice, bob):
    """Between two reads of a slow subscriber the votes change and change back."""
    article = await post(store, alice)
    with live.ranking(Order.TIME, group=None, size=3, address=None) as ranking:
        async with aclosing(ranking.changes()) as slow, aclosing(ranking.changes()) as fast:
            await anext(slow)
            await anext(fast)
            for vote in (Vote.UP, Vote.NONE):
                await store.articles.vote(article.number, bob, vote)
                ranking.refresh()
                await anext(fast)
            reading = asyncio.ensure_future(anext(slow))
            newer = await post(store, alice)
            ranking.refresh()
            change = await reading

    assert [move.article_id for move in change.moves] == [article.id, newer.id]


@pytest.mark.parametrize(
    ("interval", "took", "least", "most"),
    [(0.1, 0.04, 0.095, 0.13), (0.001, 0.04, 0.048, 60)],  # seconds; the second: from a slow store, which rests 0.01
)
async def test_ranking_is_read_as_often_as_it_may_be(store, live, monkeypatch, interval, took, least, most):
    """
    An interval is that between the beginnings of two reads, so that each of many rankings has its five messages a
    second. A slow store rests for a quarter of the time that the read took.
    """
    began, enough = list[float](), asyncio.Event()
    monkeypatch.setattr("resolvers.live.READ_INTERVAL", interval)

    async def read(ranking: SharedRanking) -> RankedArticles:
        began.append(monotonic())
        await asyncio.sleep(took)
        ranking.refresh()  # something else changes meanwhile
        if len(began) == 30:
            enough.set()
        return RankedArticles()

    monkeypatch.setattr(SharedRanking, "_read", read)
    with live.ranking(Order.TIME, group=None, size=3, address=None) as ranking:
        ranking.refresh()
        await enough.wait()

    shortest = min(later - earlier for earlier, later in pairwise(began))  # on a busy machine others are longer
    assert least < shortest < most


async def test_rankings_of_an_address_are_limited_by_their_places(live):
    def watch(size, address):
        return live.ranking(Order.TIME, group=None, size=size, address=address)

    with (
        watch(60, "1.1.1.1"),
        watch(60, "1.1.1.1"),
        watch(3, "1.1.1.1"),
    ):  # all 110 places: 60, none for the same ranking again, and 50, which a short one counts as
        with pytest.raises(TooManyRankings), watch(1, "1.1.1.1"):
            pass
        with watch(100, "2.2.2.2"), watch(100, address=None):
            pass
    with watch(100, "1.1.1.1"):
        pass


def numbers(articles: "list[Article]") -> list[int]:
    return [article.number for article in articles]


async def test_subscribers_of_an_article_share_its_reads_and_its_record(store, live, alice, bob):
    article = await post(store, alice)
    with ExitStack() as stack:
        subscribers = [stack.enter_context(live.changed_articles([article.number])) for _ in range(3)]
        client.current_usage.set(usage := RedisUsage())
        live.events.dispatch(Event(EventKind.VOTED, article.number))
        found = await asyncio.gather(*(each.take() for each in subscribers))

        assert found == [(article.number, article)] * 3
        assert len({id(each) for _, each in found}) == 1
        assert (usage.round_trips, usage.commands) == (1, 1)
    assert not live._articles and not live.events._listeners


async def test_slow_subscriber_of_an_article_gets_the_latest_only(store, live, alice, bob):
    article = await post(store, alice)
    with live.changed_articles([article.number]) as slow, live.changed_articles([article.number]) as quick:
        for vote in (Vote.UP, Vote.DOWN):
            await store.articles.vote(article.number, bob, vote)
            live.events.dispatch(Event(EventKind.VOTED, article.number))
            number, last = await quick.take()

        assert (await slow.take()) == (number, last)
        assert last is not None and last.votes == 0


async def test_event_during_the_read_of_an_article_leads_to_one_more(store, live, alice, bob):
    article = await post(store, alice)
    with live.changed_articles([article.number]) as latest:
        live.events.dispatch(Event(EventKind.VOTED, article.number))
        await asyncio.sleep(0)
        for _ in range(3):
            live.events.dispatch(Event(EventKind.VOTED, article.number))
        await latest.take()
        await store.articles.vote(article.number, bob, Vote.UP)
        _, found = await latest.take()

        assert found is not None and found.votes in (1, 2)
        live.events.dispatch(Event(EventKind.VOTED, article.number))
        _, found = await latest.take()
        assert found is not None and found.votes == 2


async def test_deleted_article_is_none_to_its_subscribers(store, live, alice):
    article = await post(store, alice)
    with live.changed_articles([article.number]) as latest:
        await store.articles.delete(article.number, alice)
        live.events.dispatch(Event(EventKind.DELETED, article.number))

        assert await latest.take() == (article.number, None)


async def test_error_of_a_shared_read_is_that_of_each_subscriber(store, live, alice, monkeypatch):
    async def fail(*arguments: Any) -> Any:
        raise ValueError("no article")

    article = await post(store, alice)
    monkeypatch.setattr(live, "read_after", fail)
    with live.changed_articles([article.number]) as one, live.changed_articles([article.number]) as other:
        live.events.dispatch(Event(EventKind.VOTED, article.number))
        for each in (one, other):
            with pytest.raises(ValueError, match="no article"):
                await each.take()


async def test_cancelled_subscriber_of_an_article_leaves_the_others(store, live, alice):
    article = await post(store, alice)
    with live.changed_articles([article.number]) as one, live.changed_articles([article.number]) as other:
        waiting = asyncio.create_task(one.take())
        await asyncio.sleep(0)
        waiting.cancel()
        live.events.dispatch(Event(EventKind.VOTED, article.number))

        assert await other.take() == (article.number, article)


async def test_forgotten_article_is_not_sent_and_others_are(store, live, alice, bob):
    articles = [await post(store, name) for name in (alice, bob)]
    first, second = [each.number for each in articles]
    with live.changed_articles([first, second]) as changed, live.changed_articles([first]) as other:
        live.events.dispatch(Event(EventKind.VOTED, first))
        await asyncio.sleep(0)
        changed.forget(first)
        assert await other.take() == (first, articles[0])
        live.events.dispatch(Event(EventKind.MISSED))

        assert await changed.take() == (second, articles[1])
    assert not live._articles
