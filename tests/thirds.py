"""
CI has 90 minutes, and all of `make test-slow` takes longer on a slow machine. So CI takes a third of the mutants, and
by the option `--third` a third of the test files of each part. The commit chooses which: the same commit has the same
third, and over some commits everything is tried.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")
COUNT = 3


def third(things: Sequence[T]) -> list[T]:
    """Every third thing, from the first, second or third one on."""
    commit = subprocess.run(("git", "rev-parse", "HEAD"), cwd=Path(__file__).parent, capture_output=True, check=True)
    return list(things[int(commit.stdout, 16) % COUNT :: COUNT])


def keep_third_of_files(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of all other files."""
    chosen = set(third(sorted({item.path for item in items})))
    config.hook.pytest_deselected(items=[item for item in items if item.path not in chosen])
    items[:] = [item for item in items if item.path in chosen]
