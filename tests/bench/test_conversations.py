"""The made-up conversations of the benchmarks: comments that answer each other, in several shapes."""

import random
from collections import Counter

import pytest

from bench import conversations
from bench.conversations import SHAPES, Conversation, like_hacker_news


def depths(conversation: Conversation) -> list[int]:
    """How many comments are above each one. A conversation has, by comment, the index of what it answers, or None."""
    found: list[int] = []
    for parent in conversation:
        found.append(0 if parent is None else found[parent] + 1)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_each_comment_answers_an_earlier_one(shape):
    made = SHAPES[shape](200, random.Random(1))

    assert len(made) == 200
    assert all(parent is None or parent < each for each, parent in enumerate(made))


@pytest.mark.parametrize(("size", "mean", "greatest"), [(30, 1.8, 5), (100, 2.5, 8), (300, 3.0, 11)])
def test_depths_are_those_that_the_module_documents(size, mean, greatest):
    made = [like_hacker_news(size, random.Random(seed)) for seed in range(20)]

    assert sum(sum(depths(each)) for each in made) / 20 / size == pytest.approx(mean, abs=0.06)
    assert round(sum(max(depths(each)) for each in made) / 20) == greatest


def test_same_seed_gives_the_same_items():
    first, second, other = [list(conversations.items(stories=20, comments=100, seed=seed)) for seed in (1, 1, 2)]

    assert first == second != other


def test_items_name_their_replies_and_parents():
    made = {item["id"]: item for item in conversations.items(stories=20, comments=132, seed=3)}
    replies = Counter(item["parent"] for item in made.values() if item["type"] == "comment")

    assert list(made) == list(range(1, len(made) + 1))
    assert {id: len(item["kids"]) for id, item in made.items() if "kids" in item} == replies
    assert all(made[item["parent"]]["time"] < item["time"] for item in made.values() if "parent" in item)
    assert [item["descendants"] for item in made.values() if item["type"] == "story"] == conversations.sizes(20, 132)
    assert conversations.sizes(20, 132)[:4] == [37, 18, 12, 9]
