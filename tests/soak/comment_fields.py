"""
The fields of the type Comment of the schema. A `Reading` is a comment that is not visible, as its poster and moderators
read it.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable
from typing import Any

from tests.soak import moderation_fields, saved
from tests.soak.input_checks import BadInput
from tests.soak.records import Article, Comment, Reading, User, named
from tests.soak.requests import Request
from tests.soak.text_fields import readable, replies, viewer_vote


class Unreadable(BadInput):
    """The error of the field `article` of a comment whose reader may not read the article."""

    code = "NOT_FOUND"


def _article_of(request: Request, comment: Comment) -> Article:
    article = readable(request, comment.article)
    if article is None:
        request.model.reached.count("comments read without their articles")
        raise Unreadable
    return article


def _placed(request: Request, comment: Comment | None) -> Comment | None:
    """A comment as the thread of its article shows it to those who may read the article."""
    if comment is None or not request.threads.has_place(comment):
        return None
    return comment if request.model.may_read(request.peek_viewer(), comment.article) else None


def _poster_of(request: Request, comment: Comment | Reading) -> User | None:
    if isinstance(comment, Reading):
        comment = comment.comment
    elif not comment.is_visible:
        return None
    request.model.reached.count("comments of users who have left", bool(comment.poster and comment.poster.has_left))
    return named(comment.poster)


def _content_of(request: Request, comment: Comment | Reading) -> str | None:
    if isinstance(comment, Reading):
        return comment.comment.content if comment.has_content else None
    return comment.content if comment.is_visible else None


def _comment_field(function: Callable[..., Any]) -> Callable[..., Any]:
    """A field of a comment that is the same for a `Reading` of it."""
    return lambda request, comment, **given: function(
        request, comment.comment if isinstance(comment, Reading) else comment, **given
    )


# fields that are the same for a comment that everybody reads, and for a `Reading`: a hidden one, for who may read it
OF_ALL_READINGS: dict[str, Callable[..., Any]] = {
    "id": lambda request, comment: f"comment:{comment.number}",
    "article": _article_of,
    "parent": lambda request, comment: _placed(request, comment.parent),
    "ancestors": lambda request, comment: [each for each in comment.ancestors if _placed(request, each)],
    "depth": lambda request, comment: len(comment.ancestors),
    "state": lambda request, comment: comment.state,
    "postedAt": lambda request, comment: comment.posted_at,
    "editedAt": lambda request, comment: comment.edited_at,
    "votes": lambda request, comment: comment.votes,
    "upvotes": lambda request, comment: len(comment.up),
    "downvotes": lambda request, comment: len(comment.down),
    "isVotingOpen": lambda request, comment: request.model.is_open(comment),
    "votingClosesAt": lambda request, comment: request.model.closes_at(comment),
    "viewerVote": viewer_vote,
    "replyCount": lambda request, comment: sum(each.is_visible for each in request.threads.replies(comment)),
    "descendantCount": lambda request, comment: request.threads.visible_descendants(comment),
    "replies": replies,
}
FIELDS: dict[str, Callable[..., Any]] = {
    **{name: _comment_field(function) for name, function in OF_ALL_READINGS.items()},
    "poster": _poster_of,
    "content": _content_of,
    **moderation_fields.VOTABLE_FIELDS,
    **saved.VOTABLE_FIELDS,
}
