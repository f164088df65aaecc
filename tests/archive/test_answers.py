"""
A store that archives, so that old articles are in its database only, answers as one that never does (D2, D3).

A `pair` is both stores. `step` changes both at random, `compare` asks both the same and checks that the answers are
equal, `reached` counts the cases that were compared.

`TAKES_FEW` is true in `make test`, which does less.

Codes such as D2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import os
import random

import pytest

from archive import reads
from tests.archive.worlds import EXPECTED, Pair
from tests.examples import TAKES_FEW

STEPS, COMPARED_EVERY = 36, 4  # SEED and STEPS of the environment try other histories
PARTITIONS, COMPARED_WHOLE_EVERY = ([4], 36) if TAKES_FEW else ([1, 4], 18)


@pytest.mark.one_server
@pytest.mark.many_partitions
@pytest.mark.parametrize("partitions", PARTITIONS, indirect=True)
async def test_every_answer_is_that_of_a_store_that_never_archives(
    pair: Pair, partitions: int, monkeypatch: pytest.MonkeyPatch
) -> None:  # D2 D3
    monkeypatch.setattr(reads, "SKIPPED_ENTRIES", 5)  # so that both ways to read a page by its number are tested
    pair.chance = random.Random(int(os.environ.get("SEED", partitions)))
    await pair.begin()
    for turn in range(int(os.environ.get("STEPS", STEPS))):
        await pair.step()
        if turn % COMPARED_EVERY == 0:
            await pair.compare()
        if turn % COMPARED_WHOLE_EVERY == COMPARED_WHOLE_EVERY - 1:
            await pair.compare_all()
    assert not [each for each in EXPECTED if not pair.reached[each]], pair.reached
