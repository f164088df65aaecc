"""
Bans over the real endpoint: which mutations a banned user may call, and who sees a ban.

The fixture `token` is a session token of the user vera. Codes such as M6 name rows of docs/behaviours.md.
"""

import httpx
import pytest

from engine import Client, Endpoint, Options
from resolvers.context import Context
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from server.app import CODES
from store import bans, roles
from store.articles import Draft
from store.moderation_records import Role
from store.records import ContentState
from store.roles import OPERATOR
from tests.conftest import registered
from tests.store.reading import article, everything, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

WHY = """fragment Why on UserError { __typename code message field
  ... on Banned { id rule params { name value } until group { name } } }"""
BAN = (
    """mutation($user: ID!, $group: String, $until: DateTime) {
  banUser(input: {userId: $user, group: $group, until: $until, reason: "spam", note: "seen before"}) { changed
    action { kind subjectId group { name } reason note expiresAt moderator { username } } userErrors { ...Why } } }"""
    + WHY
)
STATE = "query($name: String!) { user(username: $name) { isBanned bannedUntil } }"
ALLOWED = {  # what a banned user may still call, with the input of each, into which the test puts numbers and cursors
    "register": '{username: "another", password: "correct horse"}',
    "logIn": '{username: "vera", password: "correct horse"}',
    "markInboxSeen": '{through: "%(notification)s"}',
    "appeal": '{actionId: "action:%(action)d", text: "I did not"}',
    "endSession": "{}",
    "editAccount": "{mailReplies: NEVER}",
    "logOut": None,
    "deleteUser": '{currentPassword: "correct horse"}',
}
REFUSED = {  # what a banned user may not call
    "post": '{title: "A title", content: "text"}',
    "editArticle": '{articleId: "article:%(own)d", title: "Another"}',
    "regroupArticle": '{articleId: "article:%(own)d", add: ["lua"]}',
    "deleteArticle": '{articleId: "article:%(own)d"}',
    "vote": '{articleId: "article:%(other)d", value: UP}',
    "comment": '{articleId: "article:%(other)d", content: "text"}',
    "editComment": '{commentId: "comment:%(comment)d", content: "changed"}',
    "deleteComment": '{commentId: "comment:%(comment)d"}',
    "voteOnComment": '{commentId: "comment:%(reply)d", value: UP}',
    "followUser": '{userId: "user:bob"}',
    "unfollowUser": '{userId: "user:alice"}',
    "markFeedSeen": '{through: "%(place)s"}',
    "changePassword": '{currentPassword: "correct horse", newPassword: "battery staple"}',
    "removeContent": '{subjectId: "article:%(other)d", reason: "spam"}',
    "approveContent": '{subjectId: "article:%(other)d"}',
    "lockArticle": '{articleId: "article:%(other)d", reason: "heated"}',
    "flag": '{subjectId: "article:%(other)d", reason: SPAM}',
    "unflag": '{subjectId: "article:%(other)d"}',
    "editGroup": '{group: "show", title: "A place"}',
    "banUser": '{userId: "user:bob", reason: "spam"}',
    "annulVotes": '{userId: "user:bob", reason: "a ring"}',
    "revertModeration": '{actionId: "action:%(action)d", reason: "a mistake"}',
    "answerAppeal": '{actionId: "action:%(action)d", text: "No"}',
    "grantRole": '{userId: "user:bob", role: MODERATOR, reason: "helps"}',
    "revokeRole": '{userId: "user:mona", role: MODERATOR, reason: "helps"}',
    "rejectEdit": '{subjectId: "article:%(other)d", reason: "worse"}',
    "editProfile": '{about: "new"}',
    "createInvitation": None,
    "followGroup": '{group: "lua"}',
    "unfollowGroup": '{group: "lua"}',
    "save": '{subjectId: "article:%(other)d"}',
    "unsave": '{subjectId: "article:%(other)d"}',
    "hideArticle": '{articleId: "article:%(other)d"}',
    "unhideArticle": '{articleId: "article:%(other)d"}',
    "blockUser": '{userId: "user:vera"}',
    "unblockUser": '{userId: "user:vera"}',
}
WITHOUT_SESSION = {  # mutations that need no session: the input of each, and the code of its refusal for anybody
    "confirmEmail": ('{token: "x"}', "BAD_TOKEN"),
    "requestConfirmation": (None, "NOT_OFFERED"),
    "requestPasswordReset": ('{usernameOrEmail: "vera"}', "NOT_OFFERED"),
    "resetPassword": ('{token: "x", newPassword: "battery staple"}', "BAD_TOKEN"),
    "logInWithToken": ('{token: "x"}', "BAD_TOKEN"),
}


@pytest.fixture
async def moderator(store):
    """The token of a moderator of the site, mona."""
    token = (await store.users.register("mona", "correct horse")).token
    await roles.grant(store.site, OPERATOR, "mona", Role.MODERATOR, group=None, reason="helps")
    return token


@pytest.fixture
async def vera(store, token):
    """The username of the user whose token the fixture `token` is."""
    return "vera"


async def banned(store, username, **given):
    """Ban a user. Returns the token of a session that is opened after that."""
    values = {"group": None, "until": None, "reason": "spam"} | given
    await bans.ban(store.site, OPERATOR, username, **values)
    return (await store.sessions.open(username)).token


def refusal(answer):
    """The user errors of the only mutation of a request."""
    (payload,) = answer["data"].values()
    return payload["userErrors"]


async def test_mutations_are_refused_but_those_that_a_banned_user_may_call(  # M6
    store, ask, alice, bob, vera, token, clock, redis
):
    await roles.grant(store.site, OPERATOR, vera, Role.ADMIN, group=None, reason="the first")
    await registered(store, "mona")
    await roles.grant(store.site, OPERATOR, alice, Role.ADMIN, group=None, reason="stays when vera leaves")
    own, other = (await post(store, vera)).number, (await post(store, alice)).number
    comment = (await store.comments.post(other, parent=None, poster=vera, content="mine")).comment.number
    reply = (await store.comments.post(own, parent=None, poster=bob, content="theirs")).comment.number
    action = (await bans.ban(store.site, OPERATOR, vera, group="lua", until=None, reason="spam")).action.number
    await store.follows.follow(vera, alice)
    seen = await ask("{ feed { articles { edges { cursor } } } inbox { notifications { edges { cursor } } } }", token)
    place, notification = (
        seen["data"][name][each]["edges"][0]["cursor"]
        for name, each in (("feed", "articles"), ("inbox", "notifications"))
    )
    # what `%(own)d`, `%(place)s` and the others in the inputs stand for
    values = {name: value for name, value in locals().items() if isinstance(value, int | str)}
    mutations = await ask("{ __schema { mutationType { fields { name } } } }")
    names = {each["name"] for each in mutations["data"]["__schema"]["mutationType"]["fields"]}
    assert ALLOWED.keys() | REFUSED.keys() | WITHOUT_SESSION.keys() == names, "say whether a banned user may call it"

    async def call(name, given, token):
        written = f"(input: {given % values})" if given else ""
        return refusal(await ask(f"mutation {{ {name}{written} {{ userErrors {{ ...Why }} }} }} {WHY}", token))

    token = await banned(store, vera, until=clock.now + 60_000)
    before = everything(redis)
    expected = {
        "__typename": "Banned",
        "id": "ban:site",
        "code": "BANNED",
        "message": "you are banned from this site until 2016-08-04T11:53:00.000Z",
        "field": None,
        "rule": None,
        "params": [{"name": "until", "value": "2016-08-04T11:53:00.000Z"}],
        "until": "2016-08-04T11:53:00.000Z",
        "group": None,
    }
    for name, given in REFUSED.items():
        assert (name, await call(name, given, token)) == (name, [expected])
    for name, (given, code) in WITHOUT_SESSION.items():
        assert (name, [each["code"] for each in await call(name, given, token)]) == (name, [code])
    assert everything(redis) == before
    for name, given in ALLOWED.items():
        token = (await store.sessions.open(vera)).token if name == "deleteUser" else token
        assert (name, await call(name, given, token)) == (name, [])


async def test_banned_user_without_a_role_is_refused_as_banned(store, ask, alice, vera):  # M6
    number = (await post(store, alice)).number
    token = await banned(store, vera)
    values = {"other": number, "action": number}
    for name in (
        "removeContent",
        "approveContent",
        "lockArticle",
        "banUser",
        "annulVotes",
        "rejectEdit",
        "answerAppeal",
        "revertModeration",
        "grantRole",
        "revokeRole",
    ):
        answer = await ask(
            f"mutation {{ {name}(input: {REFUSED[name] % values}) {{ userErrors {{ ...Why }} }} }} {WHY}", token
        )

        assert [each["code"] for each in refusal(answer)] == ["BANNED"], name


async def test_ban_from_a_group_names_the_group_and_refuses_there_only(store, ask, alice, vera, clock):  # M6
    numbers = [
        (await store.articles.post(alice, Draft(f"In {group}", content="text", groups=(group,)))).number
        for group in ("lua", "go")
    ]
    token = await banned(store, vera, group="lua")
    vote = "mutation($id: ID!) { vote(input: {articleId: $id}) { article { upvotes } userErrors { ...Why } } }" + WHY
    inside, outside = [await ask(vote, token, id=f"article:{number}") for number in numbers]

    (refused,) = refusal(inside)
    assert (refused["code"], refused["until"], refused["group"]) == ("BANNED", None, {"name": "lua"})
    assert refused["id"] == "ban:group:lua"
    assert refused["message"] == "you are banned from the group lua for good"
    assert refused["params"] == [{"name": "group", "value": "lua"}]
    assert outside["data"]["vote"] == {"article": {"upvotes": 2}, "userErrors": []}


async def test_moderator_bans_a_user(store, ask, moderator, alice, clock):  # M6, M9
    given = {"user": "user:alice", "until": "2016-08-05T00:00:00Z"}
    first, second = [await ask(BAN, moderator, **given) for _ in range(2)]

    payload = first["data"]["banUser"]
    assert payload == {
        "changed": True,
        "action": {
            "kind": "BAN",
            "subjectId": "user:alice",
            "group": None,
            "reason": "spam",
            "note": "seen before",
            "expiresAt": "2016-08-05T00:00:00.000Z",
            "moderator": {"username": "mona"},
        },
        "userErrors": [],
    }
    assert second["data"]["banUser"] == payload | {"changed": False}


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"user": "user:mona"}, "NOT_A_MODERATOR", ["input", "userId"]),
        ({"user": "user:nobody"}, "NOT_FOUND", ["input", "userId"]),
        ({"user": "alice"}, "INVALID", ["input", "userId"]),
        ({"user": "user:alice", "until": "2016-08-04T11:52:00Z"}, "INVALID", ["input", "until"]),
        ({"user": "user:alice", "group": "no group"}, "INVALID", ["input", "group"]),
    ],
)
async def test_ban_that_is_not_possible_is_refused(store, ask, moderator, alice, redis, given, code, field):
    before = everything(redis)
    (refused,) = refusal(await ask(BAN, moderator, **given))

    assert (refused["code"], refused["field"]) == (code, field)
    assert everything(redis) == before


async def test_only_moderators_ban(store, ask, token, alice, redis):  # M1
    before = everything(redis)

    assert [refusal(await ask(BAN, each, user="user:alice"))[0]["code"] for each in (token, None)] == [
        "NOT_A_MODERATOR",
        "UNAUTHENTICATED",
    ]
    assert everything(redis) == before


async def test_request_with_the_roles_of_before_a_revocation_is_refused(store, ask, moderator, alice):  # M1
    await ask("{ viewer { roles { role } } }", moderator)
    await roles.revoke(store.site, OPERATOR, "mona", Role.MODERATOR, group=None, reason="enough")

    assert refusal(await ask(BAN, moderator, user="user:alice"))[0]["code"] == "NOT_A_MODERATOR"


async def test_everybody_sees_a_ban_and_only_users_themselves_and_moderators_its_end(  # M6
    store, ask, moderator, alice, vera, token, clock
):
    before = [await ask(STATE, each, name="Vera") for each in (moderator, token, None)]
    own = await banned(store, vera, until=clock.now + 60_000)
    other = (await store.sessions.open(alice)).token

    async def states():
        found = [(await ask(STATE, each, name="vera"))["data"]["user"] for each in (moderator, own, other, None)]
        return [(each["isBanned"], each["bannedUntil"]) for each in found]

    until = "2016-08-04T11:53:00.000Z"
    assert [each["data"]["user"] for each in before] == [{"isBanned": False, "bannedUntil": None}] * 3
    for _ in range(3):
        assert await states() == [(True, until), (True, until), (True, None), (True, None)]
    clock.advance(60)
    assert await states() == [(False, None)] * 4


async def test_ban_from_a_group_is_no_ban_from_the_site(store, ask, vera, token):
    await banned(store, vera, group="lua")

    assert (await ask(STATE, token, name="vera"))["data"]["user"] == {"isBanned": False, "bannedUntil": None}


async def test_bans_are_limited_by_moderator_and_those_that_change_nothing_do_not_count(  # M6
    store, moderator, alice, bob, vera, clock
):
    rates = WriteRates(removals=2)

    def open_context(client: Client) -> Context:
        return Context(store, client.token, address=client.address, rates=rates)

    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, Options()))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as http:

        async def ban(user):
            headers = {"Authorization": f"Bearer {moderator}"}
            response = await http.post("/", json={"query": BAN, "variables": {"user": user}}, headers=headers)
            return [each["code"] for each in refusal(response.json())]

        answers = [await ban(user) for user in ("user:alice", "user:alice", "user:mona", "user:bob", "user:vera")]
        clock.advance(3_601)  # the limit is that of an hour
        later = await ban("user:vera")

    assert answers == [[], [], ["NOT_A_MODERATOR"], [], ["RATE_LIMITED"]]
    assert later == []


async def test_ban_that_removes_texts_counts_once_in_the_limit(store, moderator, alice, bob):  # M6
    rates, articles = WriteRates(removals=2), [await post(store, alice) for _ in range(4)]

    def open_context(client: Client) -> Context:
        return Context(store, client.token, address=client.address, rates=rates)

    mutation = """mutation($user: ID!) { banUser(input: {userId: $user, removeTexts: true, reason: "spam"}) {
      changed userErrors { code } } }"""
    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, Options()))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as http:
        headers = {"Authorization": f"Bearer {moderator}"}
        for user in ("user:alice", "user:bob"):
            sent = {"query": mutation, "variables": {"user": user}}
            answer = (await http.post("/", json=sent, headers=headers)).json()
            assert answer["data"]["banUser"] == {"changed": True, "userErrors": []}

    states = [(await article(store, each.number)).state for each in articles]
    assert states == [ContentState.REMOVED] * 4


async def test_user_reads_in_the_inbox_what_a_moderator_did(store, ask, moderator, vera, token):  # M9
    await ask(BAN, moderator, user="user:vera", group="lua")
    query = """{ inbox { unseenCount notifications { nodes { id kind isSeen actor { username }
      subject { ... on ModerationAction { id kind reason note group { name } } } } } } }"""
    inbox = (await ask(query, token))["data"]["inbox"]
    (found,) = inbox["notifications"]["nodes"]

    number = found["subject"]["id"].removeprefix("action:")
    assert inbox["unseenCount"] == 1
    assert found == {
        "id": f"notification:vera:{number}",
        "kind": "MODERATION",
        "isSeen": False,
        "actor": None,
        "subject": {
            "id": f"action:{number}",
            "kind": "BAN",
            "reason": "spam",
            "note": None,
            "group": {"name": "lua"},
        },
    }


async def test_banned_user_appeals_and_nobody_else(store, ask, vera, token, alice):  # M6
    action = (await bans.ban(store.site, OPERATOR, vera, group=None, until=None, reason="spam")).action
    own, other = [(await store.sessions.open(name)).token for name in (vera, alice)]
    appeal = (
        "mutation($id: ID!, $text: String!) { appeal(input: {actionId: $id, text: $text}) {"
        " action { id } userErrors { ...Why } } }" + WHY
    )
    answers = [
        (await ask(appeal, each, id=id, text="I did not"))["data"]["appeal"]
        for each, id in ((own, action.id), (other, action.id), (own, "action:1"), (own, "user:vera"), (None, action.id))
    ]

    assert answers[0] == {"action": {"id": action.id}, "userErrors": []}
    assert [each["userErrors"][0]["code"] for each in answers[1:]] == [
        "FORBIDDEN",
        "NOT_FOUND",
        "INVALID",
        "UNAUTHENTICATED",
    ]
    assert (await ask(appeal, own, id=action.id, text="Really"))["data"]["appeal"]["userErrors"][0]["code"] == "INVALID"
