"""
A moved store answers about moderation what it answered before, to moderators and to strangers.

Codes such as M2 name rows of docs/behaviours.md.
"""

import asyncio

import pytest

from resolvers.context import Context
from schema.schema import SCHEMA
from server.cli.move import move
from server.cli.verify import verify
from server.settings import Settings
from store import appeals, article_moderation, bans, comment_moderation, flags, reverts, roles
from store.articles import Draft
from store.errors import Banned, Locked
from store.flags import FlagReason
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered
from tests.store.held import holding
from tests.store.reading import post

# the destination is another database of the same server
pytestmark = [pytest.mark.one_server, pytest.mark.many_partitions]

ACTION = """id kind at reason note role expiresAt subjectId subject { id } group { name } moderator { username }
  reverts { id } revertedBy { id } appeal { id text at answer answeredBy { username } answeredAt }"""
ARTICLE = "title state isLocked groups { name } votes commentCount"
COMMENT = "content state votes poster { username }"
THING = f"id ... on Article {{ {ARTICLE} }} ... on Comment {{ {COMMENT} }}"
READ = f"""query($ids: [ID!]!) {{
  nodes(ids: $ids) {{ {THING} ... on User {{ username karma isBanned bannedUntil roles {{ role group {{ name }} }} }} }}
  articles(order: TIME) {{ totalCount nodes {{ id {ARTICLE} thread {{ totalCount nodes {{ id {COMMENT} }} }} }} }}
  flagged: moderationQueue(kind: FLAGGED) {{ totalCount edges {{
    since node {{ {THING} }} flagReasons flags {{ reason note at by {{ username }} }} }} }}
  pending: moderationQueue(kind: PENDING) {{ totalCount edges {{ since node {{ {THING} }} }} }}
  ours: moderationQueue(kind: FLAGGED, group: "go") {{ totalCount }}
  appeals {{ totalCount nodes {{ {ACTION} }} }}
  moderationLog {{ totalCount nodes {{ {ACTION} }} }}
  inGroup: moderationLog(group: "go") {{ totalCount nodes {{ id }} }}
  held {{ totalCount nodes {{ {THING} }} }}
  inbox {{ unseenCount notifications {{ nodes {{ kind at isSeen subject {{ id }} }} }} }}
  group(name: "go") {{ moderators {{ nodes {{ username }} }} viewerCanModerate }}
}}"""


@pytest.fixture
async def moderated(redis_url, partitions):
    """A store in which moderators have acted, the ids of what they have acted upon by name, and tokens of readers."""
    store = await Store.open(redis_url, partitions=partitions)
    for name in ("alice", "bob", "carol", "dave", "sam", "gus"):
        await registered(store, name)
    site = store.site
    await roles.grant(site, OPERATOR, "sam", Role.MODERATOR, group=None, reason="a good eye")
    await roles.grant(site, OPERATOR, "gus", Role.MODERATOR, group="go", reason="a good memory")
    removed, locked, taken_out, shown = [await post(store, "alice", f"title {n}", ["go"]) for n in range(4)]
    first = (await store.comments.post(shown.number, parent=None, poster="bob", content="a first text")).comment
    posted = await store.comments.post(shown.number, parent=first.number, poster="carol", content="an answer, @dave")
    below = posted.comment
    with holding(store):
        pending = (await store.comments.post(shown.number, parent=None, poster="bob", content="@dave, held")).comment
        held = (await store.articles.post("bob", Draft("held", content="@dave", groups=("go",)))).article
    removal = (
        await article_moderation.remove(site, "sam", removed.number, group=None, reason="spam", note="seen before")
    ).action
    await article_moderation.lock(site, "sam", locked.number, group=None, reason="heated")
    out = (await article_moderation.remove(site, "gus", taken_out.number, group="go", reason="off topic")).action
    hidden = (
        await comment_moderation.remove(site, "gus", first.number, group=None, reason="rude", note="again")
    ).action
    await flags.flag(site, "carol", "article", shown.number, FlagReason.SPAM, "it sells shoes")
    await flags.flag(site, "dave", "comment", below.number, FlagReason.ABUSE)
    banned = (await bans.ban(site, "sam", "dave", group=None, until=None, reason="noise")).action
    of_group = (
        await bans.ban(site, "gus", "carol", group="go", until=site.clock() + 10**9, reason="noise", note="mild")
    ).action
    for who, action in (("alice", removal), ("alice", out), ("bob", hidden), ("dave", banned), ("carol", of_group)):
        await appeals.submit(site, who, action.number, "I did not")
    await appeals.answer(site, "sam", out.number, "You did")
    await reverts.revert(site, "sam", of_group.number, "an error")
    ids = {"removed": removed, "locked": locked, "taken out": taken_out, "shown": shown, "first": first, "below": below}
    ids = {name: each.id for name, each in (ids | {"pending": pending, "held": held}).items()}
    ids |= {name: f"user:{name}" for name in ("alice", "bob", "carol", "dave")}
    tokens = {name: (await store.sessions.open(name)).token for name in ("sam", "gus", "alice", "bob", "carol", "dave")}
    yield store, ids, tokens | {"": None}
    await store.close()


def number_in(id):
    return int(id.partition(":")[2])


async def answers(store, ids, tokens):
    """What each reader is answered, moderators first."""
    found = {}
    for name, token in tokens.items():
        result = await SCHEMA.execute(READ, {"ids": [*ids.values()]}, Context(store, token))
        assert result.errors is None
        found[name] = result.data
    return found


async def test_moved_store_answers_the_same_about_moderation(moderated, redis_url, empty):  # M2, M4, M5, M6, M9
    store, ids, tokens = moderated
    before = await answers(store, ids, tokens)
    assert await asyncio.to_thread(move, Settings(redis_url=redis_url), empty.redis_url, partitions=4) == 0
    moved = await Store.open(empty.redis_url)
    after = await answers(moved, ids, tokens)

    assert after == before
    assert before["sam"]["appeals"]["totalCount"] == 3 and before["gus"]["appeals"]["totalCount"] == 2
    assert before["sam"]["flagged"]["totalCount"] == before["sam"]["pending"]["totalCount"] == 2
    assert before["alice"]["held"]["totalCount"] == 1 and before["bob"]["held"]["totalCount"] == 3
    assert before[""]["flagged"] is before[""]["pending"] is before[""]["appeals"] is before[""]["held"] is None
    with pytest.raises(Locked):
        await moved.articles.vote(number_in(ids["locked"]), "bob", Vote.UP)
    with pytest.raises(Banned):
        await moved.articles.vote(number_in(ids["shown"]), "dave", Vote.UP)
    await comment_moderation.approve(moved.site, OPERATOR, number_in(ids["pending"]))
    inbox = (await answers(moved, ids, {"dave": tokens["dave"]}))["dave"]["inbox"]["notifications"]["nodes"]
    assert inbox[0]["subject"] == {"id": ids["pending"]}  # it was not announced before the move
    await moved.close()
    assert await asyncio.to_thread(verify, empty, repair=False) == 0
