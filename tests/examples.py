"""How many examples a property is tested with: a quarter in `make test`, which has five minutes, else all."""

import os

TAKES_FEW = os.environ.get("EXAMPLES") == "few"


def examples(count: int) -> int:
    return count // 4 if TAKES_FEW else count
