"""
Old articles leave Redis for the archive, which is in the SQL database, and come back to be changed.

`calm` is two stores with the same history: `calm.archiving`, in which `archive_all` and `run_mover` archive articles,
and `calm.complete`, in which none leaves. `ask` and `mutate` send the same to both, and check that the answers are
equal. `calm.archived` has the numbers of the archived articles.

Codes such as D3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from redis import Redis

from archive import mover, steps
from archive.mover import HotLimits, Mover
from database.mirror import Mirror
from store import keys, leases, roles
from store.moderation_records import Role
from store.records import ContentState
from store.site import Site
from tests.archive.conftest import findings, posted
from tests.archive.queries import LISTINGS as QUERIES
from tests.archive.worlds import WINDOW, Pair
from tests.store.discussions import commented
from tests.store.held import set_comment_state
from tests.store.reading import everything
from tests.support.memory import full

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]

MAY_LEAVE = WINDOW + 70  # seconds: articles may leave about a minute after voting closes
ARTICLE = "query($id: ID!) { article(id: $id) { title votes } }"
TIMELINE = QUERIES["timeline"]


async def test_an_archived_article_leaves_only_counts_in_redis(calm: Pair, redis: "Redis") -> None:
    number = await posted(calm)
    await calm.archive_all()

    remaining = {key for key in redis.scan_iter() if str(number) in key or "alice" in key}
    remaining -= set(redis.scan_iter("posted:*"))  # expires
    assert calm.archived == {number}
    assert remaining == {keys.user(0, "alice"), keys.sessions(0, "alice"), keys.logins(0, "alice")}
    assert redis.hget(keys.archived(0), "count:group:show") == "1"
    assert redis.zrange(keys.groups(0), 0, -1) == ["show"]


async def test_articles_beyond_the_limits_leave_oldest_first(calm: Pair) -> None:
    numbers = [await posted(calm, poster) for poster in ("alice", "Bob", "alice", "alice", "Bob")]
    calm.clock.advance(MAY_LEAVE)
    await calm.run_mover(articles=4, articles_per_user=2)
    await calm.find_archived()

    assert calm.archived == {numbers[0]}

    await calm.run_mover(articles=4, articles_per_user=1)
    await calm.find_archived()

    assert calm.archived == {numbers[0], numbers[1], numbers[2]}


async def test_articles_of_the_last_pass_are_looked_for_in_batches(calm: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pass looks whether Redis has any of them again. Redis would not answer in time for hundreds of thousands."""
    numbers = [await posted(calm) for _ in range(5)]
    batches, in_redis = [], steps.in_redis

    async def recorded(site: Site, partition: int, some: Sequence[int]) -> list[int]:
        batches.append(some)
        return await in_redis(site, partition, some)

    monkeypatch.setattr(steps, "in_redis", recorded)
    monkeypatch.setattr(mover, "BATCH", 2)
    await calm.archive_all()
    batches.clear()
    await calm.run_mover(articles=0, articles_per_user=0)

    assert list(map(len, batches)) == [2, 2, 1]
    assert sorted(chain.from_iterable(batches)) == numbers


async def test_an_article_that_is_open_to_votes_stays(calm: Pair) -> None:
    await posted(calm)
    calm.clock.advance(WINDOW + 1)
    await calm.run_mover(articles=0, articles_per_user=0)
    await calm.find_archived()

    assert not calm.archived


async def test_votes_on_an_archived_article_are_closed(calm: Pair) -> None:
    number = await posted(calm)
    await calm.archive_all()

    payload = await calm.mutate("vote", "Bob", articleId=f"article:{number}")

    assert [error["code"] for error in payload["userErrors"]] == ["VOTING_CLOSED"]


async def test_a_refused_edit_by_somebody_else_brings_no_article_back(calm: Pair) -> None:
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
        comment = (await world.store.comments.post(first, parent=None, poster="Bob", content="A text.")).comment
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

    for remaining, number in (1, hot), (0, archived):
        await calm.mutate("delete", "alice", articleId=f"article:{number}")
        feed = await calm.ask(QUERIES["feed"], "carol", first=5)
        groups = await calm.ask("{ groups { nodes { name } } }", None)

        assert len(feed["data"]["feed"]["listing"]["edges"]) == remaining
        assert groups["data"] == {"groups": {"nodes": [{"name": "show"}] * remaining}}


async def test_an_article_that_is_changed_while_it_leaves_stays(calm: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    number = await posted(calm)
    calm.clock.advance(MAY_LEAVE)
    remove = steps.remove

    async def edit_before(*arguments: Any) -> int:
        calm.clock.advance(1)
        await calm.mutate("edit", "alice", articleId=f"article:{number}", title="Changed")
        return await remove(*arguments)

    monkeypatch.setattr(steps, "remove", edit_before)
    await calm.run_mover(articles=0, articles_per_user=0)
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
        "query($id: ID!) { article(id: $id) { commentCount } }", viewer=None, variables={"id": f"article:{number}"}
    )
    assert answer["data"] == {"article": {"commentCount": 1}}


async def test_an_article_that_gets_a_comment_which_is_removed_while_it_leaves_stays(
    calm: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Its hash is the same before and after: a comment that was deleted before has left a count of 0 there, and a removed
    one does not count.
    """
    store, number = calm.archiving.store, await posted(calm)
    await store.comments.delete((await commented(store, number, "Bob")).number, "Bob")
    calm.clock.advance(MAY_LEAVE)
    remove = steps.remove

    async def comment_before(*arguments: Any) -> int:
        comment = await commented(store, number, "Bob")
        await set_comment_state(store, comment.number, ContentState.REMOVED)
        return await remove(*arguments)

    monkeypatch.setattr(steps, "remove", comment_before)
    await calm.run_mover(articles=0, articles_per_user=0)
    await calm.find_archived()

    assert not calm.archived


async def test_a_process_that_has_lost_its_lease_moves_nothing(calm: Pair, redis: "Redis") -> None:
    """Only the process that has the lease of a partition moves its articles, and the database knows the last one."""
    number = await posted(calm)
    site, database = calm.archiving.store.site, calm.archiving.database
    assert database
    # `notice` and `removal_delay` are waits, in seconds, that give other processes of a server time
    old = Mover(site, database, HotLimits(articles=0, articles_per_user=0), notice=0, removal_delay=0)
    await old.move()  # takes the lease; the article is open to votes
    redis.delete(leases.lease(0, "archiver"))
    await Mover(site, database, HotLimits(articles=0, articles_per_user=0), notice=0, removal_delay=0).move()
    redis.set(leases.lease(0, "archiver"), old.token)  # the old process takes it again and has not claimed the database
    calm.clock.advance(MAY_LEAVE)
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
    for key, (value, lifetime) in saved.items():
        redis.restore(key, lifetime, value)

    calm.archiver = None
    redis.delete(leases.lease(0, "archiver"))
    for _ in range(2):  # it marks these articles, and then removes their places
        await calm.run_mover(articles=1_000, articles_per_user=1_000)

    await calm.compare_all()
    assert not await findings(calm.archiving)


async def test_a_database_of_another_store_is_not_read(calm: Pair, redis: "Redis") -> None:
    number = await posted(calm)
    await calm.archive_all()
    redis.hset(keys.store(), "archived", "another")
    await calm.archiving.store.site.rankings.read(calm.archiving.store.site.redis)

    answer = await calm.archiving.ask(ARTICLE, viewer=None, variables={"id": f"article:{number}"})

    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]


async def test_archived_articles_are_unavailable_without_a_database(calm: Pair) -> None:
    number, hot = await posted(calm), await posted(calm)
    await calm.archive_all(staying_share=0.5)
    calm.archiving.database = None

    answer = await calm.archiving.ask(ARTICLE, viewer=None, variables={"id": f"article:{number}"})

    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert "UPVOTE_DATABASE_URL" in answer["errors"][0]["message"]
    assert not (await calm.archiving.ask(ARTICLE, viewer=None, variables={"id": f"article:{hot}"}))["errors"]


@pytest.mark.parametrize(
    ("change", "undone", "field"), [("save", "unsave", "subjectId"), ("hideArticle", "unhideArticle", "articleId")]
)
async def test_what_is_unavailable_without_a_database_has_changed_nothing(
    calm: Pair, change: str, undone: str, field: str
) -> None:  # D3
    number, world = await posted(calm), calm.archiving

    async def ask(name: str) -> dict[str, Any]:
        mutation = f"mutation($id: ID!) {{ {name}(input: {{ {field}: $id }}) {{ changed }} }}"
        return await world.ask(mutation, "carol", {"id": f"article:{number}"})

    assert (await ask(change))["data"] == {change: {"changed": True}}
    await calm.archive_all()
    database, world.database = world.database, None
    assert [error["extensions"]["code"] for error in (await ask(undone))["errors"]] == ["UNAVAILABLE"]

    world.database = database
    assert (await ask(undone))["data"] == {undone: {"changed": True}}


async def test_a_moderator_acts_on_an_archived_article_as_on_others(calm: Pair) -> None:  # M2, M3
    numbers = [await posted(calm, poster) for poster in ("alice", "Bob", "alice")]
    for world in calm.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, group=None, reason="a good eye")
    await calm.archive_all()
    before = await calm.ask(QUERIES["articles"], None, first=5), await calm.ask(TIMELINE, None, first=5, name="alice")

    for name, is_visible, more in (
        ("remove", False, {}),
        ("approve", True, {}),
        ("lock", True, {}),
        ("remove", True, {"group": "show"}),
        ("remove", False, {}),
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
    assert await findings(calm.archiving) == []


async def test_an_article_with_a_state_or_a_lock_stays_in_redis(calm: Pair) -> None:
    numbers = [await posted(calm) for _ in range(2)]
    for world in calm.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, group=None, reason="a good eye")
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
