"""Subscriptions over a WebSocket, and as generators where the reader is slow."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from operator import attrgetter
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from engine import Client, Endpoint, Options
from resolvers import queries, subscriptions
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.live import READ_INTERVAL, Live, RankingChange, TooManyRankings
from resolvers.subscriptions import SubscriberTooSlow
from schema.schema import SCHEMA
from server.app import CODES
from store import events
from store.client import pubsub
from store.errors import StoreUnavailable
from store.events import CAPACITY, Event, EventKind
from store.ranking.formulas import Order
from store.records import Article, Vote
from store.store import Store
from tests.conftest import kill
from tests.engine.sample import until
from tests.server.conftest import serving
from tests.servers import PATIENCE
from tests.store.reading import post
from tests.store.test_events import receive_all

pytestmark = pytest.mark.routed

PROTOCOL = "graphql-transport-ws"
CHANGED = "subscription($id: ID!) { articleChanged(id: $id) { votes title viewerVote groups { name } } }"
POSTED = "subscription($group: String) { articlePosted(group: $group) { id poster { username } } }"
FED_IDS = "subscription { feedArticle { id } }"
FED = "subscription { feedArticle { poster { username } } }"
RANKING = """subscription($order: ArticleOrder, $group: String, $first: Int) {
  rankingChanged(order: $order, group: $group, first: $first) { at articles { id votes } moves { articleId from to } }
}"""


class Subscriber:
    """A client with one subscription on its own WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def message(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))

    async def heard(self) -> Any:
        """The value of the subscribed field."""
        message = await self.message()
        assert message["type"] == "next" and "errors" not in message["payload"], message
        (value,) = message["payload"]["data"].values()
        return value

    async def refusal(self) -> tuple[str, str]:
        message = await self.message()
        assert message["type"] == "error", message
        (error,) = message["payload"]
        return error["extensions"]["code"], error["message"]

    async def leave(self) -> None:
        await self._socket.close()


@asynccontextmanager
async def subscribed(url: str, query: str, token: str | None = None, **variables: Any) -> AsyncIterator[Subscriber]:
    async with connect(url, subprotocols=[PROTOCOL]) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": {"token": token}}))
        assert json.loads(await socket.recv()) == {"type": "connection_ack"}
        payload = {"query": query, "variables": variables}
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        yield Subscriber(socket)


@pytest.fixture
async def live(store: Store, redis_url: str, partitions: int) -> AsyncIterator[Live]:
    async with events.connect(redis_url, partitions) as heard:
        yield Live(store, heard)


@pytest.fixture
def opened() -> list[str | None]:
    """The tokens of the contexts that the server of `url` has opened."""
    return []


@pytest.fixture
async def url(store: Store, live: Live, opened: list[str | None]) -> AsyncIterator[str]:
    """The URL of a server in the loop of the test."""

    def open_context(client: Client) -> Context:
        opened.append(client.token)
        return Context(store, client.token, live)

    app = Endpoint(SCHEMA, open_context, CODES, Options(viewer_key=attrgetter("token")))
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    yield f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/graphql"
    server.should_exit = True
    await task


Listen = Callable[..., Awaitable[Subscriber]]


@pytest.fixture
async def listen(store: Store, url: str, live: Live) -> AsyncIterator[Listen]:
    """`await listen(query, token, **variables)` gives a subscriber who already hears what happens."""
    opened = []

    async def listen(query: str, token: str | None = None, **variables: Any) -> Subscriber:
        await receive_all(store, live.events)
        before = listeners(live)
        opened.append(subscribed(url, query, token, **variables))
        subscriber = await opened[-1].__aenter__()
        await until(lambda: listeners(live) > before)
        await answered(store)
        return subscriber

    yield listen
    for each in opened:
        await each.__aexit__(None, None, None)


async def answered(store: Store) -> None:
    """Wait for the replies of reads that are sent now or in the next ticks, as a new subscription does."""
    for _ in range(3):
        await store.site.redis.ping()


def listeners(live: Live) -> int:
    return sum(map(len, live.events._listeners.values()))


async def ranked(store: Store, order: Order, group: str | None, first: int) -> list[str]:
    """What a fresh query lists."""
    return [article.id for article in (await queries.articles(Context(store), order, group, first=first)).nodes]


def folded(listing: dict[str, int], moves: Any) -> dict[str, int]:
    """The places by article after moves."""
    left = {move["articleId"] for move in moves if move["to"] is None}
    placed = {move["articleId"]: move["to"] for move in moves if move["to"] is not None}
    return {id: place for id, place in (listing | placed).items() if id not in left}


def in_order(listing: dict[str, int]) -> list[str]:
    assert sorted(listing.values()) == list(range(1, len(listing) + 1))
    return sorted(listing, key=lambda id: listing[id])


async def test_article_is_sent_after_each_vote_edit_and_regroup(store, listen, alice, bob, token):
    article = await post(store, alice)
    subscriber = await listen(CHANGED, token, id=article.id)
    sent = []
    for change in (
        store.articles.vote(article.number, "vera", Vote.UP),
        store.articles.vote(article.number, bob, Vote.DOWN),
        store.articles.edit(article.number, alice, {"title": "another"}),
        store.articles.regroup(article.number, alice, ["show"], []),
    ):
        await change
        sent.append(await subscriber.heard())

    assert sent == [
        {"votes": 2, "title": "a title", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "a title", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "another", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "another", "viewerVote": "UP", "groups": [{"name": "show"}]},
    ]


async def test_command_without_a_change_sends_nothing(store, listen, alice, bob):
    article, other = await post(store, alice), await post(store, alice)
    subscriber = await listen(CHANGED, id=article.id)
    await store.articles.vote(article.number, alice, Vote.UP)
    await store.articles.edit(article.number, alice, {})
    await store.articles.regroup(article.number, alice, [], ["show"])
    await store.articles.vote(other.number, bob, Vote.UP)
    await store.articles.edit(article.number, alice, {"title": "another"})

    assert (await subscriber.heard())["title"] == "another"


async def test_subscription_to_an_article_completes_when_it_is_deleted(store, listen, alice, bob):
    article = await post(store, alice)
    subscriber = await listen(CHANGED, id=article.id)
    await asyncio.gather(
        *(store.articles.vote(article.number, f"voter-{each}", Vote.UP) for each in range(20)),
        store.articles.delete(article.number, alice),
        return_exceptions=True,
    )

    while (message := await subscriber.message())["type"] == "next":
        assert "errors" not in message["payload"]
    assert message == {"id": "1", "type": "complete"}


@pytest.mark.parametrize(
    ("query", "variables", "refusal"),
    [
        (CHANGED, {"id": "article:1541"}, ("NOT_FOUND", "there is no article:1541")),
        (CHANGED, {"id": "user:alice"}, ("BAD_USER_INPUT", "an article's id looks like article:1541, not user:alice")),
        (FED, {}, ("UNAUTHENTICATED", "log in first")),
        (RANKING, {"first": 101}, ("BAD_USER_INPUT", "first is 1 to 100, not 101")),
    ],
)
async def test_wrong_subscription_ends_with_a_clear_error(url, live, query, variables, refusal):
    async with subscribed(url, query, **variables) as subscriber:
        assert await subscriber.refusal() == refusal
    assert listeners(live) == 0


async def test_new_articles_of_the_site_or_of_one_group_are_sent(store, listen, live, alice, bob):
    everything, show = await listen(POSTED), await listen(POSTED, group="Show")
    first = await post(store, alice, groups=["ask"])
    await receive_all(store, live.events)
    second = await post(store, bob, groups=["show", "ask"])

    assert await everything.heard() == {"id": first.id, "poster": {"username": "Alice"}}
    assert (await everything.heard())["id"] == second.id
    assert (await show.heard())["id"] == second.id


async def test_group_name_that_nobody_can_have_is_that_of_an_empty_group(store, listen, live, alice):
    ranking, posts = await listen(RANKING, group="no group"), await listen(POSTED, group="no group")
    await post(store, alice, groups=["no"])
    await receive_all(store, live.events)

    assert (await ranking.heard())["articles"] == []
    await posts.leave()
    with pytest.raises(ConnectionClosed):  # without a message before
        await posts.message()


async def test_feed_subscription_follows_changes_of_followed_users(store, listen, live, alice, bob, token):
    subscriber, heard = await listen(FED, token), []
    for change, followee in [
        (store.follows.unfollow, alice),
        (store.follows.follow, alice),
        (store.follows.follow, bob),
        (store.follows.unfollow, alice),
    ]:
        await change("vera", followee)
        for poster in (alice, bob, "vera"):
            await post(store, poster)
            await receive_all(store, live.events)
        posters = []
        while "vera" not in posters:
            posters.append((await subscriber.heard())["poster"]["username"])
        heard.append(posters)

    assert heard == [["vera"], ["Alice", "vera"], ["Alice", "bob", "vera"], ["bob", "vera"]]


async def test_feed_subscription_ends_with_its_session(store, listen, ask, token):
    subscriber = await listen(FED, token)
    await ask("mutation { logOut { userErrors { code } } }", token)
    await post(store, "vera")

    assert await subscriber.refusal() == ("UNAUTHENTICATED", "log in first")


async def test_ranking_is_sent_at_once_and_after_each_change(store, listen, clock, alice, bob):
    first, second, third = [await post(store, alice, groups=["show"]) for _ in range(3)]
    subscriber = await listen(RANKING, group="show", first=2)
    sent = [await subscriber.heard()]
    clock.advance(1)
    await store.articles.vote(first.number, bob, Vote.UP)
    sent.append(await subscriber.heard())
    await store.articles.vote(second.number, bob, Vote.DOWN)  # below what is shown: moves nothing
    await store.articles.delete(first.number, alice)
    sent.append(await subscriber.heard())

    assert sent[0] == {
        "at": "2016-08-04T11:52:00.000Z",
        "articles": [{"id": third.id, "votes": 1}, {"id": second.id, "votes": 1}],
        "moves": [{"articleId": third.id, "from": None, "to": 1}, {"articleId": second.id, "from": None, "to": 2}],
    }
    assert sent[1]["at"] == "2016-08-04T11:52:01.000Z"
    assert sent[1]["articles"] == [{"id": first.id, "votes": 2}, {"id": third.id, "votes": 1}]
    assert sent[1]["moves"] == [
        {"articleId": third.id, "from": 1, "to": 2},
        {"articleId": second.id, "from": 2, "to": None},
        {"articleId": first.id, "from": None, "to": 1},
    ]
    assert [article["id"] for article in sent[2]["articles"]] == [third.id, second.id]


async def test_ranking_is_sent_when_only_votes_change(store, listen, alice, bob):
    first, second, hidden = [await post(store, alice) for _ in range(3)]
    subscriber = await listen(RANKING, order="TIME", first=2)
    await subscriber.heard()

    await store.articles.vote(second.number, bob, Vote.UP)
    voted = await subscriber.heard()
    await store.articles.vote(first.number, bob, Vote.UP)  # it is not shown
    await asyncio.sleep(2 * READ_INTERVAL)
    await store.articles.vote(second.number, "carol", Vote.DOWN)
    both = await subscriber.heard()

    assert voted["articles"] == [{"id": hidden.id, "votes": 1}, {"id": second.id, "votes": 2}]
    assert both["articles"] == [{"id": hidden.id, "votes": 1}, {"id": second.id, "votes": 1}]
    assert voted["moves"] == both["moves"] == []


async def test_equal_rankings_are_not_sent(store, listen, live, alice):
    await post(store, alice)
    subscriber = await listen(RANKING)
    await subscriber.heard()

    live.events.dispatch(Event(EventKind.MISSED))
    await asyncio.sleep(2 * READ_INTERVAL)
    await post(store, alice)

    assert len((await subscriber.heard())["articles"]) == 2


async def test_result_of_a_change_is_computed_once_for_each_viewer(store, url, opened, alice, token):
    article = await post(store, alice)
    query = "subscription { rankingChanged { articles { votes viewerVote } moves { to } } }"
    async with AsyncExitStack() as stack:
        viewers = (None, None, None, token, token)
        subscribers = [await stack.enter_async_context(subscribed(url, query, each)) for each in viewers]
        for each in subscribers:
            await each.heard()
        opened.clear()

        await store.articles.vote(article.number, "vera", Vote.UP)
        heard = [await each.heard() for each in subscribers]

    shown = [[{"votes": 2, "viewerVote": vote}] for vote in (None, None, None, "UP", "UP")]
    assert heard == [{"articles": articles, "moves": []} for articles in shown]
    assert sorted(opened, key=bool) == [None, token]


@pytest.mark.parametrize(("order", "group"), [(Order.SCORE, None), (Order.VOTES, "show"), (Order.TIME, "ask")])
async def test_applying_all_moves_gives_the_result_of_a_query(store, listen, clock, alice, bob, order, group):
    chance = random.Random(f"{order} {group}")
    posted = [await post(store, alice, groups=["show"]) for _ in range(8)]
    subscriber = await listen(RANKING, order=order.name, group=group, first=5)
    listing = folded({}, (await subscriber.heard())["moves"])
    for _ in range(6):
        for _ in range(30):
            clock.advance(chance.random())
            await change(store, chance, posted, alice)
        while in_order(listing) != await ranked(store, order, group, 5):
            listing = folded(listing, (moved := await subscriber.heard())["moves"])
            assert in_order(listing) == [article["id"] for article in moved["articles"]]


async def change(store: Store, chance: random.Random, posted: list[Any], poster: str) -> None:
    article = chance.choice(posted)
    match chance.randrange(10):
        case 0:
            posted.append(await post(store, poster, groups=chance.sample(["show", "ask"], chance.randrange(3))))
        case 1 if len(posted) > 3:
            posted.remove(article)
            await store.articles.delete(article.number, poster)
        case 2 | 3:
            add, remove = chance.sample(["show", "ask", "new"], 2)
            await store.articles.regroup(article.number, poster, [add], [remove])
        case _:
            await store.articles.vote(article.number, f"voter-{chance.randrange(9)}", chance.choice(list(Vote)))


async def test_votes_within_one_interval_are_one_message(store, live, alice):
    loop = asyncio.get_running_loop()
    first, second = await post(store, alice), await post(store, alice)
    rising = [first, second] * 25  # the one that is behind gets two votes and leads
    async with aclosing(subscriptions.ranking_changed(Context(store, live=live), Order.VOTES)) as rankings:
        await anext(rankings)
        counting, begun = asyncio.create_task(messages_until(rankings, 3)), loop.time()
        for each, article in enumerate(rising):
            await store.articles.vote(article.number, f"voter-{each}", Vote.UP)  # moves nothing
            await store.articles.vote(article.number, f"other-{each}", Vote.UP)
        await post(store, alice)

        assert await counting <= 2 + (loop.time() - begun) / READ_INTERVAL


async def messages_until(rankings: AsyncIterator[RankingChange], articles: int) -> int:
    messages = 1
    while len((await anext(rankings)).articles) < articles:
        messages += 1
    return messages


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

        assert (await anext(changes)).votes == 202
        await store.articles.vote(article.number, "last", Vote.UP)
        assert (await anext(changes)).votes == 203


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


async def test_posts_while_a_subscription_starts_are_sent(store, live, alice, monkeypatch):
    """A subscription listens before it reads the listing: an article posted in between is in both."""
    pages = Reads.pages

    async def posting(self: Reads, wanted: Any) -> Any:
        monkeypatch.setattr(Reads, "pages", pages)
        posted.append(await post(store, alice))
        await receive_all(store, live.events)
        return await pages(self, wanted)

    posted: list[Article] = []
    monkeypatch.setattr(Reads, "pages", posting)
    async with aclosing(subscriptions.article_posted(Context(store, live=live))) as posts:
        assert (await anext(posts)).number == posted[0].number


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
        asking = client.get(url.replace("ws", "http"), params=query, headers={"accept": media})
        answering = asyncio.create_task(asking)
        await until(lambda: listeners(live) == 1)
        live.events.dispatch(Event(EventKind.MISSED))
        said = (await answering).text

    assert said.count("SUBSCRIBER_TOO_SLOW") == 1
    assert said.rstrip().endswith("event: complete\ndata:" if media.startswith("text") else "--graphql--")


async def test_websocket_of_a_slow_client_receives_an_error(live, listen, alice, monkeypatch):
    monkeypatch.setattr("resolvers.subscriptions.MOST_PENDING", -1)
    subscriber = await listen(POSTED)
    live.events.dispatch(Event(EventKind.MISSED))

    assert (await subscriber.refusal())[0] == "SUBSCRIBER_TOO_SLOW"


async def test_many_posts_are_sent_to_each_subscriber_once(store, listen, live, alice, bob, token):
    """More posts at once than a mailbox holds."""
    for followee in (alice, bob):
        await store.follows.follow("vera", followee)
    subscribers = [await listen(POSTED) for _ in range(3)] + [await listen(FED_IDS, token) for _ in range(2)]

    posted = await asyncio.gather(*[post(store, (alice, bob)[turn % 2]) for turn in range(400)])

    expected = sorted(article.id for article in posted)
    for each in subscribers:
        assert sorted([(await each.heard())["id"] for _ in expected]) == expected
    last = await post(store, alice)
    assert [(await each.heard())["id"] for each in subscribers] == [last.id] * 5


async def test_slow_reader_of_a_ranking_can_apply_its_moves(store, live, alice, clock):
    async with aclosing(subscriptions.ranking_changed(Context(store, live=live), Order.TIME, None, 3)) as rankings:
        assert (await anext(rankings)).moves == []
        async with aclosing(subscriptions.ranking_changed(Context(store, live=live), Order.TIME, None, 3)) as others:
            for _ in range(3):
                clock.advance(1)
                await post(store, alice)
                await anext(others)
        latest = await anext(rankings)

    assert [(move.before, move.after) for move in latest.moves] == [(None, 1), (None, 2), (None, 3)]
    assert [article.id for article in latest.articles] == [move.article_id for move in latest.moves]


async def test_ranking_by_age_changes_without_events(store, live, clock, alice, bob, monkeypatch):
    monkeypatch.setattr("resolvers.live.DECAY_INTERVAL", 0.01)
    older = await post(store, alice)
    for voter in (bob, "voter"):
        await store.articles.vote(older.number, voter, Vote.UP)
    clock.advance(36_000)
    newer = await post(store, alice)
    await store.articles.vote(newer.number, bob, Vote.UP)
    async with aclosing(subscriptions.ranking_changed(Context(store, live=live), Order.GRAVITY)) as rankings:
        first = await anext(rankings)
        clock.advance(360_000)
        second = await anext(rankings)

    assert [article.number for article in first.articles] == [newer.number, older.number]
    assert [article.number for article in second.articles] == [older.number, newer.number]


async def test_places_of_rankings_per_address_are_limited(store, redis_url, partitions, alice):
    async with events.connect(redis_url, partitions) as heard:
        live = Live(store, heard, ranking_places=110)

        def watched(first: int, address: str | None = "1.1.1.1") -> AsyncGenerator[RankingChange, None]:
            context = Context(store, live=live, address=address)
            return subscriptions.ranking_changed(context, Order.VOTES, None, first)

        async with AsyncExitStack() as stack:
            for first, address in [(60, "1.1.1.1"), (60, "1.1.1.1"), (3, "1.1.1.1"), (99, "2.2.2.2"), (98, None)]:
                await anext(await stack.enter_async_context(aclosing(watched(first, address))))
            with pytest.raises(TooManyRankings, match="more than 110 places"):
                await anext(watched(1))
            assert len(live._rankings) == 4
        assert not live._rankings and not live._subscribed
        async with aclosing(watched(100)) as again:
            await anext(again)


async def test_error_in_reading_a_ranking_ends_its_subscriptions(store, live, monkeypatch):
    monkeypatch.setattr("resolvers.live.articles_by", None)
    async with aclosing(subscriptions.ranking_changed(Context(store, live=live))) as rankings:
        with pytest.raises(TypeError):
            await anext(rankings)
    assert live._rankings == {}


async def test_current_state_is_sent_after_a_lost_connection(store, listen, alice, bob, token, redis, monkeypatch):
    article = await post(store, alice)
    gone = await post(store, alice)
    changed, completed = await listen(CHANGED, id=article.id), await listen(CHANGED, id=gone.id)
    posted, ranking = await listen(POSTED), await listen(RANKING, order="VOTES")
    assert len((await ranking.heard())["moves"]) == 2
    known = await post(store, bob)
    assert (await posted.heard())["id"] == known.id
    await ranking.heard()

    back, connected = asyncio.Event(), pubsub.Subscriber.connect

    async def connected_when_back(subscriber: pubsub.Subscriber) -> pubsub.SubscriberConnection:
        await back.wait()
        return await connected(subscriber)

    monkeypatch.setattr(pubsub.Subscriber, "connect", connected_when_back)
    kill(redis, "TYPE", "pubsub")
    await store.articles.vote(article.number, bob, Vote.UP)
    await store.articles.delete(gone.number, alice)
    missed = [(await post(store, bob)).id for _ in range(3)]
    back.set()

    assert (await changed.heard())["votes"] == 2
    assert (await completed.message())["type"] == "complete"
    assert sorted([(await posted.heard())["id"] for _ in range(3)]) == sorted(missed)
    assert [each["votes"] for each in (await ranking.heard())["articles"]] == [2, 1, 1, 1, 1]
    last = await post(store, bob)
    assert (await posted.heard())["id"] == last.id


async def test_subscription_continues_after_the_store_was_unavailable(store, live, alice, monkeypatch):
    """An event arrives, and then the store fails twice."""
    article = await post(store, alice)
    replies, failures = type(store.site.redis).replies, iter([True, True])

    async def failing(connection: Any, commands: Any) -> Any:
        if next(failures, False):
            raise StoreUnavailable("the store does not answer")
        return await replies(connection, commands)

    async with aclosing(subscriptions.article_changed(Context(store, live=live), article.id)) as changes:
        reading = asyncio.create_task(anext(changes))
        await until(lambda: listeners(live) == 1)
        await answered(store)
        await store.articles.vote(article.number, "voter", Vote.UP)
        monkeypatch.setattr(type(store.site.redis), "replies", failing)

        assert (await reading).votes == 2


@pytest.mark.one_server
async def test_subscribers_of_a_process_share_one_connection_and_one_read(store, listen, live, alice, bob, redis):
    article = await post(store, alice)
    subscribers = [await listen(CHANGED, id=article.id) for _ in range(5)]
    redis.config_resetstat()
    await store.articles.vote(article.number, bob, Vote.UP)

    assert [(await each.heard())["votes"] for each in subscribers] == [2] * 5
    assert len(redis.client_list(_type="pubsub")) == 1
    assert redis.info("commandstats")["cmdstat_hgetall"]["calls"] == 2  # the script's and ours


async def test_closed_subscriptions_leave_no_tasks_and_no_listeners(store, listen, live, url, alice, token):
    article = await post(store, alice)
    async with subscribed(url, CHANGED, id=article.id):
        pass
    await until(lambda: listeners(live) == 0)
    before = names()
    for _ in range(2):
        subscribers = [await listen(CHANGED, id=article.id), await listen(POSTED), await listen(FED, token)]
        subscribers.append(await listen(RANKING))
        subscribers.append(await listen(RANKING, first=3))
        assert len(live._rankings) == 2
        for each in subscribers:
            await each.leave()
        await until(lambda: listeners(live) == 0)
        assert live._rankings == {}
        await until(lambda: names() == before)


def names() -> list[str]:
    return sorted(task.get_coro().__qualname__ for task in asyncio.all_tasks())


def test_two_servers_of_one_store_receive_each_others_events(redis_url, tmp_path):
    """Two processes, one of them with two workers."""
    with serving(tmp_path, redis_url=redis_url) as one, serving(tmp_path, redis_url=redis_url, workers=2) as two:
        asyncio.run(vote_here_and_hear_there(one, two))


async def vote_here_and_hear_there(here: Any, there: Any) -> None:
    register = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token } }'
    tokens = [here.ask(register % name)["data"]["register"]["token"] for name in ("alice", "bob")]
    text = 'mutation { post(input: {title: "t", content: "c"}) { article { id } } }'
    id = here.ask(text, tokens[0])["data"]["post"]["article"]["id"]
    async with subscribed(there.url.replace("http", "ws") + "/graphql", RANKING, order="VOTES") as ranking:
        assert (await ranking.heard())["articles"] == [{"id": id, "votes": 1}]
        second = here.ask(text, tokens[1])["data"]["post"]["article"]["id"]
        assert (await ranking.heard())["articles"] == [{"id": second, "votes": 1}, {"id": id, "votes": 1}]
        here.ask("mutation($id: ID!) { vote(input: {articleId: $id}) { changed } }", tokens[1], id=id)
        assert (await ranking.heard())["articles"] == [{"id": id, "votes": 2}, {"id": second, "votes": 1}]
