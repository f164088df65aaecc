"""
Votes that count no more, and that come back with a revert: compared with a store in which they were never cast.

Codes such as M7 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from collections.abc import AsyncIterator

import pytest

from archive import annulments, maintenance, moments, reads, write_back
from database import article_places
from database.database import Database
from store import annulments as steps
from store import article_moderation, bans, comment_moderation, events, keys, log, removals, threads
from store.errors import AlreadyReverted, Invalid, NotAModerator, NotFound, Refusal
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.maintenance.verify import Finding
from store.moderation_records import AnnulmentState, ModerationKind, Role
from store.records import Vote
from store.roles import OPERATOR, grant
from store.site import Site
from store.store import Store
from tests.archive.annulling import OWN, POLICY, WINDOW, Pair, World, counts_in, counts_of, opened, votes_of_mallory
from tests.conftest import Clock, client
from tests.database.conftest import on_both, rebuilt
from tests.store.reading import contents, verified

pytestmark = pytest.mark.one_server


@pytest.fixture
async def pair(redis_url: str, partitions: int, clock: Clock, each_database: Database) -> AsyncIterator[Pair]:
    async for pair in opened(redis_url, partitions, clock, each_database):
        yield pair


@pytest.fixture
async def bare(redis_url: str, partitions: int, clock: Clock) -> AsyncIterator[Pair]:
    """As `pair`, without a database."""
    async for pair in opened(redis_url, partitions, clock, None):
        yield pair


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
    cast = len(pair.articles) + len(pair.comments) - 1 - 5  # without her own article and comments
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
    assert all(counts for *_, counts, _ in rows) and len(rows) == cast + 6
    await rebuilt(pair.world.store, pair.world.database)
    assert await votes_of_mallory(pair.world.database) == rows
    assert not any(pair.world.redis.keys(f"{kind}:*") for kind in ("annulled", "cases", "annulling"))


async def test_vote_counts_no_more_where_one_set_of_voters_has_expired_before_the_other(pair: Pair):  # M7
    """Each expires by the clock of the process that has made it."""
    number = await pair.post("alice", "show")
    await pair.vote("Mallory", number, Vote.DOWN)
    await pair.world.mirror()
    pair.clock.advance(WINDOW + 1)
    p = pair.world.store.site.home_of_article(number)
    pair.world.redis.delete(keys.downvoted(p, number))

    action = await pair.world.annul()
    await pair.world.settle()
    assert (await pair.world.read(action)).annulled_votes == 1
    assert pair.world.redis.hmget(keys.article(p, number), "up", "down") == ["1", "0"]


@pytest.mark.parametrize("partitions", [1, 8], indirect=True)
async def test_without_a_database_what_is_open_is_annulled(bare: Pair):  # M7
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
    assert found.annulment and found.annulment.state is AnnulmentState.DONE and found.annulled_votes == 14
    time = int(bare.world.redis.hget(keys.article(bare.world.store.site.home_of_article(old), old), "time"))
    assert found.annulment.reaches_back_to == time + WINDOW * 1000
    assert await bare.findings() == []

    await bare.world.revert(action)
    await bare.world.settle()
    assert bare.world.shown() == before


@on_both
async def test_two_actions_hold_a_vote_until_both_are_reverted(pair: Pair):  # M8
    await pair.fill()
    first = await pair.world.annul()
    await pair.world.settle()
    annulled = pair.world.shown()
    pair.clock.advance(1)
    second = await pair.world.annul(until=pair.clock.now)
    await pair.world.settle()
    assert (await pair.world.read(second)).annulled_votes == (await pair.world.read(first)).annulled_votes == 14
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
    again = await steps.annul(site, OPERATOR, "mallory", since + 1, until, "once more")
    assert not again.changed and again.action and again.action.number == action.number
    for wider in ((since - 1, until), (since, until + 1), (None, until)):
        done = await steps.annul(site, OPERATOR, "mallory", *wider, "more")
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
    given = ("mallory", None, clock.now + 60_000, "spam")
    banned = await bans.ban(site, OPERATOR, *given, annuls_votes=True)
    assert banned.action
    await pair.world.settle()
    assert (await pair.world.read(banned.action)).annulled_votes == 14
    again = await bans.ban(site, OPERATOR, *given, annuls_votes=True)
    assert not again.changed and again.action and again.action.number == banned.action.number
    clock.advance(120)
    await pair.world.settle()
    assert (await pair.world.read(banned.action)).annulled_votes == 14

    await pair.world.revert(banned.action)
    await pair.world.settle()
    shown = pair.world.shown()
    for found in (shown, before):
        for key in [key for key in found if key.startswith("user:")]:
            found[key].pop("bans", None)
    assert shown == before


@on_both
async def test_revert_of_a_ban_may_keep_votes_annulled(pair: Pair):
    await pair.fill()
    site = pair.world.store.site
    banned = await bans.ban(site, OPERATOR, "mallory", None, None, "spam", annuls_votes=True)
    assert banned.action
    await pair.world.revert(banned.action, keeps_votes=True)
    await pair.world.settle()
    found = await pair.world.read(banned.action)
    assert found.annulment and found.annulment.state is AnnulmentState.DONE and found.annulled_votes == 14
    assert not pair.world.redis.hget(keys.user(site.home_of_user("mallory"), "mallory"), "bans")

    action = await pair.world.annul()
    with pytest.raises(Invalid) as refusal:
        await pair.world.revert(action, keeps_votes=True)
    assert refusal.value.field == ("keepVotesAnnulled",)


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_only_moderators_of_the_site_annul_votes(bare: Pair):
    await bare.fill()
    site, before = bare.world.store.site, bare.world.shown()
    for name, role, group in (
        ("bob", Role.MODERATOR, "show"),
        ("carol", Role.MODERATOR, None),
        ("dave", Role.ADMIN, None),
    ):
        await grant(site, OPERATOR, name, role, group, "why not")

    async def refused(actor: str, username: str, error: type[Refusal]) -> None:
        with pytest.raises(error):
            await steps.annul(site, actor, username, None, None, "a ring")

    await refused("alice", "mallory", NotAModerator)
    await refused("bob", "mallory", NotAModerator)
    await refused("carol", "carol", NotAModerator)
    await refused("carol", "dave", NotAModerator)
    await refused("carol", "nobody", NotFound)
    with pytest.raises(Invalid) as refusal:
        await steps.annul(site, "carol", "mallory", 2_000, 1_000, "")
    assert [each.field for each in (refusal.value, *refusal.value.others)] == [("from",), ("reason",)]
    for group in ("show", "ask"):
        with pytest.raises(Invalid):
            await bans.ban(site, "carol", "mallory", group, None, "spam", annuls_votes=True)
    shown = bare.world.shown()
    assert {key for key in shown if shown[key] != before.get(key)} == {
        *(keys.user(0, name) for name in ("bob", "carol", "dave")), "moderators:{0}:group:show", "moderators:{0}:site",
    }  # fmt: skip
    assert not bare.world.redis.exists(steps.annulling(0))

    done = await steps.annul(site, "dave", "carol", None, None, "a ring")
    assert done.changed


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
async def test_it_is_done_when_reads_show_the_counts_of_archived_articles(
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
    for number in numbers:
        assert await write_back.bring_back(world.store, world.database, number)


@on_both
async def test_what_is_hidden_or_gone_is_annulled_and_restored(pair: Pair, clock: Clock):  # M7, M8
    """Removed things keep their votes, and the comments of a deleted article are about to be removed."""
    pair.left_out = ("Mallory",)
    await pair.fill()
    hidden, gone = pair.articles[0], pair.articles[4]
    comment = pair.comments[5]
    for world in (pair.world, pair.other):
        site = world.store.site
        await threads.pin(site, pair.articles[1], threads.CommentOrder.VOTES)
        for _ in range(2):  # the second finds a comment below a removed one
            await comment_moderation.remove(site, OPERATOR, comment, None, "spam")
        await article_moderation.remove(site, OPERATOR, hidden, None, "spam")
        await removals.remove_all(site, site.home_of_article(hidden))
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
    first = await read_page(site, article, order, pinned, 2)
    assert [place.number for place in first.places] == comments[:0:-1]

    await comment_moderation.remove(site, OPERATOR, comments[2], None, "spam")
    await world.annul()
    await world.settle()
    await comment_moderation.approve(site, OPERATOR, comments[2])

    rest = await read_page(site, article, order, first.places[-1].position, 9)
    assert rest.is_pinned and [place.number for place in rest.places] == comments[:1]
    again = await read_page(site, article, order, pinned, 9)
    assert [place.number for place in again.places] == comments[::-1]


async def read_page(
    site: Site, article: int, order: threads.CommentOrder, beyond: threads.ThreadPosition | None, count: int
) -> threads.ThreadPage:
    (page,) = await moments.load_again(
        site, [threads.page(site, article, order, threads.ThreadWindow(count, beyond=beyond))]
    )
    return page


@on_both
async def test_verify_repairs_annulled_votes(pair: Pair):
    await pair.fill()
    action = await pair.world.annul()
    await pair.world.settle()
    site, redis, number = pair.world.store.site, pair.world.redis, pair.articles[0]
    p = site.home_of_article(number)
    right = contents(redis)
    gone, cases = number + keys.SLOTS, steps.cases(p, action.number)
    redis.zrem(cases, keys.member(number))
    redis.zadd(cases, {keys.member(gone): 0})
    redis.hset(keys.annulled(p, number), "bob", "2 1541")
    redis.hset(keys.annulled(p, gone), "bob", f"1 {action.number}")
    redis.sadd(keys.downvoted(p, number), "Mallory")

    assert len(await pair.findings()) >= 5
    for _ in range(2):  # the set of voters is repaired before what is derived from it
        await verified(pair.world.store, repair=True)
    assert await pair.findings() == []
    found = contents(redis)
    of_votes = OWN[1:3]  # the keys of annulled votes, and of the cases of actions
    assert {key for key in right if key.startswith(of_votes) and found.get(key) != right[key]} == set()
    assert not redis.exists(keys.annulled(p, gone))


@on_both
async def test_backup_has_annulled_votes_and_what_is_left_to_do(pair: Pair, redis_url: str, clock: Clock):  # M8
    await pair.fill()
    done = await pair.world.annul()
    await pair.world.settle()
    clock.advance(1)
    left = await pair.world.annul()
    restoration = await Restoration.begin(f"{redis_url}?db=2", "a backup", 4, POLICY, clock)
    async for records in dump.records_of(pair.world.store.site, lambda count: None, lambda key, fault: None):
        await restoration.put(records)
    await restoration.end()
    await restoration.close()

    store = await Store.open(f"{redis_url}?db=2", POLICY, 4, clock=clock)
    restored = World(store, client(f"{redis_url}?db=2"), None)
    assert counts_of(restored) == counts_of(pair.world)
    assert [str(each) for each in await verified(store) if not each.where.endswith("TTL")] == []
    await restored.settle()
    assert [(await restored.read(each)).annulled_votes for each in (done, left)] == [14, 14]
    for each in (done, left):
        await restored.revert(each)
        await restored.settle()
    assert counts_of(restored) == counts_of(pair.other)
    assert [str(each) for each in await verified(store) if not each.where.endswith("TTL")] == []
    await store.close()
    restored.redis.close()


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_steps_wait_for_the_database_and_for_consumers(pair: Pair, monkeypatch: pytest.MonkeyPatch):
    await pair.fill()
    monkeypatch.setattr(annulments, "PATIENCE", 0)
    action = await pair.world.annul()
    world = pair.world
    with pytest.raises(annulments.ConsumerBehind):
        await annulments.settle(world.store, world.database, action.number)
    await annulments.begin(world.store, world.database, action.number)
    assert (await world.read(action)).annulled_votes == 0

    await world.mirror()
    monkeypatch.setattr(annulments, "MAX_BEHIND", 10)
    monkeypatch.setattr(annulments, "READ_AT_ONCE", 4)
    await log.advance(world.store.site, "slow", 0, log.START)
    with pytest.raises(annulments.ConsumerBehind):
        await annulments.settle(world.store, world.database, action.number)
    found = await world.read(action)
    assert found.annulment and (found.annulled_votes, found.annulment.state) == (4, AnnulmentState.RUNNING)
    assert found.annulment.total == 14


@pytest.mark.parametrize("partitions", [8], indirect=True)
async def test_listeners_learn_what_is_annulled(bare: Pair):
    """One message a step; listeners get an event for each article and comment."""
    number = await bare.post("alice", "show", "ask")
    comment = await bare.comment("bob", number)
    other = await bare.post("alice")
    for each in (number, comment, other):
        await bare.vote("Mallory", each, Vote.UP)
    await bare.world.annul()
    messages = bare.world.redis.pubsub()
    messages.psubscribe("events:*")
    await bare.world.settle()
    texts = []
    while message := messages.get_message(timeout=0.2):
        if message["type"] == "pmessage":
            texts.append(message["data"])
    found = [event for text in texts if text.startswith("votes_annulled") for event in events.events_in(text)]
    messages.close()

    homes = {bare.world.store.site.home_of_article(each) for each in (number, comment)}
    assert sum(text.startswith("votes_annulled") for text in texts) == len(homes)
    assert {(event.kind, event.number, event.poster, event.groups, event.article) for event in found} == {
        (events.EventKind.VOTED, number, "alice", ("ask", "show"), 0),
        (events.EventKind.VOTED, other, "alice", (), 0),
        (events.EventKind.COMMENT_VOTED, comment, "bob", (), number),
    }
    heard = []
    listeners = events.Events()
    with listeners.subscribed(heard.append, events.of_article(number), events.of_comment_changes(number)):
        for text in texts:
            listeners.receive(text)
    assert sorted(event.number for event in heard) == sorted([number, comment])
    (missed,) = events.events_in("votes_annulled 0 Mallory 1-0 article:x")
    assert missed.kind is events.EventKind.MISSED
