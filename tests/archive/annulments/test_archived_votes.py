"""
Votes are annulled, so that they count no more, and restored, also on what is hidden, deleted, or archived: then only
the database has it.

A `pair` is two stores with the same history: `pair.world`, in which votes of Mallory are annulled, and `pair.other`, in
which they never are. With `left_out` her votes are never cast in `other`. `settle` annuls or restores the votes,
`shown` is all that a store holds, `findings` is what `verify` reports. `bare` is a pair without an SQL database.

`on_both` runs a test with SQLite and with PostgreSQL.

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from archive import annulments, maintenance, moments, reads, write_back
from database import article_places
from store import article_moderation, comment_moderation, removals, threads
from store.maintenance.verify import Finding
from store.moderation_records import AnnulmentState
from store.records import Vote
from store.roles import OPERATOR
from store.site import Site
from tests.archive.annulling import Pair, World, counts_of
from tests.conftest import Clock
from tests.database.conftest import on_both

pytestmark = pytest.mark.one_server


@on_both
async def test_archived_articles_stay_so_while_votes_are_annulled_and_restored(pair: Pair):  # M7, M8
    """Upvotes and a downvote, so that values of the orders rise and fall, and articles become good and cease to be."""
    pair.left_out = ("Mallory",)
    values = dict(zip(("alice", "bob", "carol"), (Vote.UP, Vote.DOWN, Vote.UP), strict=True))
    numbers = [await pair.post(poster, "show", "ask") for poster in values]
    for number, value in zip(numbers, values.values(), strict=True):
        await pair.vote("Mallory", number, value)
        await pair.vote("dave", number, Vote.UP)
    await pair.vote("alice", numbers[1], Vote.UP)
    await pair.world.mirror()
    pair.close_voting()
    before = pair.world.shown()
    await pair.world.archive()

    action = await pair.world.annul()
    await pair.world.settle()
    await assert_archived(pair, numbers)
    assert (await pair.world.read(action)).annulled_votes == 3
    await bring_back(pair.world, numbers)
    pair.assert_equal()

    await pair.world.archive()
    await pair.world.revert(action)
    await pair.world.settle()
    await assert_archived(pair, numbers)
    await bring_back(pair.world, numbers)
    assert pair.world.shown() == before
    assert await pair.findings() == []


@on_both
async def test_annulment_is_done_once_reads_show_the_counts_of_archived_articles(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
):  # M7
    monkeypatch.setattr(annulments, "PATIENCE", 0)
    monkeypatch.setattr(annulments, "PATIENCE_AT_END", 0)
    numbers = [await pair.post("alice", "show"), await pair.post("bob", "ask")]
    for number in numbers:
        await pair.vote("Mallory", number, Vote.UP)
    await pair.world.mirror()
    pair.close_voting()
    await pair.world.archive()
    world, store, database = pair.world, pair.world.store, pair.world.database

    async def shown() -> list[int]:
        found = [await reads.find(store, database, number) for number in numbers]
        return [each.upvotes for each in found if each]

    action = await world.annul()
    for change, waiting, ended, votes in (
        (None, AnnulmentState.RUNNING, AnnulmentState.DONE, [1, 1]),
        (world.revert, AnnulmentState.RESTORING, AnnulmentState.RESTORED, [2, 2]),
    ):
        if change:
            pair.clock.advance(1)
            await change(action)
        await world.mirror()
        before = await shown()
        with pytest.raises(annulments.ConsumerBehind):
            await annulments.settle(store, database, action.number)
        await annulments.begin(store, database, action.number)  # as the request of a moderator
        found = await world.read(action)
        assert found.annulment and found.annulment.state is waiting
        assert await shown() == before != votes

        await world.mirror()
        await annulments.settle(store, database, action.number)
        found = await world.read(action)
        assert found.annulment and found.annulment.state is ended
        assert await shown() == votes


async def assert_archived(pair: Pair, numbers: list[int]) -> None:
    """The articles are in the database only, with their places and counts there."""
    world = pair.world
    assert world.database
    assert not any(key.startswith("article:") for key in world.redis.scan_iter())
    assert await pair.findings() == []
    assert await world.database.run(article_places.check, world.store.site, numbers) == []
    found: list[Finding] = []
    await maintenance.verify(world.store.site, world.database, found.append, repair=False)
    assert found == []


async def bring_back(world: World, numbers: list[int]) -> None:
    """Write archived articles back to Redis."""
    for number in numbers:
        assert await write_back.bring_back(world.store, world.database, number)


@on_both
async def test_votes_on_what_is_removed_or_deleted_are_annulled_and_restored(pair: Pair, clock: Clock):  # M7, M8
    """What a moderator has removed keeps its votes. The comments of a deleted article are still to be removed."""
    pair.left_out = ("Mallory",)
    await pair.fill()
    hidden, gone = pair.articles[0], pair.articles[4]  # of alice and of dave
    comment = pair.comments[5]
    for world in (pair.world, pair.other):
        site = world.store.site
        await threads.pin(site, pair.articles[1], threads.CommentOrder.VOTES)
        for _ in range(2):  # the second changes nothing
            await comment_moderation.remove(site, OPERATOR, comment, group=None, reason="spam")
        await article_moderation.remove(site, OPERATOR, hidden, group=None, reason="spam")
        await removals.remove_all(site, site.partition_of_article(hidden))
    await pair.both(lambda store: store.articles.delete(gone, "dave"))
    before = pair.world.shown()

    action = await pair.world.annul()
    await pair.world.settle()
    await pair.other.finish()
    shown, other = pair.world.shown(), pair.other.shown()
    for found in (shown, other):
        for key in [key for key in found if key.startswith(("pins", "pinned", "removing"))]:
            del found[key]
    assert shown == other
    assert await pair.findings() == []

    await pair.world.revert(action)
    await pair.world.settle()
    counts = counts_of(pair.world)
    for key, value in before.items():
        number = key.rpartition(":")[2]
        if key.startswith(("article:", "comment:")) and int(number) in counts:
            assert counts[int(number)] == (int(value["up"]), int(value["down"]))
    assert await pair.findings() == []


async def test_pinned_walk_goes_on_though_a_hidden_comment_loses_votes_and_is_shown_again(bare: Pair):  # C12, M7
    world, site = bare.world, bare.world.store.site
    article = await bare.post("carol", "show")
    comments = [await bare.comment(poster, article) for poster in ("dave", "erin", "frank")]
    for number in comments[1:]:
        await bare.vote("Mallory", number, Vote.UP)
    order, pinned = threads.CommentOrder.VOTES, await threads.pin(site, article, threads.CommentOrder.VOTES)
    first = await read_page(site, article, order, pinned, count=2)
    assert [place.number for place in first.places] == comments[:0:-1]

    await comment_moderation.remove(site, OPERATOR, comments[2], group=None, reason="spam")
    await world.annul()
    await world.settle()
    await comment_moderation.approve(site, OPERATOR, comments[2])

    rest = await read_page(site, article, order, first.places[-1].position, count=9)
    assert rest.is_pinned and [place.number for place in rest.places] == comments[:1]
    again = await read_page(site, article, order, pinned, count=9)
    assert [place.number for place in again.places] == comments[::-1]


async def read_page(
    site: Site, article: int, order: threads.CommentOrder, beyond: threads.ThreadPosition | None, count: int
) -> threads.ThreadPage:
    """A page of a thread, beyond a position of the one before or of a pin."""
    (page,) = await moments.load_again(
        site, [threads.page(site, article, order, threads.ThreadWindow(count, beyond=beyond))]
    )
    return page
