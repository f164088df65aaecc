"""
Files of items in the shape of Hacker News' API: how they are read, and the order in which comments are imported.

`arranged` takes comments, the partition of each story by the story's id, and the ids of items that are not imported.
"""

import json
import random

import pytest

from bench.conversations import like_hacker_news
from server.cli.hacker_news import Skipped, arranged
from server.cli.story_file import BadLine, Notes, read
from store.maintenance.import_comments import StoryComment
from store.maintenance.import_stories import Story

NOW = 1_470_311_520_000  # unix milliseconds
SECONDS = NOW // 1000  # as items of Hacker News have it
STORY = {"id": 8, "type": "story", "by": "Marlow", "time": SECONDS, "title": "A year", "url": "https://example.com/"}
STORY |= {"score": 111, "descendants": 71, "kids": [9, 10]}
COMMENT = {"id": 9, "type": "comment", "by": "Pim", "time": SECONDS, "parent": 8, "text": "It&#x27;s <i>so</i>"}


@pytest.fixture
def found(tmp_path):
    """A function that writes items to a file, and returns what is read from it."""

    def found(*items: object) -> list[object]:
        file = tmp_path / "items.jsonl"
        file.write_text("".join(json.dumps(item) + "\n" for item in items))
        return list(read(file, NOW))

    return found


def comment(id: str, parent: str, poster: str = "Pim", time: int = 5) -> StoryComment:
    return StoryComment(id, parent, poster=poster, time=time, content="text" if poster else "")


def test_story_and_comment_are_read_from_items(found):
    assert found(STORY, COMMENT) == [
        Story("8", "A year", link="https://example.com/", poster="Marlow", time=NOW, votes=111),
        StoryComment("9", "8", poster="Pim", time=NOW, content="It's *so*"),
    ]


def test_text_of_a_story_is_its_content(found):
    asks = {**STORY, "title": "Ask HN: AT&amp;T?", "text": "One<p>two"}
    del asks["url"]

    assert found(asks) == [
        Story("8", "Ask HN: AT&T?", link="", poster="Marlow", time=NOW, votes=111, content="One\n\ntwo")
    ]


def test_score_of_a_comment_counts_if_there_is_one(found):
    assert [each.votes for each in found(COMMENT | {"score": 4}, COMMENT | {"id": 10, "score": -3})] == [4, 1]


@pytest.mark.parametrize("gone", [{"deleted": True}, {"dead": True}, {"deleted": True, "dead": True}])
def test_deleted_and_dead_items_keep_neither_poster_nor_text(found, gone):
    deleted = {name: COMMENT[name] for name in ("id", "type", "time", "parent")} | gone

    assert found(STORY | gone, deleted) == [Skipped("8"), StoryComment("9", "8", poster="", time=NOW, content="")]
    assert found(COMMENT | gone) == [StoryComment("9", "8", poster="", time=NOW, content="")]


@pytest.mark.parametrize("type", ["job", "poll", "pollopt"])
def test_items_of_other_types_are_skipped(found, type):
    assert found(STORY | {"type": type}) == [Skipped("8")]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (COMMENT | {"type": "essay"}, "type is not one of story, comment, job, poll, pollopt"),
        (COMMENT | {"type": ["story"]}, "type is not one of story, comment, job, poll, pollopt"),
        (COMMENT | {"id": "a b"}, "an id has 1 to 64 printable ASCII characters"),
        (COMMENT | {"id": None}, "an id has 1 to 64 printable ASCII characters"),
        (COMMENT | {"parent": None}, "parent is not the id of an item"),
        (COMMENT | {"parent": True}, "parent is not the id of an item"),
        (COMMENT | {"time": NOW}, "time is not a number of seconds since 1970 that has passed"),
        (COMMENT | {"time": "yesterday"}, "time is not a number of seconds since 1970 that has passed"),
        (COMMENT | {"by": None}, "a username is 2 to 20 of A-Z, a-z, 0-9, _ and -"),
        (COMMENT | {"by": 7}, "by is not text"),
        (COMMENT | {"text": ""}, "a comment has 1 to 10000 characters, this one 0"),
        (COMMENT | {"text": "\u200b"}, "content has only blanks and invisible characters"),
        (COMMENT | {"text": ["a"]}, "text is not text"),
        (COMMENT | {"text": "<i>" * 5_000 + "x"}, "text has elements that are nested too deeply"),
        (COMMENT | {"score": 1.5}, "score is not a whole number up to 1000000"),
        (STORY | {"score": 1_000_001}, "score is not a whole number up to 1000000"),
        (STORY | {"title": ""}, "a title has 1 to 300 characters, this one 0"),
        (STORY | {"url": "ftp://example.com"}, "a link is an absolute http or https URL"),
        (STORY | {"title": None, "deleted": False}, "a title has 1 to 300 characters, this one 0"),
        (None, "this is not a JSON object"),
    ],
)
def test_invalid_item_is_reported_and_the_others_are_read(found, item, reason):
    other = COMMENT | {"id": 77}

    assert found(item, other) == [
        BadLine(1, reason),
        StoryComment("77", "8", poster="Pim", time=NOW, content="It's *so*"),
    ]


def test_second_item_with_an_id_is_reported(found):
    assert found(STORY, COMMENT | {"id": 8})[1] == BadLine(2, "line 1 has the same id")


def test_long_text_is_cut_and_counted(tmp_path):
    notes, file = Notes(), tmp_path / "items.jsonl"
    file.write_text(json.dumps(COMMENT | {"text": "<p>".join(["word " * 900] * 3)}))
    (cut,) = read(file, NOW, notes)

    assert cut.content.endswith("word\n\n[…]")
    assert (len(cut.content) < 10_000, notes.cut) == (True, 1)


def test_parents_come_before_their_replies_whatever_the_order_of_the_lines():
    made = like_hacker_news(300, random.Random(1))
    comments = [
        comment(f"c{i}", "s" if parent is None else f"c{parent}", time=5 - i % 3) for i, parent in enumerate(made)
    ]
    shuffled = random.Random(2).sample(comments, len(comments))
    result = arranged(shuffled, partitions={"s": 3}, skipped=())
    places = {each.id: place for place, (_, each) in enumerate(result.placed)}

    assert result == arranged(comments, partitions={"s": 3}, skipped=())
    assert places.keys() == {each.id for each in comments}
    assert {partition for partition, _ in result.placed} == {3}
    assert all(each.parent == "s" or places[each.parent] < places[each.id] for each in comments)


def test_deleted_comments_are_kept_if_something_below_them_is():
    kept = [comment("a", "s", ""), comment("b", "a", ""), comment("c", "b")]
    left_out = [comment("d", "s", ""), comment("e", "a", ""), comment("f", "e", "")]
    result = arranged([*left_out, *kept], partitions={"s": 0}, skipped=())

    assert [each for _, each in result.placed] == kept
    assert sorted(each.id for each in result.skipped) == ["d", "e", "f"]
    assert result.orphans == []


def test_comments_without_what_they_answer_are_orphans_and_so_are_their_replies():
    cycle = [comment("x", "y"), comment("y", "x"), comment("z", "z")]
    result = arranged(
        [comment("a", "nowhere"), comment("b", "a"), comment("c", "s"), *cycle], partitions={"s": 1}, skipped=()
    )

    assert result.placed == [(1, comment("c", "s"))]
    assert [each.id for each in result.orphans] == ["a", "b", "x", "y", "z"]


def test_comments_about_skipped_items_are_skipped_unless_these_were_imported():
    comments = [comment("a", "dead"), comment("b", "a"), comment("c", "dead too")]
    result = arranged(comments, partitions={"dead too": 2}, skipped={"dead", "dead too"})

    assert [each.id for each in result.skipped] == ["a", "b"]
    assert result.placed == [(2, comment("c", "dead too"))]
