"""Each fault that is kept beside this is found within a bounded number of operations."""

import secrets
import time
from pathlib import Path

import pytest

from tests.soak.mutating import Mutant, mutants
from tests.soak.running import Difference
from tests.soak.worlds import World

OPERATIONS = 6_000
SECONDS = 240


@pytest.mark.one_server
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
async def test_fault_is_found(mutant: Mutant, tmp_path: Path):
    mutant.put_into(tmp_path)
    # Of every four seeds the first has one partition, the second sixteen, both with the default cache.
    seed = secrets.randbelow(10**8) * 4 + (mutant.partitions > 1)
    print(f"seed {seed}")
    world = World(seed, tmp_path)
    assert (world.settings.partitions, world.settings.cache) == (mutant.partitions, None)

    with pytest.raises(Difference) as found:
        try:
            await world.unfold(OPERATIONS, time.monotonic() + SECONDS)
        finally:
            await world.close()

    assert not str(found.value).startswith("no answer")
