"""The soak finds each fault of `mutants/` within a bounded number of operations."""

import secrets
import time
from pathlib import Path

import pytest

from tests.soak.mutating import Mutant, mutants
from tests.soak.running import Difference
from tests.soak.worlds import World

OPERATIONS = 6_000
SECONDS = 240
WORLDS = 3


@pytest.mark.one_server
@pytest.mark.timeout(WORLDS * 2 * SECONDS)
@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
async def test_fault_is_found(mutant: Mutant, tmp_path: Path):
    """In one of a few worlds, as a single history may miss a rare fault."""
    mutant.put_into(tmp_path)
    for _ in range(WORLDS):
        if found := await difference(mutant, tmp_path):
            break

    assert found is not None
    assert not str(found).startswith("no answer")


async def difference(mutant: Mutant, tree: Path) -> Difference | None:
    """The first difference between a tree with a fault and the model, in a new random history; None if it ends."""
    # of four consecutive seeds, the first has one partition and the second 16, both with the default cache
    seed = secrets.randbelow(10**8) * 4 + (mutant.partitions > 1)
    print(f"seed {seed}")
    world = World(seed, tree)
    assert (world.settings.partitions, world.settings.cache) == (mutant.partitions, None)
    try:
        await world.generate(OPERATIONS, time.monotonic() + SECONDS)
    except Difference as found:
        return found
    finally:
        await world.close()
    return None
