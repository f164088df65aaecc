"""
What `make test` leaves to `make test-slow`, because it has five minutes: it tests properties with a quarter of their
examples, and routing with 8 partitions only, not with 1 too.
"""

import os

TAKES_FEW = os.environ.get("EXAMPLES") == "few"


def examples(count: int) -> int:
    return count // 4 if TAKES_FEW else count
