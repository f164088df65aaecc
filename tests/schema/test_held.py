"""
A rule may hold what is posted, so that it is pending until a moderator approves it: nobody is notified of it before,
and everybody once after that.

The fixture `token` is a session token of the user vera. `listen` subscribes with a document of
tests/schema/subscribers.py, such as POSTED, and `value()` of what it returns waits for the next value.

Codes such as M2 name rows of docs/behaviours.md.
"""

import pytest

from store import article_moderation, comment_moderation, reverts
from store.articles import Draft
from store.records import ContentState
from store.roles import OPERATOR
from tests.conftest import registered
from tests.schema.subscribers import COMMENTED, FED, NOTIFIED, POSTED
from tests.store.held import holding
from tests.store.reading import post, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

INBOX = "{ inbox { unseenCount notifications { nodes { kind at subject { id } } } } }"
LISTED = """query($id: ID!) { articles(order: TIME) { nodes { id } } feed { articles { nodes { id } } }
  article(id: $id) { id postedAt state } }"""
LATER = "2016-08-04T11:52:05.000Z"  # five seconds after the clock of tests begins: when a moderator approves


async def held_article(store, poster, content="text"):
    draft = Draft("a title", content=content, groups=("go",))
    with holding(store):
        return (await store.articles.post(poster, draft)).article


async def inbox(ask, token):
    found = (await ask(INBOX, token))["data"]["inbox"]
    return [(each["kind"], each["at"], each["subject"]["id"]) for each in found["notifications"]["nodes"]]


@pytest.fixture
async def readers(store):
    """The tokens of users by their names. The partitions that have their inboxes are not all the same."""
    names = [await registered(store, f"reader-{n}") for n in range(6)]
    return {name: (await store.sessions.open(name)).token for name in names}


async def test_held_article_is_announced_once_when_it_is_approved(  # M2, M3
    store, ask, token, alice, readers, listen, clock
):
    await store.follows.follow("vera", alice)
    subscribers = [
        await listen(POSTED), await listen(POSTED, group="go"), await listen(FED, token),
        *[await listen(NOTIFIED, each) for each in readers.values()],
    ]  # fmt: skip
    posted_at = clock.now
    article = await held_article(store, alice, " ".join(f"@{name}" for name in readers))
    clock.advance(1)
    newer = await post(store, alice, groups=["go"])
    assert [(await each.value())["id"] for each in subscribers[:2]] == [newer.id] * 2  # nothing of the held one before
    assert await subscribers[2].value() == {"poster": {"username": "Alice"}}
    assert article.state is ContentState.PENDING
    hidden = (await ask(LISTED, token, id=article.id))["data"]
    assert hidden["articles"]["nodes"] == hidden["feed"]["articles"]["nodes"] == [{"id": newer.id}]
    assert hidden["article"] is None
    for each in readers.values():
        assert await inbox(ask, each) == []
    assert await verified(store) == []

    clock.advance(4)
    approved = (await article_moderation.approve(store.site, OPERATOR, article.number)).action
    assert [(await each.value())["id"] for each in subscribers[:2]] == [article.id] * 2
    assert await subscribers[2].value() == {"poster": {"username": "Alice"}}
    for each in subscribers[3:]:
        assert (await each.value())["subject"]["id"] == article.id
    for each in readers.values():
        assert await inbox(ask, each) == [("MENTION", LATER, article.id)]
    shown = (await ask(LISTED, token, id=article.id))["data"]
    ids = [{"id": newer.id}, {"id": article.id}]  # by its posting time
    assert shown["articles"]["nodes"] == shown["feed"]["articles"]["nodes"] == ids
    assert shown["article"]["postedAt"] == "2016-08-04T11:52:00.000Z"
    assert posted_at == article.posted_at
    await reverts.revert(store.site, OPERATOR, approved.number, "an error")
    assert await inbox(ask, next(iter(readers.values()))) == []
    await article_moderation.approve(store.site, OPERATOR, article.number)
    newest = await post(store, alice, groups=["go"])
    assert [(await each.value())["id"] for each in subscribers[:2]] == [newest.id] * 2
    for each in readers.values():
        assert await inbox(ask, each) == [("MENTION", LATER, article.id)]
    assert await verified(store) == []


async def test_held_comment_is_announced_once_when_it_is_approved(  # M2, M3
    store, ask, token, alice, bob, readers, listen, clock
):
    article = await post(store, alice, groups=["go"])
    subscribers = [
        await listen(COMMENTED, id=article.id),
        *[await listen(NOTIFIED, each) for each in readers.values()],
    ]
    content = " ".join(f"@{name}" for name in readers)
    with holding(store):
        held = (await store.comments.post(article.number, parent=None, poster=bob, content=content)).comment
    clock.advance(1)
    newer = (await store.comments.post(article.number, parent=None, poster=bob, content="a newer one")).comment
    late = await listen(COMMENTED, id=article.id)
    assert (await subscribers[0].value())["id"] == newer.id  # nothing of the held one came before
    for each in readers.values():
        assert await inbox(ask, each) == []
    counted = "query($id: ID!) { article(id: $id) { commentCount thread { nodes { id } } } }"
    assert (await ask(counted, id=article.id))["data"]["article"] == {
        "commentCount": 1, "thread": {"nodes": [{"id": newer.id}]},
    }  # fmt: skip
    assert await verified(store) == []

    clock.advance(4)
    approved = (await comment_moderation.approve(store.site, OPERATOR, held.number)).action
    for each in (subscribers[0], late):
        sent = await each.value()
        assert (sent["id"], sent["content"], sent["article"]) == (held.id, content, {"commentCount": 2})
    for each in subscribers[1:]:
        assert (await each.value())["subject"]["id"] == held.id
    for each in readers.values():
        assert await inbox(ask, each) == [("MENTION", LATER, held.id)]
    (found,) = [each for each in await inbox(ask, (await store.sessions.open(alice)).token) if each[2] == held.id]
    assert found == ("REPLY", LATER, held.id)
    oldest = "query($id: ID!) { article(id: $id) { thread(order: OLDEST) { nodes { id } } } }"
    shown = (await ask(oldest, id=article.id))["data"]["article"]["thread"]["nodes"]
    assert [each["id"] for each in shown] == [held.id, newer.id]  # by its posting time

    await reverts.revert(store.site, OPERATOR, approved.number, "an error")
    assert await inbox(ask, next(iter(readers.values()))) == []
    await comment_moderation.approve(store.site, OPERATOR, held.number)
    newest = (await store.comments.post(article.number, parent=None, poster=bob, content="the newest")).comment
    for each in (subscribers[0], late):
        assert (await each.value())["id"] == newest.id
    for each in readers.values():
        assert await inbox(ask, each) == [("MENTION", LATER, held.id)]
    assert await verified(store) == []


async def test_held_comment_is_announced_when_its_article_is_shown(store, ask, alice, bob, readers, listen, clock):
    article = await post(store, alice, groups=["go"])
    content = " ".join(f"@{name}" for name in readers)
    with holding(store):
        held = (await store.comments.post(article.number, parent=None, poster=bob, content=content)).comment
    removed = (await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")).action
    await comment_moderation.approve(store.site, OPERATOR, held.number)
    subscribers = [await listen(NOTIFIED, each) for each in readers.values()]
    for each in readers.values():
        assert await inbox(ask, each) == []
    assert await verified(store) == []

    clock.advance(5)
    await reverts.revert(store.site, OPERATOR, removed.number, "an error")
    for each in subscribers:
        assert (await each.value())["subject"]["id"] == held.id
    for each in readers.values():
        assert await inbox(ask, each) == [("MENTION", LATER, held.id)]
    assert await verified(store) == []


async def test_held_article_that_is_deleted_is_never_announced(store, ask, alice, readers, listen):
    subscriber = await listen(POSTED)
    article = await held_article(store, alice, " ".join(f"@{name}" for name in readers))
    await store.articles.delete(article.number, alice)
    newer = await post(store, alice)

    assert (await subscriber.value())["id"] == newer.id
    for each in readers.values():
        assert await inbox(ask, each) == []
    assert await verified(store) == []
