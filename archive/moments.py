"""
Reads of several keys that are of one moment: between them no article has moved, which means that none has left Redis
for the archive in the SQL database or come back.

Each partition, a share of the data in Redis, has a *serial*: a number that rises with each move of one of its articles.
If a process has seen a serial at any time before these reads, and sees the same one after them, nothing has moved
meanwhile; else all is read again. This takes no further command: what Redis knows of archived articles is read together
with the serial (`archive.summaries`), and `Site.serials` has the serials that this process has seen last.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from archive import summaries
from archive.summaries import Known
from store.errors import StoreUnavailable
from store.queries import Read
from store.site import Site

TRIES = 20  # to read, or to change, while articles move
MOVED = "the articles of this answer are being moved: try again"

Load = Callable[[Sequence[Read[Any]]], Awaitable[list[Any]]]  # sends reads to Redis, and returns their results in order
Serials = dict[int, str | None]  # by partition; None before its first move


class Moment(NamedTuple):
    """The results of reads, and what Redis knows of archived articles (`Known.value`) at the same moment."""

    results: list[Any]
    known: list[Any]


@dataclass(frozen=True, slots=True)
class Moments:
    """
    Reads of one moment for one request. `load` may return what the request has read earlier, so `before` keeps the
    serial that each partition had before the request first read there.
    """

    site: Site
    load: Load
    before: Serials = field(default_factory=dict)

    async def read(
        self, partitions: Sequence[int], reads: Sequence[Read[Any]], known_reads: Sequence[Read[Known[Any]]]
    ) -> Moment:
        """
        The results of reads, and of the further reads that they result in, with what Redis knows of the archive of
        these partitions at that moment.

        One round trip, and one for each further read; while articles move, the cost of `of_one_moment` is added.
        """
        seen = self.site.serials
        for partition in partitions:
            if partition in seen:
                self.before.setdefault(partition, seen[partition])
        moment = await _try(self.site, self.load, self.before, partitions, reads, known_reads)
        return moment or await of_one_moment(self.site, partitions, reads, known_reads)


async def of_one_moment(
    site: Site, partitions: Sequence[int], reads: Sequence[Read[Any]], known_reads: Sequence[Read[Known[Any]]]
) -> Moment:
    """
    As `Moments.read`, without what was read before. One round trip, and one for each further read, for each try.

    Raises:
        StoreUnavailable: articles have moved during each of `TRIES` tries.
    """
    for _ in range(TRIES):
        if moment := await _try(site, partial(load_again, site), {}, partitions, reads, known_reads):
            return moment
    raise StoreUnavailable(MOVED)


async def load_again(site: Site, reads: Sequence[Read[Any]]) -> list[Any]:
    """The results of reads, also of those that were sent before. One round trip."""
    replies = await site.redis.pipeline([read.command for read in reads])
    return [read.result(reply) for read, reply in zip(reads, replies, strict=True)]


async def _try(
    site: Site,
    load: Load,
    before: Serials,
    partitions: Sequence[int],
    reads: Sequence[Read[Any]],
    known_reads: Sequence[Read[Known[Any]]],
) -> Moment | None:
    """A moment; None if articles have moved meanwhile. Serials that `before` lacks are read first, and noted there."""
    first = summaries.serials(partition for partition in partitions if partition not in before)
    found = await load([*first, *reads, *known_reads])
    before |= _serials_of(found[: len(first)])
    results, after = found[len(first) : len(first) + len(reads)], found[len(first) + len(reads) :]
    values = [each.value for each in after]
    while further := [result for result in results if isinstance(result, Read)]:  # a result may be a read to send next
        found = await load([*further, *summaries.serials(partitions)])
        replaced, after = iter(found), [*after, *found[len(further) :]]
        results = [next(replaced) if isinstance(result, Read) else result for result in results]
    site.serials.update(_serials_of(after))
    return Moment(results, values) if all(each.serial == before[each.partition] for each in after) else None


def _serials_of(known: Sequence[Known[Any]]) -> Serials:
    return {each.partition: each.serial for each in known}
