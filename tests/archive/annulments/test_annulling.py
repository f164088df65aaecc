"""
Annulled votes count no more, and come back when the action that annuls them is reverted.

A `pair` is two stores with the same history: `pair.world`, in which votes of Mallory are annulled, and `pair.other`, in
which they never are. `fill` writes articles, comments and votes to both; with `left_out` those of Mallory are never
cast in `other`. `settle` annuls or restores the votes, `shown` is all that a store holds, `findings` is what `verify`
reports. `bare` is a pair without an SQL database.

`on_both` runs a test with SQLite and with PostgreSQL.

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Connection, delete, text

from database.database import Database
from database.tables import COMMENT_VOTES, VOTES
from store import annulments as steps
from store import bans, keys, log
from store.errors import AlreadyReverted, Forbidden, Invalid, NotAModerator, NotFound, Refusal
from store.moderation_records import AnnulmentState, ModerationKind, Role
from store.records import Vote
from store.roles import OPERATOR, grant
from tests.archive.annulling import VOTES_OF_MALLORY, WINDOW, Pair, counts_in, counts_of, upvoters, votes_of_mallory
from tests.conftest import Clock
from tests.database.conftest import on_both, rebuilt

pytestmark = pytest.mark.one_server


@on_both
@pytest.mark.parametrize("is_closed", [False, True], ids=["open", "closed"])
async def test_annulled_votes_count_as_if_never_cast_and_come_back(pair: Pair, is_closed):  # M7, M8
    pair.left_out = ("Mallory",)
    await pair.fill()
    if is_closed:
        await pair.world.mirror()
        pair.close_voting()
    before = pair.world.shown()
    assert before != pair.other.shown()

    action = await pair.world.annul()
    await pair.world.settle()
    pair.assert_equal()
    assert await pair.findings() == []
    own = 1 + 5  # article and comments of Mallory, each with her own vote
    cast = len(pair.articles) + len(pair.comments) - own
    found = await pair.world.read(action)
    assert found.kind is ModerationKind.ANNUL_VOTES and found.annulled_votes == cast
    assert found.annulment and found.annulment.state is AnnulmentState.DONE
    assert (found.annulment.done, found.annulment.total, found.annulment.reaches_back_to) == (cast, cast, None)
    assert pair.world.database
    rows = await votes_of_mallory(pair.world.database)
    assert sum(not counts for *_, counts, _ in rows) == cast
    assert all(counts == (poster == "Mallory") and at for _, _, at, counts, poster in rows)
    assert await counts_in(pair.world.database) == counts_of(pair.world)
    await rebuilt(pair.world.store, pair.world.database)
    assert await votes_of_mallory(pair.world.database) == rows

    pair.clock.advance(1)
    await pair.world.revert(action)
    await pair.world.settle()
    assert pair.world.shown() == before
    assert await pair.findings() == []
    found = await pair.world.read(action)
    assert found.annulled_votes == 0 and found.annulment
    assert (found.annulment.state, found.annulment.done, found.annulment.total) == (AnnulmentState.RESTORED, cast, cast)
    rows = await votes_of_mallory(pair.world.database)
    assert all(counts for *_, counts, _ in rows) and len(rows) == cast + own
    await rebuilt(pair.world.store, pair.world.database)
    assert await votes_of_mallory(pair.world.database) == rows
    assert not any(pair.world.redis.keys(f"{kind}:*") for kind in ("annulled", "cases", "annulling"))


async def test_vote_counts_no_more_where_one_set_of_voters_has_expired_before_the_other(pair: Pair):  # M7
    """Each expires by the clock of the process that has made it."""
    number = await pair.post("alice", "show")
    await pair.vote("Mallory", number, Vote.DOWN)
    await pair.world.mirror()
    pair.clock.advance(WINDOW + 1)
    partition = pair.world.store.site.partition_of_article(number)
    pair.world.redis.delete(keys.downvoted(partition, number))

    action = await pair.world.annul()
    await pair.world.settle()
    assert (await pair.world.read(action)).annulled_votes == 1
    assert pair.world.redis.hmget(keys.article(partition, number), "up", "down") == ["1", "0"]


@on_both
@pytest.mark.parametrize("is_archived", [False, True], ids=["open", "archived"])
async def test_annulled_upvotes_leave_nobody_among_the_upvoters_of_a_user(pair: Pair, is_archived):  # M7, M8
    """Flags count toward hiding only if enough others have upvoted their user."""
    await pair.fill()
    if is_archived:
        pair.close_voting()
        await pair.world.archive()
    await pair.world.finish()
    before = upvoters(pair.world)
    upvoted = {name for name, voters in before.items() if "Mallory" in voters}
    assert len(upvoted) > 2

    action = await pair.world.annul()
    await pair.world.settle()
    if not is_archived:  # what she votes now takes the place of the annulled votes
        for number in (*pair.articles, *pair.comments):
            for value in (Vote.DOWN, Vote.UP):
                with suppress(Forbidden):  # her own
                    store = pair.world.store
                    await (store.articles if number in pair.articles else store.comments).vote(number, "Mallory", value)
    await pair.world.finish()
    assert upvoters(pair.world) == {name: voters - {"Mallory"} for name, voters in before.items()}

    await pair.world.revert(action)
    await pair.world.settle()
    restored = upvoters(pair.world)
    assert upvoted <= {name for name, voters in restored.items() if "Mallory" in voters}
    assert {name: voters - {"Mallory"} for name, voters in restored.items()} == {
        name: voters - {"Mallory"} for name, voters in before.items()
    }
    assert await pair.findings() == []


@pytest.mark.parametrize("partitions", [1, 8], indirect=True)
async def test_without_a_database_only_votes_on_what_is_open_are_annulled(bare: Pair):  # M7
    bare.left_out = ("Mallory",)
    old = await bare.post("alice", "show")
    await bare.vote("Mallory", old, Vote.UP)
    bare.close_voting()
    await bare.fill()
    bare.left_out = ()
    before = bare.world.shown()

    action = await bare.world.annul()
    await bare.world.settle()
    found = await bare.world.read(action)
    assert found.annulment and found.annulment.state is AnnulmentState.DONE and found.annulled_votes == VOTES_OF_MALLORY
    time = int(bare.world.redis.hget(keys.article(bare.world.store.site.partition_of_article(old), old), "time"))
    assert found.annulment.reaches_back_to == time + WINDOW * 1000
    assert await bare.findings() == []

    await bare.world.revert(action)
    await bare.world.settle()
    assert bare.world.shown() == before


@on_both
async def test_votes_that_a_new_database_does_not_know_stay(pair: Pair):  # M7
    """It was made after the voters of what is closed had left Redis, and the entries of their votes the log."""
    database, site = pair.world.database, pair.world.store.site
    assert database
    await pair.fill()
    pair.close_voting()
    newest = await pair.post("alice", "show")  # what is closed has unknown voters, and this has none but its poster
    pair.close_voting()
    await pair.vote("Mallory", await pair.post("bob", "show"), Vote.UP)
    await pair.world.mirror()
    await database.write(forget_votes)
    await log.trim(site, kept_ms=0, max_entries=0)
    await rebuilt(pair.world.store, database)

    action = await pair.world.annul()
    await pair.world.settle()

    found = await pair.world.read(action)
    assert found.annulment and (found.annulment.state, found.annulled_votes) == (AnnulmentState.DONE, 1)
    last = pair.comments[-1]  # of those with unknown voters
    posted_at = int(pair.world.redis.hget(keys.comment(site.partition_of_article(last), last), "time"))
    assert last < newest and found.annulment.reaches_back_to == posted_at + WINDOW * 1000
    assert await pair.findings() == []


def forget_votes(connection: Connection) -> None:
    for table in (VOTES, COMMENT_VOTES):
        connection.execute(delete(table))


@on_both
async def test_vote_that_two_actions_annul_counts_once_both_are_reverted(pair: Pair):  # M8
    await pair.fill()
    first = await pair.world.annul()
    await pair.world.settle()
    annulled = pair.world.shown()
    pair.clock.advance(1)
    second = await pair.world.annul(until=pair.clock.now)
    await pair.world.settle()
    assert (
        (await pair.world.read(second)).annulled_votes
        == (await pair.world.read(first)).annulled_votes
        == VOTES_OF_MALLORY
    )
    assert pair.world.shown() == annulled

    await pair.world.revert(first)
    await pair.world.settle()
    assert pair.world.shown() == annulled
    assert await pair.findings() == []

    await pair.world.revert(second)
    await pair.world.settle()
    pair.assert_equal()
    with pytest.raises(AlreadyReverted):
        await pair.world.revert(second)


@on_both
async def test_votes_of_a_span_of_time_are_annulled(pair: Pair):
    number = await pair.post("alice")
    other, later = await pair.post("bob"), await pair.post("carol")
    await pair.vote("Mallory", number, Vote.UP)
    since = pair.clock.now + 500
    await pair.vote("Mallory", other, Vote.UP)
    until = pair.clock.now
    await pair.vote("Mallory", later, Vote.DOWN)

    action = await pair.world.annul(since=since, until=until)
    await pair.world.settle()

    assert (await pair.world.read(action)).annulled_votes == 1
    site = pair.world.store.site
    again = await steps.annul(site, OPERATOR, "mallory", since=since + 1, until=until, reason="once more")
    assert not again.changed and again.action and again.action.number == action.number
    for wider in ((since - 1, until), (since, until + 1), (None, until)):
        done = await steps.annul(site, OPERATOR, "mallory", *wider, reason="more")
        assert done.changed and done.action
        await pair.world.revert(done.action)
    counts = counts_of(pair.world)
    assert [counts[each] for each in (number, other, later)] == [(2, 0), (1, 0), (1, 1)]


@on_both
async def test_own_later_vote_replaces_the_annulled_one_and_does_not_count(pair: Pair):
    number = await pair.post("alice", "show")
    comment = await pair.comment("bob", number)
    later = await pair.post("bob")
    for each in (number, comment):
        await pair.vote("Mallory", each, Vote.UP)
    action = await pair.world.annul()
    await pair.world.settle()
    before = pair.world.shown()
    pair.clock.advance(1)
    store = pair.world.store
    assert (await store.articles.vote(number, "Mallory", Vote.DOWN)).changed
    assert not (await store.articles.vote(number, "Mallory", Vote.DOWN)).changed
    assert (await store.comments.vote(comment, "Mallory", Vote.NONE)).changed
    assert pair.world.shown() == before
    assert pair.world.database
    await pair.world.mirror()
    rows = await votes_of_mallory(pair.world.database)
    assert [(value, counts) for _, value, _, counts, _ in rows] == [(-1, False)]
    await store.articles.vote(later, "Mallory", Vote.UP)
    assert counts_of(pair.world)[later] == (2, 0)

    await pair.world.revert(action)
    await pair.world.settle()

    counts = counts_of(pair.world)
    assert [counts[each] for each in (number, comment)] == [(1, 1), (1, 0)]
    assert await pair.findings() == []
    rows = await votes_of_mallory(pair.world.database)
    assert [(value, counts) for _, value, _, counts, _ in rows] == [(-1, True), (1, True)]


@on_both
async def test_ban_annuls_votes_and_its_end_restores_none(pair: Pair, clock: Clock):  # M7
    await pair.fill()
    before = pair.world.shown()
    site = pair.world.store.site
    given = {"group": None, "until": clock.now + 60_000, "reason": "spam", "annuls_votes": True}
    banned = await bans.ban(site, OPERATOR, "mallory", **given)
    assert banned.action
    await pair.world.settle()
    assert (await pair.world.read(banned.action)).annulled_votes == VOTES_OF_MALLORY
    again = await bans.ban(site, OPERATOR, "mallory", **given)
    assert not again.changed and again.action and again.action.number == banned.action.number
    clock.advance(120)
    await pair.world.settle()
    assert (await pair.world.read(banned.action)).annulled_votes == VOTES_OF_MALLORY

    await pair.world.revert(banned.action)
    await pair.world.settle()
    assert without_bans(pair.world.shown()) == without_bans(before)


def without_bans(shown: dict[str, Any]) -> dict[str, Any]:
    """What a store holds, without the words of bans of users: "" once all have ended."""
    for key in [key for key in shown if key.startswith("user:")]:
        shown[key].pop("bans", None)
    return shown


async def reverts_in(database: Database, action: int) -> int | None:
    """The revert of an action by its number, as the view of the database has it."""
    query = text("SELECT reverted_by FROM moderation_actions_view WHERE number = :number")
    return await database.run(lambda connection: connection.execute(query, {"number": action}).scalar_one())


@on_both
async def test_revert_of_a_ban_may_keep_votes_annulled(pair: Pair):
    await pair.fill()
    site = pair.world.store.site
    banned = await bans.ban(site, OPERATOR, "mallory", group=None, until=None, reason="spam", annuls_votes=True)
    assert banned.action
    await pair.world.revert(banned.action, keeps_votes=True)
    await pair.world.settle()
    found = await pair.world.read(banned.action)
    assert found.annulment and found.annulment.state is AnnulmentState.DONE and found.annulled_votes == VOTES_OF_MALLORY
    assert not pair.world.redis.hget(keys.user(site.partition_of_user("mallory"), "mallory"), "bans")

    action = await pair.world.annul()
    with pytest.raises(Invalid) as refusal:
        await pair.world.revert(action, keeps_votes=True)
    assert refusal.value.field == ("keepVotesAnnulled",)


@on_both
async def test_second_revert_restores_votes_that_the_first_has_left_annulled_and_nothing_else(pair: Pair):  # M8, M9
    await pair.fill()
    before, site, redis = pair.world.shown(), pair.world.store.site, pair.world.redis
    given = {"group": None, "until": None, "annuls_votes": True}
    banned = (await bans.ban(site, OPERATOR, "mallory", reason="spam", **given)).action
    assert banned
    await pair.world.settle()
    first = await pair.world.revert(banned, keeps_votes=True)
    await pair.world.settle()
    with pytest.raises(AlreadyReverted):
        await pair.world.revert(banned, keeps_votes=True)
    again = (await bans.ban(site, OPERATOR, "mallory", group=None, until=None, reason="spam again")).action
    assert again
    pair.clock.advance(1)

    second = await pair.world.revert(banned)
    await pair.world.settle()

    assert second.reverts == first.reverts == banned.number
    found = await pair.world.read(banned)
    assert found.reverted_by == first.number
    assert found.annulment and (found.annulment.state, found.annulled_votes) == (AnnulmentState.RESTORED, 0)
    assert (found.annulment.done, found.annulment.total) == (VOTES_OF_MALLORY, VOTES_OF_MALLORY)
    account = keys.user(site.partition_of_user("mallory"), "mallory")
    assert redis.hget(account, "bans") == "site=0"  # the other ban stands
    await pair.world.revert(again)
    assert without_bans(pair.world.shown()) == without_bans(before)
    assert await pair.findings() == []
    assert pair.world.database
    assert await reverts_in(pair.world.database, banned.number) == first.number
    for number in (banned, again):
        with pytest.raises(AlreadyReverted):
            await pair.world.revert(number)


@on_both
async def test_second_revert_restores_only_votes_that_no_other_action_holds(pair: Pair):  # M8
    await pair.fill()
    before, site = pair.world.shown(), pair.world.store.site
    given = {"group": None, "until": None, "annuls_votes": True}
    banned = (await bans.ban(site, OPERATOR, "mallory", reason="spam", **given)).action
    assert banned
    await pair.world.revert(banned, keeps_votes=True)  # before any vote was annulled
    pair.clock.advance(1)
    other = await pair.world.annul()
    await pair.world.settle()
    annulled = pair.world.shown()

    await pair.world.revert(banned)
    await pair.world.settle()
    assert pair.world.shown() == annulled

    await pair.world.revert(other)
    await pair.world.settle()
    assert without_bans(pair.world.shown()) == without_bans(before)


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_only_moderators_of_the_site_annul_votes(bare: Pair):
    await bare.fill()
    site, before = bare.world.store.site, bare.world.shown()
    for name, role, group in (
        ("bob", Role.MODERATOR, "show"),
        ("carol", Role.MODERATOR, None),
        ("dave", Role.ADMIN, None),
    ):
        await grant(site, OPERATOR, name, role, group=group, reason="why not")

    async def refused(actor: str, username: str, error: type[Refusal]) -> None:
        with pytest.raises(error):
            await steps.annul(site, actor, username, since=None, until=None, reason="a ring")

    await refused("alice", "mallory", NotAModerator)
    await refused("bob", "mallory", NotAModerator)
    await refused("carol", "carol", NotAModerator)
    await refused("carol", "dave", NotAModerator)
    await refused("carol", "nobody", NotFound)
    with pytest.raises(Invalid) as refusal:
        await steps.annul(site, "carol", "mallory", since=2_000, until=1_000, reason="")
    assert [each.field for each in (refusal.value, *refusal.value.others)] == [("from",), ("reason",)]
    for group in ("show", "ask"):
        with pytest.raises(Invalid):
            await bans.ban(site, "carol", "mallory", group=group, until=None, reason="spam", annuls_votes=True)
    shown = bare.world.shown()
    assert {key for key in shown if shown[key] != before.get(key)} == {
        *(keys.user(0, name) for name in ("bob", "carol", "dave")), "moderators:{0}:group:show", "moderators:{0}:site",
    }  # fmt: skip
    assert not bare.world.redis.exists(steps.annulling(0))

    done = await steps.annul(site, "dave", "carol", since=None, until=None, reason="a ring")
    assert done.changed
