"""
Faults that `verify` finds by reading several keys, which no script can compare in one step, and repairs by a command
each. The modules of this folder that find such faults return them as `Wrong`.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from store.client import Command
from store.kinds import Key
from store.site import Site


class IndexEntry(NamedTuple):
    """
    An entry that an index should have: its key, the member, and the value, which is a time (unix milliseconds), or 0 in
    an index without times.
    """

    key: str
    member: str
    at: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """`where` is a key, with a field or a member; `found` and `expected` are None for nothing."""

    where: str
    found: str | None
    expected: str | None
    repair: Command


async def confirmed(keys: Iterable[Key], read: Callable[[Key], Awaitable[list[Wrong]]]) -> list[Wrong]:
    """What is wrong with some keys. One that seems wrong is read twice more, as a change may be under way."""
    found = list[Wrong]()
    for key in keys:
        if await read(key):
            first = await read(key)
            found += [wrong for wrong in await read(key) if wrong in first]
    return found


async def missing(site: Site, entries: Sequence[IndexEntry]) -> list[Wrong]:
    """Those of some entries that their index lacks, or has with another value. One round trip."""
    values = await site.redis.pipeline([("ZSCORE", index, member) for index, member, _ in entries])
    return [
        Wrong(
            f"{index} {member}",
            found=None if value is None else f"{value:.0f}",
            expected=str(at),
            repair=("ZADD", index, at, member),
        )
        for (index, member, at), value in zip(entries, values, strict=True)
        if value != at
    ]
