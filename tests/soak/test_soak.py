"""Compares almost three minutes of random operations with the model. Each run has a new seed, which is printed."""

import secrets

import pytest

from tests.soak.soaking import soak

MINUTES = 2.8


@pytest.mark.one_server
@pytest.mark.timeout(900)
async def test_server_answers_as_the_model_does():
    seed = secrets.randbelow(10**9)
    print(f"make soak SEED={seed}")

    found = await soak(seed, MINUTES)

    assert not found.differences, found.report()
    assert not found.missing(), found.report()
