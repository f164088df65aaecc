"""
Articles that a moderator removes and approves again just before they leave Redis for the database lose none of their
comments (D5).

A `pair` is two stores with the same history: in `pair.archiving` articles leave, in `pair.complete` none does.

`on_both` runs a test with SQLite and with PostgreSQL.

D5 is a row of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from archive import mover
from store import removals, roles
from store.moderation_records import Role
from store.records import article_number
from store.site import Site
from tests.archive.conftest import findings
from tests.archive.talks import DAY, let_leave, talked, write
from tests.archive.worlds import Pair
from tests.database.conftest import on_both

pytestmark = [pytest.mark.one_server]
SHOWN = """query($id: ID!) { article(id: $id) { commentCount comments(order: VOTES) { nodes { content } }
  thread(order: VOTES) { nodes { content } } } comments { nodes { content } }
  user(username: "carol") { comments { nodes { content } } } }"""


async def removed(pair: Pair) -> str:
    """The id of an old article with two comments, which alice has just removed."""
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    pair.crashes, pair.days = False, 2  # after which conversations leave
    article, _ = await talked(pair, "Bob")
    pair.clock.advance(3 * DAY)
    await write(pair, "removeContent", "alice", subjectId=article, reason="off topic")
    return article


async def approve(pair: Pair, article: str) -> None:
    await write(pair, "approveContent", "alice", subjectId=article, reason="a mistake")


async def assert_shown(pair: Pair, article: str) -> None:
    """Check that both stores have the two comments, and that `verify` has nothing to say."""
    answer = (await pair.ask(SHOWN, None, id=article))["data"]
    found = answer["article"]
    assert found["commentCount"] == 2
    for nodes in (found["comments"], found["thread"], answer["comments"], answer["user"]["comments"]):
        assert sorted(each["content"] for each in nodes["nodes"]) == ["text 0", "text 1"]
    assert await findings(pair.archiving) == []


async def remove_all(site: Site) -> None:
    """Do what is noted about articles that were removed or approved, as a task of every server does."""
    for partition in range(site.partitions):
        await removals.remove_all(site, partition)


@on_both
async def test_approved_article_stays_until_its_comments_are_back_in_all_lists(pair: Pair, monkeypatch) -> None:
    article = await removed(pair)
    with monkeypatch.context() as interrupted:  # the process of the moderator ends after its first script
        interrupted.setattr(removals, "update_lists", lambda site, number: asyncio.sleep(0))
        await approve(pair, article)

    await pair.run_mover(articles=0, articles_per_user=1_000)
    assert article_number(article) in await pair.archiving.numbers()
    for world in pair.worlds:
        await remove_all(world.store.site)
    await let_leave(pair, article)

    await assert_shown(pair, article)


@on_both
async def test_a_late_task_removes_nothing_of_what_has_left(pair: Pair, monkeypatch) -> None:
    """
    The task has read that the comments are to come back into lists. It goes on once they are there, and the article has
    left.
    """
    article = await removed(pair)
    await approve(pair, article)
    site = pair.archiving.store.site
    number, partition = article_number(article), site.partition_of_article(article_number(article) or 0)
    with monkeypatch.context() as slow:  # Redis still has the comments of the article
        slow.setattr(mover, "_remove_archived_comments_of", lambda site, partition: asyncio.sleep(0))
        await let_leave(pair, article)

        await site.redis.run(("ZADD", removals.REMOVING(partition), 0, number))
        await remove_all(site)
        await assert_shown(pair, article)

    await pair.run_mover(articles=0, articles_per_user=1_000)
    await assert_shown(pair, article)
