"""
Events that scripts publish on channels of Redis, and the listeners in each process that receive them, each by topic.
After a lost connection the events that were missed are read from the log; where that is not possible, listeners get an
event MISSED.

`received` has the listeners of a process. `disconnection` ends its connection and lets it come back. `published()`
returns the messages since its last call: of an article `KIND NUMBER POSTER ID GROUP...`, with the id of the entry.

Codes such as M6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis import Redis

from store import (
    annulments,
    article_moderation,
    bans,
    comment_moderation,
    event_connection,
    events,
    flags,
    keys,
    leaving,
    log,
    removals,
)
from store.articles import Draft
from store.client import connection
from store.errors import Refusal
from store.events import CAPACITY, Event, EventKind, Events, Mailbox
from store.flags import FlagReason
from store.maintenance import reindex
from store.maintenance.import_stories import Story, import_batch
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import clients, registered, servers_of
from tests.servers import until
from tests.store.held import holding
from tests.store.reading import post
from tests.store.replaying import entries
from tests.support.events import Disconnection, receive_all

pytestmark = pytest.mark.many_partitions

SPAM = FlagReason.SPAM


@pytest.fixture
def disconnection(monkeypatch: pytest.MonkeyPatch) -> Disconnection:
    return Disconnection(monkeypatch)


@pytest.fixture
async def received(redis_url: str, redis: Redis, store: Store, disconnection: Disconnection) -> AsyncIterator[Events]:
    """The events that this process receives, from now on."""
    async with event_connection.connect(redis_url, store.site) as received:
        await wait_until_subscribed(redis, received)
        yield received


async def wait_until_subscribed(redis: Redis, received: Events) -> None:
    """Wait until all events published before are received, which takes time on a cluster."""
    for number, server in enumerate(servers_of(redis)):
        with received.mailbox(events.of_inbox("last")) as last:
            redis.execute_command("PUBLISH", keys.events(0), f"notified {number} last", **server)
            while (await anext(last)).number != number:
                pass


def as_tuple(event: Event) -> tuple[EventKind, int, str, tuple[str, ...]]:
    """Kind, number, username and groups of an event."""
    return event.kind, event.number, event.username, event.groups


def with_entry(event: Event) -> tuple[object, ...]:
    """The same, with the id of the entry in the log and the number of the article."""
    return *as_tuple(event), event.id, event.article


async def test_every_change_is_published_with_its_groups(store, alice, bob, published):
    number = (await post(store, alice, groups=["show", "ask"])).number
    await store.articles.vote(number, bob, Vote.UP)
    await store.articles.edit(number, alice, {"title": "another"})
    await store.articles.regroup(number, alice, add=["new"], remove=["ask"])
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


async def test_events_of_comments_name_the_article_and_if_they_change_its_activity_its_groups(
    store, alice, bob, published
):
    """New and deleted comments move their article in the order ACTIVE, so that listings of its groups change."""
    article = (await post(store, alice, groups=["show", "ask"])).number
    number = (await store.comments.post(article, parent=None, poster=bob, content="a text")).comment.number
    await store.comments.vote(number, alice, Vote.UP)
    await store.comments.edit(number, bob, "another")
    await store.comments.delete(number, bob)

    events_of_it = [event for message in published() if (event := Event.read(message)).number == number]
    assert [(event.kind, event.username, event.article, event.groups) for event in events_of_it] == [
        (EventKind.NOTIFIED, "Alice", 0, ()),
        (EventKind.COMMENTED, "bob", article, ("ask", "show")),
        (EventKind.COMMENT_VOTED, "bob", article, ()),
        (EventKind.COMMENT_EDITED, "bob", article, ()),
        (EventKind.COMMENT_DELETED, "bob", article, ("ask", "show")),
    ]


async def test_missed_events_of_comments_are_those_that_were_published(
    store, alice, bob, received, disconnection, request
):
    article = (await post(store, alice, groups=["show"])).number
    first = (await store.comments.post(article, parent=None, poster=bob, content="a text")).comment.number
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    published = request.getfixturevalue("published")  # it subscribes now
    await store.comments.vote(first, alice, Vote.UP)
    second = (await store.comments.post(article, parent=first, poster=alice, content="a text")).comment.number
    await store.comments.edit(second, alice, "another")
    await store.comments.delete(first, bob)
    expected = [event for message in published() if (event := Event.read(message)).kind in events.OF_COMMENTS]
    await disconnection.finish(store, received)

    missed = [event for event in seen if event.kind in events.OF_COMMENTS]
    assert list(map(with_entry, missed)) == list(map(with_entry, expected))
    assert len(missed) == 4


async def test_missed_action_of_a_moderator_has_its_number(store, alice, received, disconnection):  # M6
    seen = all_of(received)
    await disconnection.begin()
    banned = await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="spam")
    await disconnection.finish(store, received)

    found = [as_tuple(event) for event in seen if event.kind is EventKind.MODERATED]
    assert found == [(EventKind.MODERATED, banned.action.number, "operator", ())]


async def test_texts_that_are_shown_for_the_first_time_meanwhile_are_new_after_a_lost_connection(
    store, alice, bob, received, disconnection
):  # M2
    shown = await post(store, alice, groups=["show"])
    with holding(store):
        article = (await post(store, alice, groups=["ask"])).number
        comment = (await store.comments.post(shown.number, parent=None, poster=bob, content="a text")).comment.number
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    await article_moderation.approve(store.site, OPERATOR, article)
    await comment_moderation.approve(store.site, OPERATOR, comment)
    await disconnection.finish(store, received)
    await disconnection.begin()
    for module, number in ((article_moderation, article), (comment_moderation, comment)):
        await module.remove(store.site, OPERATOR, number, group=None, reason="an advertisement")
        await module.approve(store.site, OPERATOR, number)
    await disconnection.finish(store, received)

    new = [as_tuple(event) for event in seen if event.kind in (EventKind.POSTED, EventKind.COMMENT_ANNOUNCED)]
    assert sorted(new, key=str) == [
        (EventKind.COMMENT_ANNOUNCED, comment, "bob", ("show",)),
        (EventKind.POSTED, article, "Alice", ("ask",)),
    ]


async def test_notifications_of_texts_that_are_shown_for_the_first_time_are_not_missed(
    store, alice, bob, received, disconnection
):  # C8, M2
    """Notifications of a comment, of another one whose article comes back after it, and of an article."""
    first, second = [(await post(store, alice)).number for _ in range(2)]
    with holding(store):
        comments = {
            (await store.comments.post(each, parent=None, poster=bob, content="a text")).comment.number
            for each in (first, second)
        }
        draft = Draft("a title", content="@bob should read this")
        article = (await store.articles.post(alice, draft)).article.number
    await article_moderation.remove(store.site, OPERATOR, second, group=None, reason="an advertisement")
    await receive_all(store, received)
    told: set[tuple[str, int]] = set()

    def note(event: Event) -> None:
        told.add((event.username.lower(), event.number))

    with received.subscribed(note, events.of_inbox("alice"), events.of_inbox("bob")):
        await disconnection.begin()
        for number in comments:
            await comment_moderation.approve(store.site, OPERATOR, number)
        for number in (second, article):
            await article_moderation.approve(store.site, OPERATOR, number)
            await removals.remove_all(store.site, store.site.partition_of_article(number))
        await disconnection.finish(store, received)

    assert told >= {*(("alice", number) for number in comments), ("bob", article)}


async def test_missed_annulment_of_votes_is_an_event_missed(store, alice, bob, received, disconnection):  # M8
    """The entry of the log names neither posters nor groups, so that any listener may be concerned."""
    article = await post(store, alice)
    await store.articles.vote(article.number, bob, Vote.UP)
    done = await annulments.annul(store.site, OPERATOR, bob, since=None, until=None, reason="a ring")
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    partition = store.site.partition_of_article(article.number)
    votes = [(article.number, 0)]  # 0: Redis has the vote, as voting is open
    await annulments.annul_some(store.site, partition, done.action.number, bob, complete_at=0, votes=votes)
    await disconnection.finish(store, received)

    assert EventKind.MISSED in {event.kind for event in seen}


async def test_missed_deletion_of_a_user_has_the_slot(store, alice, received, disconnection):  # U6
    """The slot is the share of users by whose number their sessions are found, so that their sockets are closed."""
    seen = all_of(received)
    await disconnection.begin()
    leaver = await leaving.begin(store.site, alice, password_hash="", removes_texts=True)
    await leaving.end(store.site, leaver)
    await disconnection.finish(store, received)

    assert {event.number for event in seen if event.kind is EventKind.USER_DELETED} == {keys.slot("alice")}


async def test_import_is_an_event_of_listings_and_not_of_posts(store, clock, received):
    with received.mailbox(events.of_listing("show")) as show, received.mailbox(events.of_posts("show")) as posts:
        await import_batch(
            store,
            [
                Story(
                    "7",
                    "a title",
                    link="https://example.com/",
                    poster="Marlow",
                    time=clock.now,
                    votes=5,
                    groups=("show",),
                )
            ],
        )
        imported = await anext(show)
        posted = await post(store, "Marlow", groups=["show"])

        assert (imported.kind, imported.username, imported.groups) == (EventKind.IMPORTED, "Marlow", ("show",))
        assert (await anext(posts)).number == posted.number


async def test_command_that_changes_nothing_publishes_nothing(store, alice, bob, published):
    number = (await post(store, alice, groups=["show"])).number
    published()
    await store.articles.vote(number, alice, Vote.UP)
    await store.articles.edit(number, alice, {})
    await store.articles.regroup(number, alice, add=["show"], remove=["ask"])
    for refused in (
        store.articles.vote(number, alice, Vote.DOWN),
        store.articles.edit(number, bob, {"title": "another"}),
        store.articles.regroup(number, bob, add=["ask"], remove=[]),
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


async def test_all_processes_receive_the_same_events(store, alice, received, redis_url, redis):
    async with event_connection.connect(redis_url, store.site) as other:
        await wait_until_subscribed(redis, other)
        with received.mailbox(events.of_posts(None)) as here, other.mailbox(events.of_posts(None)) as there:
            number = (await post(store, alice)).number

            assert (await anext(here)).number == (await anext(there)).number == number


def all_of(received: Events) -> list[Event]:
    """All events that are dispatched from now on, but notifications."""
    seen: list[Event] = []
    received._listeners[events.EVERY_ENTRY].add(seen.append)
    return seen


async def test_missed_events_are_dispatched_once_and_in_order(
    store, alice, bob, received, disconnection, request
):  # D4
    """They are equal to the messages that were lost, but for the groups of votes and edits, which are those of now."""
    posted = [(await post(store, name, groups=["show"])).number for name in (alice, bob)]
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    published = request.getfixturevalue("published")  # it subscribes now
    for number, (poster, other) in zip(posted, [(alice, bob), (bob, alice)], strict=True):
        await store.articles.vote(number, other, Vote.UP)
        await store.articles.edit(number, poster, {"title": "another"})
        await store.follows.follow(poster, other)
        await store.articles.vote(number, other, Vote.DOWN)
    await reindex.set_weights(store.site, "show", {"vote_score": 1.0}, progress=lambda count: None)
    await import_batch(store, [Story("7", "a title", link="", poster="Marlow", time=5, votes=5, groups=("show",))])
    for number, poster in zip(posted, (alice, bob), strict=True):
        await store.articles.regroup(number, poster, add=["show"], remove=["ask"])
        await store.articles.regroup(number, poster, add=["ask"], remove=[])
    deleted = await post(store, alice, groups=["ask"])
    await store.articles.delete(deleted.number, alice)
    expected = [Event.read(message) for message in published()]
    await disconnection.finish(store, received)
    missed = [event for event in seen if event.id]

    assert EventKind.MISSED not in {event.kind for event in seen}
    for number in posted:
        kinds = [event.kind for event in missed if event.number == number]
        assert kinds == [EventKind.VOTED, EventKind.EDITED, EventKind.VOTED, EventKind.REGROUPED]
    are_of_now = (EventKind.VOTED, EventKind.EDITED)
    assert {event.groups for event in missed if event.kind in are_of_now} == {("ask", "show")}
    # a deletion removes the entries with the texts of an article from the log
    lost = [event for event in expected if (event.kind, event.number) != (EventKind.POSTED, deleted.number)]
    assert Counter((event.kind, event.number, event.username, event.id) for event in missed) == Counter(
        (event.kind, event.number, event.username, event.id) for event in lost
    )
    assert Counter(event.groups for event in missed if event.kind not in are_of_now) == Counter(
        event.groups for event in lost if event.kind not in are_of_now
    )


async def test_notifications_are_events_of_those_who_are_notified(store, alice, bob, received, disconnection):  # C8
    """Those that were missed come again, once at least."""
    article = await post(store, alice)
    await receive_all(store, received)
    with received.mailbox(events.of_inbox("ALICE")) as own, received.mailbox(events.of_inbox("bob")) as other:
        first = (await store.comments.post(article.number, parent=None, poster=bob, content="a text")).comment
        assert as_tuple(await anext(own)) == (EventKind.NOTIFIED, first.number, "Alice", ())
        await receive_all(store, received)  # the comment's own event, too: without it, its notification comes again

        await disconnection.begin()
        posted = await store.comments.post(article.number, parent=first.number, poster=alice, content="a text")
        second = posted.comment
        third = (await store.comments.post(article.number, parent=None, poster=bob, content="another text")).comment
        await disconnection.finish(store, received)
        assert [(await anext(own)).number, (await anext(other)).number] == [third.number, second.number]


async def test_missed_decision_about_flags_is_no_event_missed(store, alice, received, disconnection, partitions):  # D4
    """They are in the log only where the flags are of users of other partitions."""
    article = await post(store, alice)
    for number in range(8):  # so many that some are of other partitions, if there are any
        await flags.flag(store.site, await registered(store, f"flagger-{number}"), "article", article.number, SPAM)
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="an advertisement")
    await disconnection.finish(store, received)

    kinds = {event.kind for event in seen}
    assert EventKind.STATE_CHANGED in kinds and EventKind.MISSED not in kinds
    assert (EventKind.FLAGS_DECIDED in kinds) == (partitions > 1)


async def test_after_a_notification_earlier_entries_are_not_dispatched_again(
    store, alice, bob, received, disconnection
):
    """A notification has no entry in the log, and so no position there."""
    article = await post(store, alice)
    seen = all_of(received)
    await store.comments.post(article.number, parent=None, poster=bob, content="a text")
    await receive_all(store, received)
    await store.site.redis.run(("PUBLISH", keys.events(0), f"notified {article.number} bob"))
    await disconnection.begin()
    await disconnection.finish(store, received)

    # [] if the message of the post came before `seen` began
    assert [event.kind for event in seen if event.number == article.number] in ([EventKind.POSTED], [])
    assert EventKind.MISSED not in {event.kind for event in seen}


async def test_more_events_than_one_read_are_all_dispatched(store, alice, received, disconnection, monkeypatch, redis):
    monkeypatch.setattr(event_connection, "READ_AT_ONCE", 3)
    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    numbers = [(await post(store, alice)).number for _ in range(20)]
    await disconnection.finish(store, received)

    assert [event.number for event in seen if event.kind is EventKind.POSTED] == numbers


async def test_second_loss_dispatches_nothing_twice(store, alice, received, disconnection):
    await receive_all(store, received)
    seen = all_of(received)
    numbers = []
    for _ in range(3):
        await disconnection.begin()
        numbers.append((await post(store, alice)).number)
        await disconnection.finish(store, received)
        numbers.append((await post(store, alice)).number)
        await receive_all(store, received)

    assert [event.number for event in seen if event.kind is EventKind.POSTED] == numbers
    assert EventKind.MISSED not in {event.kind for event in seen}


async def test_late_message_of_what_the_log_had_is_not_dispatched_again(store, alice, received, disconnection, redis):
    """A busy cluster may deliver on a new connection what was published before it."""
    await receive_all(store, received)
    seen, partition = all_of(received), store.site.partition_of_user(alice)
    await disconnection.begin()
    numbers = [(await post(store, alice)).number for _ in range(2)]
    await disconnection.finish(store, received)
    ids = [entry.id for entry in (await log.read(store.site, partition, log.START, count=1_000))[-2:]]
    for number, id in zip(numbers, ids, strict=True):
        redis.publish(keys.events(partition), f"posted {number} Alice {id}")
    await receive_all(store, received)
    numbers.append((await post(store, alice)).number)
    await receive_all(store, received)

    assert [event.number for event in seen if event.kind is EventKind.POSTED] == numbers


async def no_gaps(receiver: object, partitions: object) -> list[int]:
    """Takes the place of the search for partitions whose log lacks entries: it finds none."""
    return []


@pytest.mark.parametrize("cause", ["trimmed", "trimmed while it is read", "another log", "lost"])
async def test_gap_in_the_log_is_one_missed_event(store, alice, received, disconnection, redis, cause, monkeypatch):
    """After the event MISSED, events are dispatched as before."""
    partition = store.site.partition_of_user(alice)
    await post(store, alice)
    await receive_all(store, received)
    with received.mailbox(events.of_posts(None)) as mailbox:
        await disconnection.begin()
        if cause == "lost":
            redis.delete(keys.log(partition))
            await asyncio.sleep(0.005)  # or else the next entry may have the id of the last, of the same millisecond
        await post(store, alice)
        await post(store, alice)
        if cause == "trimmed while it is read":
            monkeypatch.setattr(event_connection.Receiver, "_with_gaps", no_gaps)
        if cause.startswith("trimmed"):
            await log.trim(store.site, kept_ms=60_000, max_entries=1)
        if cause == "another log":
            redis.hset(keys.store(), log.IDENTITY_FIELD, "of another log")
        await disconnection.finish(store, received)
        number = (await post(store, alice)).number
        found = [await anext(mailbox), await anext(mailbox)]
        while found[-1].number != number:  # a busy cluster delivers late what was published before
            found.append(await anext(mailbox))

    assert [event.kind for event in found] == [EventKind.MISSED, *[EventKind.POSTED] * (len(found) - 1)]


@pytest.mark.one_server
async def test_messages_that_arrive_during_the_reading_of_the_log_are_not_dispatched_twice(
    store, alice, received, disconnection, monkeypatch
):
    read = log.read_on

    async def read_slowly(*arguments: Any) -> Any:
        numbers.append((await post(store, alice)).number)
        found = await read(*arguments)
        numbers.append((await post(store, alice)).number)
        return found

    await receive_all(store, received)
    seen = all_of(received)
    await disconnection.begin()
    numbers = [(await post(store, alice)).number]
    monkeypatch.setattr(log, "read_on", read_slowly)
    await disconnection.finish(store, received)

    assert [event.number for event in seen if event.kind is EventKind.POSTED] == numbers
    assert len(numbers) == 3


async def test_connection_that_answers_the_check_is_kept(redis_url, redis, store, alice, monkeypatch):
    monkeypatch.setattr(event_connection, "CHECK_INTERVAL", 0.01)
    async with event_connection.connect(redis_url, store.site) as received:
        before = subscribed_connections(redis)
        with received.mailbox(events.of_posts(None)) as mailbox:
            await asyncio.sleep(0.2)
            number = (await post(store, alice)).number

            assert (await anext(mailbox)).number == number
        assert subscribed_connections(redis) == before


@pytest.mark.one_server
async def test_connection_that_does_not_answer_is_replaced(redis_url, store, alice, redis, monkeypatch, caplog):
    """A stopped server does not answer PING, like one behind a failed network."""
    monkeypatch.setattr(event_connection, "CHECK_INTERVAL", 0.05)
    server = redis.info("server")["process_id"]
    async with event_connection.connect(redis_url, store.site) as received:
        (before,) = subscribed_connections(redis)
        with received.mailbox(events.of_posts(None)) as mailbox:
            with monkeypatch.context() as hasty:
                hasty.setattr(connection, "TIMEOUT", 0.3)
                hasty.setattr(event_connection, "RECONNECT_PAUSE", 0.01)
                os.kill(server, signal.SIGSTOP)
                try:
                    await asyncio.to_thread(until, lambda: "was lost" in caplog.text)
                    await asyncio.sleep(0.7)  # two more connections fail
                finally:
                    os.kill(server, signal.SIGCONT)

            number = (await post(store, alice)).number
            assert (await anext(mailbox)).number == number
        await asyncio.to_thread(until, lambda: "is back" in caplog.text)
        (after,) = subscribed_connections(redis)
    assert after != before
    assert [each.split(":")[0] for each in caplog.messages if "pub/sub" in each] == [
        "the pub/sub connection for events was lost",
        "the pub/sub connection for events is back",
    ]


def subscribed_connections(redis: Redis) -> list[str]:
    """The ids of all connections that have subscribed."""
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
    for number in range(1, CAPACITY + 6):  # the one after CAPACITY replaces all with MISSED, and four follow
        mailbox.put(Event(EventKind.POSTED, number))

    assert (await anext(mailbox)).kind is EventKind.MISSED
    assert [(await anext(mailbox)).number for _ in range(4)] == list(range(CAPACITY + 2, CAPACITY + 6))
