"""
Lists of users' comments, of which Redis keeps the newest and the database has all: no answer shows where one ends (D5).

A `pair` is two stores with the same history, of which `pair.archiving` cuts lists and `pair.complete` never does. What
`ask` sends to both has to have the same answer in both.

`on_both` runs a test with SQLite and with PostgreSQL.

D5 is a row of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from archive import leaving as archived_leaving
from database.mirror import Mirror
from store import keys, leaving, roles, verdicts
from store.leaving import DeletedTexts
from store.moderation_records import Role
from tests.archive.conftest import findings
from tests.archive.queries import ERRORS
from tests.archive.talks import COMMENTS, write
from tests.archive.worlds import Pair, follow
from tests.database.conftest import mirrored, on_both

pytestmark = [pytest.mark.one_server]
SAID = 12  # comments of carol
BAN = f"mutation($input: BanUserInput!) {{ banUser(input: $input) {{ {ERRORS} action {{ id }} }} }}"
NODES = "query($name: String!, $first: Int) { user(username: $name) { comments(first: $first) { nodes { id } } } }"
SIZES = [("first", 2), ("first", 20), ("last", 2), ("last", 7)]
REVERT = f"mutation($input: RevertModerationInput!) {{ revertModeration(input: $input) {{ {ERRORS} changed }} }}"


@pytest.fixture
async def said(pair: Pair) -> list[str]:
    """The ids of comments of carol on three articles, a second apart, all older than the minute that Redis may lose."""
    pair.crashes, pair.listed_comments = False, 3
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    ids, articles = [], []
    for number in range(3):
        payload = await pair.mutate("post", "Bob", title=f"A title {number}", content="A text.", groups=["show"])
        articles.append(payload["article"]["id"])
    for number in range(SAID):
        input = {"articleId": articles[number % 3], "content": f"text {number}"}
        ids.append((await write(pair, "comment", "carol", **input))["comment"]["id"])
        pair.clock.advance(1)
    pair.clock.advance(70)
    return ids


async def cut(pair: Pair) -> None:
    """Cut lists as the process does that moves articles. No article leaves."""
    await pair.run_mover(articles=1_000, articles_per_user=1_000)
    await caught_up(pair)


async def caught_up(pair: Pair) -> None:
    """Bring the database up to date."""
    assert pair.archiving.database
    await mirrored(pair.archiving.store, pair.archiving.database)


async def listed(pair: Pair) -> int:
    """How many comments of carol Redis lists."""
    site = pair.archiving.store.site
    return int(await site.redis.run(("ZCARD", keys.comments(site.partition_of_user("carol"), "carol"))))


async def compare(pair: Pair) -> list[str]:
    """Read all comments of carol, in pages of each size and from both ends, in both stores. Returns the ids."""
    for size in (1, 3, 5, 20):
        for first, after, more, end in (
            ("first", "after", "hasNextPage", "endCursor"),
            ("last", "before", "hasPreviousPage", "startCursor"),
        ):
            cursor, is_more, ids = None, True, list[str]()
            while is_more:
                answer = await pair.ask(COMMENTS, None, name="carol", **{first: size, after: cursor})
                page = answer["data"]["user"]["comments"]
                found = [node["id"] for node in page["nodes"]]
                ids = ids + found if first == "first" else found + ids
                is_more, cursor = page["pageInfo"][more], page["pageInfo"][end]
    return ids


@on_both
async def test_redis_lists_the_newest_and_pages_have_all(pair: Pair, said: list[str]) -> None:  # D5
    assert await compare(pair) == said[::-1]
    await cut(pair)

    assert await listed(pair) == pair.listed_comments
    assert await compare(pair) == said[::-1]
    assert await findings(pair.archiving) == []


@on_both
async def test_changes_of_comments_that_only_the_database_lists_are_shown(pair: Pair, said: list[str]) -> None:  # D5
    await cut(pair)
    removed, deleted, edited = said[1], said[2], said[4]
    await write(pair, "removeContent", "alice", subjectId=removed, reason="off topic")
    await write(pair, "deleteComment", "carol", commentId=deleted)
    await write(pair, "editComment", "carol", commentId=edited, content="other words")
    left = [each for each in said[::-1] if each not in (removed, deleted)]
    assert await nodes(pair) == left  # before the database knows
    await caught_up(pair)
    assert await compare(pair) == left
    assert await findings(pair.archiving) == []

    await write(pair, "approveContent", "alice", subjectId=removed, reason="a mistake")
    left = [each for each in said[::-1] if each != deleted]
    assert await nodes(pair) == left
    await caught_up(pair)
    pair.clock.advance(70)
    await cut(pair)
    assert await listed(pair) == pair.listed_comments
    assert await compare(pair) == left
    assert await findings(pair.archiving) == []


@on_both
async def test_reads_during_a_cut_show_all_comments(pair: Pair, said: list[str]) -> None:  # D5
    """The list in Redis gets shorter by one again and again, and then has all again, while it is read."""
    database, site = pair.archiving.database, pair.archiving.store.site
    assert database
    await cut(pair)
    following = asyncio.create_task(follow(Mirror(site, database)))
    partition = site.partition_of_user("carol")
    reads = 0

    async def cut_and_fill() -> None:
        for _ in range(4):
            for most in range(SAID, -1, -1):
                pair.listed_comments = most
                await pair.run_mover(articles=1_000, articles_per_user=1_000)
            assert await listed(pair) == 0
            at = [
                await site.redis.run(("HGET", keys.comment(site.partition_of_article(n), n), "time")) for n in numbers
            ]
            members = [part for time, number in zip(at, numbers, strict=True) for part in (time, keys.member(number))]
            await site.redis.run(("ZADD", keys.comments(partition, "carol"), *members))

    numbers = [int(id.removeprefix("comment:")) for id in said]
    changing = asyncio.create_task(cut_and_fill())
    while not changing.done():
        answers = await asyncio.gather(
            *(
                pair.archiving.ask(COMMENTS, viewer=None, variables={"name": "carol", size: count})
                for size, count in SIZES
            )
        )
        for (size, count), answer in zip(SIZES, answers, strict=True):
            page = answer["data"]["user"]["comments"]
            expected = said[::-1][:count] if size == "first" else said[::-1][-count:]
            assert [node["id"] for node in page["nodes"]] == expected, answer
            assert page["totalCount"] == SAID
        reads += 1
    await changing
    following.cancel()
    assert reads > 10


@on_both
async def test_a_ban_removes_older_comments_and_its_revert_brings_them_back(pair: Pair, said: list[str]) -> None:  # M2
    await cut(pair)
    given = {"userId": "user:carol", "removeTexts": True, "reason": "spam"}
    banned = (await pair.ask(BAN, "alice", input=given))["data"]["banUser"]
    await caught_up(pair)
    assert await compare(pair) == []

    given = {"actionId": banned["action"]["id"], "reason": "a mistake"}
    assert (await pair.ask(REVERT, "alice", input=given))["data"]["revertModeration"]["changed"]
    await caught_up(pair)
    assert await compare(pair) == said[::-1]
    assert await findings(pair.archiving) == []


@on_both
@pytest.mark.parametrize("texts", DeletedTexts)
async def test_deletion_of_a_user_removes_or_keeps_older_comments(
    pair: Pair, said: list[str], texts: DeletedTexts
) -> None:
    """If the comments are kept, so is the karma that they have brought: `verify` finds nothing."""
    await cut(pair)
    for id in said[:2]:
        await write(pair, "voteOnComment", "Bob", commentId=id, value="UP")
    await caught_up(pair)
    store, database = pair.archiving.store, pair.archiving.database
    assert database
    following = asyncio.create_task(follow(Mirror(store.site, database)))
    leaver = await leaving.begin(
        store.site,
        "carol",
        password_hash="",
        removes_texts=texts is DeletedTexts.REMOVE,
        pseudonym=keys.pseudonym("carol"),
    )
    await archived_leaving.settle(store, database, leaver)
    following.cancel()
    await caught_up(pair)

    question = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { state poster { username } content } } }"
    found = (await pair.archiving.ask(question, viewer=None, variables={"ids": said}))["data"]["nodes"]
    texts_left = [each["content"] for each in found if each and each["content"]]
    assert len(texts_left) == (0 if texts is DeletedTexts.REMOVE else SAID)
    assert await findings(pair.archiving) == []


@on_both
async def test_verify_repairs_karma_that_older_comments_have_brought(pair: Pair, said: list[str]) -> None:
    await write(pair, "voteOnComment", "Bob", commentId=said[0], value="UP")
    await cut(pair)
    site = pair.archiving.store.site
    account = keys.user(site.partition_of_user("carol"), "carol")
    assert await findings(pair.archiving) == []
    await site.redis.run(("HINCRBY", account, "comment_karma", 5))

    assert await findings(pair.archiving, repair=True) == [f"{account} comment_karma"]
    assert await site.redis.run(("HGET", account, "comment_karma")) == "1"
    assert await findings(pair.archiving) == []


@on_both
async def test_without_the_database_the_newest_comments_are_shown(pair: Pair, said: list[str]) -> None:  # D1
    await cut(pair)
    assert pair.archiving.database
    await pair.archiving.database.close()

    newest = await pair.archiving.ask(NODES, viewer=None, variables={"name": "carol", "first": 2})
    assert [node["id"] for node in newest["data"]["user"]["comments"]["nodes"]] == said[::-1][:2]
    older = await pair.archiving.ask(NODES, viewer=None, variables={"name": "carol", "first": 9})
    assert [each["extensions"]["code"] for each in older["errors"]] == ["UNAVAILABLE"]


async def test_comments_that_redis_may_still_lose_stay_in_lists(calm: Pair, said: list[str]) -> None:
    """The newest minute, as a Redis that fails over may not have it any more, while the database does."""
    payload = await calm.mutate("post", "Bob", title="Another title", content="A text.", groups=[])
    article, count = payload["article"]["id"], calm.listed_comments + 2
    written = [await write(calm, "comment", "carol", articleId=article, content=f"new {n}") for n in range(count)]
    ids = [each["comment"]["id"] for each in written]
    await cut(calm)

    assert await listed(calm) == len(ids)
    assert await compare(calm) == [*ids[::-1], *said[::-1]]


async def test_rules_count_comments_that_only_the_database_lists(calm: Pair, said: list[str]) -> None:  # M10
    """Otherwise the account would seem new to rules about first comments."""
    await cut(calm)
    site = calm.archiving.store.site
    command = verdicts.RULE_ACCOUNT.beginning(site.partition_of_user("carol"))
    no_session, most_ids = "", SAID
    *_, only_in_database, listed_ids = await site.redis.run((*command, no_session, "carol", site.clock(), most_ids))
    assert (int(only_in_database), len(listed_ids)) == (SAID, calm.listed_comments)


async def nodes(pair: Pair) -> list[str]:
    """The ids of all comments of carol, as both stores have them; the total may still be the one of before."""
    found = [await world.ask(NODES, viewer=None, variables={"name": "carol", "first": 50}) for world in pair.worlds]
    one, other = [[node["id"] for node in each["data"]["user"]["comments"]["nodes"]] for each in found]
    assert one == other
    return one
