"""Conversations leave Redis and come back, and no answer shows it (D5)."""

import asyncio
import random

import pytest

from tests.archive.talks import Talk, findings
from tests.archive.worlds import Pair
from tests.database.conftest import mirrored, on_both
from tests.examples import examples

pytestmark = [pytest.mark.one_server]


@on_both
@pytest.mark.parametrize("seed", range(examples(8)))
async def test_answers_are_those_of_a_store_that_keeps_all(pair: Pair, seed: int) -> None:  # D5
    talk = Talk(pair, random.Random(seed))
    await talk.begin()
    for _ in range(4):
        await talk.leave(talk.chance.choice((0, 0, 2)))
        await talk.compare()
        for _ in range(6):
            await talk.change()
        await talk.compare()
    pair.crashes, pair.archiver = False, None
    pair.clock.advance(3 * 86_400)
    await talk.leave()
    await talk.compare()
    assert pair.archiving.database
    await mirrored(pair.archiving.store, pair.archiving.database)
    assert not await findings(pair.archiving)
    assert talk.reached["left"] > 4 and talk.reached["came back"] > 1, talk.reached
    assert talk.reached["pages of what has left"] > 10


@on_both
@pytest.mark.parametrize("seed", range(examples(2) + 1))
async def test_answers_stay_while_conversations_move_and_processes_end(pair: Pair, seed: int) -> None:  # D5
    """Conversations leave and come back again and again, by processes that end at any moment, beside readers."""
    talk = await grown(pair, seed)
    expected = [(question, await talk.answer(pair.complete, question)) for question in talk.questions()]
    moving = asyncio.create_task(talk.move_often(25))
    compared = 0
    while not moving.done():
        question, right = talk.chance.choice(expected)
        assert await talk.answer(pair.archiving, question) == right, question
        compared += 1
    await moving
    assert compared > 50 and talk.reached["ended"] > 5 and talk.reached["came back"] > 3, talk.reached
    await talk.settle()
    assert not await findings(pair.archiving)
    for question, right in expected:
        assert await talk.answer(pair.archiving, question) == right, question


@on_both
@pytest.mark.parametrize("seed", range(examples(2) + 1))
async def test_comments_that_arrive_while_conversations_leave_are_there_once(pair: Pair, seed: int) -> None:  # D5
    talk = await grown(pair, seed)
    moving = asyncio.create_task(talk.move_often(12))
    posted: list[str] = []
    while not moving.done():
        posted += await asyncio.gather(*(talk.post_alone() for _ in range(2)))
        if talk.chance.random() < 0.1:
            pair.clock.advance(3 * 86_400)
    await moving
    await talk.settle()
    shown = [id for article in pair.ids for id in await talk.shown(article)]
    assert sorted(shown) == sorted({*talk.ids, *posted}) and len(posted) > 10
    assert not await findings(pair.archiving)
    pair.clock.advance(3 * 86_400)
    await talk.settle()
    assert sorted([id for article in pair.ids for id in await talk.shown(article)]) == sorted(shown)
    assert not await findings(pair.archiving)


async def grown(pair: Pair, seed: int) -> Talk:
    """A talk whose conversations may leave, with both databases up to date."""
    talk = Talk(pair, random.Random(seed))
    await talk.begin()
    pair.crashes = False
    pair.clock.advance(3 * 86_400)
    return talk
