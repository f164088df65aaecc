"""
What `make test` leaves to `make test-slow`, because it has six minutes: it tests properties with a sixteenth of their
examples, routing with 8 partitions only, not with 1 too, and some tests with the first
of their parameters only.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

TAKES_FEW = os.environ.get("EXAMPLES") == "few"


def examples(count: int) -> int:
    return max(count // 16, 1) if TAKES_FEW else count


def first(parameters: Iterable[Any], count: int = 1) -> list[Any]:
    """The parameters of a test. `make test` takes the first `count` of them: the others are marked `slow`."""
    return [
        pytest.param(each, marks=pytest.mark.slow if place >= count else ()) for place, each in enumerate(parameters)
    ]
