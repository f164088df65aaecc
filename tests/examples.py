"""
What `make test` leaves to `make test-slow`, because it has six minutes: it tests properties with a sixteenth of their
examples, and routing with 8 partitions only, not with 1 too.
"""

import os

TAKES_FEW = os.environ.get("EXAMPLES") == "few"


def examples(count: int) -> int:
    return max(count // 16, 1) if TAKES_FEW else count
