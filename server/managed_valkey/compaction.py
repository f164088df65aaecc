"""
Rewrites the append-only file of the managed Valkey, the one that this program runs itself, before Valkey stops, so that
the next start loads it faster.

An append-only file takes three to five times as long to load as a rewritten one. Valkey itself rewrites it only from
64 MB on; below that, the next start would take up to a second longer, for example with 20 000 stories.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.managed_valkey.disk import free_bytes
from server.managed_valkey.supervisor import execute

MIN_CHANGES = 4_000_000  # bytes of changes since the last rewrite: a tenth of a second to load
MAX_TOTAL = 128_000_000  # bytes of all files: about a second to rewrite
TIMEOUT_SECONDS = 5.0  # after which Valkey stops without having rewritten the file
IN_PROGRESS = (b"aof_rewrite_in_progress:1", b"aof_rewrite_scheduled:1")  # lines of INFO


@contextmanager
def compacted_at_exit(folder: Path, socket_path: Path) -> Iterator[None]:
    """At exit, have Valkey rewrite its append-only file if it has many changes, is small and fits on the disk."""
    try:
        yield
    finally:
        try:
            # *.incr.aof has the changes since the last rewrite
            if _size(folder, "*.incr.aof") > MIN_CHANGES and _size(folder, "*") < min(MAX_TOTAL, free_bytes(folder)):
                _rewrite(socket_path)
        except OSError:
            pass  # Valkey has already ended; its file is complete as it is


def _size(folder: Path, pattern: str) -> int:
    return sum(file.stat().st_size for file in folder.glob(pattern))


def _rewrite(socket_path: Path) -> None:
    execute(socket_path, b"BGREWRITEAOF")
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < deadline and any(
        state in execute(socket_path, b"INFO persistence") for state in IN_PROGRESS
    ):
        time.sleep(0.02)
