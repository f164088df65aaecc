"""
Makes the hashes that archived articles and comments had in Redis from their rows in the SQL database, which alone has
them now: to write them back to Redis, to put them into a dump of the store, and to check them by `upvote verify`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from archive.conversations import conversation
from database import article_places
from database import conversations as rows
from database.conversations import KeptOfComment
from store import keys, links
from store.records import Article, Comment, ContentState

if TYPE_CHECKING:
    from database.statements import Connection


def article_fields(archived: Article) -> dict[str, str]:
    """The fields of an article's hash, except the digest of the link, which is derived from the link."""
    values: dict[str, str | int | None] = {
        "title": archived.title,
        "poster": archived.poster,
        "time": archived.posted_at,
        "up": archived.upvotes,
        "down": archived.downvotes,
        "groups": " ".join(archived.groups),
        "link": archived.link,
        "content": archived.content,
        "imported": archived.imported_votes or None,
        "edited": archived.edited_at,
        "active": archived.active_at,
        "state": _state(archived.state),
        "locked": 1 if archived.is_locked else None,
        "comments": archived.comment_count or None,
    }
    return _texts(values)


def article_fields_and_values(archived: Article) -> list[str]:
    """All fields of an article's hash, each followed by its value, as HSET takes them."""
    digest = links.digest(archived.link or "")
    derived = {links.FIELD: digest} if digest else {}
    return [text for pair in (article_fields(archived) | derived).items() for text in pair]


def comment_hashes(connection: "Connection", article: int, best_z: float) -> dict[int, dict[str, str]]:
    """
    The hashes that the comments of an archived article had, by number. `best_z` is the constant of the order BEST
    (`Policy.best_z`).
    """
    found, kept = rows.comments(connection, article), rows.kept(connection, article)
    (record,) = article_places.records(connection, [article])
    is_hidden = record is not None and record.state is not ContentState.VISIBLE
    comments = conversation(article, found, best_z).comments
    return {number: _comment_fields(each, kept[number], is_hidden) for number, each in comments.items()}


def _comment_fields(comment: Comment, kept: KeptOfComment, is_hidden: bool) -> dict[str, str]:
    """
    The fields of a comment's hash. `kept` is what the archive has kept of that hash. `is_hidden` says that the article
    is not visible: then the comment is not in lists either, which `away` says.
    """
    values: dict[str, str | int | None] = {
        "article": comment.article,
        "parent": comment.parent,
        "depth": comment.depth,
        "poster": comment.poster,
        "slot": None if comment.poster is None else keys.slot(comment.poster),  # which decides the poster's partition
        "content": comment.content,
        "time": comment.posted_at,
        "up": comment.upvotes,
        "down": comment.downvotes,
        "imported": comment.imported_votes or None,
        "edited": comment.edited_at,
        "state": _state(comment.state),
        "replies": comment.reply_count or None,
        "path": kept.path,
        "notified": kept.notified,
        "bare": 1 if comment.is_bare else None,
        "away": 1 if is_hidden and comment.state is not ContentState.DELETED else None,
    }
    return _texts(values)


def _state(state: ContentState) -> str | None:
    """The field `state`, which visible texts do not have."""
    return None if state is ContentState.VISIBLE else state.value


def _texts(values: Mapping[str, str | int | None]) -> dict[str, str]:
    """Values as a hash has them, without those that are None."""
    return {name: str(value) for name, value in values.items() if value is not None}
