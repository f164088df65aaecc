"""
Fields that articles and comments have in common, and who may read an article. `given` are the arguments of a field.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Iterator
from typing import Any

from tests.soak.pages import Page
from tests.soak.records import Article, Comment, User, vote_of
from tests.soak.requests import Request


def readable(request: Request, article: Article | None) -> Article | None:
    """An article if the viewer may read it; else None."""
    if article is None or article.is_visible:
        return article
    viewer = request.peek_viewer()
    may_read = request.model.may_read(viewer, article)
    for who in _readers(viewer, article):
        request.model.reached.count(f"{article.state.lower()} articles read by {who}")
    return article if may_read else None


def _readers(viewer: User | None, article: Article) -> Iterator[str]:
    """The kinds of readers of an article of which a viewer is one, to be counted."""
    if viewer is None:
        yield "strangers"
    elif article.poster is viewer:
        yield "posters"
    elif viewer.is_admin:
        yield "admins"
    elif viewer.moderates_site:
        yield "moderators of the site"
    elif viewer.moderates(article.groups):
        yield "moderators of the group"
    elif viewer.roles:
        yield "moderators of another group"
    else:
        yield "others"


def replies(request: Request, parent: Article | Comment, **given: Any) -> Page:
    article = parent.article if isinstance(parent, Comment) else parent
    may_read = request.model.may_read(request.peek_viewer(), article)
    request.model.reached.count("replies to own comments on articles that are not readable", not may_read)
    return request.threads.siblings(parent, given.get("order") or "BEST", request.paging(given), is_empty=not may_read)


def viewer_vote(request: Request, subject: Article | Comment) -> str | None:
    viewer = request.viewer()
    if viewer is None or not request.model.has_voters(subject):
        return None
    request.model.reached.count("annulled votes shown to their voters", viewer in subject.annulled)
    return vote_of(subject, viewer)
