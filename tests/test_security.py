"""The tests that SECURITY.md names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_named_tests_exist():
    named = re.findall(r"`(?:tests/([\w/]+)/)?(test_\w+\.py)`", (ROOT / "SECURITY.md").read_text())

    assert len(named) > 20
    for folder, name in named:
        assert list((ROOT / "tests").glob(f"{folder or '**'}/{name}")), name
