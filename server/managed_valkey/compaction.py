"""
The log of a Valkey of our own, made short before Valkey ends.

What happened takes three to five times as long to load as what is there. Valkey itself rewrites its log only where it
has 64 MB, as it shall while it is busy; so the next start would wait a second for 20 000 stories.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from server.managed_valkey.disk import free
from server.managed_valkey.supervisor import ask

LONG = 4_000_000  # bytes of what happened: a tenth of a second to load
MOST = 128_000_000  # bytes of all: about a second to rewrite
SECONDS = 5.0  # that are waited for it
AT_WORK = (b"aof_rewrite_in_progress:1", b"aof_rewrite_scheduled:1")


@contextmanager
def shortened(folder: Path, at: Path) -> Iterator[None]:
    """At the end, have the Valkey at a socket rewrite its log in a folder, if that is long, done soon and has room."""
    try:
        yield
    finally:
        try:
            if _size(folder, "*.incr.aof") > LONG and _size(folder, "*") < min(MOST, free(folder)):
                _rewrite(at)
        except OSError:
            pass  # Valkey has ended already: the log is whole as it is


def _size(folder: Path, names: str) -> int:
    return sum(file.stat().st_size for file in folder.glob(names))


def _rewrite(at: Path) -> None:
    ask(at, b"BGREWRITEAOF")
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and any(word in ask(at, b"INFO persistence") for word in AT_WORK):
        time.sleep(0.02)
