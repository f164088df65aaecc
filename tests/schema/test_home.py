"""The viewer's home: the groups that they follow."""

import pytest

from tests.schema.conftest import Ask
from tests.store.reading import post

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
