"""Seeds of random tests: new ones in every run, but in CI the same ones each time, like those of Hypothesis there."""

import os
import random
import secrets
from collections.abc import Iterator


def seeds(test: str) -> Iterator[int]:
    """Seeds of up to nine digits for a test by name."""
    chosen = random.Random(test) if os.environ.get("CI") else secrets.SystemRandom()
    while True:
        yield chosen.randrange(10**9)
