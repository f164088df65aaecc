"""
The subscriptions `articleChanged`, `articlePosted` and `feedArticle`; lost connections, and what remains after a
subscription.

The fixture `token` is a session token of the user vera. `listen` subscribes with a document of
tests/schema/subscribers.py, such as CHANGED, and `value()` of what it returns waits for the next value.
`answered(store)` waits until the reads that a new subscription begins with are answered.
"""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from resolvers import subscriptions
from resolvers.context import Context
from resolvers.dataloader import Reads
from store.client import pubsub
from store.errors import StoreUnavailable
from store.records import Article, Vote
from tests.conftest import kill
from tests.engine.sample import until
from tests.schema.subscribers import CHANGED, FED, POSTED, RANKING, SEVERAL, answered, listeners, subscribed
from tests.store.reading import post
from tests.support.events import receive_all

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_article_is_sent_after_each_vote_edit_and_regroup(store, listen, alice, bob, token):
    article = await post(store, alice)
    subscriber = await listen(CHANGED, token, id=article.id)
    sent = []
    for change in (
        store.articles.vote(article.number, "vera", Vote.UP),
        store.articles.vote(article.number, bob, Vote.DOWN),
        store.articles.edit(article.number, alice, {"title": "another"}),
        store.articles.regroup(article.number, alice, add=["show"], remove=[]),
    ):
        await change
        sent.append(await subscriber.value())

    assert sent == [
        {"votes": 2, "title": "a title", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "a title", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "another", "viewerVote": "UP", "groups": []},
        {"votes": 1, "title": "another", "viewerVote": "UP", "groups": [{"name": "show"}]},
    ]


async def test_each_of_several_articles_is_sent_after_its_changes(store, listen, alice, bob, token):
    first, second, other = [await post(store, alice) for _ in range(3)]
    subscriber = await listen(SEVERAL, token, ids=[second.id, first.id, "article:1541", first.id])
    await store.articles.vote(other.number, bob, Vote.UP)
    sent = []
    for article, voter in ((first, bob), (second, bob), (first, "vera")):
        await store.articles.vote(article.number, voter, Vote.UP)
        sent.append(await subscriber.value())

    assert sent == [
        {"id": first.id, "votes": 2, "viewerVote": "NONE"},
        {"id": second.id, "votes": 2, "viewerVote": "NONE"},
        {"id": first.id, "votes": 3, "viewerVote": "UP"},
    ]


async def test_deleted_one_of_several_articles_is_left_out(store, listen, live, alice, bob):
    deleted, article = await post(store, alice), await post(store, alice)
    subscriber = await listen(SEVERAL, ids=[deleted.id, article.id])
    await store.articles.delete(deleted.number, alice)
    await receive_all(store, live.events)
    await store.articles.vote(article.number, bob, Vote.UP)

    assert (await subscriber.value())["id"] == article.id


async def test_nothing_is_kept_of_unknown_articles(store, listen, live, alice, bob):
    article = await post(store, alice)
    subscriber = await listen(SEVERAL, ids=[f"article:{number}" for number in range(1541, 1640)] + [article.id])

    await until(lambda: listeners(live) == 1)
    await store.articles.vote(article.number, bob, Vote.UP)
    assert (await subscriber.value())["votes"] == 2
    assert listeners(live) == 1


async def test_command_without_a_change_sends_nothing(store, listen, alice, bob):
    article, other = await post(store, alice), await post(store, alice)
    subscriber = await listen(CHANGED, id=article.id)
    await store.articles.vote(article.number, alice, Vote.UP)
    await store.articles.edit(article.number, alice, {})
    await store.articles.regroup(article.number, alice, add=[], remove=["show"])
    await store.articles.vote(other.number, bob, Vote.UP)
    await store.articles.edit(article.number, alice, {"title": "another"})

    assert (await subscriber.value())["title"] == "another"


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
        (
            SEVERAL,
            {"ids": ["user:alice"]},
            ("BAD_USER_INPUT", "an article's id looks like article:1541, not user:alice"),
        ),
        (SEVERAL, {"ids": ["article:1541"] * 101}, ("BAD_USER_INPUT", "at most 100 ids at once, not 101")),
        (FED, {}, ("UNAUTHENTICATED", "log in first")),
        (RANKING, {"first": 101}, ("BAD_USER_INPUT", "first is 1 to 100, not 101")),
    ],
)
async def test_invalid_subscription_ends_with_its_error(url, live, query, variables, refusal):
    async with subscribed(url, query, **variables) as subscriber:
        assert await subscriber.refusal() == refusal
    assert listeners(live) == 0


async def test_new_articles_of_the_site_or_of_one_group_are_sent(store, listen, live, alice, bob):
    everything, show = await listen(POSTED), await listen(POSTED, group="Show")
    first = await post(store, alice, groups=["ask"])
    await receive_all(store, live.events)
    second = await post(store, bob, groups=["show", "ask"])

    assert await everything.value() == {"id": first.id, "poster": {"username": "Alice"}}
    assert (await everything.value())["id"] == second.id
    assert (await show.value())["id"] == second.id


async def test_malformed_group_name_is_an_empty_group(store, listen, live, alice):
    ranking, posts = await listen(RANKING, group="no group"), await listen(POSTED, group="no group")
    await post(store, alice, groups=["no"])
    await receive_all(store, live.events)

    assert (await ranking.value())["articles"] == []
    await posts.leave()
    with pytest.raises(ConnectionClosed):  # without a message before
        await posts.message()


async def test_feed_subscription_follows_changes_of_followed_users(store, listen, live, alice, bob, token):
    subscriber, received = await listen(FED, token), []
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
            posters.append((await subscriber.value())["poster"]["username"])
        received.append(posters)

    assert received == [["vera"], ["Alice", "vera"], ["Alice", "bob", "vera"], ["bob", "vera"]]


async def test_feed_subscription_ends_with_its_session(store, listen, ask, token):
    subscriber = await listen(FED, token)
    await ask("mutation { logOut { userErrors { code } } }", token)
    await post(store, "vera")

    assert await subscriber.refusal() == ("UNAUTHENTICATED", "log in first")


async def test_posts_while_a_subscription_starts_are_sent(store, live, alice, monkeypatch):
    """A subscription listens before it reads the listing: an article posted in between is in both."""
    page = Reads.page

    async def posting(self: Reads, *selected: Any) -> Any:
        monkeypatch.setattr(Reads, "page", page)
        posted.append(await post(store, alice))
        await receive_all(store, live.events)
        return await page(self, *selected)

    posted: list[Article] = []
    monkeypatch.setattr(Reads, "page", posting)
    async with aclosing(subscriptions.article_posted(Context(store, live=live))) as posts:
        assert (await anext(posts)).number == posted[0].number


async def test_current_state_is_sent_after_a_lost_connection(store, listen, alice, bob, token, redis, monkeypatch):
    article = await post(store, alice)
    deleted = await post(store, alice)
    changed, completed = await listen(CHANGED, id=article.id), await listen(CHANGED, id=deleted.id)
    several = await listen(SEVERAL, ids=[deleted.id, article.id])
    posted, ranking = await listen(POSTED), await listen(RANKING, order="VOTES")
    assert len((await ranking.value())["moves"]) == 2
    known = await post(store, bob)
    assert (await posted.value())["id"] == known.id
    await ranking.value()

    back, connected = asyncio.Event(), pubsub.Subscriber.connect

    async def connected_when_back(subscriber: pubsub.Subscriber) -> pubsub.SubscriberConnection:
        await back.wait()
        return await connected(subscriber)

    monkeypatch.setattr(pubsub.Subscriber, "connect", connected_when_back)
    kill(redis, "TYPE", "pubsub")
    await store.articles.vote(article.number, bob, Vote.UP)
    await store.articles.delete(deleted.number, alice)
    missed = [(await post(store, bob)).id for _ in range(3)]
    back.set()

    assert (await changed.value())["votes"] == 2
    assert await several.value() == {"id": article.id, "votes": 2, "viewerVote": None}
    assert (await completed.message())["type"] == "complete"
    assert sorted([(await posted.value())["id"] for _ in range(3)]) == sorted(missed)
    assert [each["votes"] for each in (await ranking.value())["articles"]] == [2, 1, 1, 1, 1]
    last = await post(store, bob)
    assert (await posted.value())["id"] == last.id


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

    assert [(await each.value())["votes"] for each in subscribers] == [2] * 5
    assert len(redis.client_list(_type="pubsub")) == 1
    assert redis.info("commandstats")["cmdstat_hgetall"]["calls"] == 2  # by the script, and one read


async def test_closed_subscriptions_leave_no_tasks_and_no_listeners(store, listen, live, url, alice, token):
    article = await post(store, alice)
    async with subscribed(url, CHANGED, id=article.id):
        pass
    await until(lambda: listeners(live) == 0)
    before = task_names()
    for _ in range(2):
        subscribers = [await listen(CHANGED, id=article.id), await listen(POSTED), await listen(FED, token)]
        subscribers.append(await listen(SEVERAL, ids=[article.id, "article:1541"]))
        subscribers.append(await listen(RANKING))
        subscribers.append(await listen(RANKING, first=3))
        assert len(live._rankings) == 2
        for each in subscribers:
            await each.leave()
        await until(lambda: listeners(live) == 0)
        assert live._rankings == {}
        await until(lambda: task_names() == before)


def task_names() -> list[str]:
    return sorted(task.get_coro().__qualname__ for task in asyncio.all_tasks())
