"""Conversations leave Redis and come back, and no answer shows it (D5)."""

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
