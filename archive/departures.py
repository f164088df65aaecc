"""
Collects what only Redis knows of an article and its comments, before they leave Redis and stay in the SQL database
only: the database keeps it. An article leaves only if `archive.conversations` computes from the rows of the database
what Redis has of its comments.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from archive.conversations import Conversation, conversation
from archive.steps import Archivable
from database import conversations as conversation_rows
from database.conversations import KeptOfArticle, KeptOfComment
from database.database import Database
from store import conversations as stored
from store import records
from store.records import Comment
from store.site import Site, unix_milliseconds

AT_ONCE = 2_000  # rows in a transaction

Hashes = Mapping[int, Mapping[str, str]]  # what Redis has of comments: by number, the fields of the hash

logger = logging.getLogger("upvote")


class Departure(NamedTuple):
    """What the database keeps of an article, and of each of its comments by number."""

    of_article: KeptOfArticle
    of_comments: Sequence[tuple[int, KeptOfComment]]

    def rows(self) -> Iterator[Sequence[tuple[int, KeptOfComment]]]:
        """What is kept of the comments, some at a time."""
        for start in range(0, len(self.of_comments), AT_ONCE):
            yield self.of_comments[start : start + AT_ONCE]


async def of(site: Site, database: Database, found: Archivable) -> Departure | None:
    """
    What is kept of an article. The caller has waited until the database has all changes of it. None if the article has
    to stay in Redis: a comment was written since it was found, a comment is pending, flagged or has an edit that waits
    for a moderator, or the database differs from Redis. Two round trips for 200 comments, and a query.
    """
    number = found.article.number
    hashes = await stored.stored(site, number)
    if hashes is None or len(hashes) != found.comments:
        return None
    comments = await database.run(conversation_rows.comments, number)
    departure = await asyncio.to_thread(partial(_departure, found, hashes, comments, site.policy.best_z))
    if departure is None:
        logger.warning("article:%d stays in Redis, as the database has other comments of it: see upvote verify", number)
    return departure


def _departure(found: Archivable, hashes: Hashes, comments: Sequence[Comment], best_z: float) -> Departure | None:
    """See `of`. `hashes` are the comments as Redis has them, `comments` as the database has them."""
    computed = conversation(found.article.number, comments, best_z)
    if not _is_equal(computed, found, hashes):
        return None
    article = found.article
    of_article = KeptOfArticle(article.active_at, article.comment_count, left=unix_milliseconds(), **found.kept)
    of_comments = [
        (
            number,
            KeptOfComment(
                reply_count=each.reply_count,
                descendant_count=computed.below.get(number, 0),
                path=hashes[number]["path"],
                notified=hashes[number].get("notified"),
            ),
        )
        for number, each in computed.comments.items()
    ]
    return Departure(of_article, of_comments)


def _is_equal(computed: Conversation, found: Archivable, hashes: Hashes) -> bool:
    """Whether the conversation computed from the database's rows is that of Redis."""
    read = {number: records.comment(number, fields) for number, fields in hashes.items()}
    article = found.article
    active_at = max(article.posted_at, computed.active_at or 0)  # which the hash lacks if it is the posting time
    of_article = article.comment_count, article.active_at or article.posted_at
    return read == computed.comments and of_article == (computed.comment_count, active_at)
