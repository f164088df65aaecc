"""
Writes the comments of an archived article back to Redis, before the article itself is. Only the SQL database has an
archived article and its comments; together these are a conversation. It is done in steps by one process at a time,
which holds the lease of the conversations of a partition, a share of the data. Until the article is back, only reads by
their numbers find the comments there. If the process ends before that, they are removed again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from archive import recounts
from archive.hashes import comment_hashes
from archive.reads import ArchiveUnavailable, ask
from database.database import Database
from store import conversations as stored
from store.errors import LeaseTaken
from store.leases import Lease
from store.site import Site

if TYPE_CHECKING:
    from database.statements import Connection

PATIENCE, PAUSE = 4.0, 0.05  # seconds: how long to wait for others, less than a request may take; between two looks
MOVING = "other conversations are being moved: try again"
BEHIND = "votes on archived comments were just annulled or restored, and the database is behind: try again"
NO_ROOM = (
    "the conversation of article:{} is archived, and others that came back have taken the room that there is for such: "
    "try again in some days"
)


async def with_comments(
    site: Site,
    database: Database | None,
    article: int,
    write_article: Callable[[int, str], Awaitable[bool]],
    room: stored.Room | None,
) -> bool | None:
    """
    Write the comments of an archived article back, and call `write_article` under the lease, with the number of
    comments and the token of the lease. Returns the result of that call; None if the article is in Redis by now, or was
    deleted. `room` limits how many comments all conversations that came back may have together; one that is alone may
    have more. None: no limit. A query, and a round trip for 50 comments.

    Raises:
        ArchiveUnavailable: other conversations come back, or leave, for too long; the database is behind; or there is
            no room, or no database.
    """
    deadline = monotonic() + PATIENCE
    while True:
        lease = stored.lease(site, site.partition_of_article(article))
        try:
            async with lease.held():
                restored = await _restored(site, database, lease, article, room)
                return restored if restored is None else await write_article(*restored)
        except (LeaseTaken, stored.Overtaken, stored.Behind) as reason:
            if monotonic() > deadline:
                raise ArchiveUnavailable(BEHIND if isinstance(reason, stored.Behind) else MOVING) from None
            await asyncio.sleep(PAUSE)
        except stored.NoRoom:
            raise ArchiveUnavailable(NO_ROOM.format(article)) from None


async def _restored(
    site: Site, database: Database | None, lease: Lease, article: int, room: stored.Room | None
) -> tuple[int, str] | None:
    """Write the comments back. The number of comments, and the token of the lease; None if the article is there."""
    await stored.drop(site, lease, article)  # what is still there from when it left, or from a process that has ended
    query = partial(
        _hashes_at, partition=site.partition_of_article(article), article=article, best_z=site.policy.best_z
    )
    position, hashes = await ask(site, database, query)
    if not await stored.restore(site, lease, article, hashes, position, room):
        return None
    return len(hashes), lease.token


def _hashes_at(
    connection: "Connection", partition: int, article: int, best_z: float
) -> tuple[str, dict[int, dict[str, str]]]:
    """The id of the last entry of the log of changes that the database has; then what `comment_hashes` finds."""
    return recounts.position(connection, partition), comment_hashes(connection, article, best_z)
