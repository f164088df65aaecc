"""
Comments in the shape of Hacker News' API, imported by `upvote import`, are the conversations that they were.

Codes such as C3 name rows of docs/behaviours.md.
"""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bench import conversations
from bench.conversations import Item
from server.cli import import_stories as command
from server.cli.import_stories import ImportOptions, import_stories
from server.cli.markdown import markdown
from server.cli.story_file import NotStories
from server.settings import Settings
from store import keys
from store.maintenance.import_comments import import_comments
from store.records import ContentState
from store.site import unix_milliseconds
from store.store import Store
from store.threads import CommentOrder
from tests.store import discussions
from tests.store.reading import everything, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

STORIES, COMMENTS, SEED = 12, 300, 5  # of the conversations that are made up
STORY = {"id": 1, "type": "story", "by": "Marlow", "time": 1_400_000_000, "title": "A year", "text": "Why?"}
COMMENT = {"id": 2, "type": "comment", "by": "Pim", "time": 1_400_000_100, "parent": 1, "text": "Because"}
DELETED = {"id": 3, "type": "comment", "time": 1_400_000_200, "parent": 2, "deleted": True}

Place = tuple[int, str | None, str | None]  # depth, poster, content


@pytest.fixture
def settings(redis_url: str, partitions: int) -> Settings:
    return Settings(redis_url=redis_url, partitions=partitions)


@pytest.fixture
def items() -> list[Item]:
    return list(conversations.items(STORIES, COMMENTS, SEED))


@pytest.fixture
def file(tmp_path: Path, items: list[Item]) -> Path:
    return conversations.write(tmp_path / "items.jsonl", items)


def with_store(settings: Settings, action: Callable[[Store], Awaitable[Any]]) -> Any:
    """Open the store of the settings, and return what an action on it returns."""

    async def opened() -> Any:
        store = await Store.open(settings.redis_url or "", partitions=settings.partitions)
        try:
            return await action(store)
        finally:
            await store.close()

    return asyncio.run(opened())


def threads_of(settings: Settings) -> dict[str, list[Place]]:
    """The thread of each imported story in the order OLDEST, by the story's title."""

    async def read(store: Store) -> dict[str, list[Place]]:
        found = {}
        for partition in range(store.site.partitions):
            for number in {int(each) for each in await store.site.redis.run(("HVALS", keys.imported(partition)))}:
                if title := await store.site.redis.run(("HGET", keys.article(partition, number), "title")):
                    found[title] = await _thread(store, number)
        return found

    return with_store(settings, read)


async def _thread(store: Store, article: int) -> list[Place]:
    """The comments of an article as its thread shows them: the oldest first, each one before its replies."""
    comments = {each.number: each for each in await discussions.comments(store, article)}
    places = await discussions.walked(store, article, CommentOrder.OLDEST, 50)
    for place in places:
        is_stub = comments[place.number].state is ContentState.DELETED
        assert is_stub == (comments[place.number].content is None)
    return [(place.depth, comments[place.number].poster, comments[place.number].content) for place in places]


def expected(items: list[Item]) -> dict[str, list[Place]]:
    """What `threads_of` should return. A deleted comment has a place, without poster and content, above others only."""
    replies = defaultdict(list)
    for item in sorted(items, key=lambda item: (item["time"], item["id"])):
        replies[item.get("parent")].append(item)

    def below(id: int, depth: int) -> list[Place]:
        places: list[Place] = []
        for item in replies[id]:
            answers = below(item["id"], depth + 1)
            is_gone = item.get("deleted") or item.get("dead")
            place = (depth, None, None) if is_gone else (depth, item["by"], markdown(item["text"], 10_000)[0])
            places += [place, *answers] if answers or not is_gone else []
        return places

    return {item["title"].strip(): below(item["id"], 0) for item in replies[None]}


def written(tmp_path: Path, *items: Item | str, name: str = "some.jsonl") -> Path:
    """A file of items as JSON, or of texts, one in each line."""
    lines = (item if isinstance(item, str) else json.dumps(item) for item in items)
    (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    return tmp_path / name


def test_thread_is_the_conversation_that_was_imported(settings, items, file):  # C3, C4
    import_stories(settings, [file], ImportOptions())

    wanted = expected(items)
    assert threads_of(settings) == wanted
    assert sum(map(len, wanted.values())) > 250
    assert any(poster is None for places in wanted.values() for _, poster, _ in places)
    assert max(depth for places in wanted.values() for depth, *_ in places) > 5
    assert with_store(settings, verified) == []


@pytest.mark.parametrize("options", [ImportOptions(), ImportOptions(shift_to_now=True, with_voters=True)])
def test_repeat_changes_nothing(settings, file, redis, capsys, options):
    import_stories(settings, [file], options)
    before = everything(redis)
    first = capsys.readouterr().out.splitlines()[1]

    import_stories(settings, [file], options)
    assert everything(redis) == before
    second = capsys.readouterr().out.splitlines()[1]
    number = first.split()[2].removesuffix(",")
    assert second == first.replace(f"imported {number}, already known 0,", f"imported 0, already known {number},")


def test_interrupted_import_continues(settings, items, file, monkeypatch):
    calls = []

    async def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return await import_comments(*arguments)

    monkeypatch.setattr(command, "COMMENTS_AT_ONCE", 40)
    options = ImportOptions(shift_to_now=True)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(command.importing_comments, "import_comments", interrupted)
        import_stories(settings, [file], options)
    assert sum(map(len, threads_of(settings).values())) == 120

    import_stories(settings, [file], options)
    assert threads_of(settings) == expected(items)
    assert with_store(settings, verified) == []


def test_effects_of_an_interrupted_import_are_completed(settings, items, file, monkeypatch):  # C7
    """Effects are what a comment changes in other partitions, such as the karma of its poster."""

    async def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr("store.maintenance.import_comments.effects.apply", interrupted)
        import_stories(settings, [file], ImportOptions())

    import_stories(settings, [file], ImportOptions())
    assert threads_of(settings) == expected(items)
    assert with_store(settings, verified) == []


def test_comments_of_a_second_file_find_their_stories(settings, items, tmp_path):
    stories = [item for item in items if item["type"] == "story"]
    early = [item for item in items if item["type"] == "comment" and item["id"] % 2 and item["parent"] < 200]
    import_stories(settings, [written(tmp_path, *stories)], ImportOptions())
    import_stories(settings, [written(tmp_path, *early)], ImportOptions())
    import_stories(settings, [written(tmp_path, *items)], ImportOptions())

    assert threads_of(settings) == expected(items)


def test_newest_item_is_now_and_all_keep_their_distance(settings, file, items, redis):
    before = unix_milliseconds()
    import_stories(settings, [file], ImportOptions(shift_to_now=True))

    found = [redis.hgetall(key) for prefix in ("article", "comment") for key in redis.scan_iter(f"{prefix}:*")]
    times = sorted(int(each["time"]) for each in found)
    oldest = min(item["time"] for item in items) * 1000
    assert before <= times[-1] <= unix_milliseconds()
    shift = times[0] - oldest
    assert {time - shift for time in times} <= {item["time"] * 1000 for item in items}


def test_comments_alone_are_not_shifted(settings, tmp_path, redis):
    with pytest.raises(NotStories, match="needs the stories of comments"):
        import_stories(settings, [written(tmp_path, COMMENT)], ImportOptions(shift_to_now=True))
    assert redis.dbsize() == 0


def test_several_files_are_imported_as_one(settings, items, tmp_path, capsys):
    stories = [item for item in items if item["type"] == "story"]
    comments = [item for item in items if item["type"] == "comment"]
    files = [written(tmp_path, *comments, name="comments.jsonl"), written(tmp_path, *stories, comments[0])]
    import_stories(settings, files, ImportOptions(shift_to_now=True))

    assert threads_of(settings) == expected(items)
    assert capsys.readouterr().err == f"some.jsonl, line {STORIES + 1}: comments.jsonl has the same id\n"


def test_what_cannot_be_imported_is_reported_with_its_line(settings, tmp_path, capsys):
    orphan, answer = COMMENT | {"id": 5, "parent": 99}, COMMENT | {"id": 6, "parent": 5}
    bad, deleted = COMMENT | {"id": 7, "text": ""}, DELETED | {"id": 8}
    import_stories(settings, [written(tmp_path, orphan, STORY, "{", COMMENT, answer, bad, deleted)], ImportOptions())

    printed = capsys.readouterr()
    not_json, *others = printed.err.splitlines()
    assert not_json.startswith("some.jsonl, line 3: this is not JSON: ")
    assert others == [
        "some.jsonl, line 6: a comment has 1 to 10000 characters, this one 0",
        "some.jsonl, line 1: comment 5 answers 99, which was not imported",
        "some.jsonl, line 5: comment 6 answers 5, which was not imported",
    ]
    assert printed.out.splitlines()[0].startswith("imported 1, already known 0, bad lines 2, new users 2, ")
    assert printed.out.splitlines()[1] == (
        "comments imported 1, already known 0, without what they answer 2; deleted, dead or other items 1"
    )


def test_comment_on_a_deleted_article_is_reported(settings, tmp_path, capsys):
    import_stories(settings, [written(tmp_path, STORY, COMMENT)], ImportOptions())

    async def delete(store: Store) -> None:
        partition = store.site.partition_of_user("Marlow")
        await store.articles.delete(int(await store.site.redis.run(("HGET", keys.imported(partition), "1"))), "Marlow")

    with_store(settings, delete)
    capsys.readouterr()
    import_stories(settings, [written(tmp_path, STORY, COMMENT, COMMENT | {"id": 9})], ImportOptions())
    assert capsys.readouterr().err == "some.jsonl, line 3: comment 9 answers 1, which was deleted\n"


def test_text_of_a_story_is_imported(settings, tmp_path, redis):
    import_stories(settings, [written(tmp_path, STORY | {"text": "<i>Why</i>?"})], ImportOptions())

    (key,) = redis.scan_iter("article:*")
    assert redis.hget(key, "content") == "*Why*?"


def test_poster_joins_with_the_first_comment_or_story(settings, tmp_path, redis):
    own_story = STORY | {"id": 9, "by": "Pim", "time": STORY["time"] + 5_000}
    import_stories(settings, [written(tmp_path, STORY, own_story, COMMENT)], ImportOptions())

    (key,) = redis.scan_iter("user:*:pim")
    assert redis.hget(key, "joined") == str(COMMENT["time"] * 1000)
