"""
What is answered about comments that are hidden, because they are removed or wait for a moderator: to their posters, to
moderators, and to all others.

Codes such as M2 name rows of docs/behaviours.md.
"""

import asyncio

import pytest

from store import roles
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.schema.subscribers import COMMENT_CHANGED, COMMENTED, over_events, over_socket
from tests.store.held import holding
from tests.store.reading import post, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

READ = """query($id: ID!, $article: ID!, $reply: ID!) {
  comment(id: $id) { id state content poster { username } }
  node(id: $id) { ... on Comment { content state } }
  nodes(ids: [$id]) { ... on Comment { content } }
  article(id: $article) {
    commentCount
    thread { totalCount nodes { id state content poster { username } } }
    comments { totalCount nodes { id content } }
  }
  reply: comment(id: $reply) { parent { content } ancestors { id content poster { username } } }
  user(username: "bob") { karma comments { totalCount nodes { id content } } }
}"""
INBOX = "{ inbox { unseenCount notifications { totalCount nodes { subject { id } actor { username } } } } }"
HELD = "{ held { totalCount nodes { id ... on Comment { content state } } } }"
REMOVE = """mutation($id: ID!) { removeContent(input: {subjectId: $id, reason: "spam"}) {
  changed action { id kind subjectId } userErrors { code field } } }"""
APPROVE = """mutation($id: ID!) { approveContent(input: {subjectId: $id}) {
  changed userErrors { code } } }"""
REVERT = """mutation($id: ID!) { revertModeration(input: {actionId: $id, reason: "a mistake"}) {
  changed userErrors { code } } }"""
COMMENT = """mutation($article: ID!, $parent: ID, $text: String!) {
  comment(input: {articleId: $article, parentId: $parent, content: $text}) { comment { id } userErrors { code } } }"""
STUB = {"state": "REMOVED", "content": None, "poster": None}


@pytest.fixture
async def tokens(store):
    """Session tokens by username. molly moderates the group show, in which the article is, and other the group ask."""
    names = ("alice", "bob", "carol", "molly", "other")
    found = {name: (await store.users.register(name, "correct horse")).token for name in names}
    for name, group in (("molly", "show"), ("other", "ask")):
        await roles.grant(store.site, OPERATOR, name, Role.MODERATOR, group=group, reason="a reason")
    return found


@pytest.fixture
async def ids(store, ask, tokens):
    """An article of Alice, a comment of Bob, and a reply of Carol to it."""
    article = f"article:{(await post(store, 'alice', groups=['show'])).number}"

    async def comment(name, text, parent=None):
        given = {"article": article, "text": text, "parent": parent}
        return (await ask(COMMENT, token=tokens[name], **given))["data"]["comment"]["comment"]["id"]

    first = await comment("bob", "a secret, @molly")
    return {"article": article, "id": first, "reply": await comment("carol", "an answer", first)}


async def read(ask, ids, token=None):
    return (await ask(READ, token=token, **ids))["data"]


async def removed(ask, tokens, id):
    payload = (await ask(REMOVE, token=tokens["molly"], id=id))["data"]["removeContent"]
    assert (payload["changed"], payload["userErrors"]) == (True, [])
    return payload["action"]


async def test_removed_comment_above_a_visible_one_is_shown_without_its_text(ask, tokens, ids):  # M2, M3
    before, inbox_before = await read(ask, ids), (await ask(INBOX, token=tokens["alice"]))["data"]
    action = await removed(ask, tokens, ids["id"])
    by_moderator, by_poster = await read(ask, ids, tokens["molly"]), await read(ask, ids, tokens["bob"])
    by_other, by_anonymous = await read(ask, ids, tokens["other"]), await read(ask, ids)
    inbox = (await ask(INBOX, token=tokens["alice"]))["data"]["inbox"]

    assert action["subjectId"] == ids["id"]
    whole = {"id": ids["id"], "state": "REMOVED", "content": "a secret, @molly", "poster": {"username": "bob"}}
    assert by_moderator["comment"] == by_poster["comment"] == whole
    assert by_moderator["node"] == {"content": whole["content"], "state": "REMOVED"}
    assert by_anonymous["comment"] == {"id": ids["id"], **STUB}
    assert "secret" not in repr(by_anonymous) + repr(by_other)
    assert by_anonymous["article"] == {
        "commentCount": 1,
        "thread": {
            "totalCount": 1,
            "nodes": [
                {"id": ids["id"], **STUB},
                {"id": ids["reply"], "state": "VISIBLE", "content": "an answer", "poster": {"username": "carol"}},
            ],
        },
        "comments": {"totalCount": 1, "nodes": [{"id": ids["id"], "content": None}]},
    }
    assert by_moderator["article"] == by_poster["article"] == by_anonymous["article"]
    assert by_anonymous["reply"]["ancestors"] == [{"id": ids["id"], "content": None, "poster": None}]
    assert by_anonymous["user"] == {"karma": 0, "comments": {"totalCount": 0, "nodes": []}}
    assert inbox == {"unseenCount": 0, "notifications": {"totalCount": 0, "nodes": []}}

    payload = (await ask(REVERT, token=tokens["molly"], id=action["id"]))["data"]["revertModeration"]
    assert payload == {"changed": True, "userErrors": []}
    assert await read(ask, ids) == before
    assert (await ask(INBOX, token=tokens["alice"]))["data"] == inbox_before


async def test_removed_comment_without_visible_ones_below_is_read_by_id_only(ask, tokens, ids):  # M2
    await removed(ask, tokens, ids["reply"])
    about = {**ids, "id": ids["reply"]}
    answers = [await read(ask, about, tokens.get(name)) for name in ("molly", "carol", "bob", "other", "")]

    assert [each["comment"] and each["comment"]["content"] for each in answers] == ["an answer"] * 2 + [None] * 3
    assert [each["comment"] is None for each in answers] == [False, False, True, True, True]
    for each in answers:
        assert [node["id"] for node in each["article"]["thread"]["nodes"]] == [ids["id"]]


async def test_answers_that_are_made_at_once_are_each_readers_own(ask, tokens, ids):  # M2
    await removed(ask, tokens, ids["reply"])
    about = {**ids, "id": ids["reply"]}
    readers = [None, tokens["molly"], tokens["bob"], tokens["carol"]] * 3
    answers = await asyncio.gather(*(read(ask, about, token) for token in readers))

    assert [each["comment"] is not None for each in answers] == [False, True, False, True] * 3


async def test_replies_to_a_comment_are_counted_for_those_only_who_may_read_the_article(ask, tokens, ids):  # M2
    query = """query($id: ID!) { comment(id: $id) {
      content replies(first: 1) { totalCount pageInfo { startCursor hasNextPage } nodes { content } } } }"""
    await ask(REMOVE, token=tokens["molly"], id=ids["article"])
    answers = [await ask(query, token=tokens[name], id=ids["id"]) for name in ("bob", "molly")]
    own, moderated = [answer["data"]["comment"] for answer in answers]

    assert own == {
        "content": "a secret, @molly",
        "replies": {"totalCount": 0, "pageInfo": {"startCursor": None, "hasNextPage": False}, "nodes": []},
    }
    assert (moderated["replies"]["totalCount"], moderated["replies"]["nodes"]) == (1, [{"content": "an answer"}])


async def test_comments_of_a_removed_article_are_for_posters_and_moderators(ask, tokens, ids):  # M2, M3
    before = await read(ask, ids)
    payload = (await ask(REMOVE, token=tokens["molly"], id=ids["article"]))["data"]["removeContent"]
    assert payload["changed"]
    by_moderator, by_anonymous = await read(ask, ids, tokens["molly"]), await read(ask, ids)

    assert by_moderator["comment"]["content"] == "a secret, @molly"
    assert [node["id"] for node in by_moderator["article"]["thread"]["nodes"]] == [ids["id"], ids["reply"]]
    assert by_moderator["reply"]["ancestors"][0]["content"] == "a secret, @molly"
    gone = {"comment": None, "node": None, "nodes": [None], "article": None, "reply": None}
    assert by_anonymous == gone | {"user": {"karma": 0, "comments": {"totalCount": 0, "nodes": []}}}

    await ask(APPROVE, token=tokens["molly"], id=ids["article"])
    assert await read(ask, ids) == before


@pytest.mark.parametrize("subscribe", [over_socket, over_events], ids=["WebSocket", "SSE"])
async def test_subscriptions_never_show_strangers_what_is_hidden(  # M2
    store, ask, url, live, tokens, ids, subscribe
):
    """The moderator comes first, so that nothing that is shared shows the others what only moderators may read."""
    watched, read_again = (url, live, COMMENT_CHANGED), "query($id: ID!) { comment(id: $id) { content } }"
    async with (
        subscribe(*watched, tokens["molly"], id=ids["article"]) as watching,
        subscribe(*watched, tokens["carol"], id=ids["article"]) as reading,
        subscribe(*watched, token=None, id=ids["article"]) as stranger,
        subscribe(url, live, COMMENTED, tokens["molly"], id=ids["article"]) as moderators_new,
        subscribe(url, live, COMMENTED, token=None, id=ids["article"]) as new,
    ):
        subscribers = (watching, reading, stranger)
        await removed(ask, tokens, ids["id"])
        for each in subscribers:
            sent = await each()
            shown = (sent["id"], sent["state"], sent["content"], sent["poster"])
            assert shown == (ids["id"], *STUB.values())
        assert (await ask(read_again, token=tokens["molly"], id=ids["id"]))["data"]["comment"]
        assert (await ask(read_again, id=ids["id"]))["data"]["comment"]["content"] is None

        await store.comments.edit(int(ids["reply"].partition(":")[2]), "carol", "another answer")
        for each in subscribers:
            assert (await each())["content"] == "another answer"
        number = int(ids["article"].removeprefix("article:"))
        with holding(store):
            held = (await store.comments.post(number, parent=None, poster="bob", content="held back")).comment
        await store.comments.post(number, parent=None, poster="bob", content="not held")
        for each in (moderators_new, new):
            assert (await each())["content"] == "not held"
        await store.comments.edit(held.number, "bob", "held back again")
        await ask(APPROVE, token=tokens["molly"], id=ids["id"])
        for each in subscribers:
            while (sent := await each())["id"] == held.id:
                assert (sent["content"], sent["poster"]) == (None, None)
            assert (sent["id"], sent["state"], sent["content"]) == (ids["id"], "VISIBLE", "a secret, @molly")


async def test_held_lists_the_viewers_own_comments(ask, tokens, ids):
    await removed(ask, tokens, ids["id"])
    mine, others = [(await ask(HELD, token=tokens[name]))["data"]["held"] for name in ("bob", "carol")]

    assert mine == {
        "totalCount": 1,
        "nodes": [{"id": ids["id"], "content": "a secret, @molly", "state": "REMOVED"}],
    }
    assert others == {"totalCount": 0, "nodes": []}


async def test_moderators_of_another_group_are_refused(ask, tokens, ids):
    payload = (await ask(REMOVE, token=tokens["other"], id=ids["id"]))["data"]["removeContent"]

    assert [error["code"] for error in payload["userErrors"]] == ["NOT_A_MODERATOR"]
    assert (await read(ask, ids))["comment"]["content"] == "a secret, @molly"


async def test_poster_is_told_of_what_moderators_do_with_a_comment(store, ask, tokens, ids):  # M9
    query = """{ inbox { unseenCount notifications { nodes { kind subject {
      ... on ModerationAction { kind reason subject { id } } } } } } }"""

    async def told():
        inbox = (await ask(query, tokens["bob"]))["data"]["inbox"]
        return [each["subject"] for each in inbox["notifications"]["nodes"] if each["kind"] == "MODERATION"]

    await ask(APPROVE, tokens["molly"], id=ids["id"])
    assert await told() == []  # it was visible
    removed = (await ask(REMOVE, tokens["molly"], id=ids["id"]))["data"]["removeContent"]["action"]["id"]
    removal = {"kind": "REMOVE", "reason": "spam", "subject": {"id": ids["id"]}}
    assert await told() == [removal]
    await ask(REVERT, tokens["molly"], id=removed)
    revert = {"kind": "REVERT", "reason": "a mistake", "subject": {"id": ids["id"]}}
    assert sorted(await told(), key=lambda each: each["kind"]) == [removal, revert]
    await ask(REMOVE, tokens["molly"], id=ids["id"])
    await ask(APPROVE, tokens["molly"], id=ids["id"])
    assert [each["kind"] for each in await told()].count("APPROVE") == 1
    assert await verified(store) == []
