"""
The viewer's home, a listing of the articles of the groups that they follow, or of all if they follow none, without what
they hide and whom they block. A pinned page has a cursor into a copy of the listing, its pin, by which later pages are
of the same moment.

The fixture `token` is a session token of the user vera. Codes such as H6 name rows of docs/behaviours.md.
"""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from resolvers.dataloader import Reads
from resolvers.home import TRIES
from store import blocked, followed, hidden, home_pins
from store.records import Article
from store.store import Store
from tests.schema.conftest import Ask
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

FOLLOW = """mutation($group: String!) { followGroup(input: {group: $group}) { changed userErrors { code field message }
  group { name viewerIsFollowing followerCount } } }"""


async def test_groups_are_followed_and_unfollowed(store, ask: Ask, alice, token):  # H6
    await post(store, alice, groups=["lua"])
    followed = (await ask(FOLLOW, token, group="LUA"))["data"]["followGroup"]
    again = (await ask(FOLLOW, token, group="lua"))["data"]["followGroup"]
    unfollowed = (await ask(FOLLOW.replace("follow", "unfollow", 1), token, group="lua"))["data"]["unfollowGroup"]
    nobodys = (await ask('{ group(name: "lua") { viewerIsFollowing followerCount } }'))["data"]["group"]

    lua = {"name": "lua", "viewerIsFollowing": True, "followerCount": 1}
    assert followed == {"changed": True, "userErrors": [], "group": lua}
    assert again == {"changed": False, "userErrors": [], "group": lua}
    assert unfollowed["group"] == {"name": "lua", "viewerIsFollowing": False, "followerCount": 0}
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


async def test_blocked_users_are_shown_nowhere_and_hidden_articles_leave_home_and_feed(
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
    await store.comments.post(mine.number, parent=None, poster=bob, content="a reply, @vera")
    after = (await ask(HOME, token))["data"]
    assert ids(after["home"]["articles"]) == ids(after["feed"]["articles"]) == [mine.id]
    assert (after["feed"]["articles"]["totalCount"], after["feed"]["unseenCount"]) == (1, 1)
    assert after["home"]["hidden"] == {"totalCount": 1, "nodes": [{"id": others.id}]}
    assert after["home"]["blocked"]["nodes"] == [{"username": "bob", "viewerIsBlocking": True}]
    assert after["inbox"]["notifications"]["nodes"] == []
    assert not await store.site.redis.run(
        ("ZSCORE", followed.following(store.site.partition_of_user("vera"), "vera"), "bob")
    )

    assert (await ask(UNBLOCK, token, id="user:bob"))["data"]["unblockUser"]["changed"]
    clock.advance(1)
    await store.comments.post(mine.number, parent=None, poster=bob, content="another reply")
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
    assert "expiredPins" not in second["extensions"]


@pytest.mark.parametrize("size", [2, 3])
async def test_pages_after_the_end_of_a_pin_are_of_the_present_home(
    store, ask: Ask, alice, token, clock, monkeypatch, size
):  # H1
    monkeypatch.setattr(home_pins, "MAX_PLACES", 4)
    articles = []
    for _ in range(7):
        clock.advance(1)
        articles.append((await post(store, alice, groups=["lua"])).id)
    await store.follows.follow_group("vera", "lua")
    answer, seen = await ask(HOME, token, first=size, pinned=True), []
    while (page := answer["data"]["home"]["articles"])["pageInfo"]["hasNextPage"]:
        assert len(page["nodes"]) == size
        seen += ids(page)
        answer = await ask(HOME, token, first=size, after=page["pageInfo"]["endCursor"])

    assert [*seen, *ids(page)] == articles[::-1]
    assert page["pageInfo"]["hasPreviousPage"]
    assert "expiredPins" not in answer["extensions"]


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


@dataclass
class Chooser:
    """
    A viewer who chooses something else again and again. `states` are the articles of their home, the newest first: at
    the beginning and after each choice, of which `done` are made, and one may be under way.
    """

    store: Store
    articles: list[Article]
    chance: random.Random
    groups: set[str] = field(default_factory=set)
    hidden: set[int] = field(default_factory=set)
    blocked: set[str] = field(default_factory=set)
    states: list[list[str]] = field(default_factory=list)
    done: int = 0

    def note(self) -> None:
        """Add the present articles of the home to `states`."""
        shown = [
            each.id
            for each in reversed(self.articles)
            if (not self.groups or self.groups & {*each.groups})
            and each.number not in self.hidden
            and each.poster not in self.blocked
        ]
        self.states.append(shown)

    async def choose(self) -> None:
        """Follow a group, hide an article or block a user, or undo that if it was chosen before."""
        store, site, chance = self.store, self.store.site, self.chance
        kind = chance.choice(("follow", "hide", "hide", "block"))
        if kind == "follow":
            group = chance.choice(("lua", "show", "ask"))
            change = store.follows.unfollow_group if group in self.groups else store.follows.follow_group
            self.groups ^= {group}
            self.note()
            await change("vera", group)
        elif kind == "hide":
            number = chance.choice(self.articles).number
            do = hidden.unhide if number in self.hidden else hidden.hide
            self.hidden ^= {number}
            self.note()
            await do(site, "vera", number)
        else:
            name = chance.choice(("Alice", "bob"))
            do = blocked.unblock if name in self.blocked else blocked.block
            self.blocked ^= {name}
            self.note()
            await do(site, "vera", name)
        self.done += 1


@pytest.mark.parametrize("pinned", [False, True])
async def test_page_is_of_one_moment_while_the_viewer_chooses(
    store, ask: Ask, alice, bob, token, clock, pinned
):  # H1, H3
    """The page has what they had chosen when it was asked for, or at a moment between then and the answer."""
    chance, articles = random.Random(5), []
    for _ in range(40):
        clock.advance(1)
        groups = chance.sample(("lua", "show", "ask"), chance.choice((0, 1, 1, 2)))
        articles.append(await post(store, chance.choice((alice, bob, "vera")), groups=groups))
    chooser, seen, done_before = Chooser(store, articles, chance), set(), 0
    chooser.note()

    async def choose_all() -> None:
        while chooser.done < 250 or len(seen) <= 20:
            # a page is read again, `TRIES` times at most, if a choice was made meanwhile: the last is answered anyway
            if chooser.done < done_before + TRIES - 1:
                clock.advance(0.001)
                await chooser.choose()
            await asyncio.sleep(chance.random() / 100)

    choosing = asyncio.create_task(choose_all())
    while not choosing.done():
        done_before = chooser.done
        page = (await ask(HOME, token, first=8, pinned=pinned))["data"]["home"]["articles"]
        possible = [(state[:8], len(state) > 8) for state in chooser.states[done_before:]]
        assert (ids(page), page["pageInfo"]["hasNextPage"]) in possible
        seen.add(tuple(ids(page)))
    await choosing
    assert len(seen) > 20


async def test_page_is_read_again_if_something_else_was_chosen_meanwhile(
    store, ask: Ask, alice, token, clock, monkeypatch
):  # H1
    """
    The choices change after the followed groups are read, and before the hidden articles are. A page of the old groups
    without the article that is hidden now would be of no moment.
    """
    first = await post(store, alice, groups=["lua"])
    clock.advance(1)
    second = await post(store, alice, groups=["show"])
    await store.follows.follow_group("vera", "lua")
    read, reads = Reads.home_page, []

    async def choose_and_read(self, listing, window):
        if not reads:
            await store.follows.follow_group("vera", "show")
            await hidden.hide(store.site, "vera", first.number)
        reads.append(listing.choices.groups)
        return await read(self, listing, window)

    monkeypatch.setattr(Reads, "home_page", choose_and_read)
    page = (await ask(HOME, token))["data"]["home"]["articles"]

    assert ids(page) == [second.id]
    assert reads == [("lua",), ("lua", "show")]
