"""
The subscriptions `commentPosted` and `commentChanged`: what is sent, also after a lost connection, and when they end.
The fixture `token` is a session token of vera. `listen` subscribes with a document of tests/schema/subscribers.py, such
as COMMENTED, and `value()` of what it returns waits for the next value. `answered(store)` waits until the reads that a
new subscription begins with are answered.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from resolvers import subscriptions
from resolvers.context import Context
from resolvers.live import Live
from resolvers.subscriptions import ChangesLost, SubscriberTooSlow
from store import removals
from store.client import pubsub
from store.events import Event, EventKind
from store.records import ContentState, Vote
from store.store import Store
from tests.conftest import kill, registered
from tests.engine.sample import until
from tests.proxy import counting
from tests.schema.subscribers import CHANGED, COMMENT_CHANGED, COMMENTED, answered, listeners, subscribed
from tests.servers import PATIENCE
from tests.store.discussions import commented
from tests.store.held import holding
from tests.store.reading import post
from tests.support.events import receive_all

ALL_COMMENTED = "subscription($group: String) { commentPosted(group: $group) { id viewerVote } }"
ANY_COMMENTED = """subscription($id: ID, $group: String, $under: ID) {
  commentPosted(articleId: $id, group: $group, under: $under) { id } }"""

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_each_new_comment_of_the_article_is_sent(store, listen, alice, bob, token):
    article, other = await post(store, alice), await post(store, alice)
    subscriber = await listen(COMMENTED, token, id=article.id)
    first = await commented(store, article.number, bob, text="**first**")
    sent = [await subscriber.value()]
    await commented(store, other.number, bob)
    await store.comments.vote(first.number, alice, Vote.UP)
    second = await commented(store, article.number, "vera", parent=first, text="second")
    sent.append(await subscriber.value())

    assert sent[0] == {
        "id": first.id, "content": "**first**", "depth": 0, "parent": None, "poster": {"username": "bob"},
        "viewerVote": "NONE", "article": {"commentCount": 1},
    }  # fmt: skip
    assert sent[1] == {
        "id": second.id, "content": "second", "depth": 1, "parent": {"id": first.id}, "poster": {"username": "vera"},
        "viewerVote": "UP", "article": {"commentCount": 2},
    }  # fmt: skip


async def test_only_comments_below_another_one_are_sent(store, listen, live, alice, bob):
    article = await post(store, alice)
    first = await commented(store, article.number, bob)
    subscriber, others = await listen(COMMENTED, id=article.id, under=first.id), []
    for _ in range(3):
        others.append(await commented(store, article.number, bob))
        await commented(store, article.number, alice, others[-1])
    reply = await commented(store, article.number, alice, first)
    deeper = await commented(store, article.number, bob, reply)
    second = await commented(store, article.number, alice, first)
    await receive_all(store, live.events)

    assert [(await subscriber.value())["id"] for _ in range(3)] == [reply.id, deeper.id, second.id]


async def test_comments_are_sent_after_votes_edits_and_deletions(store, listen, live, alice, bob, token):
    article = await post(store, alice)
    first = await commented(store, article.number, bob, text="first")
    reply = await commented(store, article.number, alice, parent=first, text="reply")
    subscriber, sent = await listen(COMMENT_CHANGED, token, id=article.id), []
    for change in (
        store.comments.vote(first.number, "vera", Vote.UP),
        store.comments.vote(first.number, "vera", Vote.UP),  # changes nothing
        store.comments.edit(reply.number, alice, "edited"),
        store.comments.delete(first.number, bob),
        store.comments.delete(reply.number, alice),
    ):
        await change
        await receive_all(store, live.events)
    for _ in range(4):
        sent.append(await subscriber.value())

    names = ("id", "content", "state", "votes", "viewerVote", "poster")
    assert [tuple(each[name] for name in names) for each in sent[:2]] == [
        (first.id, "first", "VISIBLE", 2, "UP", {"username": "bob"}),
        (reply.id, "edited", "VISIBLE", 1, "NONE", {"username": "Alice"}),
    ]
    assert sent[1]["editedAt"] is not None
    assert [tuple(each[name] for name in names) for each in sent[2:]] == [
        (first.id, None, "DELETED", 2, None, None),  # it stays for its reply
        (reply.id, None, "DELETED", 1, None, None),  # both are gone
    ]
    assert [each["parent"] for each in sent[2:]] == [None, None]


async def test_deleted_comment_is_sent_with_its_depth_and_parent(store, listen, live, alice, bob):
    article = await post(store, alice)
    first = await commented(store, article.number, bob)
    reply = await commented(store, article.number, alice, first)
    fields = "id depth postedAt replyCount descendantCount ancestors { id } replies { totalCount } isVotingOpen"
    query = f"subscription($id: ID!) {{ commentChanged(articleId: $id) {{ {fields} parent {{ id }} }} }}"
    subscriber = await listen(query, id=article.id)
    await store.comments.delete(reply.number, alice)

    sent = await subscriber.value()
    assert (sent["id"], sent["depth"], sent["parent"]) == (reply.id, 1, {"id": first.id})
    assert (sent["replyCount"], sent["descendantCount"], sent["replies"]["totalCount"]) == (0, 0, 0)


async def test_article_changes_when_its_number_of_comments_does(store, listen, alice, bob):
    article = await post(store, alice)
    query = "subscription($id: ID!) { articleChanged(id: $id) { commentCount } }"
    subscriber = await listen(query, id=article.id)
    comment = await commented(store, article.number, bob)
    sent = [await subscriber.value()]
    await store.comments.edit(comment.number, bob, "edited")  # changes nothing of the article
    await store.comments.delete(comment.number, bob)
    sent.append(await subscriber.value())

    assert sent == [{"commentCount": 1}, {"commentCount": 0}]


async def test_new_comments_of_the_site_and_of_a_group_are_sent(store, listen, alice, bob, token):
    articles = [await post(store, alice, groups=groups) for groups in (["go"], ["go", "lua"], [])]
    site, group = await listen(ALL_COMMENTED, token), await listen(ALL_COMMENTED, group="Lua")
    posted = [await commented(store, article.number, bob) for article in articles]
    posted.append(await commented(store, articles[1].number, alice, posted[1]))
    held = (await hold(store, articles[1].number, bob)).number
    await store.comments.set_state(held, ContentState.VISIBLE)

    sent = [await site.value() for _ in range(5)]
    assert [each["id"] for each in sent] == [*(each.id for each in posted), f"comment:{held}"]
    assert [each["viewerVote"] for each in sent] == ["NONE"] * 5
    assert [(await group.value())["id"] for _ in range(3)] == [posted[1].id, posted[3].id, f"comment:{held}"]


async def hold(store, article, poster):
    """Post a comment that waits for a moderator."""
    with holding(store):
        return (await store.comments.post(article, parent=None, poster=poster, content="a text that is held")).comment


async def test_missed_comments_of_the_site_are_sent_after_a_lost_connection(store, listen, live, alice, bob, redis):
    articles = [await post(store, alice, groups=["go"]) for _ in range(2)]
    old = await commented(store, articles[0].number, bob)
    site, group = await listen(ALL_COMMENTED), await listen(ALL_COMMENTED, group="go")
    known = await commented(store, articles[0].number, alice, old)
    assert (await site.value())["id"] == (await group.value())["id"] == known.id
    missed = [await commented(store, article.number, bob) for article in articles]
    live.events.dispatch(Event(EventKind.MISSED))

    for each in (site, group):
        assert {(await each.value())["id"] for _ in missed} == {comment.id for comment in missed}


async def test_subscriptions_complete_when_the_article_is_deleted(store, listen, alice, bob):
    article = await post(store, alice)
    await asyncio.gather(*(registered(store, f"person{each}") for each in range(3)))
    first = await commented(store, article.number, bob)
    for each in range(3):
        await commented(store, article.number, f"person{each}", first)
    subscribers = [await listen(query, id=article.id) for query in (COMMENTED, COMMENT_CHANGED, CHANGED)]
    await store.articles.delete(article.number, alice)
    await removals.remove_all(store.site, store.site.partition_of_article(article.number))

    assert [await each.message() for each in subscribers] == [{"id": "1", "type": "complete"}] * 3


@pytest.mark.parametrize(
    ("query", "variables", "refusal"),
    [
        (COMMENTED, {"id": "article:1541"}, ("NOT_FOUND", "there is no article:1541")),
        (COMMENT_CHANGED, {"id": "article:1541"}, ("NOT_FOUND", "there is no article:1541")),
        (COMMENTED, {"id": "comment:1"}, ("BAD_USER_INPUT", "an article's id looks like article:1541, not comment:1")),
        (
            COMMENTED,
            {"id": "article:1541", "under": "article:2"},
            ("BAD_USER_INPUT", "a comment's id looks like comment:1541, not article:2"),
        ),
        (ANY_COMMENTED, {"under": "comment:2"}, ("BAD_USER_INPUT", "`under` needs `articleId`")),
        (
            ANY_COMMENTED,
            {"id": "article:1541", "group": "go"},
            ("BAD_USER_INPUT", "`articleId` and `group` exclude each other"),
        ),
    ],
)
async def test_invalid_subscription_ends_with_its_error(url, live, query, variables, refusal):
    async with subscribed(url, query, **variables) as subscriber:
        assert await subscriber.refusal() == refusal
    assert listeners(live) == 0


async def test_comment_of_another_article_has_nothing_below_it(store, url, alice, bob):
    article, other = await post(store, alice), await post(store, alice)
    comment = await commented(store, other.number, bob)
    async with subscribed(url, COMMENTED, id=article.id, under=comment.id) as subscriber:
        assert await subscriber.refusal() == ("NOT_FOUND", f"{article.id} has no {comment.id}")


async def test_missed_comments_and_changes_are_sent_after_a_lost_connection(
    store, listen, alice, bob, redis, monkeypatch
):
    article = await post(store, alice)
    first = await commented(store, article.number, bob)
    gone = await commented(store, article.number, bob)
    everything, below = await listen(COMMENTED, id=article.id), await listen(COMMENTED, id=article.id, under=first.id)
    changed, counted = await listen(COMMENT_CHANGED, id=article.id), await listen(CHANGED, id=article.id)
    known = await commented(store, article.number, alice, first)
    assert (await everything.value())["id"] == (await below.value())["id"] == known.id
    await counted.value()

    back, connected = asyncio.Event(), pubsub.Subscriber.connect

    async def connected_when_back(subscriber: pubsub.Subscriber) -> pubsub.SubscriberConnection:
        await back.wait()
        return await connected(subscriber)

    monkeypatch.setattr(pubsub.Subscriber, "connect", connected_when_back)
    kill(redis, "TYPE", "pubsub")
    await store.comments.vote(first.number, alice, Vote.UP)
    await store.comments.edit(known.number, alice, "edited")
    await store.comments.delete(gone.number, bob)
    missed = [await commented(store, article.number, bob, parent) for parent in (None, first, known)]
    back.set()

    assert [(await everything.value())["id"] for _ in missed] == [each.id for each in missed]
    assert [(await below.value())["id"] for _ in missed[1:]] == [each.id for each in missed[1:]]
    found = [await changed.value() for _ in range(3)]
    assert [(each["id"], each["content"], each["votes"], each["state"]) for each in found] == [
        (first.id, first.content, 2, "VISIBLE"),
        (known.id, "edited", 1, "VISIBLE"),
        (gone.id, None, 1, "DELETED"),
    ]
    await counted.value()
    last = await commented(store, article.number, bob)
    assert (await everything.value())["id"] == last.id


@pytest.mark.parametrize("field", [subscriptions.comment_posted, subscriptions.comment_changed])
async def test_changes_that_are_lost_end_the_subscription_with_an_error(store, live, alice, field):
    article = await post(store, alice)
    async with aclosing(field(Context(store, live=live), article.id)) as comments:
        reading = asyncio.create_task(anext(comments))
        await until(lambda: listeners(live) == 1)
        await answered(store)
        live.events.dispatch(Event(EventKind.MISSED))

        with pytest.raises(ChangesLost, match="changes of comments were lost: subscribe again"):
            await reading
    assert listeners(live) == 0


async def test_slow_reader_gets_each_comment_once_or_an_error(store, live, alice, bob, monkeypatch):
    monkeypatch.setattr(subscriptions, "MOST_COMMENTS", 5)
    article = await post(store, alice)
    async with (
        aclosing(subscriptions.comment_posted(Context(store, live=live), article.id)) as posted,
        aclosing(subscriptions.comment_changed(Context(store, live=live), article.id)) as changed,
    ):
        reading = [asyncio.create_task(anext(each)) for each in (posted, changed)]
        await until(lambda: listeners(live) == 2)
        await answered(store)
        made = [await commented(store, article.number, bob) for _ in range(5)]
        await store.comments.vote(made[0].number, alice, Vote.UP)
        assert [(await each).number for each in reading] == [made[0].number] * 2
        for each in made:
            for vote in (Vote.DOWN, Vote.UP):
                await store.comments.vote(each.number, "voter", vote)
        await receive_all(store, live.events)

        assert [(await anext(posted)).number for _ in made[1:]] == [each.number for each in made[1:]]
        latest = [await anext(changed) for _ in made]
        assert [(each.number, each.upvotes) for each in latest] == [
            (each.number, 3 if each is made[0] else 2) for each in made
        ]
        for _ in range(6):
            await commented(store, article.number, bob)
        await receive_all(store, live.events)
        with pytest.raises(SubscriberTooSlow, match="more than 5 changed comments wait to be sent"):
            await anext(posted)


@pytest.mark.one_server
@pytest.mark.parametrize("field", [subscriptions.comment_posted, subscriptions.comment_changed])
async def test_comments_that_wait_are_read_together(redis_url, partitions, tmp_path, alice, field):
    """Else a subscriber falls behind where comments come faster than round trips."""
    async with counting(redis_url, tmp_path / "proxy.sock") as proxy:
        store = await Store.open(proxy.url, partitions=partitions, cached_keys=0)
        live = Live(store)
        article = await post(store, alice)
        async with aclosing(field(Context(store, live=live), article.id)) as comments:
            reading = asyncio.create_task(anext(comments))
            await until(lambda: listeners(live) == 1)
            await answered(store)
            made = [await commented(store, article.number, alice) for _ in range(41)]
            before = proxy.round_trips
            for each in made:
                kind = EventKind.COMMENTED if field is subscriptions.comment_posted else EventKind.COMMENT_EDITED
                live.events.dispatch(Event(kind, each.number, alice, article=article.number))
            found = [await reading, *[await anext(comments) for _ in made[1:]]]
        await store.close()

    assert [each.number for each in found] == [each.number for each in made]
    assert proxy.round_trips - before <= 6  # two for each 20 comments: their articles are read after them


@pytest.mark.one_server
async def test_subscribers_share_the_read_of_a_comment(store, listen, alice, bob, redis):
    article = await post(store, alice)
    first = await commented(store, article.number, bob)
    subscribers = [await listen(COMMENT_CHANGED, id=article.id) for _ in range(5)]
    redis.config_resetstat()
    await store.comments.vote(first.number, alice, Vote.UP)

    assert [(await each.value())["votes"] for each in subscribers] == [2] * 5
    # one more than needed: the script reads the comment, and the subscribers together read it and its article
    assert redis.info("commandstats")["cmdstat_hgetall"]["calls"] <= 4


async def test_server_sent_events_have_comments_and_their_end(store, live, url, alice, bob):
    article = await post(store, alice)
    query = "subscription($id: ID!) { commentChanged(articleId: $id) { content state } }"
    params = {"query": query, "variables": json.dumps({"id": article.id})}
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as client,
        client.stream(
            "GET", url.replace("ws", "http"), params=params, headers={"accept": "text/event-stream"}
        ) as response,
    ):
        lines = response.aiter_lines()
        await until(lambda: listeners(live) == 1)
        await answered(store)
        comment = await commented(store, article.number, bob, text="first")
        await store.comments.delete(comment.number, bob)
        # the article is there until this was read: nothing is sent about comments of a deleted one
        sent = [json.loads(line.removeprefix("data: "))["data"] async for line in until_deleted(lines)]
        await store.articles.delete(article.number, alice)
        rest = [line async for line in lines]

    assert sent[-1] == {"commentChanged": {"content": None, "state": "DELETED"}}
    assert rest.count("event: complete") == 1


async def until_deleted(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """The lines with data up to the one about a deletion."""
    async for line in lines:
        if line.startswith("data: {"):
            yield line
            if "DELETED" in line:
                return
