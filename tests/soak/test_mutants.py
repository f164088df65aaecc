"""
The soak, which compares a server with a model of it by random requests, finds each fault of `mutants/` within a bounded
number of operations. CI tries a third of the faults.
"""

import os
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tests.soak.databases import databases
from tests.soak.mutating import Mutant, mutants
from tests.soak.rules import EVERY
from tests.soak.running import Difference
from tests.soak.seeds import seeds
from tests.soak.world_settings import Settings, settings_of
from tests.soak.worlds import World
from tests.thirds import third

OPERATIONS = 6_000  # of a world, a server that gets random requests
SECONDS = 240  # of a world
WORLDS = 5  # in one of which the fault has to be found


def of_this_run() -> list[Mutant]:
    """All mutants, in CI a third."""
    return third(mutants()) if os.environ.get("CI") else mutants()


@pytest.mark.one_server
@pytest.mark.timeout(WORLDS * 2 * SECONDS)
@pytest.mark.parametrize("mutant", of_this_run(), ids=lambda mutant: mutant.name)
async def test_fault_is_found(mutant: Mutant, tmp_path: Path):
    """In one of a few worlds, as a single history may miss a rare fault."""
    mutant.put_into(tmp_path)
    for seed in islice(seeds(mutant.name), WORLDS):
        if found := await difference(mutant, tmp_path, seed):
            break

    assert found is not None
    assert not str(found).startswith("no answer")


async def difference(mutant: Mutant, tree: Path, seed: int) -> Difference | None:
    """The first difference between a tree with a fault and the model, in a random history; None if it ends."""
    print(f"seed {seed}")
    policy = settings_of(seed).policy
    if mutant.has_rules:
        policy = replace(policy, rules=EVERY)
    elif mutant.imported and policy.rules:
        # the rule about first texts counts archived ones as approved, and the model does not know when one is archived
        policy = replace(policy, rules=replace(policy.rules, first_texts=0))
    with databases() as factory:
        world = World(
            seed, factory, tree, Settings(mutant.partitions, cache=None, policy=policy, imported=mutant.imported)
        )
        try:
            await world.generate(OPERATIONS, time.monotonic() + SECONDS)
        except Difference as found:
            return found
        finally:
            await world.close()
    print(f"no difference; logged: {world.server.logged[:1_000]}")
    return None
