"""
The articles that the viewer hides: the list, whether an article is in it, and the mutations that change it.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
In `store.records`, `HIDDEN` means something else: the classes of records of articles that are not visible, because they
are pending or removed.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from resolvers import articles
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.filling import Source, full_connection
from resolvers.pagination import Connection, Nodes
from store import hidden, records
from store.errors import NotFound, StoreUnavailable, Unauthenticated
from store.hidden import Hidden
from store.records import HIDDEN, Article, Home


@paginated
async def of_homes(homes: Sequence[Home], context: Context, *, paging: PageArguments) -> list[Connection[Article]]:
    """The articles that the viewer hides. Two round trips, and one to remove deleted articles from the list."""
    listings = [hidden.listing(context.store.site, home.username) for home in homes]
    return [
        await full_connection(context, Source.of_listing(context, each), paging, HIDDEN_ARTICLE_NODES)
        for each in listings
    ]


async def viewer_has_hidden(found: Sequence[Article], context: Context) -> list[bool]:
    """Whether the viewer hides each article. One round trip, none if nobody is logged in."""
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(found)
    known = await context.reads.hidden(viewer, [article.number for article in found])
    return [article.number in known for article in found]


class ArticleHidden(NamedTuple):
    """An article that the viewer hides or shows again, None if they may not read it; and whether that was a change."""

    article: Article | None
    changed: bool


async def hide(context: Context, article_id: str) -> ArticleHidden:
    """Hide an article from the viewer's home and feed. It is read first, as it may be in the database only."""
    actor, number = context.actor(), articles.checked_number(article_id)
    (found,) = await context.articles([number])
    if await context.viewer() is None:
        raise Unauthenticated
    if found is None:
        raise NotFound(f"there is no article:{number}", "articleId")
    return _hidden(context, await context.write(hidden.hide(context.store.site, actor, number)), found)


async def unhide(context: Context, article_id: str) -> ArticleHidden:
    """Stop hiding an article, even if it was deleted since. It is read first: if that fails, nothing changes."""
    actor, number = context.actor(), articles.checked_number(article_id)
    (found,) = await context.articles([number])
    return _hidden(context, await context.write(hidden.unhide(context.store.site, actor, number)), found)


def _hidden(context: Context, result: Hidden, article: Article | None) -> ArticleHidden:
    context.reads.set_checked_login(result.username)
    return ArticleHidden(article, result.changed)


async def _read(context: Context, numbers: Iterable[int]) -> list[Article | None]:
    """The visible ones of the articles that the viewer hides. Deleted ones are removed from the list."""
    wanted = list(numbers)
    found = await context.reads.articles_of_any_state(wanted)
    deleted = [number for number, article in zip(wanted, found, strict=True) if article is None]
    viewer = await context.viewer()
    if deleted and viewer:
        with suppress(StoreUnavailable):  # a later read does it
            await hidden.drop(context.store.site, viewer, deleted)
    return [None if type(article) in HIDDEN else article for article in found]


HIDDEN_ARTICLE_NODES = Nodes(_read, records.size_of)  # how a page reads its articles, and how much memory they take
