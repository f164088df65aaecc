"""Tells operators before the memory of the store is full: its use, its limit, and the day on which it is reached."""

import logging
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, suppress
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import NamedTuple

from store import memory
from store.background import repeating
from store.errors import StoreUnavailable
from store.memory import MemoryUse
from store.site import Site

INTERVAL = 60.0  # seconds between two looks
HIGH = 0.8  # of the limit: from here on there is a warning each hour
CGROUPS = Path("/sys/fs/cgroup")
PROCESSES = Path("/proc")
UNIX = "unix://"  # what the URL of a server on this machine begins with

logger = logging.getLogger("upvote")


class MemoryGauges(NamedTuple):
    """Bytes used, their limit, and when it is reached (unix seconds), infinite if never."""

    used_bytes: int
    limit_bytes: int
    full_timestamp_seconds: float

    @property
    def full_on(self) -> str | None:
        """The day on which the memory is full; None if never."""
        return None if self.full_timestamp_seconds == inf else _day(self.full_timestamp_seconds)


class StoreMemory:
    """Watches the memory of a store: samples it, warns, and shows it as gauges."""

    def __init__(self, site: Site, url: str) -> None:
        self._site = site
        # only on this computer can the cgroup of the server's process be read
        self._limit_of = limit_of if url.startswith(UNIX) else lambda process: None

    def watched(self) -> AbstractAsyncContextManager[None]:
        """Sample the memory every minute, and warn."""
        return repeating(self.look, INTERVAL, "the memory of the store could not be read")

    async def look(self) -> None:
        """Keep a sample of the fullest server's use, and warn if that is high and a warning is due."""
        use = await memory.fullest(self._site, self._limit_of)
        if use and await memory.note(self._site, use, is_high=use.share >= HIGH):
            gauges = await self._gauges(use)
            full = f", and is full on {gauges.full_on} at the pace of the last week" if gauges.full_on else ""
            message = "the store uses %.0f %% of its memory, %d of %d bytes%s"
            logger.warning(message, 100 * use.share, use.used, use.limit, full)

    async def gauges(self) -> MemoryGauges | None:
        """The gauges of the store's memory. None if the store does not answer, or does not say it. Two round trips."""
        use = await memory.fullest(self._site, self._limit_of)
        with suppress(StoreUnavailable):
            return await self._gauges(use) if use else None
        return None

    async def _gauges(self, use: MemoryUse) -> MemoryGauges:
        full_at = memory.full_at(use, await memory.samples(self._site), self._site.clock())
        return MemoryGauges(use.used, use.limit, full_at / 1000)


def limit_of(process: int, processes: Path = PROCESSES, cgroups: Path = CGROUPS) -> int | None:
    """The smallest limit of the cgroups of a process, of version 2 or 1; None without one, or if it cannot be read."""
    try:
        lines = (processes / str(process) / "cgroup").read_text().splitlines()
    except OSError:
        return None
    parts = [line.split(":", 2) for line in lines]  # ID:CONTROLLERS:PATH; version 2 names no controllers
    return min((limit for _, controllers, path in parts for limit in _limits(controllers, path, cgroups)), default=None)


def _limits(controllers: str, path: str, cgroups: Path) -> Iterator[int]:
    """The limits (bytes) of a cgroup, by its line in `/proc/PID/cgroup`, and of its parents."""
    if controllers and "memory" not in controllers.split(","):
        return
    root, name = (cgroups / "memory", "memory.limit_in_bytes") if controllers else (cgroups, "memory.max")
    folder = root / path.lstrip("/")
    for each in (folder, *folder.parents):
        if each.is_relative_to(root):
            with suppress(OSError, ValueError):  # "max", or the root, which has no limit
                yield int((each / name).read_text())


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
