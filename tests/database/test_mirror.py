"""
The mirror writes each change in the log of a store to the SQL database, also after crashes and beside other mirrors.

`mirrored` brings a database up to date, `rebuilt` makes all its rows again from the store. `on_both` runs a test with
SQLite and with PostgreSQL.

Codes such as D1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest
from sqlalchemy import text

from database import article_places, changes, mirror, positions, search
from database.database import Database
from database.mirror import Mirror
from database.search import Search
from database.words import parse
from store import comments, keys, log, removals, reverts, roles
from store.articles import Draft
from store.client.client import RedisUsage, current_usage
from store.maintenance import verify
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.database.histories import Crash, History, comparable, indexed, rows_of, rows_of_store
from tests.store.discussions import commented
from tests.store.reading import article
from tests.typed import typed

NO_PROFILE = (None, None, None)  # display name, about and URL of the avatar


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_database_equals_the_store(store, clock, each_database, seed):  # D1
    history = History(store, clock, random.Random(seed))
    for _ in range(6):
        await history.run(40)
        await mirrored(store, each_database)

    assert typed(comparable(await rows_of(each_database))) == typed(await rows_of_store(history))


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_two_mirrors_and_crashes_double_nothing(
    store, clock, each_database, database_url, monkeypatch, seed
):  # D1
    """Both take entries at once, in small batches, and each third transaction is lost before it is committed."""
    monkeypatch.setattr(mirror, "BATCH", 7)
    chance, write, second = random.Random(seed), changes.Changes.write, Database(database_url)
    await second.open()
    await mirrored(store, each_database)

    def crash_at_times(self, connection, site):
        write(self, connection, site)
        if chance.random() < 0.3:
            raise Crash

    monkeypatch.setattr(changes.Changes, "write", crash_at_times)
    history = History(store, clock, chance)
    for _ in range(4):
        await history.run(60)
        await asyncio.gather(until_equal(store, each_database), until_equal(store, second))
    await second.close()

    assert typed(comparable(await rows_of(each_database))) == typed(await rows_of_store(history))
    appended = [
        (partition, entry.id)
        for partition in range(store.site.partitions)
        for entry in await log.read(store.site, partition, log.START, count=10**6)
    ]
    found = await rows_of(each_database)
    edits = [row[:2] for name in ("edits", "comment_edits") for row in found[name]]
    assert len(edits) == len(set(edits)) and set(edits) <= set(appended)


async def until_equal(store, database):
    """Mirror without the lease, as a process that was stopped for longer than its lease lasts."""
    ends = dict(enumerate(await log.newest(store.site)))
    while True:
        each = Mirror(store.site, database)
        try:
            await each.catch_up()
        except Crash:
            continue
        if (await database.run(positions.stored_positions))[1] == ends:
            return


def test_entries_of_many_votes_are_written_in_several_transactions(monkeypatch):
    """In one transaction they would let requests wait for the thread that writes them."""
    monkeypatch.setattr(mirror, "MOST_CHANGES", 4)
    # entries that annul so many votes; 0: an entry of a single vote
    votes = [" ".join(["article:1:1:1:0"] * count) for count in (0, 0, 3, 1, 9, 2, 2, 0)]
    entries = [
        log.Entry(
            0,
            f"{n}-0",
            "votes_annulled" if words else "voted",
            at=0,
            actor="",
            subject="",
            values={"votes": words} if words else {},
        )
        for n, words in enumerate(votes)
    ]

    parts = list(mirror.transactions(entries))

    assert [len(part) for part in parts] == [2, 2, 1, 2, 1]
    assert [entry for part in parts for entry in part] == entries


@on_both
async def test_deletion_of_an_archived_article_removes_its_places(store, alice, each_database):
    number = (await store.articles.post(alice, Draft("a title", content="text", groups=("show",)))).article.number
    await mirrored(store, each_database)
    await each_database.write(article_places.archive, store.site, [await article(store, number)])
    await store.articles.delete(number, alice)

    await mirrored(store, each_database)

    assert [name for name, rows in (await rows_of(each_database)).items() if rows] == ["users"]


async def test_views_have_texts_names_and_times_that_people_read(store, alice, bob, database, clock):
    number = (
        await store.articles.post(alice, Draft("a title", "https://example.com/", groups=("show", "ask")))
    ).article.number
    first = await commented(store, number, bob, text="first")
    clock.advance(60)
    await store.articles.vote(number, bob, Vote.UP)
    await store.articles.edit(number, alice, {"title": "another", "link": "", "content": "some text"})
    second = await commented(store, number, alice, parent=first, text="second")
    await store.comments.vote(first.number, alice, Vote.UP)
    await store.comments.vote(first.number, "dave", Vote.UP)
    await store.comments.edit(first.number, bob, "other words")
    await store.follows.follow(bob, "alice")
    await mirrored(store, database)

    posted, later = "2016-08-04 11:52:00.000", "2016-08-04 11:53:00.000"
    ids, places = [f"comment:{each.number}" for each in (first, second)], [(number, None, 0), (number, first.number, 1)]
    assert await database.run(rows_that_people_read) == {
        "articles_view": [(
            number, f"article:{number}", "another", None, "some text", "Alice", posted, later,
            2, 2, 0, 0, 0, 2, "VISIBLE", 0,
        )],
        "votes_view": [(number, "Alice", 1, posted, 1), (number, "bob", 1, later, 1)],
        "users_view": [("alice", "Alice", posted, 1, *NO_PROFILE), ("bob", "bob", posted, 2, *NO_PROFILE)],
        "follows_view": [("bob", "Alice", later)],
        "edits_view": [(number, "Alice", later, "another", "", "some text")],
        "groups": [("ask", 1, None, None), ("show", 1, None, None)],
        "comments_view": [
            (first.number, ids[0], *places[0], "other words", "bob", posted, later, 3, 3, 0, 0, "VISIBLE"),
            (second.number, ids[1], *places[1], "second", "Alice", later, None, 1, 1, 0, 0, "VISIBLE"),
        ],
        "comment_votes_view": [
            (first.number, "Alice", 1, later, 1),
            (first.number, "bob", 1, posted, 1),
            (first.number, "dave", 1, later, 1),
            (second.number, "Alice", 1, later, 1),
        ],
        "comment_edits_view": [(first.number, "bob", later, "other words")],
        "moderation_actions_view": [],
    }  # fmt: skip


async def test_view_of_moderation_has_actions_that_people_read(store, alice, bob, database):
    granted = (await roles.grant(store.site, OPERATOR, alice, Role.ADMIN, group=None, reason="the first")).action
    other = (await roles.grant(store.site, alice, bob, Role.MODERATOR, group="show", reason="a good eye")).action
    revert = (await reverts.revert(store.site, OPERATOR, other.number, "a mistake", "a note")).action
    await mirrored(store, database)

    at = "2016-08-04 11:52:00.000"
    assert (await database.run(rows_that_people_read))["moderation_actions_view"] == sorted(
        (
            each.number, each.id, kind, at, each.moderator, each.subject_id, group, reason, None, role,
            reverts, reverted_by, None,
        )
        for each, kind, group, reason, role, reverts, reverted_by in (
            (granted, "GRANT_ROLE", None, "the first", "ADMIN", None, None),
            (other, "GRANT_ROLE", "show", "a good eye", "MODERATOR", None, revert.number),
            (revert, "REVERT", "show", "a mistake", "MODERATOR", other.number, None),
        )
    )  # fmt: skip


def rows_that_people_read(connection):
    """All rows of each view: names of columns are in `docs/database.md`."""
    names = ("articles_view", "votes_view", "users_view", "follows_view", "edits_view", "groups")
    others = ("comments_view", "comment_votes_view", "comment_edits_view", "moderation_actions_view")
    statement = "SELECT * FROM {} ORDER BY 1, 2".format
    return {name: [tuple(row) for row in connection.execute(text(statement(name)))] for name in names + others}


async def test_deletions_are_forgotten_when_the_database_has_them(store, alice, database, redis):
    """Redis notes what was deleted, as a search leaves it out until the mirror has removed its rows."""
    numbers = [(await store.articles.post(alice, Draft(f"title {n}", content="text"))).article.number for n in range(4)]
    comment = await commented(store, numbers[0], alice)
    deleted = keys.deleted(store.site.partition_of_article(numbers[0]))
    await mirrored(store, database)
    seen = []
    for number in numbers[1:]:
        await store.articles.delete(number, alice)
        seen.append(redis.zrange(deleted, 0, -1))
        await asyncio.sleep(0.002)  # the last one is kept, as others may follow in its millisecond
        if number != numbers[1]:
            await mirrored(store, database)
    await store.comments.delete(comment.number, alice)

    assert seen == [[str(numbers[1])], [*map(str, numbers[1:3])], [*map(str, numbers[2:])]]
    assert redis.zrange(deleted, 0, -1) == [str(numbers[3]), str(comment.number)]


async def test_deleted_article_leaves_no_row(store, alice, bob, database):
    number = (await store.articles.post(alice, Draft("a title", content="text", groups=("show",)))).article.number
    await store.articles.vote(number, bob, Vote.UP)
    await store.articles.edit(number, alice, {"title": "another"})
    first = await commented(store, number, bob)
    await store.comments.edit(first.number, bob, "some text")
    await store.comments.delete((await commented(store, number, alice, first)).number, alice)
    await mirrored(store, database)
    assert len(await indexed(database)) == 2
    await store.articles.delete(number, alice)

    await mirrored(store, database)

    found = await rows_of(database)
    assert [name for name, rows in found.items() if rows] == ["users"]
    assert await indexed(database) == []


@on_both
async def test_deleted_comment_leaves_no_text_and_no_voters(store, alice, bob, each_database):  # C6
    """With replies a row is left that says where it was; the last reply that goes takes it along."""
    number = (await store.articles.post(alice, Draft("a title", content="text"))).article.number
    top = await commented(store, number, bob)
    middle = await commented(store, number, alice, top)
    last = await commented(store, number, bob, middle)
    await store.comments.vote(middle.number, bob, Vote.UP)
    await store.comments.edit(middle.number, alice, "other words")
    await mirrored(store, each_database)
    before = await rows_of(each_database)

    await store.comments.delete(middle.number, alice)
    await mirrored(store, each_database)

    found = await rows_of(each_database)
    place = (middle.number, number, top.number, 1)
    kept_when_it_leaves = [None] * 4  # columns of comments that have left the store
    assert found["comments"][1] == (
        *(*place, None, None, middle.posted_at, None, 2, 0, 0, "DELETED"),
        *kept_when_it_leaves,
    )
    assert [row[0] for row in found["comment_votes"]] == [top.number, last.number]
    assert (len(before["comment_edits"]), found["comment_edits"]) == (1, [])
    assert "other words" not in repr(await indexed(each_database))

    await store.comments.delete(last.number, bob)
    await mirrored(store, each_database)

    found = await rows_of(each_database)
    assert [row[0] for row in found["comments"]] == [top.number]


@on_both
async def test_chain_of_deleted_comments_that_goes_in_steps_leaves_no_row(
    store, alice, bob, each_database, monkeypatch
):  # C6
    monkeypatch.setattr(comments, "STUBS_AT_ONCE", 2)
    monkeypatch.setattr(removals, "REMOVED_AT_ONCE", 1)
    number = (await store.articles.post(alice, Draft("a title", content="text"))).article.number
    chain = [await commented(store, number, bob)]
    for _ in range(6):
        chain.append(await commented(store, number, bob, chain[-1]))
    for each in chain:
        await store.comments.delete(each.number, bob)
        await mirrored(store, each_database)

    assert (await rows_of(each_database))["comments"] == []


@on_both
async def test_comment_is_searched_in_the_groups_that_its_article_has_now(store, alice, each_database):
    number = (await store.articles.post(alice, Draft("a title", content="text", groups=("show",)))).article.number
    comment = await commented(store, number, alice, text="redis")
    await mirrored(store, each_database)
    await store.articles.regroup(number, alice, add=["ask"], remove=["show"])

    await mirrored(store, each_database)

    def found(connection, group):
        return search.find(connection, search.Search(phrases=(("redis",),), group=group)).places

    assert [place[1] for place in await each_database.run(found, "ask")] == [comment.number]
    assert await each_database.run(found, "show") == []


@on_both
async def test_repaired_comment_has_its_counts(store, alice, each_database, redis):
    number = (await store.articles.post(alice, Draft("a title", content="text"))).article.number
    comment = await commented(store, number, alice)
    await mirrored(store, each_database)
    partition = store.site.partition_of_article(number)
    redis.xadd(
        keys.log(partition),
        {"kind": "repaired", "at": 1, "actor": "", "subject": comment.id, "up": 7, "down": 2},
    )

    await mirrored(store, each_database)

    (row,) = (await rows_of(each_database))["comments"]
    up, down = row[8:10]
    assert (up, down) == (7, 2)


@on_both
async def test_repaired_votes_are_those_of_the_store(store, alice, bob, each_database, redis):
    number = (await store.articles.post(alice, Draft("a title", content="text"))).article.number
    comment = (await commented(store, number, alice)).number
    partition = store.site.partition_of_article(number)
    await store.articles.vote(number, bob, Vote.DOWN)
    await store.comments.vote(comment, bob, Vote.DOWN)
    await mirrored(store, each_database)
    for each in (number, comment):
        redis.sadd(keys.voted(partition, each), bob)  # who is in both sets then
    await verify.verify(store.site, lambda finding: None, repair=True)

    await mirrored(store, each_database)

    found = await rows_of(each_database)
    for subject, votes in ((number, found["votes"]), (comment, found["comment_votes"])):
        assert [row[:3] for row in votes] == [(subject, alice, 1), (subject, bob, 1)]


@pytest.mark.parametrize("entry", [{"kind": "voted"}, {"kind": "", "at": "now", "actor": "", "subject": "", "up": "3"}])
async def test_entries_of_other_programs_are_passed_over(store, alice, database, redis, entry):
    await mirrored(store, database)
    redis.xadd(keys.log(store.site.partition_of_user(alice)), entry)
    posted = await store.articles.post(alice, Draft("a title", content="text"))

    await mirrored(store, database)

    assert [row[0] for row in (await rows_of(database))["articles"]] == [posted.number]
    assert await database.lag(store.site) == log.Lag(0, 0.0)


async def test_log_learns_the_position_of_a_killed_process(store, alice, database):
    """It may have written entries to the database, and have ended before it told the log so."""
    await mirrored(store, database)
    taken = await log.positions(store.site)
    for partition in range(store.site.partitions):
        await log.advance(store.site, "database", partition, log.START)
    assert (await database.lag(store.site)).entries > 0

    await mirrored(store, database)

    assert await log.positions(store.site) == taken
    assert await database.lag(store.site) == log.Lag(0, 0.0)


async def test_lag_is_counted_in_entries_and_seconds(store, alice, database):
    await mirrored(store, database)
    for turn in range(3):
        await store.articles.post(alice, Draft(f"title {turn}", content="text"))
    await asyncio.sleep(0.05)

    lag = await database.lag(store.site)
    assert lag.entries == 3
    assert 0.05 <= lag.seconds < 30


async def test_only_one_of_two_processes_mirrors_at_a_time(store, alice, database):
    first, second = Mirror(store.site, database), Mirror(store.site, database)
    assert [await first.turn(), await second.turn()] == [mirror.IDLE, mirror.WAITING]

    await first.close()

    assert await second.turn() == mirror.IDLE


async def test_check_for_new_entries_takes_three_round_trips(store, alice, database):
    mirror = Mirror(store.site, database)
    await mirror.turn()
    current_usage.set(usage := RedisUsage())
    await mirror.turn()

    assert usage.round_trips == 3


@on_both
async def test_profiles_are_mirrored_searched_and_the_same_after_a_rebuild(store, alice, bob, each_database):
    await store.users.edit_profile(alice, {"display_name": "Zoë Zimmer", "about": "Reads."})
    await mirrored(store, each_database)
    await store.users.edit_profile(alice, {"about": "", "avatar_url": "https://pictures.example/a.png"})
    await store.users.edit_profile(bob, {"about": "Writes."})
    await mirrored(store, each_database)

    expected = [
        ("alice", "Zoë Zimmer", None, "https://pictures.example/a.png"),
        ("bob", None, "Writes.", None),
    ]
    statement = "SELECT username, display_name, about, avatar_url FROM users_view ORDER BY 1"
    assert list(map(tuple, await each_database.run(lambda each: each.execute(text(statement)).all()))) == expected
    matches = await each_database.run(search.find, Search(parse("zoe")))
    assert list(matches.usernames.values()) == ["Alice"]
    running = await rows_of(each_database)
    await rebuilt(store, each_database)
    assert await rows_of(each_database) == running
