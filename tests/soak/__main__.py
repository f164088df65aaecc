"""
`python -m tests.soak`: sends random requests to servers and to models of them for some minutes, and prints where their
answers differ.
"""

import argparse
import asyncio
import secrets
import signal
import sys

from tests.soak.soaking import soak


def main() -> int:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # unwinds the stack, which ends its servers
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=None, help="seed of the requests to the first server; random by default"
    )
    parser.add_argument("--minutes", type=float, default=3.0, help="how long to run")
    parser.add_argument("--stop", action="store_true", help="stop at the first difference")
    given = parser.parse_args()
    seed = secrets.randbelow(10**9) if given.seed is None else given.seed
    print(f"make soak SEED={seed}", flush=True)
    found = asyncio.run(soak(seed, given.minutes, stop=given.stop))
    print(found.report())
    return 1 if found.is_bad else 0


if __name__ == "__main__":
    sys.exit(main())
