"""
What the viewer has saved: the list, whether an article or a comment is in it, and the mutations that change it.

`of_homes` and `viewer_has_saved` are batch resolvers: they return a value for each element of their sequence. The home
of the viewer, their own front page, also has the list of what they have saved.
"""

from asyncio import gather
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from resolvers import subjects
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.filling import Source, full_connection
from resolvers.pagination import Connection, Nodes
from store import saved
from store.errors import Forbidden, NotFound, StoreUnavailable, Unauthenticated
from store.records import Article, Comment, ContentState, Home
from store.saved import Saved

Subject = Article | Comment


class SavedSubject(NamedTuple):
    """What was saved, or is not saved any more; None if it is not visible."""

    subject: Subject | None
    changed: bool


class FoundSubject(NamedTuple):
    """An article or a comment; None if it was deleted. A comment is visible only if its article is, too."""

    subject: Subject | None
    is_visible: bool

    @property
    def shown(self) -> Subject | None:
        return self.subject if self.is_visible else None


@paginated
async def of_homes(homes: Sequence[Home], context: Context, *, paging: PageArguments) -> list[Connection[Subject]]:
    """
    The articles and comments that the viewer has saved. Two or three round trips, and one to remove deleted ones from
    the list.
    """
    listings = [saved.listing(context.store.site, home.username) for home in homes]
    return [await full_connection(context, Source.of_listing(context, each), paging, SAVED_NODES) for each in listings]


async def viewer_has_saved(things: Sequence[Subject], context: Context) -> list[bool]:
    """Whether the viewer has saved each article or comment. One round trip for all, none if nobody is logged in."""
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(things)
    found = await context.reads.load(saved.among(context.store.site, viewer, [each.number for each in things]))
    return [is_saved and thing.state is not ContentState.DELETED for is_saved, thing in zip(found, things, strict=True)]


async def save(context: Context, subject_id: str) -> SavedSubject:
    """
    Save an article or a comment. It is read first, as the write sees only the list: the article or comment may be in
    the database only (archived), or in another partition of the store.
    """
    kind, number = subjects.kind_and_number(subject_id)
    actor, (found,) = context.actor(), await _find(context, [number])
    if await context.viewer() is None:
        raise Unauthenticated
    if found.subject is None or found.subject.id != f"{kind}:{number}":
        raise NotFound(f"there is no {kind}:{number}", "subjectId")
    if not found.is_visible:
        raise Forbidden(f"{kind}:{number} is not visible", "subjectId")
    return _answer(context, await context.write(saved.save(context.store.site, actor, number)), found)


async def unsave(context: Context, subject_id: str) -> SavedSubject:
    """
    Remove an article or a comment from the saved ones, even if it was deleted or hidden since. It is read first: if
    that fails, nothing changes.
    """
    _, number = subjects.kind_and_number(subject_id)
    actor, (found,) = context.actor(), await _find(context, [number])
    return _answer(context, await context.write(saved.unsave(context.store.site, actor, number)), found)


def _answer(context: Context, result: Saved, found: FoundSubject) -> SavedSubject:
    context.reads.set_checked_login(result.username)
    return SavedSubject(found.shown, result.changed)


async def _read(context: Context, numbers: Iterable[int]) -> list[Subject | None]:
    """
    The visible ones of the articles and comments that the viewer has saved. Deleted ones are removed from the list.
    """
    wanted = list(numbers)
    found = await _find(context, wanted)
    deleted = [number for number, each in zip(wanted, found, strict=True) if each.subject is None]
    viewer = await context.viewer()
    if deleted and viewer:
        with suppress(StoreUnavailable):  # a later read does it
            await saved.drop(context.store.site, viewer, deleted)
    return [each.shown for each in found]


async def _find(context: Context, numbers: Sequence[int]) -> list[FoundSubject]:
    """The articles and comments with these numbers. One round trip, and one for the articles of comments."""
    articles, comments = await gather(
        context.reads.articles_of_any_state(numbers), context.reads.stored_comments(numbers)
    )
    return [
        FoundSubject(article, article.state is ContentState.VISIBLE) if article else _found_comment(*comment)
        for article, comment in zip(articles, comments, strict=True)
    ]


def _found_comment(comment: Comment | None, article: Article | None) -> FoundSubject:
    if comment is None or article is None or comment.state is ContentState.DELETED:
        return FoundSubject(None, is_visible=False)
    visible = ContentState.VISIBLE
    return FoundSubject(comment, comment.state is visible and article.state is visible)


SAVED_NODES = Nodes(_read, subjects.bytes_of)  # how a page reads its records, and how much memory they take
