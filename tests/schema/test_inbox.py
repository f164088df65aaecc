"""
The inbox, what happened that concerns the viewer: `inbox`, its nodes, `markInboxSeen` and `notification`. The fixture
`listen` subscribes, and `value()` of what it returns waits for the next value.

Codes such as C8 name rows of docs/behaviours.md.
"""

from typing import Any

import pytest

from store import removals
from store.articles import Draft
from store.records import Vote
from tests.schema.subscribers import NOTIFIED, answered, subscribed
from tests.store.discussions import commented, died
from tests.store.reading import post
from tests.support.events import Disconnection, receive_all

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

INBOX = """query($first: Int, $after: String, $last: Int, $before: String, $unseenOnly: Boolean) { inbox {
  id unseenCount seenThrough
  notifications(first: $first, after: $after, last: $last, before: $before, unseenOnly: $unseenOnly) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node {
      id kind at isSeen actor { username } subject { __typename id ... on Comment { content } ... on Article { title } }
    } } } } }"""
MARK = """mutation($through: String!) { markInboxSeen(input: {through: $through}) {
  inbox { unseenCount seenThrough } userErrors { code field } } }"""


@pytest.fixture
async def article(store, alice, bob, token) -> int:
    """An article of Vera, whose session `token` is."""
    return (await post(store, "vera")).number


def notifications(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["data"]["inbox"]["notifications"]


def ids(answer: dict[str, Any]) -> list[str]:
    return [edge["node"]["id"] for edge in notifications(answer)["edges"]]


async def test_inbox_has_replies_and_mentions_newest_first(store, ask, article, alice, bob, token, clock):  # C8
    first = await commented(store, article, "bob", text="a reply")
    clock.advance(1)
    other = (await store.articles.post(alice, Draft("a title", content="see @Vera"))).article
    clock.advance(1)
    second = await commented(store, other.number, "bob", text="@vera too")
    await commented(store, article, "vera", parent=first, text="an answer to bob")

    answer = await ask(INBOX, token)
    assert answer["data"]["inbox"]["id"] == "inbox:vera"
    assert (answer["data"]["inbox"]["unseenCount"], notifications(answer)["totalCount"]) == (3, 3)
    assert [edge["node"] for edge in notifications(answer)["edges"]] == [
        {
            "id": f"notification:vera:{second.number}", "kind": "MENTION", "at": "2016-08-04T11:52:02.000Z",
            "isSeen": False, "actor": {"username": "bob"},
            "subject": {"__typename": "Comment", "id": second.id, "content": "@vera too"},
        },
        {
            "id": f"notification:vera:{other.number}", "kind": "MENTION", "at": "2016-08-04T11:52:01.000Z",
            "isSeen": False, "actor": {"username": "Alice"},
            "subject": {"__typename": "Article", "id": other.id, "title": "a title"},
        },
        {
            "id": f"notification:vera:{first.number}", "kind": "REPLY", "at": "2016-08-04T11:52:00.000Z",
            "isSeen": False, "actor": {"username": "bob"},
            "subject": {"__typename": "Comment", "id": first.id, "content": "a reply"},
        },
    ]  # fmt: skip


async def test_inbox_belongs_to_the_viewer(store, ask, article, bob, token):  # C8
    posted = await commented(store, article, "bob", text="@alice")
    query = """query($ids: [ID!]!) { inbox { id } nodes(ids: $ids) { id
      ... on Inbox { unseenCount } ... on Notification { kind subject { id } } } }"""
    wanted = ["inbox:vera", f"notification:vera:{posted.number}", f"notification:Vera:{posted.number}"]
    others = ["inbox:alice", f"notification:alice:{posted.number}", "notification:vera:5000"]

    nobody = (await ask(query, ids=[*wanted, *others]))["data"]
    assert (nobody["inbox"], nobody["nodes"]) == (None, [None] * 6)
    own = (await ask(query, token, ids=[*wanted, *others]))["data"]
    node = {"id": f"notification:vera:{posted.number}", "kind": "REPLY", "subject": {"id": posted.id}}
    assert own["inbox"] == {"id": "inbox:vera"}
    assert own["nodes"] == [{"id": "inbox:vera", "unseenCount": 1}, node, node, None, None, None]


@pytest.mark.parametrize("id", ["inbox:a b", "notification:vera", "notification:vera:0", "notification::5", "inbox:"])
async def test_malformed_ids_are_errors(ask, article, token, id):
    answer = await ask("query($id: ID!) { node(id: $id) { id } }", token, id=id)

    assert answer["data"] == {"node": None}
    assert "this is not a valid id" in answer["errors"][0]["message"]


@pytest.mark.parametrize("arguments", [{"first": 2}, {"last": 2}])
async def test_pages_have_every_notification_once(store, ask, article, token, clock, arguments):
    for number in range(5):
        clock.advance(number % 2)
        await commented(store, article, "bob")
    whole, found, cursor = ids(await ask(INBOX, token)), [], {}
    while True:
        answer = await ask(INBOX, token, **arguments, **cursor)
        page = notifications(answer)["pageInfo"]
        found = [*found, *ids(answer)] if "first" in arguments else [*ids(answer), *found]
        if not page["hasNextPage" if "first" in arguments else "hasPreviousPage"]:
            break
        cursor = {"after": page["endCursor"]} if "first" in arguments else {"before": page["startCursor"]}

    assert found == whole
    assert len(set(found)) == 5


async def test_mark_moves_forward_and_never_back(store, ask, article, token, clock):
    for _ in range(3):
        await commented(store, article, "bob")
        clock.advance(1)
    cursors = [edge["cursor"] for edge in notifications(await ask(INBOX, token))["edges"]]
    marked = (await ask(MARK, token, through=cursors[1]))["data"]["markInboxSeen"]
    back = (await ask(MARK, token, through=cursors[2]))["data"]["markInboxSeen"]

    assert marked == {"inbox": {"unseenCount": 1, "seenThrough": "2016-08-04T11:52:01.000Z"}, "userErrors": []} == back
    answer = await ask(INBOX, token, unseenOnly=True)
    assert [edge["cursor"] for edge in notifications(answer)["edges"]] == cursors[:1]
    assert notifications(answer)["totalCount"] == 1
    assert [edge["node"]["isSeen"] for edge in notifications(await ask(INBOX, token))["edges"]] == [False, True, True]


async def test_mark_of_others_or_nobody_is_refused(store, ask, article, token):
    await commented(store, article, "bob")
    (edge,) = notifications(await ask(INBOX, token))["edges"]

    assert (await ask(MARK, through=edge["cursor"]))["data"]["markInboxSeen"] == {
        "inbox": None,
        "userErrors": [{"code": "UNAUTHENTICATED", "field": None}],
    }
    for through in ("", "odd", "ZmVlZDp2ZXJhfDEuMHwwMDAwMDAwMDAwMDAwMDA1"):  # the last is of a feed
        assert (await ask(MARK, token, through=through))["data"]["markInboxSeen"]["userErrors"] == [
            {"code": "INVALID", "field": ["input", "through"]}
        ]
    assert (await ask(INBOX, token))["data"]["inbox"]["unseenCount"] == 1


async def test_deleted_subjects_leave_the_inbox(store, ask, article, bob, token, monkeypatch):  # C8
    first = await commented(store, article, "bob")
    await commented(store, article, "Alice", parent=first, text="@vera")
    await store.comments.delete(first.number, "bob")
    assert len(ids(await ask(INBOX, token))) == 1

    other = await post(store, "bob")
    await commented(store, other.number, "Alice", text="@vera")
    monkeypatch.setattr(removals, "remove_thread", died)
    await store.articles.delete(other.number, "bob")
    remaining = [edge["node"] for edge in notifications(await ask(INBOX, token))["edges"]]
    assert sorted((each["subject"] is None, each["actor"] is None) for each in remaining) == [
        (False, False),
        (True, True),
    ]

    await removals.remove_all(store.site, store.site.partition_of_article(other.number))
    assert len(ids(await ask(INBOX, token))) == 1


async def test_each_notification_is_sent(store, listen, live, article, alice, token):  # C8
    subscriber = await listen(NOTIFIED, token)
    first = await commented(store, article, "bob", text="a reply")
    await commented(store, article, "Alice", parent=first, text="not about her")
    await store.comments.vote(first.number, alice, Vote.UP)
    sent = [await subscriber.value()]
    other = (await store.articles.post(alice, Draft("a title", content="@vera"))).article
    sent.append(await subscriber.value())
    third = await commented(store, article, "Alice", parent=first, text="another")
    await store.comments.edit(third.number, alice, "another, @vera")
    sent.append(await subscriber.value())

    assert sent[:2] == [
        {
            "id": f"notification:vera:{first.number}", "kind": "REPLY", "isSeen": False,
            "actor": {"username": "bob"}, "subject": {"id": first.id, "content": "a reply"},
        },
        {
            "id": f"notification:vera:{other.number}", "kind": "MENTION", "isSeen": False,
            "actor": {"username": "Alice"}, "subject": {"id": other.id, "title": "a title"},
        },
    ]  # fmt: skip
    assert sent[2]["subject"] == {"id": third.id, "content": "another, @vera"}


async def test_subscription_without_a_session_is_refused(url, article):
    async with subscribed(url, NOTIFIED) as subscriber:
        assert await subscriber.refusal() == ("UNAUTHENTICATED", "log in first")


async def test_subscription_ends_with_the_session(store, listen, ask, article, token):
    subscriber = await listen(NOTIFIED, token)
    await ask("mutation { logOut { userErrors { code } } }", token)
    await commented(store, article, "bob")

    assert await subscriber.refusal() == ("UNAUTHENTICATED", "log in first")


@pytest.fixture
def disconnection(monkeypatch: pytest.MonkeyPatch) -> Disconnection:
    return Disconnection(monkeypatch)


@pytest.mark.parametrize("is_log_lost", [False, True])
async def test_missed_notifications_are_sent_once_after_a_lost_connection(
    disconnection, store, listen, live, article, token, redis, is_log_lost
):  # C8, D4
    await commented(store, article, "bob", text="before")
    subscriber = await listen(NOTIFIED, token)
    sent = await commented(store, article, "bob", text="first")
    assert (await subscriber.value())["subject"]["id"] == sent.id

    await disconnection.begin()
    missed = [await commented(store, article, "bob", text=f"missed {number}") for number in range(3)]
    if is_log_lost:
        redis.hset("store", "log", "of another log")
    await disconnection.finish(store, live.events)
    last = await commented(store, article, "bob", text="last")
    await receive_all(store, live.events)

    found = [(await subscriber.value())["subject"]["id"] for _ in range(4)]
    assert sorted(found) == sorted(each.id for each in [*missed, last])
    await answered(store)
