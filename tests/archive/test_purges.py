"""
Purges: a moderator lets the text of an article or comment be deleted for good. It is nowhere any more: not in Redis,
not in the database, and not in what clients are sent.

A `pair` is two stores with the same history: in `pair.archiving` articles leave, in `pair.complete` none does.
`mirrored` brings the database up to date with the log of the store, `rebuilt` makes its rows again. `findings` gives
what `upvote verify` finds wrong in the store. `on_both` runs a test with SQLite and with PostgreSQL.

Codes such as D6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import MetaData, select, text

from database import search
from database.changes import Changes
from database.database import Database
from database.search import Search, find
from database.words import parse
from server.cli.backup import back_up
from server.cli.purge import purge as purge_command
from server.cli.restore import restore
from server.errors import CommandError
from server.settings import Settings
from store import article_moderation, comment_moderation, flags, keys, log, purges, reverts
from store.errors import Forbidden, Invalid, NotAModerator, NotFound
from store.flags import FlagReason
from store.moderation_records import ModerationKind
from store.records import ContentState
from store.roles import OPERATOR, Authority
from store.store import Store
from tests.archive.worlds import POLICY, WINDOW
from tests.conftest import registered
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.database.histories import rows_of
from tests.store.discussions import comments
from tests.store.held import holding
from tests.store.reading import article as stored_article
from tests.store.reading import contents, everything, findings, post
from tests.support.memory import full

SECRET = "zyzzyva"
REMOVED = ContentState.REMOVED


@pytest.fixture
async def subjects(store: Store, clock) -> tuple[int, int, int]:
    """
    The numbers of an article, of a comment on it and of a reply to that. All have secret texts and were edited; the
    article and the first comment are flagged.
    """
    for name in ("alice", "bob", "carol"):
        await registered(store, name)
    article = (await post(store, "alice", title=f"about {SECRET}", groups=["show"])).number
    await store.articles.edit(article, "alice", {"content": f"{SECRET}, @bob", "link": f"https://example.com/{SECRET}"})
    first = (await store.comments.post(article, parent=None, poster="bob", content=f"{SECRET} first")).comment.number
    posted = await store.comments.post(article, parent=first, poster="carol", content=f"{SECRET} second")
    second = posted.comment.number
    clock.advance(1)
    for number, poster in ((first, "bob"), (second, "carol")):
        await store.comments.edit(number, poster, f"{SECRET} again, @alice")
    for kind, number in (("article", article), ("comment", first)):
        await flags.flag(store.site, "carol", kind, number, FlagReason.SPAM, f"it says {SECRET}")
    return article, first, second


def purge(store: Store, number: int):
    return purges.purge(store.site, OPERATOR, number, "it must not stay")


def texts_in(redis: Redis) -> list[str]:
    """The keys whose values have the secret, the log included."""
    found = [key for key, value in contents(redis).items() if SECRET in str(value)]
    return found + [key for key in redis.scan_iter("log:*") if SECRET in str(redis.xrange(key))]


async def texts_in_tables(database: Database) -> list[str]:
    """The tables that have the secret, also those in which SQLite keeps the words of the indexes."""
    await database.write(search.forget_removed)
    return await database.run(_tables_with_secret)


def _tables_with_secret(connection) -> list[str]:
    metadata = MetaData()
    metadata.reflect(connection)
    return [
        name
        for name, table in metadata.tables.items()
        if any(SECRET in str(tuple(row)) for row in connection.execute(select(text("*")).select_from(table)))
    ]


@pytest.mark.many_partitions
async def test_purged_texts_are_nowhere_in_the_store(store, subjects, redis):
    done = [await purge(store, number) for number in subjects]
    assert texts_in(redis) == []
    assert [(each.changed, each.action.kind, each.action.moderator) for each in done] == [
        (True, ModerationKind.PURGE, "operator")
    ] * 3
    article, first, second = subjects
    found = await stored_article(store, article)
    assert (found.state, found.title, found.link, found.content) == (REMOVED, purges.PURGED, None, None)
    assert [(each.number, each.content, each.state) for each in await comments(store, article)] == [
        (first, purges.PURGED, REMOVED), (second, purges.PURGED, REMOVED),
    ]  # fmt: skip
    assert await findings(store) == []

    before = everything(redis)
    again = [await purge(store, number) for number in subjects]
    assert [(each.changed, each.action) for each in again] == [(False, each.action) for each in done]
    assert everything(redis) == before


@pytest.mark.many_partitions
async def test_purge_deletes_why_a_text_was_held(store, redis):
    await registered(store, "alice")
    article = (await post(store, "alice")).number
    with holding(store, f"it says {SECRET}"):
        held = (await post(store, "alice")).number
        answer = (await store.comments.post(article, parent=None, poster="alice", content="an answer")).comment.number

    for number in (held, answer):
        await purge(store, number)

    assert texts_in(redis) == []


@pytest.mark.many_partitions
async def test_purge_is_neither_reverted_nor_approved(store, subjects, redis):
    article, first, _ = subjects
    removed = await article_moderation.remove(store.site, OPERATOR, article, group=None, reason="a reason")
    done = [await purge(store, number) for number in (article, first)]
    before = everything(redis)
    for each in done:
        with pytest.raises(Invalid, match="an action of the kind PURGE cannot be reverted"):
            await reverts.revert(store.site, OPERATOR, each.action.number, "a reason")
    with pytest.raises(Invalid, match=f"the text of article:{article} was purged"):
        await article_moderation.approve(store.site, OPERATOR, article)
    with pytest.raises(Invalid, match=f"the text of comment:{first} was purged"):
        await comment_moderation.approve(store.site, OPERATOR, first)
    with pytest.raises(Forbidden):
        await store.articles.edit(article, "alice", {"title": "another title"})
    for module, number, purged in ((article_moderation, article, done[0]), (comment_moderation, first, done[1])):
        again = await module.remove(store.site, OPERATOR, number, group=None, reason="a reason")
        assert (again.changed, again.action) == (False, purged.action)
    assert everything(redis) == before

    await reverts.revert(store.site, OPERATOR, removed.action.number, "it is purged anyway")
    assert (await stored_article(store, article)).state is REMOVED
    assert await findings(store) == []


@pytest.mark.many_partitions
async def test_refused_purge_changes_nothing(store, subjects, redis):
    before = everything(redis)
    with pytest.raises(NotAModerator):
        await purges.purge(store.site, Authority("carol", "moderator=1"), subjects[0], "a reason")
    with pytest.raises(NotFound, match="there is no article"):
        await purge(store, subjects[0] + keys.SLOTS * 2**20)
    with pytest.raises(Invalid):
        await purges.purge(store.site, OPERATOR, subjects[0], " ")
    assert everything(redis) == before


async def _found(database: Database) -> list[int]:
    """The numbers of what a search for the secret finds."""
    found = await database.run(find, Search(parse(SECRET)))
    return [number for _, number in found.places]


@on_both
@pytest.mark.parametrize("is_behind", [False, True])
async def test_purged_texts_are_nowhere_in_the_database(store, subjects, each_database, is_behind):
    """Also if the database has not had them before: their entries are no longer in the log."""
    article, first, second = subjects
    if not is_behind:
        await mirrored(store, each_database)
        assert len(await _found(each_database)) == 3
    for number in (first, second, article):
        await purge(store, number)
    await mirrored(store, each_database)
    running = await rows_of(each_database)
    assert await texts_in_tables(each_database) == []
    assert await _found(each_database) == []
    assert {row[0] for row in running["comments"]} == {first, second}
    await rebuilt(store, each_database)
    assert await rows_of(each_database) == running
    await log.trim(store.site, kept_ms=0, max_entries=0)
    await rebuilt(store, each_database)
    assert await rows_of(each_database) == running


@on_both
async def test_purge_that_is_applied_together_with_the_texts_leaves_none(store, subjects, each_database):
    """The mirror has read the texts before they were purged, and writes them with the purge."""
    article, first, _ = subjects
    read = {
        partition: await log.read(store.site, partition, log.START, count=1000)
        for partition in range(store.site.partitions)
    }
    for number in (article, first):
        await purge(store, number)
    for partition, entries in read.items():
        last = entries[-1].id if entries else log.START
        later = await log.read(store.site, partition, last, 1000)
        await each_database.write(
            lambda connection, some: Changes().add(some).write(connection, store.site), [*entries, *later]
        )
    await purge(store, subjects[2])
    rest = await log.read(store.site, store.site.partition_of_article(article), log.START, count=1000)
    await each_database.write(lambda connection: Changes().add(rest).write(connection, store.site))
    assert await texts_in_tables(each_database) == []


async def test_a_rebuild_forgets_edits_of_what_was_purged(store, subjects, database):
    """Only the database has edits, and the log may no longer say that they are gone."""
    await mirrored(store, database)
    await purge(store, subjects[0])
    await log.trim(store.site, kept_ms=0, max_entries=0)
    await rebuilt(store, database)

    assert (await rows_of(database))["edits"] == []


@pytest.mark.one_server
@pytest.mark.parametrize("partitions", [1], indirect=True)
@pytest.mark.slow
async def test_command_purges_archived_articles_and_names_backups(
    pair, redis, redis_url, database_url, each_database, tmp_path: Path, capsys
):
    pair.crashes = False
    payload = await pair.mutate("post", "alice", title=f"about {SECRET}", content=SECRET, groups=["show"])
    id, settings = payload["article"]["id"], settings_of(redis_url, 0, database_url)
    await pair.archive_all()
    assert pair.archived == {int(id.partition(":")[2])}
    with_text, without, broken = (tmp_path / name for name in ("with", "without", "broken"))
    broken.write_bytes(b"no backup")
    await asyncio.to_thread(back_up, settings, with_text)
    assert await asyncio.to_thread(purge_command, settings, id, [with_text]) == 0
    await asyncio.to_thread(back_up, settings, without)
    capsys.readouterr()
    assert await asyncio.to_thread(purge_command, settings, id, [with_text, without, broken]) == 1

    out, err = capsys.readouterr()
    assert "purged before:" in out
    assert f"{each_database.name} has no text of it any more" in out
    assert [line.split(", ")[-1] for line in out.splitlines() if line.startswith(str(tmp_path))] == [
        "still has the text: delete it", "does not have the text",
    ]  # fmt: skip
    assert f"{broken} was not searched" in err
    assert SECRET not in str(contents(Redis.from_url(f"{redis_url}?db=0", decode_responses=True)))
    assert await texts_in_tables(each_database) == []
    answer = await pair.archiving.ask(
        "query($id: ID!) { article(id: $id) { title } node(id: $id) { id } }", viewer=None, variables={"id": id}
    )
    assert answer["data"] == {"article": None, "node": None}

    await asyncio.to_thread(restore, settings_of(redis_url, 2), without)
    assert SECRET not in str(contents(Redis.from_url(f"{redis_url}?db=2", decode_responses=True)))
    with pytest.raises(CommandError, match="there is no comment:1541"):
        await asyncio.to_thread(purge_command, settings, "comment:1541", [])


def settings_of(redis_url: str, db: int, database_url: str = "none") -> Settings:
    url, policy = f"{redis_url}?db={db}", {"good_votes": POLICY.good_votes, "voting_window": WINDOW}
    return Settings(redis_url=url, database_url=database_url, **policy)


@pytest.mark.one_server
async def test_full_store_purges_texts(store, subjects, redis):  # D6
    with full(redis):
        done = [await purge(store, number) for number in subjects]
        assert [each.changed for each in done] == [True] * 3
        assert texts_in(redis) == []

    assert await findings(store) == []
