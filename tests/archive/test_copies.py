"""
Commands on a store with archived articles, which are in the SQL database only: verify, backup, move and import.

A `pair` is two stores with the same history, of which `pair.archiving` archives and `pair.complete` never does. `calm`
is one without simulated crashes.

Codes such as D5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import select

from database.tables import LISTINGS, PLACES
from server.cli.backup import back_up
from server.cli.import_stories import ImportOptions, import_stories
from server.cli.move import move
from server.cli.restore import restore
from server.settings import WrongSetting
from store import keys
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import ORDERS
from store.site import unix_milliseconds
from tests.archive.conftest import findings, posted, settings_of
from tests.archive.queries import MUTATIONS
from tests.archive.worlds import PEOPLE, Pair
from tests.conftest import client
from tests.store.reading import contents

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]
ARCHIVING, PLAIN, COPY = 0, 1, 2  # databases of Redis: the two stores of a `Pair`, and a restored or moved one


async def history(pair: Pair) -> None:
    """Random changes of both stores. Then half of the articles are archived, and some of these changed."""
    for _ in range(25):
        await pair.step()
    await pair.archive_all(staying_share=0.5)
    await pair.change_archived()


async def test_verify_finds_nothing_after_a_history(pair: Pair) -> None:
    await history(pair)

    assert not await findings(pair.archiving)


async def test_verify_repairs_counts_karma_and_places(pair: Pair, redis: "Redis") -> None:
    await history(pair)
    assert pair.archiving.database
    poster = next(name for name in PEOPLE if redis.hexists(keys.archived(0), f"user:{name.lower()}")).lower()
    redis.hset(keys.archived(0), "count", 1)
    redis.hset(keys.archived(0), f"user:{poster}", "1 1 1")  # counts of the poster, wrong as is the count before
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
    await asyncio.to_thread(
        move, settings_of(redis_url, ARCHIVING, database_url), f"{redis_url}?db={COPY}", partitions=None
    )

    assert records_in(redis_url, COPY) == records_in(redis_url, PLAIN)


async def test_a_backup_without_the_database_is_refused(calm: Pair, redis_url: str, tmp_path: Path) -> None:
    await posted(calm)
    await calm.archive_all()

    with pytest.raises(WrongSetting, match="UPVOTE_DATABASE_URL"):
        await asyncio.to_thread(back_up, settings_of(redis_url, ARCHIVING), tmp_path / "backup")


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_an_import_takes_the_shift_of_times_from_an_archived_story(
    calm: Pair, redis: "Redis", redis_url: str, database_url: str, tmp_path: Path, is_deleted: bool
) -> None:
    """
    `--shift-to-now` adds one shift to all times. A later import takes the same one from a story that is known, unless
    that was deleted. It reads the time of the story, as the number of an article does not always contain it.
    """
    time, shift, before = calm.clock.now - 7_200_000, 5_000, unix_milliseconds()
    stories = [
        Story(id, f"The story {id}", link="https://example.com/rivers", poster="alice", time=time + shift, votes=1)
        for id in ("6", "7")
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


async def test_an_import_brings_an_archived_article_back_but_no_conversation(
    calm: Pair,
    redis: "Redis",
    redis_url: str,
    database_url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # D5
    """Comments are imported after their stories, which may have left. They stay for some days then, however old."""
    story = Story(
        "6", "A story", link="https://example.com/rivers", poster="alice", time=calm.clock.now - 7_200_000, votes=1
    )
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

    calm.days = 2
    calm.clock.now = unix_milliseconds()
    await calm.run_mover(articles=0, articles_per_user=1_000)
    assert redis.exists(keys.article(0, number))
    calm.clock.advance(3 * 86_400)
    await calm.run_mover(articles=0, articles_per_user=1_000)
    assert not redis.exists(keys.article(0, number))
    late = [item | {"id": 10}, item | {"id": 11, "parent": 9}]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in (item, *late)))
    capsys.readouterr()

    await asyncio.to_thread(import_stories, settings_of(redis_url, ARCHIVING, database_url), [file], ImportOptions())

    assert not redis.exists(keys.article(0, number))
    faults = [
        f"comment {id} answers {parent}, which is archived with its conversation" for id, parent in ((10, 6), (11, 9))
    ]
    assert [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()] == faults


def story_line(id: str, at: int) -> dict[str, Any]:
    created_at = datetime.fromtimestamp(at / 1000, UTC).isoformat()
    return {"id": id, "title": f"The story {id}", "url": "", "points": 1, "author": "alice", "created_at": created_at}


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
