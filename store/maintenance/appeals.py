"""
Finds and repairs queues of appeals (against actions of moderators) that do not agree with the appeals. Finds appeals
that are malformed. A part of `verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import appeals, keys
from store.kinds import Check, Key
from store.maintenance.records.actions import AppealRecord
from store.maintenance.records.record import MalformedRecord
from store.maintenance.wrong import IndexEntry, Wrong, confirmed, missing
from store.site import Site


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """The entries that queues lack of the waiting appeals among some keys: see `confirmed` and `missing`."""
    checked = [key for key in found if key.kind.check is Check.APPEAL]
    return await confirmed(checked, partial(_missing, site))


async def malformed(site: Site, found: Sequence[Key]) -> list[tuple[str, str]]:
    """The keys of appeals that cannot be restored from a backup, each with what is wrong."""
    checked = [key for key in found if key.kind.check is Check.APPEAL]
    hashes = await site.redis.pipeline([("HGETALL", key.text) for key in checked])
    faults = [(key.text, _fault(key.suffix, fields)) for key, fields in zip(checked, hashes, strict=True)]
    return [(where, fault) for where, fault in faults if fault]


async def belongs(site: Site, queue: Key, member: str) -> bool:
    """Whether a member of a queue of appeals belongs there. A malformed appeal stays in it, to be repaired by hand."""
    number = keys.number_of(member)
    fields = await site.redis.run(("HGETALL", appeals.appeal(queue.partition, number)))
    return bool(fields and _fault(str(number), fields)) or queue.text in appeals.waiting(queue.partition, fields)


async def _missing(site: Site, key: Key) -> list[Wrong]:
    fields, member = await site.redis.run(("HGETALL", key.text)), keys.member(int(key.suffix))
    queues = {} if _fault(key.suffix, fields) else appeals.waiting(key.partition, fields)
    return await missing(site, [IndexEntry(queue, member, at) for queue, at in queues.items()])


def _fault(number: str, fields: dict[str, str]) -> str:
    """What is wrong with an appeal, or ""."""
    try:
        AppealRecord(int(number), fields).check()
    except MalformedRecord as fault:
        return str(fault)
    return ""
