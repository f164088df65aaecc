"""
Each fault of `chaos.py` once, in random order and at random moments, while simulated people write to a server.

Codes such as A6 after the name of the test are rows of `docs/behaviours.md`, which it proves.
"""

import pytest

from tests.programs import skip_or_fail
from tests.soak import chaos
from tests.soak.seeds import seeds


@pytest.mark.timeout(900)
def test_faults_lose_nothing_acknowledged():  # A6, V9
    seed = next(seeds("chaos"))
    print(f"seed {seed}: python -m tests.soak.chaos --minutes 0 --seed {seed}")
    with chaos.small_disk() as disk:
        if disk is None:
            skip_or_fail("no small file system can be mounted here, which the full disk needs")

    reached = chaos.run(seconds=0, seed=seed)

    assert [fault for fault in chaos.FAULTS if not reached[fault]] == []
    assert reached["posts"] > 0 and reached["votes"] > 0 and reached["refused writes"] > 0
