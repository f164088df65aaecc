"""
The subscription `rankingChanged`: when a ranking is sent, with which moves, and how many may be subscribed to. A
ranking is the first articles of a listing; a move says from which rank an article went to which.

The fixture `token` is a session token of the user vera. `listen` subscribes with a document of
tests/schema/subscribers.py, such as RANKING, and `value()` of what it returns waits for the next value.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from itertools import count, cycle
from typing import Any

import pytest

from resolvers import articles, subscriptions
from resolvers.context import Context
from resolvers.live import READ_INTERVAL, Live, RankingChange, TooManyRankings
from store import event_connection
from store.events import Event, EventKind
from store.ranking.formulas import Order
from store.records import Vote
from store.store import Store
from tests.schema.subscribers import COMMENT_CHANGED, COMMENTED, RANKING, Subscriber, subscribed
from tests.server.conftest import serving
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_ranking_is_sent_at_once_and_after_each_change(store, listen, clock, alice, bob):
    first, second, third = [await post(store, alice, groups=["show"]) for _ in range(3)]
    subscriber = await listen(RANKING, group="show", first=2)
    sent = [await subscriber.value()]
    clock.advance(1)
    await store.articles.vote(first.number, bob, Vote.UP)
    sent.append(await subscriber.value())
    await store.articles.vote(second.number, bob, Vote.DOWN)  # below the first 2: nothing moves
    await store.articles.delete(first.number, alice)
    sent.append(await subscriber.value())

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
    first, second, third = [await post(store, alice) for _ in range(3)]
    subscriber = await listen(RANKING, order="TIME", first=2)
    await subscriber.value()

    await store.articles.vote(second.number, bob, Vote.UP)
    voted = await subscriber.value()
    await store.articles.vote(first.number, bob, Vote.UP)  # not among the first 2
    await asyncio.sleep(2 * READ_INTERVAL)
    await store.articles.vote(second.number, "carol", Vote.DOWN)
    voted_back = await subscriber.value()

    assert voted["articles"] == [{"id": third.id, "votes": 1}, {"id": second.id, "votes": 2}]
    assert voted_back["articles"] == [{"id": third.id, "votes": 1}, {"id": second.id, "votes": 1}]
    assert voted["moves"] == voted_back["moves"] == []


@pytest.mark.parametrize("group", [None, "show"])
async def test_comments_move_articles_in_the_ranking_by_activity(store, listen, clock, alice, bob, group):
    older, newer = [await post(store, alice, groups=["show"]) for _ in range(2)]
    by_activity = await listen(RANKING, order="ACTIVE", group=group, first=2)
    sent = [(await by_activity.value())["articles"]]
    clock.advance(1)
    comment = (await store.comments.post(older.number, parent=None, poster=bob, content="a text")).comment
    sent.append((await by_activity.value())["articles"])
    await store.comments.delete(comment.number, bob)
    sent.append((await by_activity.value())["articles"])

    first, second = [{"id": each.id, "votes": 1} for each in (newer, older)]
    assert sent == [[first, second], [second, first], [first, second]]


@pytest.mark.parametrize("order", ["TIME", "ACTIVE"])
@pytest.mark.parametrize("group", [None, "show"])
async def test_ranking_is_sent_when_only_numbers_of_comments_change(store, listen, alice, bob, order, group):
    older, newer = [await post(store, alice, groups=["show"]) for _ in range(2)]
    query = """subscription($order: ArticleOrder, $group: String) {
      rankingChanged(order: $order, group: $group, first: 1) { articles { commentCount } moves { to } } }"""
    subscriber = await listen(query, order=order, group=group)
    await subscriber.value()

    await store.comments.post(newer.number, parent=None, poster=bob, content="a text")
    commented = await subscriber.value()
    if order == "TIME":
        await store.comments.post(older.number, parent=None, poster=bob, content="a text")  # not the first one
        await asyncio.sleep(2 * READ_INTERVAL)
    await store.comments.post(newer.number, parent=None, poster=bob, content="another text")

    assert commented == {"articles": [{"commentCount": 1}], "moves": []}
    assert await subscriber.value() == {"articles": [{"commentCount": 2}], "moves": []}


async def test_equal_rankings_are_not_sent(store, listen, live, alice):
    await post(store, alice)
    subscriber = await listen(RANKING)
    await subscriber.value()

    live.events.dispatch(Event(EventKind.MISSED))
    await asyncio.sleep(2 * READ_INTERVAL)
    await post(store, alice)

    assert len((await subscriber.value())["articles"]) == 2


async def test_result_of_a_change_is_computed_once_for_each_viewer(store, url, opened, alice, token):
    article = await post(store, alice)
    query = "subscription { rankingChanged { articles { votes viewerVote } moves { to } } }"
    async with AsyncExitStack() as stack:
        viewers = (None, None, None, token, token)
        subscribers = [await stack.enter_async_context(subscribed(url, query, each)) for each in viewers]
        for each in subscribers:
            await each.value()
        opened.clear()

        await store.articles.vote(article.number, "vera", Vote.UP)
        received = [await each.value() for each in subscribers]

    shown = [[{"votes": 2, "viewerVote": vote}] for vote in (None, None, None, "UP", "UP")]
    assert received == [{"articles": articles, "moves": []} for articles in shown]
    assert sorted(opened, key=bool) == [None, token]


@pytest.mark.parametrize(("order", "group"), [(Order.SCORE, None), (Order.VOTES, "show"), (Order.TIME, "ask")])
async def test_applying_all_moves_gives_the_result_of_a_query(store, listen, clock, alice, bob, order, group):
    chance = random.Random(f"{order} {group}")
    posted = [await post(store, alice, groups=["show"]) for _ in range(8)]
    subscriber = await listen(RANKING, order=order.name, group=group, first=5)
    listing = moved({}, (await subscriber.value())["moves"])
    for _ in range(6):
        for _ in range(30):
            clock.advance(chance.random())
            await change_something(store, chance, posted, alice)
        while in_order(listing) != await queried(store, order, group, 5):
            listing = moved(listing, (message := await subscriber.value())["moves"])
            assert in_order(listing) == [article["id"] for article in message["articles"]]


async def change_something(store: Store, chance: random.Random, posted: list[Any], poster: str) -> None:
    article = chance.choice(posted)
    match chance.randrange(10):
        case 0:
            posted.append(await post(store, poster, groups=chance.sample(["show", "ask"], chance.randrange(3))))
        case 1 if len(posted) > 3:
            posted.remove(article)
            await store.articles.delete(article.number, poster)
        case 2 | 3:
            add, remove = chance.sample(["show", "ask", "new"], 2)
            await store.articles.regroup(article.number, poster, add=[add], remove=[remove])
        case _:
            await store.articles.vote(article.number, f"voter-{chance.randrange(9)}", chance.choice(list(Vote)))


async def queried(store: Store, order: Order, group: str | None, first: int) -> list[str]:
    """The ids of the articles that a query lists."""
    return [article.id for article in (await articles.articles(Context(store), order, group, first=first)).nodes]


def moved(listing: dict[str, int], moves: Any) -> dict[str, int]:
    """The rank of each article after moves."""
    gone = {move["articleId"] for move in moves if move["to"] is None}
    placed = {move["articleId"]: move["to"] for move in moves if move["to"] is not None}
    return {id: place for id, place in (listing | placed).items() if id not in gone}


def in_order(listing: dict[str, int]) -> list[str]:
    """The ids of the articles by their ranks, of which none is missing."""
    assert sorted(listing.values()) == list(range(1, len(listing) + 1))
    return sorted(listing, key=lambda id: listing[id])


async def test_votes_within_one_interval_are_one_message(store, live, alice):
    loop = asyncio.get_running_loop()
    first, second = await post(store, alice), await post(store, alice)
    rising = [first, second] * 25  # the one that is behind gets two votes and leads
    async with aclosing(subscriptions.ranking_changed(Context(store, live=live), Order.VOTES)) as rankings:
        await anext(rankings)
        counting, started_at = asyncio.create_task(messages_until(rankings, 3)), loop.time()
        for each, article in enumerate(rising):
            await store.articles.vote(article.number, f"voter-{each}", Vote.UP)  # moves nothing
            await store.articles.vote(article.number, f"other-{each}", Vote.UP)
        await post(store, alice)

        assert await counting <= 2 + (loop.time() - started_at) / READ_INTERVAL


async def messages_until(rankings: AsyncIterator[RankingChange], articles: int) -> int:
    """How many messages come, with one that came before, until the ranking has so many articles."""
    messages = 1
    while len((await anext(rankings)).articles) < articles:
        messages += 1
    return messages


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
    async with event_connection.connect(redis_url, store.site) as listener:
        live = Live(store, listener, ranking_places=110)

        def watched(first: int, address: str | None = "1.1.1.1") -> AsyncGenerator[RankingChange, None]:
            context = Context(store, live=live, address=address)
            return subscriptions.ranking_changed(context, Order.VOTES, group=None, first=first)

        async with AsyncExitStack() as stack:
            # one address has 110 places: an equal ranking counts once, and one of 3 articles as 50 places
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


@pytest.mark.slow
def test_two_servers_of_one_store_receive_each_others_events(redis_url, tmp_path):
    """Two processes, one of them with two workers."""
    with serving(tmp_path, redis_url=redis_url) as one, serving(tmp_path, redis_url=redis_url, workers=2) as two:
        asyncio.run(vote_on_one_and_receive_from_the_other(one, two))


async def vote_on_one_and_receive_from_the_other(here: Any, there: Any) -> None:
    register = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token } }'
    tokens = [here.ask(register % name)["data"]["register"]["token"] for name in ("alice", "bob")]
    text = 'mutation { post(input: {title: "t", content: "c"}) { article { id } } }'
    id = here.ask(text, tokens[0])["data"]["post"]["article"]["id"]
    async with subscribed(there.url.replace("http", "ws") + "/graphql", RANKING, order="VOTES") as ranking:
        assert (await ranking.value())["articles"] == [{"id": id, "votes": 1}]
        second = here.ask(text, tokens[1])["data"]["post"]["article"]["id"]
        assert (await ranking.value())["articles"] == [{"id": second, "votes": 1}, {"id": id, "votes": 1}]
        here.ask("mutation($id: ID!) { vote(input: {articleId: $id}) { changed } }", tokens[1], id=id)
        assert (await ranking.value())["articles"] == [{"id": id, "votes": 2}, {"id": second, "votes": 1}]
    await comment_on_one_and_receive_from_the_other(here, there, id, *tokens)


async def comment_on_one_and_receive_from_the_other(here: Any, there: Any, id: str, alice: str, bob: str) -> None:
    write = "mutation($a: ID!, $t: String!) { comment(input: {articleId: $a, content: $t}) { comment { id } } }"
    vote = "mutation($c: ID!, $v: VoteValue) { voteOnComment(input: {commentId: $c, value: $v}) { changed } }"
    known = here.ask(write, alice, a=id, t="first")["data"]["comment"]["comment"]["id"]
    url, texts, votes = there.url.replace("http", "ws") + "/graphql", map(str, count()), cycle(["UP", "NONE"])
    async with subscribed(url, COMMENTED, id=id) as posted, subscribed(url, COMMENT_CHANGED, bob, id=id) as changed:
        seen = await first_after(posted, lambda: here.ask(write, alice, a=id, t=next(texts)))
        voted = await first_after(changed, lambda: here.ask(vote, bob, c=known, v=next(votes)))
    assert (seen["poster"], seen["content"].isdigit()) == ({"username": "alice"}, True)
    assert (voted["id"], voted["votes"]) == (known, 2 if voted["viewerVote"] == "UP" else 1)


async def first_after(subscriber: Subscriber, change: Callable[[], object]) -> Any:
    """The first value that is sent, while a change is repeated: a subscription does not say when it begins."""
    reading = asyncio.create_task(subscriber.value())
    while not reading.done():
        await asyncio.to_thread(change)
        await asyncio.wait([reading], timeout=0.2)
    return await reading
