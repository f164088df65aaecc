"""The memory of the store: what the fullest of its servers uses, its limit, and hourly samples of the last week."""

from collections.abc import Callable, Mapping
from math import inf
from statistics import linear_regression
from typing import NamedTuple

from store.errors import StoreUnavailable
from store.kinds import Kind
from store.scripts.registry import Script
from store.site import Site

NOTE_MEMORY = Script("note_memory")

HOUR = 3_600_000  # milliseconds
DAY_HOURS, WEEK_HOURS = 24, 7 * 24
FARTHEST = 100 * 365 * DAY_HOURS * HOUR  # milliseconds: what takes longer is never full

memory = Kind(
    "memory",
    "hash",
    parts=(),
    holds="bytes that the fullest server used, by the hour in unix time, and the hour of the last warning, `warned`; "
    "in partition 0",
    lifetime="a week after the last sample",
    written_by="the server's tasks",
)

FindLimit = Callable[[int], int | None]  # the limit of a process on this machine, by its id; None if there is none


class MemoryUse(NamedTuple):
    """Bytes that a server uses, and at how many it is full."""

    used: int
    limit: int

    @property
    def share(self) -> float:
        return self.used / self.limit


async def fullest(site: Site, limit_of: FindLimit = lambda process: None) -> MemoryUse | None:
    """
    The use of the fullest server; None if no server says it. `limit_of` finds the limit of its process. One round trip.
    """
    try:
        uses = [use_of(info, limit_of) for info in await site.redis.infos("server", "memory")]
    except StoreUnavailable:  # it does not answer, or its user may not ask
        return None
    return max((use for use in uses if use.limit), key=lambda use: use.share, default=None)


def use_of(info: str, limit_of: FindLimit = lambda process: None) -> MemoryUse:
    """
    What a server's reply to INFO says. With `maxmemory`, that limits what the server counts. Without it, the limit of
    its process or of the machine limits its resident memory.
    """
    fields = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    if maxmemory := int(fields["maxmemory"]):
        return MemoryUse(int(fields["used_memory"]) - int(fields.get("mem_not_counted_for_evict", 0)), maxmemory)
    limits = (int(fields.get("total_system_memory", 0)), limit_of(int(fields["process_id"])))
    return MemoryUse(int(fields["used_memory_rss"]), min((each for each in limits if each), default=0))


async def note(site: Site, use: MemoryUse, *, is_high: bool) -> bool:
    """Keep the first sample of an hour. Returns whether to warn: once an hour if the use `is_high`. One round trip."""
    arguments = (site.clock() // HOUR, use.used, "1" if is_high else "", WEEK_HOURS)
    return bool(await site.redis.run(NOTE_MEMORY.command([memory(0)], *arguments)))


async def samples(site: Site) -> dict[int, int]:
    """Bytes used, by the hour in unix time. One round trip."""
    found = await site.redis.run(("HGETALL", memory(0)))
    return {int(hour): int(used) for hour, used in found.items() if hour != "warned"}


def full_at(use: MemoryUse, samples: Mapping[int, int], now: int) -> float:
    """
    When memory is full at the pace of the last week (unix milliseconds): the slope of a straight line through the
    samples. Infinite if it does not grow, or there are samples of less than a day.
    """
    if use.used >= use.limit:
        return now
    recent = {hour: used for hour, used in samples.items() if hour >= now // HOUR - WEEK_HOURS}
    if not recent or max(recent) - min(recent) < DAY_HOURS:
        return inf
    slope, _ = linear_regression(list(recent), list(recent.values()))
    remaining = (use.limit - use.used) / slope * HOUR if slope > 0 else inf
    return now + remaining if remaining < FARTHEST else inf
