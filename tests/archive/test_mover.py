"""Articles leave Redis, come back to be changed, and are in backups and moves."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import select

from archive import maintenance, mover, steps
from archive.mover import HotLimits, Mover
from database.mirror import Mirror
from database.tables import LISTINGS, PLACES
from server.cli.backup import back_up
from server.cli.import_stories import ImportOptions, import_stories
from server.cli.move import move
from server.cli.restore import restore
from server.settings import Settings, WrongSetting
from store import keys, leases, roles
from store.maintenance import verify
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.verify import Finding
from store.moderation_records import Role
from store.node_ids import article_number
from store.ranking.formulas import ORDERS
from store.records import ContentState
from store.site import Site, unix_milliseconds
from tests.archive.worlds import LISTINGS as QUERIES
from tests.archive.worlds import MUTATIONS, PEOPLE, POLICY, WINDOW, Pair, World
from tests.conftest import client
from tests.store.discussions import commented
from tests.store.held import set_comment_state
from tests.store.reading import contents, everything, verified
from tests.support.memory import full

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]

ARTICLE = "query($id: ID!) { article(id: $id) { title votes } }"
TIMELINE = QUERIES["timeline"]
ARCHIVING, PLAIN, COPY = 0, 1, 2  # databases of Redis: the two stores of a `Pair`, and a restored or moved one


async def posted(pair: Pair, poster: str = "alice", **input: Any) -> int:
    payload = await pair.mutate("post", poster, title="Redis in Action", content="A book.", groups=["show"], **input)
    pair.clock.advance(30)
    number = article_number(payload["article"]["id"])
    assert number
    return number


@pytest.fixture
def calm(pair: Pair) -> Pair:
    """Two stores whose processes are not killed."""
    pair.crashes = False
    return pair


async def test_an_archived_article_leaves_only_counts_in_redis(calm: Pair, redis: "Redis") -> None:
    number = await posted(calm)
    await calm.archive_all()

    left = {key for key in redis.scan_iter() if str(number) in key or "alice" in key}
    left -= set(redis.scan_iter("posted:*"))  # expires
    assert calm.archived == {number}
    assert left == {keys.user(0, "alice"), keys.sessions(0, "alice"), keys.logins(0, "alice")}
    assert redis.hget(keys.archived(0), "count:group:show") == "1"
    assert redis.zrange(keys.groups(0), 0, -1) == ["show"]


async def test_articles_beyond_the_limits_leave_oldest_first(calm: Pair) -> None:
    numbers = [await posted(calm, poster) for poster in ("alice", "Bob", "alice", "alice", "Bob")]
    calm.clock.advance(WINDOW + 70)
    await calm.run_mover(4, 2)
    await calm.find_archived()

    assert calm.archived == {numbers[0]}

    await calm.run_mover(4, 1)
    await calm.find_archived()

    assert calm.archived == {numbers[0], numbers[1], numbers[2]}


async def test_articles_of_the_last_pass_are_looked_for_in_batches(calm: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be hundreds of thousands, for which Redis would not answer in time."""
    numbers = [await posted(calm) for _ in range(5)]
    batches, in_redis = [], steps.in_redis

    async def recorded(site: Site, p: int, some: Sequence[int]) -> list[int]:
        batches.append(some)
        return await in_redis(site, p, some)

    monkeypatch.setattr(steps, "in_redis", recorded)
    monkeypatch.setattr(mover, "BATCH", 2)
    await calm.archive_all()
    batches.clear()
    await calm.run_mover(0, 0)

    assert list(map(len, batches)) == [2, 2, 1]
    assert sorted(chain.from_iterable(batches)) == numbers


async def test_an_article_that_is_open_to_votes_stays(calm: Pair) -> None:
    await posted(calm)
    calm.clock.advance(WINDOW + 1)
    await calm.run_mover(0, 0)
    await calm.find_archived()

    assert not calm.archived


async def test_votes_on_an_archived_article_are_closed(calm: Pair) -> None:
    number = await posted(calm)
    await calm.archive_all()

    payload = await calm.mutate("vote", "Bob", articleId=f"article:{number}")

    assert [error["code"] for error in payload["userErrors"]] == ["VOTING_CLOSED"]


async def test_an_article_of_somebody_else_stays_archived(calm: Pair) -> None:
    number = await posted(calm)
    await calm.archive_all()

    payload = await calm.mutate("edit", "Bob", articleId=f"article:{number}", title="Mine")
    await calm.find_archived()

    assert [error["code"] for error in payload["userErrors"]] == ["FORBIDDEN"]
    assert calm.archived == {number}


async def test_a_comment_brings_an_archived_article_back(calm: Pair) -> None:
    number = await posted(calm)
    await calm.archive_all()
    given = {"articleId": f"article:{number}", "content": "Late."}
    refused = await calm.mutate("comment", "Bob", **given, parentId="comment:5")
    await calm.find_archived()
    assert [(error["code"], error["field"][1]) for error in refused["userErrors"]] == [("NOT_FOUND", "parentId")]
    assert calm.archived == {number}

    commented = await calm.mutate("comment", "Bob", **given)
    await calm.find_archived()
    assert commented["comment"] == {"content": "Late.", "article": {"title": "Redis in Action", "commentCount": 1}}
    assert not calm.archived


async def test_an_article_whose_comments_were_deleted_has_the_place_of_its_posting_time(calm: Pair) -> None:
    first, second, third = [await posted(calm) for _ in range(3)]
    for world in calm.worlds:
        comment = (await world.store.comments.post(first, None, "Bob", "A text.")).comment
        assert comment
        await world.store.comments.delete(comment.number, "Bob")
    await calm.archive_all()
    page = await calm.ask("{ articles(order: ACTIVE) { nodes { id } } }", None)
    await calm.mutate("comment", "Bob", articleId=f"article:{second}", content="A text.")
    moved = await calm.ask("{ articles(order: ACTIVE) { nodes { id } } }", None)

    ids = [[int(node["id"].split(":")[1]) for node in each["data"]["articles"]["nodes"]] for each in (page, moved)]
    assert ids == [[third, second, first], [second, third, first]]


async def test_a_replayed_post_gives_the_archived_article(calm: Pair) -> None:
    number = await posted(calm, idempotencyKey="one")
    await calm.archive_all()

    assert await posted(calm, idempotencyKey="one") == number


async def test_an_archived_article_is_a_duplicate(calm: Pair) -> None:
    number = await posted(calm, link="https://example.com/")
    await calm.archive_all()

    payload = await calm.mutate("post", "Bob", title="Again", link="https://example.com/#again")

    assert payload["duplicateOf"] == {"id": f"article:{number}"}


async def test_feeds_and_groups_go_on_with_archived_articles_alone(calm: Pair) -> None:
    await calm.mutate("follow", "carol", userId="user:alice")
    archived, hot = await posted(calm), await posted(calm)
    await calm.archive_all(staying_share=0.5)
    assert calm.archived == {archived}

    for left, number in (1, hot), (0, archived):
        await calm.mutate("delete", "alice", articleId=f"article:{number}")
        feed = await calm.ask(QUERIES["feed"], "carol", first=5)
        groups = await calm.ask("{ groups { nodes { name } } }", None)

        assert len(feed["data"]["feed"]["listing"]["edges"]) == left
        assert groups["data"] == {"groups": {"nodes": [{"name": "show"}] * left}}


async def test_an_article_that_is_changed_on_its_way_stays(calm: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    number = await posted(calm)
    calm.clock.advance(WINDOW + 70)
    remove = steps.remove

    async def edit_before(*arguments: Any) -> int:
        calm.clock.advance(1)
        await calm.mutate("edit", "alice", articleId=f"article:{number}", title="Changed")
        return await remove(*arguments)

    monkeypatch.setattr(steps, "remove", edit_before)
    await calm.run_mover(0, 0)
    await calm.find_archived()

    assert not calm.archived
    await calm.compare()


@pytest.mark.parametrize("state", [ContentState.REMOVED, ContentState.PENDING])
async def test_an_article_of_which_no_comment_is_shown_stays(calm: Pair, state: ContentState) -> None:
    """With its article gone, a moderator could not find the comment to approve it."""
    store, number = calm.archiving.store, await posted(calm)
    comment = await commented(store, number, "Bob")
    await set_comment_state(store, comment.number, state)
    await calm.archive_all()
    assert not calm.archived

    await set_comment_state(store, comment.number, ContentState.VISIBLE)
    answer = await calm.archiving.ask(
        "query($id: ID!) { article(id: $id) { commentCount } }", None, {"id": f"article:{number}"}
    )
    assert answer["data"] == {"article": {"commentCount": 1}}


async def test_an_article_that_gets_a_comment_which_is_removed_on_its_way_stays(
    calm: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hash is as it was, as a deleted comment has left its count of comments there."""
    store, number = calm.archiving.store, await posted(calm)
    await store.comments.delete((await commented(store, number, "Bob")).number, "Bob")
    calm.clock.advance(WINDOW + 70)
    remove = steps.remove

    async def comment_before(*arguments: Any) -> int:
        comment = await commented(store, number, "Bob")
        await set_comment_state(store, comment.number, ContentState.REMOVED)
        return await remove(*arguments)

    monkeypatch.setattr(steps, "remove", comment_before)
    await calm.run_mover(0, 0)
    await calm.find_archived()

    assert not calm.archived


async def test_a_process_that_has_lost_its_lease_moves_nothing(calm: Pair, redis: "Redis") -> None:
    number = await posted(calm)
    site, database = calm.archiving.store.site, calm.archiving.database
    assert database
    old = Mover(site, database, HotLimits(0, 0), notice=0, removal_delay=0)
    await old.move()  # takes the lease; the article is open to votes
    redis.delete(leases.lease(0, "archiver"))
    await Mover(site, database, HotLimits(0, 0), notice=0, removal_delay=0).move()
    redis.set(leases.lease(0, "archiver"), old.token)  # the old process takes it again and has not claimed the database
    calm.clock.advance(WINDOW + 70)
    await Mirror(site, database).catch_up()

    assert await old.move() == 0
    await calm.find_archived()
    assert number not in calm.archived
    await calm.compare()


async def test_articles_that_redis_brings_back_after_a_kill_count_once(calm: Pair, redis: "Redis") -> None:
    for poster in ("alice", "Bob", "carol") * 4:
        await posted(calm, poster)
    await calm.archive_all(staying_share=0.5)
    saved = {key: (redis.dump(key), max(redis.pttl(key), 0)) for key in redis.scan_iter()}
    await calm.archive_all()
    redis.flushdb()
    for key, (value, left) in saved.items():
        redis.restore(key, left, value)

    calm.archiver = None
    redis.delete(leases.lease(0, "archiver"))
    for _ in range(2):  # it marks these articles, and then removes their places
        await calm.run_mover(1_000, 1_000)

    await calm.compare_all()
    assert not await findings(calm.archiving)


async def test_a_database_of_another_store_is_not_read(calm: Pair, redis: "Redis") -> None:
    number = await posted(calm)
    await calm.archive_all()
    redis.hset(keys.store(), "archived", "another")
    await calm.archiving.store.site.rankings.read(calm.archiving.store.site.redis)

    answer = await calm.archiving.ask(ARTICLE, None, {"id": f"article:{number}"})

    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]


async def test_archived_articles_are_unavailable_without_a_database(calm: Pair) -> None:
    number, hot = await posted(calm), await posted(calm)
    await calm.archive_all(staying_share=0.5)
    calm.archiving.database = None

    answer = await calm.archiving.ask(ARTICLE, None, {"id": f"article:{number}"})

    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert "UPVOTE_DATABASE_URL" in answer["errors"][0]["message"]
    assert not (await calm.archiving.ask(ARTICLE, None, {"id": f"article:{hot}"}))["errors"]


async def history(pair: Pair) -> None:
    for _ in range(25):
        await pair.step()
    await pair.archive_all(staying_share=0.5)
    await pair.change_archived()


async def findings(world: World, *, repair: bool = False) -> list[str]:
    assert world.database
    found: list[Finding] = []
    tally = await maintenance.verify(world.store.site, world.database, found.append, repair=repair)
    await verify.verify(world.store.site, found.append, repair=repair, archived=tally)
    return [each.where for each in found if not each.where.endswith(" TTL")]


async def test_verify_finds_nothing_after_a_history(pair: Pair) -> None:
    await history(pair)

    assert not await findings(pair.archiving)


async def test_verify_repairs_counts_karma_and_places(pair: Pair, redis: "Redis") -> None:
    await history(pair)
    assert pair.archiving.database
    poster = next(name for name in PEOPLE if redis.hexists(keys.archived(0), f"user:{name.lower()}")).lower()
    redis.hset(keys.archived(0), "count", 1)
    redis.hset(keys.archived(0), f"user:{poster}", "1 1 1")
    redis.hincrby(keys.user(0, poster), "karma", 5)
    await pair.archiving.database.write(_lose_a_place, min(pair.archived))

    found = await findings(pair.archiving, repair=True)

    expected = {f"{keys.archived(0)} count", f"{keys.archived(0)} user:{poster}", f"{keys.user(0, poster)} karma"}
    assert expected <= set(found)
    assert any(where.startswith("places of article") for where in found)
    assert not await findings(pair.archiving)
    await pair.compare_all()


def _lose_a_place(connection: Any, number: int) -> None:
    listing = connection.execute(select(PLACES.c.listing).where(PLACES.c.number == number)).scalars().first()
    connection.execute(PLACES.delete().where(PLACES.c.listing == listing, PLACES.c.number == number))
    connection.execute(LISTINGS.update().where(LISTINGS.c.id == listing).values(size=LISTINGS.c.size - 1))


async def test_a_backup_has_archived_articles(pair: Pair, redis_url: str, database_url: str, tmp_path: Path) -> None:
    await history(pair)
    file = tmp_path / "backup"
    await asyncio.to_thread(back_up, settings_of(redis_url, ARCHIVING, database_url), file)
    await asyncio.to_thread(restore, settings_of(redis_url, COPY), file)

    assert records_in(redis_url, COPY) == records_in(redis_url, PLAIN)


async def test_a_move_takes_archived_articles_along(pair: Pair, redis_url: str, database_url: str) -> None:
    await history(pair)
    await asyncio.to_thread(move, settings_of(redis_url, ARCHIVING, database_url), f"{redis_url}?db={COPY}", None)

    assert records_in(redis_url, COPY) == records_in(redis_url, PLAIN)


async def test_a_backup_without_the_database_is_refused(calm: Pair, redis_url: str, tmp_path: Path) -> None:
    await posted(calm)
    await calm.archive_all()

    with pytest.raises(WrongSetting, match="UPVOTE_DATABASE_URL"):
        await asyncio.to_thread(back_up, settings_of(redis_url, ARCHIVING), tmp_path / "backup")


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_an_import_continues_with_the_shift_of_an_archived_story(
    calm: Pair, redis: "Redis", redis_url: str, database_url: str, tmp_path: Path, is_deleted: bool
) -> None:
    """Unless it was deleted. Of two stories of the same time, the number of the second does not tell its time."""
    time, shift, before = calm.clock.now - 7_200_000, 5_000, unix_milliseconds()
    stories = [
        Story(id, f"The story {id}", "https://example.com/rivers", "alice", time + shift, 1) for id in ("6", "7")
    ]
    await import_batch(calm.archiving.store, stories)
    numbers = [int(redis.hget(keys.imported(0), story.id) or 0) for story in stories]
    await calm.archive_all()
    assert not redis.exists(*(keys.article(0, number) for number in numbers))
    if is_deleted:
        answer = await calm.archiving.ask(
            MUTATIONS["delete"], "alice", {"input": {"articleId": f"article:{numbers[1]}"}}
        )
        (payload,) = answer["data"].values()
        assert not payload["userErrors"]
    file = tmp_path / "stories.jsonl"
    file.write_text("".join(json.dumps(story_line(id, at)) + "\n" for id, at in (("7", time), ("8", time + 60_000))))

    await asyncio.to_thread(
        import_stories, settings_of(redis_url, ARCHIVING, database_url), [file], ImportOptions(shift_to_now=True)
    )

    posted_at = int(redis.hget(keys.article(0, redis.hget(keys.imported(0), "8") or ""), "time") or 0)
    if is_deleted:
        assert before <= posted_at <= unix_milliseconds()
    else:
        assert posted_at == time + 60_000 + shift


async def test_an_imported_comment_brings_its_archived_article_back(
    calm: Pair, redis: "Redis", redis_url: str, database_url: str, tmp_path: Path
) -> None:
    story = Story("6", "A story", "https://example.com/rivers", "alice", calm.clock.now - 7_200_000, 1)
    await import_batch(calm.archiving.store, [story])
    number = redis.hget(keys.imported(0), "6") or ""
    await calm.archive_all()
    assert not redis.exists(keys.article(0, number))
    item = {"id": 8, "type": "comment", "by": "Pim", "time": story.time // 1000, "text": "late", "parent": 6}
    answer = item | {"id": 9, "parent": 8}
    file = tmp_path / "items.jsonl"
    file.write_text(f"{json.dumps(item)}\n{json.dumps(answer)}\n")

    await asyncio.to_thread(import_stories, settings_of(redis_url, ARCHIVING, database_url), [file], ImportOptions())

    assert redis.hmget(keys.article(0, number), "title", "comments") == ["A story", "2"]


def story_line(id: str, at: int) -> dict[str, Any]:
    created_at = datetime.fromtimestamp(at / 1000, UTC).isoformat()
    return {"id": id, "title": f"The story {id}", "url": "", "points": 1, "author": "alice", "created_at": created_at}


def settings_of(redis_url: str, db: int, database_url: str = "none") -> Settings:
    return Settings(
        redis_url=f"{redis_url}?db={db}",
        database_url=database_url,
        good_votes=POLICY.good_votes,
        voting_window=WINDOW,
    )


def records_in(redis_url: str, db: int) -> dict[str, Any]:
    """Articles, users and follows with all that is derived from them."""
    kinds = (
        "article",
        *ORDERS,
        "good",
        "group",
        "groups",
        "user",
        "timeline",
        "posters",
        "following",
        "links",
    )
    with client(f"{redis_url}?db={db}") as redis:
        return {key: value for key, value in contents(redis).items() if key.partition(":")[0] in kinds}


async def test_a_moderator_acts_on_an_archived_article_as_on_others(calm: Pair) -> None:  # M2, M3
    numbers = [await posted(calm, poster) for poster in ("alice", "Bob", "alice")]
    for world in calm.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, None, "a good eye")
    await calm.archive_all()
    before = await calm.ask(QUERIES["articles"], None, first=5), await calm.ask(TIMELINE, None, first=5, name="alice")

    for name, is_visible, more in (
        *(("remove", False, {}), ("approve", True, {}), ("lock", True, {})),
        *(("remove", True, {"group": "show"}), ("remove", False, {})),
    ):
        await calm.archive_all()
        known = {"articleId" if name == "lock" else "subjectId": f"article:{numbers[0]}"}
        done = await calm.mutate(name, "carol", **known, reason="a reason", **more)
        assert (done["changed"], done["userErrors"]) == (True, [])
        await calm.find_archived()
        assert numbers[0] not in calm.archived
        found = await calm.ask(ARTICLE, None, id=f"article:{numbers[0]}")
        assert (found["data"]["article"] is not None) == is_visible
        for query, given in (("articles", {}), ("timeline", {"name": "alice"}), ("group", {"name": "show"})):
            await calm.ask(QUERIES[query], None, first=5, **given)
        if name == "approve":
            assert await calm.ask(QUERIES["articles"], None, first=5) == before[0]
            assert await calm.ask(TIMELINE, None, first=5, name="alice") == before[1]
    found = await verified(calm.worlds[ARCHIVING].store)
    assert [each for each in found if not each.where.endswith("TTL")] == []  # the clock of Valkey is behind


async def test_an_article_with_a_state_or_a_lock_stays_in_redis(calm: Pair) -> None:
    numbers = [await posted(calm) for _ in range(2)]
    for world in calm.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, None, "a good eye")
    await calm.mutate("remove", "carol", subjectId=f"article:{numbers[0]}", reason="a reason")
    await calm.mutate("lock", "carol", articleId=f"article:{numbers[1]}", reason="a reason")

    await calm.archive_all()
    assert not calm.archived
    await calm.mutate("approve", "carol", subjectId=f"article:{numbers[0]}")
    await calm.archive_all()
    assert calm.archived == {numbers[0]}


async def test_articles_leave_a_full_store(calm: Pair, redis: "Redis") -> None:  # D6
    numbers = {await posted(calm) for _ in range(3)}
    with full(redis):
        await calm.archive_all()

    assert calm.archived == numbers


async def test_archived_article_does_not_come_back_to_a_full_store(calm: Pair, redis: "Redis") -> None:  # D2, D6
    number = await posted(calm)
    await calm.archive_all()
    given = {"input": {"articleId": f"article:{number}", "title": "another"}}
    edit = "mutation($input: EditArticleInput!) { editArticle(input: $input) { userErrors { code } } }"
    before = everything(redis)
    with full(redis):
        refused = await calm.archiving.ask(edit, "alice", given)

    assert refused["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert "out of memory" in refused["errors"][0]["message"]
    assert everything(redis) == before
    assert (await calm.archiving.ask(edit, "alice", given))["errors"] is None
