"""
Inboxes: whom texts, which are articles and comments, notify by replies and mentions, pages, and the mark up to which an
inbox was seen. `article` is the number of an article of Alice.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified`
and `findings` give what `upvote verify` finds wrong in the store.

Codes such as C8 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from contextlib import nullcontext

import pytest

from archive import steps
from store import article_moderation, blocked, effects, keys, removals
from store.articles import Draft
from store.errors import Unauthenticated
from store.inboxes import INBOX_SIZE
from store.listings import Window
from store.log import START
from store.log import read as read_log
from store.maintenance.import_stories import Story, import_batch
from store.notifications import NotificationKind
from store.records import Position
from store.roles import OPERATOR
from store.sessions import parse_token
from store.store import Store
from tests.conftest import registered
from tests.store.discussions import commented
from tests.store.held import holding
from tests.store.inbox_model import MOST_MENTIONS, PEOPLE, InboxModel, act, check, kinds_of, page_of
from tests.store.reading import everything, findings, post, verified

pytestmark = pytest.mark.many_partitions
REPLY, MENTION = NotificationKind.REPLY, NotificationKind.MENTION
BEFORE_ALL, AFTER_ALL = Position(1.0, keys.member(5)), Position(9e15, keys.member(5))  # older and newer than any text


@pytest.fixture
async def people(store) -> None:
    for name in PEOPLE:
        await registered(store, name)


@pytest.fixture
async def article(store, people) -> int:
    return (await post(store, "Alice")).number


async def inbox(store, name: str) -> list[tuple[NotificationKind, int]]:
    """Kind and number of each notification, newest first."""
    return kinds_of(await page_of(store, name))


async def test_answer_notifies_the_poster_of_what_it_answers(store, article, clock):  # C8
    first = await commented(store, article, "bob")
    clock.advance(1)
    second = await commented(store, article, "Carol", first)

    (notification,) = (await page_of(store, "bob")).notifications
    assert (notification.number, notification.type, notification.at) == (second.number, "comment", clock.now)
    assert notification.id == f"notification:bob:{second.number}"
    assert not notification.is_seen
    assert await inbox(store, "alice") == [(REPLY, first.number)]
    assert await inbox(store, "carol") == []


async def test_mentions_notify_each_user_once(store, article, clock):  # C8
    first = await commented(store, article, "bob", text="@ALICE and @carol, @carol: @nobody")
    clock.advance(1)
    other = (await store.articles.post("dave", Draft("@bob", content="@bob and @carol"))).article

    assert await inbox(store, "Alice") == [(REPLY, first.number)]
    assert await inbox(store, "Carol") == [(MENTION, other.number), (MENTION, first.number)]
    assert await inbox(store, "bob") == [(MENTION, other.number)]
    assert [each.type for each in (await page_of(store, "carol")).notifications] == ["article", "comment"]


async def test_nobody_is_notified_of_their_own_doings(store, article):  # C8
    first = await commented(store, article, "Alice", text="@alice")
    await commented(store, article, "alice", parent=first, text="@ALICE")

    assert await inbox(store, "alice") == []


async def test_mention_of_an_unregistered_name_writes_nothing(store, article, redis):
    await commented(store, article, "bob", text="@nobody")
    await store.articles.edit(article, "Alice", {"content": "@nobody"})

    assert not redis.exists(keys.inbox(store.site.partition_of_user("nobody"), "nobody"))
    await registered(store, "nobody")
    assert await inbox(store, "nobody") == []


async def test_user_who_registers_after_a_mention_is_not_notified_of_it(store, article, clock):
    first = await commented(store, article, "bob", text="@nobody")
    clock.advance(1)
    await registered(store, "nobody")

    assert await inbox(store, "nobody") == []
    assert await verified(store) == []
    await commented(store, article, "bob", parent=first, text="@nobody")
    assert len(await inbox(store, "nobody")) == 1
    assert await verified(store) == []


async def test_edit_notifies_those_who_are_new_in_it(store, article, clock):  # C8
    first = await commented(store, article, "bob", text="@carol")
    clock.advance(60)
    await store.comments.edit(first.number, "bob", "@carol and @dave and @alice")
    await store.comments.edit(first.number, "bob", "@dave and @carol")
    await store.articles.edit(article, "Alice", {"content": "@dave"})
    await store.articles.edit(article, "Alice", {"title": "@bob", "content": "@dave, still"})

    assert await inbox(store, "Alice") == [(REPLY, first.number)]
    assert await inbox(store, "Carol") == [(MENTION, first.number)]
    found = (await page_of(store, "dave")).notifications
    assert [(each.number, each.at) for each in found] == [(first.number, clock.now), (article, clock.now)]
    assert await inbox(store, "bob") == []


async def test_mentions_of_a_text_have_a_limit_over_all_edits(redis_url, store, people, partitions, clock):  # C8
    strict = await Store.open(redis_url, policy=None, partitions=partitions, clock=clock, max_mentions=2)
    article = (await strict.articles.post("Alice", Draft("a title", content="@bob @carol @dave"))).article
    await strict.articles.edit(article.number, "Alice", {"content": "@dave"})
    first = (await strict.comments.post(article.number, parent=None, poster="bob", content="@carol")).comment
    await strict.comments.edit(first.number, "bob", "@dave")
    await strict.comments.edit(first.number, "bob", "@erin")
    await registered(store, "erin")
    await strict.comments.edit(first.number, "bob", "now @erin")
    await strict.close()

    assert await inbox(store, "Carol") == [(MENTION, first.number), (MENTION, article.number)]
    assert await inbox(store, "dave") == [(MENTION, first.number)]
    assert await inbox(store, "erin") == []


async def test_replay_notifies_once(store, article, clock):  # C8, C9
    for _ in range(2):
        await store.comments.post(article, parent=None, poster="bob", content="@carol", idempotency_key="a key")
        await store.articles.post("bob", Draft("a title", content="@dave"), idempotency_key="a key")
        clock.advance(1)

    assert {name: len(await inbox(store, name)) for name in PEOPLE} == {"Alice": 1, "bob": 0, "Carol": 1, "dave": 1}


async def test_deleted_comment_leaves_the_inboxes(store, article):  # C8
    first = await commented(store, article, "bob", text="@carol")
    second = await commented(store, article, "dave", parent=first, text="@carol")
    await store.comments.delete(first.number, "bob")  # a stub stays

    assert [await inbox(store, name) for name in ("alice", "carol")] == [[], [(MENTION, second.number)]]
    await store.comments.delete(second.number, "dave")
    assert [await inbox(store, name) for name in PEOPLE] == [[], [], [], []]


async def test_deleted_article_leaves_the_inboxes_with_its_thread(store, article):  # C8
    await store.articles.edit(article, "Alice", {"content": "@dave"})
    first = await commented(store, article, "bob", text="@carol")
    await commented(store, article, "carol", parent=first, text="@dave")
    await store.articles.delete(article, "Alice")
    await removals.remove_all(store.site, store.site.partition_of_article(article))

    assert [await inbox(store, name) for name in PEOPLE] == [[], [], [], []]
    assert await effects.pending(store.site) == []


async def test_imported_stories_notify_nobody(store, people, clock):
    await import_batch(
        store, [Story("1", "@bob", link="https://example.com/@bob", poster="Alice", time=clock.now - 5, votes=9)]
    )

    assert await inbox(store, "bob") == []


async def test_mark_moves_forward_only(store, article, clock):
    numbers = []
    for _ in range(3):
        clock.advance(1)
        numbers.append((await commented(store, article, "bob")).number)
    newest, middle, _ = (await page_of(store, "alice")).notifications
    await store.inboxes.mark_seen("Alice", middle.position)
    await store.inboxes.mark_seen("Alice", BEFORE_ALL)

    page = await page_of(store, "alice")
    assert [each.is_seen for each in page.notifications] == [False, True, True]
    assert (page.unseen, page.seen) == (1, middle.position)
    unseen = await page_of(store, "alice", unseen_only=True)
    assert (unseen.total, [each.number for each in unseen.notifications]) == (1, [newest.number])


async def test_mark_does_not_go_beyond_the_newest(store, article, clock):
    await store.inboxes.mark_seen("Alice", AFTER_ALL)
    assert (await page_of(store, "alice")).seen is None

    await commented(store, article, "bob")
    await store.inboxes.mark_seen("Alice", AFTER_ALL)
    await commented(store, article, "Carol")  # in the same millisecond

    page = await page_of(store, "alice")
    assert [each.is_seen for each in page.notifications] == [False, True]
    assert page.seen == page.notifications[1].position


async def test_mark_is_an_entry_of_the_log(store, article):
    posted = await commented(store, article, "bob")
    partition = store.site.partition_of_user("alice")
    last = (await read_log(store.site, partition, START, count=100))[-1].id
    for _ in range(2):
        await store.inboxes.mark_seen("Alice", AFTER_ALL)

    (entry,) = await read_log(store.site, partition, after=last, count=100)
    assert (entry.kind, entry.actor, entry.subject) == ("inbox_seen", "Alice", "user:alice")
    assert entry.values == {"inbox_seen": f"{posted.posted_at} {keys.member(posted.number)}"}


async def test_ended_session_marks_nothing(store, article, clock, redis):
    session = parse_token((await store.sessions.open("Alice")).token)
    await commented(store, article, "bob")
    clock.advance(2 * store.site.session_lifetime)
    before = everything(redis)

    with pytest.raises(Unauthenticated):
        await store.inboxes.mark_seen(session, BEFORE_ALL)
    assert everything(redis) == before


@pytest.mark.parametrize("partitions", [8], ids=["8 partitions"], indirect=True)
async def test_late_notification_is_unseen(store, article, clock, monkeypatch):
    """The process of a change died, so that another one writes its notification later than a newer one was seen."""
    name = next(
        name for name in PEOPLE if store.site.partition_of_user(name) != store.site.partition_of_article(article)
    )
    other = (await post(store, name)).number
    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply", _nothing)
        late = await commented(store, article, "erin", text=f"@{name}")
    clock.advance(1)
    await commented(store, other, "erin")
    (newest,) = (await page_of(store, name)).notifications
    await store.inboxes.mark_seen(name, newest.position)
    await effects.complete(store.site)

    first, second = (await page_of(store, name)).notifications
    assert ((first.number, first.is_seen), second) == ((late.number, False), newest._replace(is_seen=True))
    assert await verified(store) == []


async def _nothing(*arguments: object) -> None:
    """The process ends before it notifies users of other partitions."""


async def test_effects_of_dead_processes_notify_once(store, article, monkeypatch):  # C8
    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply", _nothing)
        first = await commented(store, article, "bob", text="@carol @dave")
        gone = await commented(store, article, "bob", text="@carol @dave, again")
        await store.comments.delete(gone.number, "bob")
    for _ in range(2):
        await effects.complete(store.site)

    assert [await inbox(store, name) for name in ("carol", "dave")] == [[(MENTION, first.number)]] * 2
    assert await inbox(store, "alice") == [(REPLY, first.number)]


async def test_inbox_keeps_the_newest_thousand(store, article, redis, clock):
    partition = store.site.partition_of_user("alice")
    numbers = [1024 * (number + 1) for number in range(INBOX_SIZE)]
    redis.zadd(keys.inbox(partition, "alice"), {f"{keys.member(number)} reply comment": number for number in numbers})
    posted = await commented(store, article, "bob")

    page = await page_of(store, "alice", Window(2_000))
    assert (page.total, len(page.notifications)) == (INBOX_SIZE, INBOX_SIZE)
    assert page.notifications[0].number == posted.number
    assert page.notifications[-1].number == numbers[1]
    assert redis.hget(keys.user(partition, "alice"), "inbox_dropped") == str(numbers[0])


async def test_verify_does_not_miss_notifications_that_a_full_inbox_dropped(store, article, redis, clock):
    partition = store.site.partition_of_user("alice")
    first = await commented(store, article, "bob")
    clock.advance(1)
    await commented(store, article, "bob")
    redis.hset(keys.user(partition, "alice"), "inbox_dropped", first.posted_at)
    redis.zrem(keys.inbox(partition, "alice"), f"{keys.member(first.number)} reply comment")

    assert await verified(store) == []


async def test_article_that_mentions_is_not_archived(store, people):
    article = (await store.articles.post("Alice", Draft("a title", content="@bob"))).article
    partition = store.site.partition_of_article(article.number)

    assert await steps.archivable(store.site, partition, [article.number]) == []


@pytest.mark.parametrize("seed", range(4))
async def test_inboxes_are_those_of_a_plain_model(redis_url, store, people, partitions, clock, seed):  # C8
    limited = await Store.open(redis_url, policy=None, partitions=partitions, clock=clock, max_mentions=MOST_MENTIONS)
    model, chance = InboxModel(), random.Random(seed)
    for turn in range(240):
        await act(limited, model, chance)
        if turn % 60 == 59:
            await check(limited, model)
    await limited.close()

    assert await effects.pending(store.site) == []
    assert await findings(store) == []


@pytest.mark.parametrize("is_held", [False, True])
async def test_text_that_is_shown_again_notifies_nobody_who_blocks_its_poster(store, people, clock, is_held):  # H3
    """
    Whether a user is in the partition of the article or in another one; for the article that was hidden, for its
    comments, which were hidden with it, and for an article that was held until a moderator approved it.
    """
    blocking = [name for name in PEOPLE if name not in ("bob", "Carol")][: store.site.max_mentions]
    for name in blocking:
        await blocked.block(store.site, name, "bob")
    clock.advance(1)
    text = " ".join(f"@{name}" for name in (*blocking[1:], "Carol"))
    with holding(store) if is_held else nullcontext():
        article = (await store.articles.post("bob", Draft("A title", content=text))).article.number
    if is_held:
        await article_moderation.approve(store.site, OPERATOR, article)
    first = await commented(store, article, blocking[0])
    clock.advance(1)
    second = await commented(store, article, "bob", first, text=text)
    before = {name: await inbox(store, name) for name in PEOPLE}
    assert before["Carol"] == [(MENTION, second.number), (MENTION, article)]
    assert [before[name] for name in blocking] == [[]] * len(blocking)

    clock.advance(1)
    await article_moderation.remove(store.site, OPERATOR, article, group=None, reason="a reason")
    assert await inbox(store, "Carol") == []
    await article_moderation.approve(store.site, OPERATOR, article)

    told = {name: [each for each in await inbox(store, name) if each[0] in (REPLY, MENTION)] for name in PEOPLE}
    assert told == {name: [each for each in found if each[0] in (REPLY, MENTION)] for name, found in before.items()}
