"""
Users who are deleted: what is left of them in Redis, in the database, and in what clients read. A pseudonym replaces
the name, and `texts` says whether articles and comments are removed too.

`site` is a store just before its user Zelda (`NAME`) is deleted, with Bob and carol; some articles are archived: only
the database has them. `site.delete` is Zelda's request, `site.settle` does the rest as the task of a server.

`mirrored` brings the database up to date with the log of the store, `rebuilt` makes its rows again. `findings` gives
what `upvote verify` finds wrong in the store. `on_both` runs a test with SQLite and with PostgreSQL.

Codes such as U6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import text

from archive import annulments as annulling
from archive import banned_texts, leaving
from archive.maintenance import records_of
from database.database import Database
from database.tables import METADATA
from store import bans, comment_moderation, keys, log, purges, reverts, roles
from store import leaving as leavers
from store.articles import VOTE, Draft
from store.comments import VOTE_ON_COMMENT
from store.errors import NotFound, Refusal, StoreUnavailable, Unauthenticated, UsernameTaken
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.archive.annulling import counts_of
from tests.archive.leaving_users import EVERYTHING, NAME, PASSWORD, Site, following
from tests.archive.worlds import POLICY
from tests.conftest import Clock, client
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.store.reading import findings
from tests.support.memory import full

pytestmark = [pytest.mark.one_server, on_both]


@pytest.fixture
async def site(redis_url: str, partitions: int, clock: Clock, each_database: Database) -> AsyncIterator[Site]:
    store = await Store.open(redis_url, POLICY, partitions, clock=clock, session_lifetime=10**8)
    site = Site(store, each_database)
    site.redis, site.clock = client(redis_url), clock
    await site.fill()
    yield site
    await site.close()
    site.redis.close()


def texts_in(redis: Redis, *, logs: bool) -> Iterator[str]:
    """All keys and values of a store; of the logs only if they are wanted."""
    reads = {
        "hash": redis.hgetall,
        "set": redis.smembers,
        "list": lambda key: redis.lrange(key, 0, -1),
        "string": redis.get,
        "zset": lambda key: redis.zrange(key, 0, -1),
        "stream": redis.xrange,
    }
    for key in redis.scan_iter():
        kind = redis.type(key)
        if kind != "none" and (logs or kind != "stream"):
            yield f"{key} {reads[kind](key)}"


async def rows(database: Database) -> list[str]:
    """All rows of all tables, as text."""

    def read(connection: Any) -> list[str]:
        tables = [*METADATA.tables, "search_users", *(["search_index"] if connection.dialect.name != "sqlite" else [])]
        return [f"{table} {row}" for table in tables for row in connection.execute(text(f"SELECT * FROM {table}"))]

    return await database.run(read)


def ignore(_: object) -> None:
    """What is called with progress, and with what is damaged."""


def naming(found: Any) -> list[str]:
    """The texts that name Zelda, other than in a mention."""
    listed = found if isinstance(found, list) else [found]
    texts = [each if isinstance(each, str) else json.dumps(each) for each in listed]
    mentions = ("hello @zelda", "hello zelda")  # the latter in an index of words
    return [each for each in texts if NAME.lower() in re.sub("|".join(mentions), "", each.lower())]


async def assert_gone(site: Site) -> None:
    """Nothing names Zelda, other than entries of the log until they are trimmed."""
    assert naming(list(texts_in(site.redis, logs=False))) == []
    assert naming(await rows(site.database)) == []
    assert await findings(site.store) == []


@pytest.mark.parametrize("texts", ["KEEP", "REMOVE"])
async def test_nothing_names_a_deleted_user(site: Site, texts: str) -> None:  # U6
    await mirrored(site.store, site.database)
    votes = counts_of_others(site)
    assert naming(await site.shown())
    assert (await site.delete(password="wrong"))["userErrors"][0]["code"] == "BAD_CREDENTIALS"
    assert (await site.delete(password=None))["userErrors"][0]["code"] == "BAD_CREDENTIALS"
    answer = await site.delete(texts)
    id = answer["deletedUserId"]
    assert id.startswith("user:~") and answer["userErrors"] == []

    assert naming(await site.shown(id)) == []
    assert (await site.delete())["userErrors"][0]["code"] == "UNAUTHENTICATED"
    for write in (
        site.store.articles.vote(site.articles[3], NAME, Vote.UP),
        site.store.articles.post(NAME, Draft("once more", content="text", groups=())),
        site.store.follows.follow(NAME, "carol"),
        roles.grant(site.store.site, NAME, "Bob", Role.MODERATOR, group=None, reason="helps"),
    ):
        with pytest.raises(Unauthenticated):
            await write
    await site.settle()
    with pytest.raises(UsernameTaken):
        await site.store.users.register("zelda", PASSWORD)
    await assert_gone(site)
    assert naming(await site.shown(id)) == []
    assert counts_of_others(site) == votes

    pages = await leavers.read_on(site.store.site, dict.fromkeys(range(site.store.site.partitions), log.START), 1_000)
    entries = [entry for page in pages.values() for entry in page]
    assert {entry.kind for entry in entries if naming(repr(entry))} == {"user_deleted"}
    own = {"an old one", "mine", "a comment", "another comment", "it is changed", "I am zelda"}  # texts of Zelda
    assert not [entry for entry in entries if own & set(entry.values.values())]
    await rebuilt(site.store, site.database)
    assert naming(await rows(site.database)) == []
    # the clock of the test is years behind that of the server
    await log.trim(site.store.site, kept_ms=10**12, max_entries=10**6)
    assert naming(list(texts_in(site.redis, logs=True))) == []

    nodes = (await site.ask(EVERYTHING, "Bob", {"ids": [id, *kept(site)], "search": "one"}))["data"]["nodes"]
    assert (nodes[0]["username"], nodes[0]["karma"], nodes[0]["articles"]["nodes"]) == ("[deleted]", 0, [])
    if texts == "REMOVE":
        assert [node and node.get("state") for node in nodes[1:]] == [None, None, "DELETED"]
    else:
        assert [node["poster"]["id"] for node in nodes[1:3]] == [id, id]
        assert nodes[3]["writer"] is None and nodes[3]["text"] == "a comment"


def kept(site: Site) -> list[str]:
    """Two articles of Zelda, the first of which is archived, and a comment that has a reply."""
    return [f"article:{site.old[0]}", f"article:{site.articles[2]}", f"comment:{site.comments[0]}"]


def counts_of_others(site: Site) -> dict[int, tuple[int, int]]:
    """Upvotes and downvotes of what stays in Redis even if Zelda's texts, and comments on her article, are removed."""
    own = {site.old[0], site.articles[2], *site.comments[:1], *site.comments[2:4]}
    return {number: counts for number, counts in counts_of(site).items() if number not in own}


async def test_deletion_in_progress_is_not_reported(site: Site) -> None:  # U6
    """At first the texts have a name without an account, and then the pseudonym, which gets its account in the end."""
    await leavers.begin(site.store.site, NAME, password_hash="", removes_texts=False)
    marked = await findings(site.store)
    await site.delete()

    assert (marked, await findings(site.store)) == ([], [])


async def test_pseudonym_is_a_node_from_the_first_answer_on(site: Site) -> None:  # U6
    query = """query($ids: [ID!]!, $about: ID!) {
      nodes(ids: $ids) { id ... on User { username karma } }
      moderationLog(subjectId: $about) { totalCount nodes { subject { id } } } }"""
    id = (await site.delete())["deletedUserId"]
    given = {"ids": [id, f"user:{NAME}", "user:~000000000000"], "about": id}
    before = (await site.ask(query, "Bob", given))["data"]
    await site.settle()

    assert before["nodes"] == [{"id": id, "username": "[deleted]", "karma": 0}, None, None]
    assert before["moderationLog"]["nodes"] == [{"subject": {"id": id}}] * before["moderationLog"]["totalCount"] != []
    assert (await site.ask(query, "Bob", given))["data"] == before


async def test_votes_of_a_deleted_user_can_still_be_annulled(site: Site) -> None:  # U6, M8
    id = (await site.delete())["deletedUserId"]
    await site.settle()
    other = site.articles[3]  # Bob's, which Zelda has voted for
    before = counts_of(site)[other]

    query = """mutation($id: ID!) {
      annulVotes(input: {userId: $id, reason: "a ring"}) { action { id } userErrors { code } } }"""
    answer = (await site.ask(query, "carol", {"id": id}))["data"]["annulVotes"]
    assert answer["userErrors"] == [] and answer["action"]
    await site.settle_annulments()
    assert counts_of(site)[other] == (before[0] - 1, before[1])


async def test_moderators_act_on_comments_of_a_deleted_user_and_notify_nobody(site: Site) -> None:  # U6, M9
    """An action that notified the pseudonym would be damaged: `verify` reports it, and a backup leaves it out."""
    store, number = site.store, site.comments[0]
    await site.delete()
    await site.settle()

    removed = await comment_moderation.remove(store.site, OPERATOR, number, group=None, reason="off topic")
    assert removed.action
    await reverts.revert(store.site, OPERATOR, removed.action.number, "a mistake")
    await comment_moderation.remove(store.site, OPERATOR, number, group=None, reason="off topic")
    await comment_moderation.approve(store.site, OPERATOR, number)
    await purges.purge(store.site, OPERATOR, number, "personal data")

    assert await findings(store) == []


def killed_at(site: Site, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """End the process at the call to Redis of this number: before it if that is odd, else after it."""
    redis, calls = site.store.site.redis, itertools.count(1)

    def mortal(send: Any) -> Any:
        async def sent(*arguments: Any) -> Any:
            count = next(calls)
            if count == call and call % 2:
                raise Killed
            reply = await send(*arguments)
            if count == call:
                raise Killed
            return reply

        return sent

    for name in ("run", "pipeline"):
        monkeypatch.setattr(redis, name, mortal(getattr(redis, name)))


class Killed(Exception):
    """A process ends."""


@pytest.mark.parametrize("texts", ["KEEP", "REMOVE"])
async def test_killed_deletion_is_done_later(site: Site, monkeypatch: pytest.MonkeyPatch, texts: str) -> None:  # U6
    votes, kills = counts_of_others(site), 0
    removes_texts = texts == "REMOVE"
    await leavers.begin(site.store.site, NAME, password_hash="", removes_texts=removes_texts)
    await mirrored(site.store, site.database)
    site.clock.advance(leaving.WAIT + 1)
    for call in itertools.count(2, 5):  # in turn after a call and before one
        with monkeypatch.context() as killing:
            killed_at(site, killing, call)
            try:
                await leaving.settle_all(site.store, site.database)
                break
            except Killed:
                kills += 1
        await mirrored(site.store, site.database)
        assert await findings(site.store) == []
    await mirrored(site.store, site.database)

    assert kills > 3
    await assert_gone(site)
    assert counts_of_others(site) == votes
    assert not site.redis.exists(*(leavers.leaving(partition) for partition in range(site.store.site.partitions)))


async def test_votes_and_comments_go_on_while_a_user_is_deleted(site: Site) -> None:  # U6
    """Those of others count; requests of the user that have read the session before are refused in each partition."""
    store, random = site.store, Random(5)

    async def late() -> None:
        for number in (*site.articles[2:], *site.comments):
            partition = store.site.partition_of_article(number)
            is_comment = number in site.comments
            # arguments of the scripts: of an upvote, as the user would cast it
            script, given = (
                (VOTE_ON_COMMENT, (store.site.partitions, number, 1, 1)) if is_comment else (VOTE, (number, 1))
            )
            status, *_ = await store.site.redis.run(store.site.command(script, partition, *given, username=NAME))
            assert status == "unauthenticated"
            await asyncio.sleep(0)

    async def others() -> None:
        for name, number in itertools.product(("Bob", "carol"), site.articles[2:]):
            with suppress(Refusal):
                await store.articles.vote(number, name, random.choice([Vote.UP, Vote.DOWN]))
            with suppress(Refusal):
                await store.comments.post(number, parent=None, poster=name, content=f"{name} says so")
        for name, number in itertools.product(("Bob", "carol"), site.comments):
            with suppress(Refusal):
                await store.comments.vote(number, name, random.choice([Vote.UP, Vote.DOWN]))

    answer, *_ = await asyncio.gather(site.delete(), others(), others())
    await asyncio.gather(late(), others())
    await site.settle()

    await assert_gone(site)
    assert naming(await site.shown(answer["deletedUserId"])) == []


async def test_deletion_waits_for_the_steps_of_a_ban(site: Site) -> None:  # U6
    store, stored_site = site.store, site.store.site
    await bans.ban(
        stored_site, OPERATOR, NAME, group=None, until=None, reason="spam", removes_texts=True, annuls_votes=True
    )
    site.tokens[NAME] = (await store.sessions.open(NAME)).token
    assert (await site.delete())["deletedUserId"]
    await site.settle_if_ready()
    assert site.redis.exists(keys.user(stored_site.partition_of_user(NAME), NAME))

    async with following(site):
        for partition in range(stored_site.partitions):
            for work in (annulling.WORK, banned_texts.WORK):
                await work.settle_all(store, site.database, partition)
    await site.settle()
    await assert_gone(site)
    states = {site.redis.hget(key, "state") for key in site.redis.scan_iter("article:*") if is_of_deleted(site, key)}
    assert states == {"removed"}


def is_of_deleted(site: Site, key: str) -> bool:
    """Whether an article is of a deleted user: the names of pseudonyms begin with ~."""
    return str(site.redis.hget(key, "poster")).startswith("~")


async def test_last_admin_cannot_leave(site: Site) -> None:  # U6
    await roles.grant(site.store.site, OPERATOR, NAME, Role.ADMIN, group=None, reason="helps")
    await roles.revoke(site.store.site, OPERATOR, "carol", Role.ADMIN, group=None, reason="too much")
    refused = {"deletedUserId": None, "userErrors": [{"code": "INVALID", "field": ["input", "currentPassword"]}]}
    assert await site.delete() == refused

    await roles.grant(site.store.site, OPERATOR, "carol", Role.ADMIN, group=None, reason="helps")
    assert (await site.delete())["deletedUserId"]


async def test_deleted_user_gets_no_role(site: Site) -> None:  # U6
    """The pseudonym is no admin, so that the last one cannot leave because of it."""
    store = site.store
    granted = await roles.grant(store.site, OPERATOR, NAME, Role.ADMIN, group=None, reason="helps")
    revoked = await roles.revoke(store.site, OPERATOR, NAME, Role.ADMIN, group=None, reason="enough")
    assert granted.action and revoked.action
    pseudonym = (await site.delete())["deletedUserId"].removeprefix("user:")
    await site.settle()
    admins = await roles.admins(store.site)

    with pytest.raises(NotFound):
        await reverts.revert(store.site, OPERATOR, revoked.action.number, "a mistake")
    with pytest.raises(NotFound):
        await roles.grant(store.site, OPERATOR, pseudonym, Role.ADMIN, group=None, reason="helps")
    assert await roles.admins(store.site) == admins == ["carol"]
    reverted = await reverts.read_action(store.site, revoked.action.number)
    assert reverted is not None and reverted.reverted_by is None


async def test_restored_backup_deletes_again(site: Site, redis_url: str, clock: Clock, tmp_path: Path) -> None:  # U6
    """The backup is older than the deletion, and Zelda's name is not given again."""
    object.__setattr__(site.store.site, "deletions", tmp_path / "folder" / "deletions.jsonl")
    store = site.store.site
    archived = records_of(store, site.database)
    older = [each async for some in dump.records_of(store, ignore, ignore, archived) for each in some]
    answer = await site.delete("REMOVE")
    await site.settle()
    newer = [each async for some in dump.records_of(store, ignore, ignore) for each in some]
    deletions = leaving.noted_in(tmp_path / "folder" / "deletions.jsonl")
    assert [each.pseudonym for each in deletions] == [answer["deletedUserId"].removeprefix("user:")]
    assert naming((tmp_path / "folder" / "deletions.jsonl").read_text()) == []

    for db, records, partitions in ((2, older, 4), (3, newer, 1)):
        url = f"{redis_url}?db={db}" if "?" not in redis_url else redis_url
        restoration = await Restoration.begin(url, str(db), partitions, POLICY, clock)
        await restoration.put(records)
        await restoration.end()
        await restoration.close()
        restored = await Store.open(url, POLICY, clock=clock)
        assert await leaving.delete_again(restored, deletions) == (1 if records is older else 0)
        with client(url) as redis:
            assert naming(list(texts_in(redis, logs=False))) == []
        assert await findings(restored) == []
        with pytest.raises(UsernameTaken):
            await restored.users.register("ZELDA", PASSWORD)
        await restored.close()


async def test_own_texts_change_at_once_where_the_database_does_not_answer(site: Site) -> None:  # U6, D6
    await mirrored(site.store, site.database)
    partition_of = site.store.site.partition_of_article
    texts = [keys.article(partition_of(each), each) for each in site.articles if each not in site.old]
    texts += [keys.comment(partition_of(each), each) for each in site.comments]
    named = [text for text in texts if site.redis.hget(text, "poster").lower() == NAME.lower()]
    assert {text.partition(":")[0] for text in named} == {"article", "comment"}

    leaver = await leavers.begin(site.store.site, NAME, password_hash="", removes_texts=False)
    await leaving.begin(site.store, Database("sqlite:///not-opened"), leaver)

    assert {site.redis.hget(text, "poster") for text in named} == {leaver.pseudonym}
    await site.settle()
    await assert_gone(site)


async def test_user_leaves_a_full_store(site: Site) -> None:  # U6, D6
    await mirrored(site.store, site.database)
    with full(site.redis):
        answer = await site.delete("KEEP")
        await site.settle()

    assert answer["userErrors"] == [] and answer["deletedUserId"].startswith("user:~")
    await assert_gone(site)
    assert naming(await site.shown(answer["deletedUserId"])) == []


async def test_full_store_deletes_archived_texts_of_a_user_once_there_is_room(site: Site) -> None:  # U6, D6
    await mirrored(site.store, site.database)
    with full(site.redis):
        answer = await site.delete("REMOVE")
        with pytest.raises(StoreUnavailable, match="out of memory"):  # an archived article comes back to be deleted
            await site.settle()
        stored = [f"article:{number}" for number in site.articles if number not in site.old]
        query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
        nodes = (await site.ask(query, viewer=None, variables={"ids": stored}))["data"]["nodes"]
    await site.settle()

    assert answer["userErrors"] == []
    assert nodes[0] is None and None not in nodes[1:]  # the first is the only one of the user
    await assert_gone(site)
