"""
What `make test` leaves to `make test-slow`, because it may take six minutes: it runs tests of Hypothesis with a
sixteenth of their examples, tests marked `many_partitions` with 8 partitions only, not with 1 too, and some tests with
the first of their parameters only. `make test` sets EXAMPLES=few.
"""

import os
from collections.abc import Iterable
from typing import Any

import pytest

TAKES_FEW = os.environ.get("EXAMPLES") == "few"


def examples(count: int) -> int:
    """The number of examples of a test of Hypothesis that has `count` outside of `make test`."""
    return max(count // 16, 1) if TAKES_FEW else count


def first(parameters: Iterable[Any], count: int = 1) -> list[Any]:
    """The parameters of a test. `make test` takes the first `count` of them: the others are marked `slow`."""
    return [
        pytest.param(each, marks=pytest.mark.slow if index >= count else ()) for index, each in enumerate(parameters)
    ]
