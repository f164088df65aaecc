"""
How the comments of an archived article come back to Redis, before the article does: in steps, under the lease of the
conversations of the partition. Until the article is back, nothing reads them there but by their numbers. If its process
ends before, they are removed again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from archive import recounts
from archive.conversations import conversation
from archive.reads import ArchiveUnavailable, ask
from database import article_places
from database import conversations as rows
from database.conversations import KeptOfComment
from database.database import Database
from store import conversations as stored
from store import keys
from store.errors import LeaseTaken
from store.leases import Lease
from store.records import Comment, ContentState
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

Fields = Mapping[str, str]


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
    have more. A query, and a round trip for 50 comments.

    Raises:
        ArchiveUnavailable: other conversations come back, or leave, for too long; the database is behind; or there is
            no room, or no database.
    """
    deadline = monotonic() + PATIENCE
    while True:
        lease = stored.lease(site, site.home_of_article(article))
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
    query = partial(_hashes_at, partition=site.home_of_article(article), article=article, best_z=site.policy.best_z)
    position, hashes = await ask(site, database, query)
    if not await stored.restore(site, lease, article, hashes, position, room):
        return None
    return len(hashes), lease.token


def _hashes_at(
    connection: "Connection", partition: int, article: int, best_z: float
) -> tuple[str, dict[int, dict[str, str]]]:
    """The position in the log that the database was at, and what `hashes_of` finds after that."""
    return recounts.position(connection, partition), hashes_of(connection, article, best_z)


def hashes_of(connection: "Connection", article: int, best_z: float) -> dict[int, dict[str, str]]:
    """
    The hashes that the comments of an archived article had in Redis, by number. `best_z` is the constant of the order
    BEST (`Policy.best_z`).
    """
    found, kept = rows.comments(connection, article), rows.kept(connection, article)
    (record,) = article_places.records(connection, [article])
    is_hidden = record is not None and record.state is not ContentState.VISIBLE
    comments = conversation(article, found, best_z).comments
    return {number: _fields(each, kept[number], is_hidden) for number, each in comments.items()}


def _fields(comment: Comment, kept: KeptOfComment, is_hidden: bool) -> dict[str, str]:
    """The fields of a comment. `is_hidden` says that its article is, so that the comment is away from lists, too."""
    values = {
        "article": comment.article,
        "parent": comment.parent,
        "depth": comment.depth,
        "poster": comment.poster,
        "slot": None if comment.poster is None else keys.slot(comment.poster),
        "content": comment.content,
        "time": comment.posted_at,
        "up": comment.upvotes,
        "down": comment.downvotes,
        "imported": comment.imported or None,
        "edited": comment.edited_at,
        "state": None if comment.state is ContentState.VISIBLE else comment.state.value,
        "replies": comment.reply_count or None,
        "path": kept.path,
        "notified": kept.notified,
        "bare": 1 if comment.is_bare else None,
        "away": 1 if is_hidden and comment.state is not ContentState.DELETED else None,
    }
    return {name: str(value) for name, value in values.items() if value is not None}
