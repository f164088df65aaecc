"""
The feed of the viewer, vera, through GraphQL: pages of what she and her followees posted, and the mark, which is the
place up to which she has seen it.

Codes such as F4 name rows of docs/behaviours.md.
"""

import asyncio
from base64 import urlsafe_b64encode

import pytest

from store import keys
from tests.conftest import registered
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

FEED = """query($first: Int, $after: String, $last: Int, $before: String, $unseenOnly: Boolean) { feed {
  id unseenCount seenThrough
  articles(first: $first, after: $after, last: $last, before: $before, unseenOnly: $unseenOnly) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { id } }
  }
} }"""
MARK = """mutation($through: String!) { markFeedSeen(input: {through: $through}) {
  feed { unseenCount seenThrough } userErrors { code field } } }"""
FOLLOW = """mutation($id: ID!) { %s(input: {userId: $id}) {
  changed
  user { id username viewerIsFollowing followers { totalCount nodes { username } } }
  userErrors { code field } } }"""


def ids(answer):
    return [edge["node"]["id"] for edge in answer["data"]["feed"]["articles"]["edges"]]


def info(answer):
    return answer["data"]["feed"]["articles"]["pageInfo"]


async def test_feed_merges_followees_and_own_articles_newest_first(store, ask, alice, bob, token, clock):  # F4
    expected = []
    for poster in (alice, "vera", bob, alice, "vera"):
        expected.insert(0, (await post(store, poster)).id)
        clock.advance(1)
    stranger = await registered(store, "stranger")
    await post(store, stranger)
    for followee in (alice, bob):
        await store.follows.follow("vera", followee)

    answer = await ask(FEED, token)
    assert ids(answer) == expected
    assert answer["data"]["feed"]["id"] == "feed:vera"
    assert answer["data"]["feed"]["articles"]["totalCount"] == 5


async def test_posting_writes_no_key_of_a_follower(store, alice, redis):  # F5
    followers = [await registered(store, f"follower-{each}") for each in range(20)]
    for follower in followers:
        await store.follows.follow(follower, alice)
    await post(store, alice)

    found = [key for key in redis.scan_iter() if "follower-" in key]
    assert [key for key in found if not key.startswith(("user:", "following:"))] == []


async def test_feed_belongs_to_the_viewer(store, ask, alice, token):  # F4
    node = '{ node(id: "feed:vera") { id ... on Feed { unseenCount } } other: node(id: "feed:alice") { id } }'

    assert (await ask(FEED))["data"]["feed"] is None
    assert (await ask(node, token))["data"] == {"node": {"id": "feed:vera", "unseenCount": 0}, "other": None}
    assert (await ask(node))["data"] == {"node": None, "other": None}


async def test_pages_have_all_of_five_hundred_articles(store, ask, alice, token):  # F7
    await store.follows.follow("vera", alice)
    expected = [(await post(store, alice)).id for _ in range(500)][::-1]

    assert await all_ids(ask, token, 100) == expected


async def test_pages_of_any_size_follow_each_other_without_a_gap(store, ask, alice, token):  # F7
    await store.follows.follow("vera", alice)
    expected = [(await post(store, alice)).id for _ in range(45)][::-1]
    first = await ask(FEED, token, first=20)
    second = await ask(FEED, token, first=20, after=info(first)["endCursor"])
    third = await ask(FEED, token, after=info(second)["endCursor"])

    assert ids(first) + ids(second) + ids(third) == expected
    assert [info(each)["hasNextPage"] for each in (first, second, third)] == [True, True, False]


async def test_pages_continue_below_the_last_article_of_a_followee(store, ask, alice, token, clock):  # F4
    await store.follows.follow("vera", alice)
    expected = []
    for poster in ("vera", "vera", "vera", alice):
        expected.insert(0, (await post(store, poster)).id)
        clock.advance(1)

    assert await all_ids(ask, token, 1) == expected


async def test_error_of_one_field_does_not_affect_others_of_its_pipeline(store, ask, alice, bob, token, redis):
    await post(store, alice)
    redis.set(keys.timeline(store.site.partition_of_user(bob), bob), "no sorted set")
    query = """{ articles { nodes { title } } bob: user(username: "bob") { articles { nodes { id } } }
      alice: user(username: "alice") { karma } feed { articles { nodes { id } } } }"""

    answer = await ask(query, token)
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["bob", "articles"], "UNAVAILABLE")
    assert answer["data"] == {
        "articles": {"nodes": [{"title": "a title"}]},
        "bob": None,
        "alice": {"karma": 0},
        "feed": {"articles": {"nodes": []}},
    }


async def test_unseen_page_has_no_article_below_the_mark(store, ask, alice, token, clock):  # F10, L8
    await store.follows.follow("vera", alice)
    posted = []
    for _ in range(5):
        posted.append((await post(store, alice)).id)
        clock.advance(1)
    cursors = [edge["cursor"] for edge in (await ask(FEED, token))["data"]["feed"]["articles"]["edges"]][::-1]
    await ask(MARK, token, through=cursors[2])
    above = await ask(FEED, token, unseenOnly=True, last=5, before=cursors[0])
    below = await ask(FEED, token, unseenOnly=True, first=5, after=cursors[0])
    await ask(MARK, token, through=cursors[4])
    seen_above = await ask(FEED, token, unseenOnly=True, last=5, before=cursors[0])
    seen_below = await ask(FEED, token, unseenOnly=True, first=5, after=cursors[0])

    def flags(answer):
        return info(answer)["hasPreviousPage"], info(answer)["hasNextPage"]

    assert (ids(above), flags(above)) == (posted[:2:-1], (False, False))
    assert (ids(below), flags(below)) == ([], (True, False))
    assert (ids(seen_above), flags(seen_above)) == ([], (False, False))
    assert (ids(seen_below), flags(seen_below)) == ([], (False, False))


async def test_article_that_is_listed_late_is_not_skipped(store, ask, alice, bob, token, clock):  # F9
    """A mark by article number would skip an article that is numbered before another one and written after it."""
    for followee in (alice, bob):
        await store.follows.follow("vera", followee)
    clock.advance(1)
    late_time = clock.now - 500
    first = (await post(store, alice)).id
    shown = await ask(FEED, token)
    await ask(MARK, token, through=info(shown)["startCursor"])
    clock.now = late_time
    late = (await post(store, bob)).id

    assert ids(shown) == [first]
    assert ids(await ask(FEED, token)) == [first, late]
    assert ids(await ask(FEED, token, after=info(shown)["startCursor"])) == [late]


async def test_concurrent_reads_and_posts_neither_repeat_nor_lose_articles(store, ask, alice, token):  # F6, F9
    await store.follows.follow("vera", alice)
    posted = [(await post(store, alice)).id for _ in range(60)]

    async def keep_posting():
        return [(await post(store, alice)).id for _ in range(30)]

    later, *walks = await asyncio.gather(keep_posting(), *(all_ids(ask, token, size) for size in (7, 7, 25)))
    for walked in walks:
        assert len(set(walked)) == len(walked)
        assert walked[-60:] == posted[::-1]
    assert await all_ids(ask, token, 25) == await all_ids(ask, token, 10) == (posted + later)[::-1]


async def test_follow_adds_older_articles_and_unfollow_and_delete_remove_them(store, ask, alice, bob, token):  # F8
    old = await post(store, alice)
    other = await post(store, bob)
    await store.follows.follow("vera", alice)
    assert ids(await ask(FEED, token)) == [old.id]

    await store.follows.follow("vera", bob)
    assert set(ids(await ask(FEED, token))) == {old.id, other.id}

    await store.follows.unfollow("vera", alice)
    assert ids(await ask(FEED, token)) == [other.id]

    await store.articles.delete(other.number, bob)
    assert ids(await ask(FEED, token)) == []


async def test_mark_moves_forward_only(store, ask, alice, token, clock):  # F10
    await store.follows.follow("vera", alice)
    posted = []
    for _ in range(3):
        posted.insert(0, (await post(store, alice)).id)
        clock.advance(1)
    unmarked = await ask(FEED, token)
    cursors = [edge["cursor"] for edge in unmarked["data"]["feed"]["articles"]["edges"]]
    marked = (await ask(MARK, token, through=cursors[1]))["data"]["markFeedSeen"]
    back = (await ask(MARK, token, through=cursors[2]))["data"]["markFeedSeen"]
    unseen = await ask(FEED, token, unseenOnly=True)

    assert (unmarked["data"]["feed"]["unseenCount"], unmarked["data"]["feed"]["seenThrough"]) == (3, None)
    assert marked == {"feed": {"unseenCount": 1, "seenThrough": "2016-08-04T11:52:01.000Z"}, "userErrors": []} == back
    assert ids(unseen) == posted[:1]
    assert unseen["data"]["feed"]["articles"]["totalCount"] == 1
    assert info(unseen)["hasNextPage"] is False

    clock.advance(1)
    new = (await post(store, "vera")).id
    assert ids(await ask(FEED, token, unseenOnly=True)) == [new, posted[0]]
    assert ids(await ask(FEED, token, unseenOnly=True, last=1)) == [posted[0]]
    assert ids(await ask(FEED, token)) == [new, *posted]


async def test_unseen_articles_are_counted_up_to_a_thousand(store, ask, alice, token):  # F10
    await store.follows.follow("vera", alice)
    for _ in range(999):
        await post(store, alice)
    assert (await ask(FEED, token))["data"]["feed"]["unseenCount"] == 999

    for _ in range(2):
        await post(store, alice)
        assert (await ask(FEED, token))["data"]["feed"]["unseenCount"] == 1_000


async def test_mark_of_another_listing_is_refused(store, ask, alice, token):  # F10
    await post(store, alice)
    cursor = (await ask("{ articles { edges { cursor } } }"))["data"]["articles"]["edges"][0]["cursor"]

    for through in (cursor, "nonsense", ""):
        answer = (await ask(MARK, token, through=through))["data"]["markFeedSeen"]
        assert answer == {"feed": None, "userErrors": [{"code": "INVALID", "field": ["input", "through"]}]}
    logged_out = (await ask(MARK, through=cursor))["data"]["markFeedSeen"]
    assert logged_out["userErrors"] == [{"code": "UNAUTHENTICATED", "field": None}]


@pytest.mark.parametrize(
    "position",
    ["9e15|0000000000000001", "9e15|1", "nan|0000000000000001", "1.5|0000000000000001", "-1|0000000000000001"],
)
async def test_mark_with_an_impossible_position_is_refused(store, ask, alice, token, position):  # F10
    await store.follows.follow("vera", alice)
    await post(store, alice)
    forged = urlsafe_b64encode(f"feed:vera|{position}".encode()).decode()

    answer = (await ask(MARK, token, through=forged))["data"]["markFeedSeen"]
    assert answer == {"feed": None, "userErrors": [{"code": "INVALID", "field": ["input", "through"]}]}
    feed = (await ask(FEED, token))["data"]["feed"]
    assert (feed["seenThrough"], feed["unseenCount"]) == (None, 1)


@pytest.mark.parametrize("stored", ["9000000000000000.0 1", "nan 1", "inf 1", "-5.0 1", "1.0", "odd", "1.0 a b", ""])
async def test_invalid_stored_mark_is_ignored(store, ask, alice, token, redis, stored):  # F10
    await store.follows.follow("vera", alice)
    await post(store, alice)
    redis.hset(keys.user(store.site.partition_of_user("vera"), "vera"), "seen", stored)
    shown = await ask(FEED, token, unseenOnly=True)
    assert (shown["data"]["feed"]["seenThrough"], shown["data"]["feed"]["unseenCount"]) == (None, 1)
    assert (await ask("{ viewer { karma } }", token))["data"]["viewer"] == {"karma": 0}

    marked = (await ask(MARK, token, through=info(shown)["startCursor"]))["data"]["markFeedSeen"]
    assert marked == {"feed": {"unseenCount": 0, "seenThrough": "2016-08-04T11:52:00.000Z"}, "userErrors": []}


async def test_follow_returns_the_user(store, ask, alice, token):  # F2, F11
    follow, unfollow = FOLLOW % "followUser", FOLLOW % "unfollowUser"
    followed = (await ask(follow, token, id="user:ALICE"))["data"]["followUser"]
    again = (await ask(follow, token, id="user:alice"))["data"]["followUser"]
    ended = (await ask(unfollow, token, id="user:alice"))["data"]["unfollowUser"]

    followers = {"totalCount": 1, "nodes": [{"username": "vera"}]}
    user = {"id": "user:alice", "username": "Alice", "viewerIsFollowing": True, "followers": followers}
    assert followed == {"changed": True, "user": user, "userErrors": []}
    assert again == {"changed": False, "user": user, "userErrors": []}
    assert (ended["changed"], ended["user"]["viewerIsFollowing"], ended["user"]["followers"]["totalCount"]) == (
        True,
        False,
        0,
    )


@pytest.mark.parametrize(
    ("id", "code"), [("user:VERA", "SELF_FOLLOW"), ("user:nobody", "NOT_FOUND"), ("vera", "INVALID"), ("", "INVALID")]
)
async def test_refused_follow_has_a_code(ask, token, id, code):  # F2
    answer = (await ask(FOLLOW % "followUser", token, id=id))["data"]["followUser"]

    assert answer == {"changed": False, "user": None, "userErrors": [{"code": code, "field": ["input", "userId"]}]}


async def test_viewer_is_following_of_a_page_of_users_is_one_pipeline(store, ask, alice, bob, token):
    for follower in (alice, bob):
        await store.follows.follow(follower, "vera")
    await store.follows.follow("vera", bob)
    query = '{ user(username: "vera") { followers { nodes { username viewerIsFollowing } } } }'

    answer = await ask(query, token)
    found = {node["username"]: node["viewerIsFollowing"] for node in answer["data"]["user"]["followers"]["nodes"]}
    assert found == {"Alice": False, "bob": True}
    assert answer["extensions"]["stats"]["roundTrips"] == 3


async def all_ids(ask, token, size):
    """The ids of the whole feed, read in pages of `size` articles."""
    walked, cursor = [], None
    while True:
        answer = await ask(FEED, token, first=size, after=cursor)
        walked += ids(answer)
        if not info(answer)["hasNextPage"]:
            return walked
        cursor = info(answer)["endCursor"]
