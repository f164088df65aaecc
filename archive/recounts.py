"""
Counts of votes on archived articles and comments, which only the SQL database has. They change when votes are annulled,
so that they count no more, or restored: a script in Redis computes the new counts and appends them to the log, the
stream of all changes, and the database has them once it has read this entry. Until then no script may compute with the
counts of the database. So whoever reads counts for a script reads the position of the database first, the last entry
that it has; the script compares this with the last entry that has changed counts.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from archive.reads import ask
from archive.stepwise import ConsumerBehind
from database import article_places, conversations
from database.database import CONSUMER, Database
from database.positions import stored_positions
from store import keys, log
from store.annulments import Archived
from store.records import Article, Comment
from store.site import Site

if TYPE_CHECKING:
    from database.statements import Connection

LAST_FIELD = "last_recounted"  # of the hash `archived` in Redis: the id of the last entry that has changed counts
PATIENCE, PAUSE = 2.0, 0.02  # seconds: how long to wait for the database, and between two looks


async def archived(site: Site, database: Database | None, partition: int, numbers: Sequence[int]) -> Archived:
    """
    Of some articles and comments of a partition (a share of the data) the archived ones, by number, as the database has
    them. One query.

    Raises:
        ArchiveUnavailable: there is no database, or it does not answer.
    """
    return await ask(site, database, partial(_read, partition=partition, numbers=numbers))


async def wait_until_shown(site: Site, patience: float) -> None:
    """
    Wait until the database has all counts of archived articles and comments that were changed up to now: from then on,
    reads show them. One round trip if no counts were ever changed; else one more, and one every `PAUSE`.

    Raises:
        ConsumerBehind: the database does not have them after `patience` seconds.
    """
    last_entries = await site.redis.pipeline(
        [("HGET", keys.archived(partition), LAST_FIELD) for partition in range(site.partitions)]
    )
    wanted, deadline = {partition: id for partition, id in enumerate(last_entries) if id}, monotonic() + patience
    while wanted:
        taken = (await log.positions(site)).get(CONSUMER, {})
        if all(log.sort_key(taken.get(partition, log.START)) >= log.sort_key(id) for partition, id in wanted.items()):
            return
        if monotonic() > deadline:
            raise ConsumerBehind
        await asyncio.sleep(PAUSE)


def position(connection: "Connection", partition: int) -> str:
    """The id of the last entry of a partition's log that the database has."""
    return stored_positions(connection)[1].get(partition, log.START)


def _read(connection: "Connection", partition: int, numbers: Sequence[int]) -> Archived:
    position_before = position(connection, partition)
    found: list[Article | Comment] = [each for each in article_places.records(connection, numbers) if each]
    found += conversations.archived(connection, numbers)
    return Archived({each.number: each for each in found}, position_before)
