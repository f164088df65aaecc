"""
How Lua scripts refuse what a banned user may not do. They find bans in the session of the user, or get them with the
username where another partition has the session.

A ban is a word there: `site=UNTIL` or `group:NAME=UNTIL`, with the end in unix milliseconds, or 0 for good.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as M6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import keys
from store.errors import Banned, Unauthenticated
from store.records import Vote
from store.scripts import registry
from store.scripts.registry import Script
from store.sessions import parse_token
from store.site import actor_slot
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions


@pytest.fixture
def script(tmp_path, monkeypatch):
    """
    `script(text)` makes a script of these lines. They may call `actor`, which refuses banned users, and `any_actor`,
    which does not. Both return the name of the user.
    """

    def make(text: str) -> Script:
        path = tmp_path / "commands" / "odd.lua"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"-- Tests bans.\n-- requires: prelude\n{text}\n")
        monkeypatch.setitem(registry.FILES, "odd", path)
        return Script("odd")

    return make


async def session_with(store, redis, username, bans):
    """A session of a user with the words of bans."""
    redis.hset(keys.user(store.site.partition_of_user(username), username), "bans", bans)
    return parse_token((await store.sessions.open(username)).token)


# `is_own`: the script runs in the partition that has the session
@pytest.mark.parametrize("is_own", [True, False])
async def test_script_refuses_a_user_who_is_banned_from_the_site(store, redis, alice, clock, script, is_own):  # M6
    until = clock.now + 60_000
    session = await session_with(store, redis, alice, f"site={until}")
    partition = (actor_slot(session) + (not is_own)) % store.site.partitions
    acts, reads = script("return actor()"), script("return any_actor()")

    with pytest.raises(Banned) as refused:
        await store.site.run(acts, partition, session)
    assert (refused.value.until, refused.value.group) == (until, None)
    assert await store.site.run(reads, partition, session) == alice
    clock.advance(59.999)
    with pytest.raises(Banned):
        await store.site.run(acts, partition, session)
    clock.advance(0.001)
    assert await store.site.run(acts, partition, session) == alice


@pytest.mark.parametrize("is_own", [True, False])
async def test_script_refuses_a_user_who_is_banned_from_a_group(store, redis, alice, clock, script, is_own):  # M6
    session = await session_with(store, redis, alice, f"site=1 group:a=1 group:show=0 group:ask={clock.now + 9}")
    partition = (actor_slot(session) + (not is_own)) % store.site.partitions

    def checked(*groups):
        listed = ", ".join(f'"{each}"' for each in groups)
        return store.site.run(
            script(f"local name = actor()\nrequire_not_banned({{{listed}}})\nreturn name"), partition, session
        )

    assert await checked() == await checked("a") == await checked("sho", "show2", "video") == alice
    with pytest.raises(Banned, match="you are banned from the group show for good") as refused:
        await checked("video", "show")
    assert (refused.value.until, refused.value.group) == (None, "show")
    with pytest.raises(Banned, match=r"you are banned from the group ask until 2016-08-04T11:52:00\.009Z$") as refused:
        await checked("ask")
    assert (refused.value.until, refused.value.group) == (clock.now + 9, "ask")


async def test_ban_stays_in_a_session_that_is_renewed(store, redis, alice, clock):
    session = await session_with(store, redis, alice, "group:lua=0 site=0")
    login = await store.site.login(session)
    clock.advance(7_200)
    renewed = await store.sessions.renew(session, login)

    assert await store.site.login(session) == renewed
    assert (renewed.username, renewed.bans) == (alice, "group:lua=0 site=0")
    assert renewed.expires_at == login.expires_at + 7_200_000


async def test_session_of_a_banned_user_ends(store, redis, alice):
    session = await session_with(store, redis, alice, "site=0")
    await store.sessions.close(session)

    with pytest.raises(Unauthenticated):
        await store.site.login(session)


async def test_banned_user_changes_nothing(store, redis, alice, bob):  # M6
    article = await post(store, bob)
    session = await session_with(store, redis, alice, "site=0")
    before = everything(redis)

    with pytest.raises(Banned, match="you are banned from this site for good"):
        await store.articles.vote(article.number, session, Vote.UP)
    assert everything(redis) == before
