"""The viewer's home: the groups that they follow."""

import pytest

from store import followed
from tests.schema.conftest import Ask
from tests.store.reading import everything, post

pytestmark = pytest.mark.routed

FOLLOW = """mutation($group: String!) { followGroup(input: {group: $group}) { changed userErrors { code field message }
  group { name viewerIsFollowing followerCount } } }"""


async def test_groups_are_followed_and_left(store, ask: Ask, alice, token):  # H6
    await post(store, alice, groups=["lua"])
    followed = (await ask(FOLLOW, token, group="LUA"))["data"]["followGroup"]
    again = (await ask(FOLLOW, token, group="lua"))["data"]["followGroup"]
    left = (await ask(FOLLOW.replace("follow", "unfollow", 1), token, group="lua"))["data"]["unfollowGroup"]
    nobodys = (await ask('{ group(name: "lua") { viewerIsFollowing followerCount } }'))["data"]["group"]

    lua = {"name": "lua", "viewerIsFollowing": True, "followerCount": 1}
    assert followed == {"changed": True, "userErrors": [], "group": lua}
    assert again == {"changed": False, "userErrors": [], "group": lua}
    assert left["group"] == {"name": "lua", "viewerIsFollowing": False, "followerCount": 0}
    assert nobodys == {"viewerIsFollowing": False, "followerCount": 0}


async def test_follows_of_groups_are_refused_with_their_codes(ask: Ask, token):  # H6
    async def refusal(group, token):
        answer = (await ask(FOLLOW, token, group=group))["data"]["followGroup"]
        assert (answer["group"], answer["changed"]) == (None, False)
        (error,) = answer["userErrors"]
        return error["code"], error["field"]

    assert await refusal("nowhere", token) == ("NOT_FOUND", ["input", "group"])
    assert await refusal("a b", token) == ("INVALID", ["input", "group"])
    assert await refusal("lua", None) == ("UNAUTHENTICATED", None)


HOME = """query($first: Int, $after: String, $pinned: Boolean) { home { id
  articles(order: TIME, first: $first, after: $after, pinned: $pinned) {
    nodes { id viewerHasHidden } pageInfo { hasNextPage hasPreviousPage endCursor } }
  groups { nodes { name } } hidden { totalCount nodes { id } } blocked { nodes { username viewerIsBlocking } } }
  feed { unseenCount articles { totalCount nodes { id } } } inbox { notifications { nodes { kind } } } }"""
HIDE = "mutation($id: ID!) { hideArticle(input: {articleId: $id}) { changed userErrors { code field } } }"
BLOCK = "mutation($id: ID!) { blockUser(input: {userId: $id}) { changed userErrors { code field } } }"
UNBLOCK = BLOCK.replace("blockUser", "unblockUser")


def ids(connection):
    return [node["id"] for node in connection["nodes"]]


async def test_blocked_users_are_met_nowhere_and_hidden_articles_leave_home_and_feed(
    store, ask: Ask, alice, bob, token, clock
):  # H3
    mine = await post(store, "vera", groups=["lua"])
    clock.advance(1)
    theirs = await post(store, bob, groups=["lua", "show"])
    clock.advance(1)
    others = await post(store, alice, groups=["lua"])
    for name in (alice, bob):
        await store.follows.follow("vera", name)
    for group in ("lua", "show"):
        await store.follows.follow_group("vera", group)
    before = (await ask(HOME, token))["data"]
    assert ids(before["home"]["articles"]) == ids(before["feed"]["articles"]) == [others.id, theirs.id, mine.id]

    assert (await ask(BLOCK, token, id="user:bob"))["data"]["blockUser"] == {"changed": True, "userErrors": []}
    assert (await ask(HIDE, token, id=others.id))["data"]["hideArticle"] == {"changed": True, "userErrors": []}
    clock.advance(1)
    await store.comments.post(mine.number, None, bob, "a reply, @vera")
    after = (await ask(HOME, token))["data"]
    assert ids(after["home"]["articles"]) == ids(after["feed"]["articles"]) == [mine.id]
    assert (after["feed"]["articles"]["totalCount"], after["feed"]["unseenCount"]) == (1, 1)
    assert after["home"]["hidden"] == {"totalCount": 1, "nodes": [{"id": others.id}]}
    assert after["home"]["blocked"]["nodes"] == [{"username": "bob", "viewerIsBlocking": True}]
    assert after["inbox"]["notifications"]["nodes"] == []
    assert not await store.site.redis.run(
        ("ZSCORE", followed.following(store.site.home_of_user("vera"), "vera"), "bob")
    )

    assert (await ask(UNBLOCK, token, id="user:bob"))["data"]["unblockUser"]["changed"]
    clock.advance(1)
    await store.comments.post(mine.number, None, bob, "another reply")
    unblocked = (await ask(HOME, token))["data"]
    assert ids(unblocked["home"]["articles"]) == [theirs.id, mine.id]
    assert len(unblocked["inbox"]["notifications"]["nodes"]) == 1


async def test_pinned_home_loses_only_what_is_hidden_meanwhile(store, ask: Ask, alice, token, clock):  # H1
    articles = []
    for _ in range(6):
        clock.advance(1)
        articles.append((await post(store, alice, groups=["lua"])).id)
    await store.follows.follow_group("vera", "lua")
    first = (await ask(HOME, token, first=2, pinned=True))["data"]["home"]["articles"]
    await ask(HIDE, token, id=articles[2])
    clock.advance(1)
    await post(store, alice, groups=["lua"])
    second = await ask(HOME, token, first=2, after=first["pageInfo"]["endCursor"])

    assert ids(first) == articles[:-3:-1]
    assert ids(second["data"]["home"]["articles"]) == [articles[3], articles[1]]
    assert "pins" not in second["extensions"]


async def test_private_choices_are_refused_with_their_codes_and_change_nothing(ask: Ask, alice, token, redis):
    before = everything(redis)
    answers = [
        ((await ask(BLOCK, token, id="user:vera"))["data"]["blockUser"], "INVALID"),
        ((await ask(BLOCK, token, id="user:nobody"))["data"]["blockUser"], "NOT_FOUND"),
        ((await ask(BLOCK, None, id="user:alice"))["data"]["blockUser"], "UNAUTHENTICATED"),
        ((await ask(HIDE, token, id="article:1"))["data"]["hideArticle"], "NOT_FOUND"),
        ((await ask(HIDE, token, id="user:alice"))["data"]["hideArticle"], "INVALID"),
        ((await ask(HIDE, None, id="article:1"))["data"]["hideArticle"], "UNAUTHENTICATED"),
    ]

    assert [(answer["changed"], answer["userErrors"][0]["code"]) for answer, _ in answers] == [
        (False, code) for _, code in answers
    ]
    assert everything(redis) == before
    assert (await ask("{ home { id } }"))["data"] == {"home": None}
