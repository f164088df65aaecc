"""
Users appeal against what a moderator did: `appeal`, `answerAppeal`, `appeals` and `ModerationAction.appeal`.

The fixture `token` is a session token of vera, who appeals. Moderators are those of a place, which is the whole site
or a group. `listen` subscribes, and `value()` of what it returns waits for the next value.

Codes such as M2 name rows of docs/behaviours.md.
"""

import pytest

from store import article_moderation, bans, roles
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.schema.moderators import QUEUE_CHANGED, REVERT, signed_in
from tests.schema.subscribers import NOTIFIED
from tests.store.reading import everything, post, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

APPEALED = "appeal { id text at answer answeredBy { username } answeredAt }"
APPEAL = f"""mutation($id: ID!, $text: String! = "I did not") {{ appeal(input: {{actionId: $id, text: $text}}) {{
  action {{ id {APPEALED} }} userErrors {{ code field }} }} }}"""
ANSWER = f"""mutation($id: ID!, $text: String! = "You did") {{ answerAppeal(input: {{actionId: $id, text: $text}}) {{
  action {{ id {APPEALED} }} userErrors {{ code field }} query {{ viewer {{ username }} }} }} }}"""
READ = f"query($id: ID!) {{ node(id: $id) {{ ... on ModerationAction {{ id reason {APPEALED} }} }} }}"
QUEUE = f"""query($group: String, $first: Int, $after: String, $last: Int, $before: String) {{
  appeals(group: $group, first: $first, after: $after, last: $last, before: $before) {{
    totalCount nodes {{ id {APPEALED} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }}
    edges {{ cursor node {{ id }} }} }} }}"""
INBOX = "{ inbox { unseenCount notifications { nodes { at isSeen subject { id } } } } }"
AT, LATER = "2016-08-04T11:52:00.000Z", "2016-08-04T11:52:01.000Z"  # where the clock of tests begins; a second later


@pytest.fixture
async def sam(store):
    """The token of a moderator of the site."""
    return await signed_in(store, "sam", Role.MODERATOR)


@pytest.fixture
async def removed(store, token):
    """The removal of an article of vera's in the group go."""
    article = await post(store, "vera", groups=["go"])
    return (await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")).action


async def waiting(ask, token, **given):
    """The ids of the actions in the queue; None if the viewer may not read it."""
    queue = (await ask(QUEUE, token, **given))["data"]["appeals"]
    return queue and [node["id"] for node in queue["nodes"]]


async def test_moderator_answers_an_appeal(store, ask, token, removed, sam, clock):
    appealed = (await ask(APPEAL, token, id=removed.id))["data"]["appeal"]
    clock.advance(1)
    queue = (await ask(QUEUE, sam))["data"]["appeals"]
    answered = (await ask(ANSWER, sam, id=removed.id))["data"]["answerAppeal"]

    appeal = {
        "id": f"appeal:{removed.number}", "text": "I did not", "at": AT, "answer": None, "answeredBy": None,
        "answeredAt": None,
    }  # fmt: skip
    assert appealed == {"action": {"id": removed.id, "appeal": appeal}, "userErrors": []}
    assert (queue["totalCount"], queue["nodes"]) == (1, [appealed["action"]])
    appeal |= {"answer": "You did", "answeredBy": {"username": "sam"}, "answeredAt": LATER}
    assert answered == {
        "action": {"id": removed.id, "appeal": appeal}, "userErrors": [], "query": {"viewer": {"username": "sam"}},
    }  # fmt: skip
    assert await waiting(ask, sam) == []
    (again,) = (await ask(ANSWER, sam, id=removed.id, text="Really"))["data"]["answerAppeal"]["userErrors"]
    assert again == {"code": "INVALID", "field": ["input", "actionId"]}
    assert await verified(store) == []


async def test_revert_answers_an_appeal(store, ask, token, removed, sam, clock):
    await ask(APPEAL, token, id=removed.id)
    clock.advance(1)
    assert (await ask(REVERT, sam, id=removed.id))["data"]["revertModeration"]["changed"]

    appeal = (await ask(READ, token, id=removed.id))["data"]["node"]["appeal"]
    assert appeal == {
        "id": f"appeal:{removed.number}", "text": "I did not", "at": AT, "answer": None,
        "answeredBy": {"username": "sam"}, "answeredAt": LATER,
    }  # fmt: skip
    assert await waiting(ask, sam) == []
    refused = (await ask(ANSWER, sam, id=removed.id))["data"]["answerAppeal"]
    assert (refused["action"], refused["userErrors"][0]["code"]) == (None, "ALREADY_REVERTED")


async def test_appeal_is_shown_to_its_author_and_to_moderators_of_the_place(store, ask, token, removed, sam):  # M2, M9
    await ask(APPEAL, token, id=removed.id)
    of_go, of_lua = [await signed_in(store, name, Role.MODERATOR, name) for name in ("go", "lua")]
    admin, other = await signed_in(store, "ada", Role.ADMIN), await signed_in(store, "bob")

    async def text(viewer):
        found = await ask(READ, viewer, id=removed.id)
        assert found["data"]["node"]["reason"] == "spam" and "errors" not in found
        return (found["data"]["node"]["appeal"] or {}).get("text")

    for _ in range(2):  # who may read it comes first
        assert [await text(each) for each in (sam, admin, of_go, token)] == ["I did not"] * 4
        assert [await text(each) for each in (of_lua, other, None)] == [None] * 3
    await roles.revoke(store.site, OPERATOR, "go", Role.MODERATOR, group="go", reason="on leave")
    assert await text(of_go) is None


async def test_queue_is_for_moderators_of_the_place(store, ask, token, removed, sam):  # M1
    await ask(APPEAL, token, id=removed.id)
    of_lua = (await bans.ban(store.site, OPERATOR, "vera", group="lua", until=None, reason="noise")).action
    await ask(APPEAL, token, id=of_lua.id)
    go = await signed_in(store, "gus", Role.MODERATOR, "go")
    both = await signed_in(store, "lea", Role.MODERATOR, "go", "lua")

    assert await waiting(ask, sam) == await waiting(ask, both) == [removed.id, of_lua.id]
    assert await waiting(ask, go) == await waiting(ask, go, group="Go") == [removed.id]
    assert await waiting(ask, sam, group="lua") == await waiting(ask, both, group="lua") == [of_lua.id]
    assert await waiting(ask, sam, group="rust") == []
    assert await waiting(ask, go, group="lua") is None
    for stranger in (token, None):
        for group in (None, "go"):
            assert await waiting(ask, stranger, group=group) is None
    await roles.revoke(store.site, OPERATOR, "gus", Role.MODERATOR, group="go", reason="on leave")
    assert await waiting(ask, go) is await waiting(ask, go, group="go") is None


async def test_strangers_do_not_answer(store, ask, token, removed, redis):  # M1
    await ask(APPEAL, token, id=removed.id)
    of_lua, other = await signed_in(store, "lea", Role.MODERATOR, "lua"), await signed_in(store, "bob")
    sam = await signed_in(store, "sam", Role.MODERATOR)
    before = everything(redis)

    async def refusal(viewer, **given):
        (found,) = (await ask(ANSWER, viewer, **{"id": removed.id} | given))["data"]["answerAppeal"]["userErrors"]
        return found["code"]

    refused = [await refusal(each) for each in (token, other, of_lua, None)]
    assert refused == ["NOT_A_MODERATOR"] * 3 + ["UNAUTHENTICATED"]
    assert await refusal(sam, text=" ") == await refusal(sam, id="user:vera") == "INVALID"
    assert await refusal(sam, id="action:1024") == "NOT_FOUND"
    assert everything(redis) == before
    await roles.revoke(store.site, OPERATOR, "sam", Role.MODERATOR, group=None, reason="enough")
    assert await refusal(sam) == "NOT_A_MODERATOR"


@pytest.mark.parametrize("groups", [(), ("go", "lua"), ("go",)])
async def test_queue_is_paged_both_ways_the_oldest_first(store, ask, clock, groups):
    moderator, expected = await signed_in(store, "mod", Role.MODERATOR, *groups), []
    for n in range(7):
        own = await signed_in(store, f"poster-{n}")
        article = await post(store, f"poster-{n}", groups=["go"])
        action = (
            await article_moderation.remove(store.site, OPERATOR, article.number, group="go", reason="spam")
        ).action
        await ask(APPEAL, own, id=action.id)
        clock.advance(1)
        expected.append(action.id)
    forward, backward, after, before = [], [], None, None
    for n in range(4):
        page = (await ask(QUEUE, moderator, first=2, after=after))["data"]["appeals"]
        forward += [node["id"] for node in page["nodes"]]
        assert page["totalCount"] == 7
        assert (page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) == (n > 0, n < 3)
        after = page["pageInfo"]["endCursor"]
    for n in range(4):
        page = (await ask(QUEUE, moderator, last=2, before=before))["data"]["appeals"]
        backward = [node["id"] for node in page["nodes"]] + backward
        assert (page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) == (n < 3, n > 0)
        before = page["pageInfo"]["startCursor"]

    assert forward == backward == expected


async def test_unanswered_appeals_count_in_the_queue(store, ask, token, removed, sam, listen):
    of_lua = await signed_in(store, "lea", Role.MODERATOR, "lua")
    whole = await listen(QUEUE_CHANGED, sam)
    group = await listen(QUEUE_CHANGED, sam, group="go")
    other = await listen(QUEUE_CHANGED, of_lua)
    await ask(APPEAL, token, id=removed.id)
    assert [await whole.value(), await group.value()] == [1, 1]
    await ask(ANSWER, sam, id=removed.id)
    assert [await whole.value(), await group.value()] == [0, 0]
    banned = (await bans.ban(store.site, OPERATOR, "vera", group="lua", until=None, reason="noise")).action
    await ask(APPEAL, token, id=banned.id)
    assert [await whole.value(), await other.value()] == [1, 1]
    await ask(REVERT, sam, id=banned.id)
    assert [await whole.value(), await other.value()] == [0, 0]


async def test_answer_notifies_of_the_action_again(store, ask, token, removed, sam, listen, clock):
    subscriber = await listen(NOTIFIED, token)
    await ask(APPEAL, token, id=removed.id)
    banned = (await bans.ban(store.site, OPERATOR, "vera", group="lua", until=None, reason="noise")).action
    heard = await subscriber.value()
    clock.advance(1)
    await ask(APPEAL, token, id=banned.id)
    for action in (banned, removed):
        await ask(ANSWER, sam, id=action.id)
    again = [await subscriber.value() for _ in range(2)]

    assert heard["subject"] == {"id": banned.id}
    assert [each["subject"]["id"] for each in again] == [banned.id, removed.id]
    assert again[0]["id"] == heard["id"]
    assert {each["kind"] for each in (heard, *again)} == {"MODERATION"}
    inbox = (await ask(INBOX, token))["data"]["inbox"]
    assert inbox["unseenCount"] == 2
    assert {each["at"] for each in inbox["notifications"]["nodes"]} == {LATER}


async def test_strangers_learn_nothing_of_appeals(store, ask, token, removed, sam):
    key = await store.server_keys.create("shop")
    changes = "{ changes(limit: 1000) { changes { kind subjectId actorId fields { name value } } } }"
    public = "{ moderationLog { totalCount nodes { id note appeal { text } } } appeals { totalCount } }"
    before = [await ask(public, stats=False), await ask(changes, server_key=key, stats=False)]
    await ask(APPEAL, token, id=removed.id)
    await ask(ANSWER, sam, id=removed.id)

    assert [await ask(public, stats=False), await ask(changes, server_key=key, stats=False)] == before
    named = await ask(changes.replace("limit: 1000", 'kinds: ["appealed", "appeal_answered"]'), server_key=key)
    assert named["data"]["changes"]["changes"] == []
