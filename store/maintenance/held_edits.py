"""
Finds and removes edits that wait for a moderator, of articles and comments that are gone or removed, and those that
cannot be restored from a backup. Whether edits are in the queues is verified with the articles and comments. A part of
`verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import keys
from store.kinds import Check, Key
from store.maintenance.records.held_edits import HeldEditRecord
from store.maintenance.records.record import MalformedRecord
from store.maintenance.wrong import Wrong, confirmed
from store.site import Site


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """What is wrong with edits that wait. Read again if it seems wrong: a change may be under way."""
    return await confirmed([key for key in found if key.kind.check is Check.HELD_EDIT], partial(_wrong_with, site))


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    number = int(key.suffix)
    fields, *subjects = await site.redis.pipeline(
        [
            ("HGETALL", key.text),
            ("HMGET", keys.article(key.partition, number), "poster", "state"),
            ("HMGET", keys.comment(key.partition, number), "poster", "state"),
        ]
    )
    if not fields or (_is_usable(number, fields) and any(poster and state != "removed" for poster, state in subjects)):
        return []
    return [Wrong(key.text, found="an edit", expected=None, repair=("DEL", key.text))]


def _is_usable(number: int, fields: dict[str, str]) -> bool:
    try:
        HeldEditRecord(number, fields).check()
    except MalformedRecord:
        return False
    return True
