"""Almost three minutes of random requests have the answers of a server in plain Python, the model. Prints the seed."""

import pytest

from tests.soak.seeds import seeds
from tests.soak.soaking import soak

MINUTES = 2.8


@pytest.mark.one_server
@pytest.mark.timeout(900)
async def test_server_answers_as_the_model_does():
    seed = next(seeds("soak"))
    print(f"make soak SEED={seed}")

    found = await soak(seed, MINUTES)

    assert not found.differences, found.report()
    assert not found.missing(), found.report()
