"""
Archived articles whose counts change although they stay archived, as votes on them are annulled or restored. The
script appends an entry with the new counts to the log, and the database has them when it has this entry: until then,
nobody may use the counts that it has.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from archive.reads import ask
from archive.stepwise import ConsumerBehind
from database import article_places
from database.database import Database
from database.positions import stored_positions
from store import keys, log
from store.annulments import Archived
from store.site import Site

if TYPE_CHECKING:
    from database.statements import Connection

RECOUNTED_FIELD = "recounted"  # of `archived`: the last entry that has changed counts of archived articles
PATIENCE, PAUSE = 2.0, 0.01  # seconds: how long to wait for the database, and between two looks


async def archived(site: Site, database: Database | None, p: int, numbers: Sequence[int]) -> Archived:
    """
    Those of some articles of a partition that are archived, with their last counts. One query, and one round trip;
    as many again every `PAUSE` until the database has these.

    Raises:
        ConsumerBehind: it has not after `PATIENCE`.
        ArchiveUnavailable: there is no database, or it does not answer.
    """
    deadline = monotonic() + PATIENCE
    while True:
        found = await ask(site, database, partial(_read, p=p, numbers=numbers))
        last = await site.redis.run(("HGET", keys.archived(p), RECOUNTED_FIELD))
        if log.sort_key(found.position) >= log.sort_key(last or log.START):
            return found
        if monotonic() > deadline:
            raise ConsumerBehind
        await asyncio.sleep(PAUSE)


def position(connection: "Connection", p: int) -> str:
    """The last entry of a partition that the database has. To be read before what is compared with it."""
    return stored_positions(connection)[1].get(p, log.START)


def _read(connection: "Connection", p: int, numbers: Sequence[int]) -> Archived:
    before = position(connection, p)
    records = article_places.records(connection, numbers)
    return Archived({each.number: each for each in records if each}, before)
