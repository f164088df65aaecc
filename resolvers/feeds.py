"""Fields of Feed. A feed belongs to the viewer, so a request has at most one."""

from collections.abc import Sequence
from dataclasses import dataclass

from resolvers import pagination
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, LateTotal
from store.feeds import UNSEEN_COUNTED, Pull
from store.listings import Page, Window
from store.records import Article, Feed


@dataclass(frozen=True, slots=True)
class FeedTotal(LateTotal):
    """Counts the articles of a feed, or the unseen ones."""

    feed: Feed
    unseen_only: bool

    async def count(self, context: Context) -> int:
        if self.unseen_only:
            return await _unseen_count(self.feed, context)
        return await context.reads.feed_size(self.feed.username)


@paginated
async def articles(
    feeds: Sequence[Feed], context: Context, *, paging: PageArguments, unseen_only: bool | None = False
) -> list[Connection[Article]]:
    return [await _page(feed, context, paging, bool(unseen_only)) for feed in feeds]


async def unseen_count(feeds: Sequence[Feed], context: Context) -> list[int]:
    return [await _unseen_count(feed, context) for feed in feeds]


async def seen_through(feeds: Sequence[Feed], context: Context) -> list[int | None]:
    marks = [await context.reads.seen(feed.username) for feed in feeds]
    return [round(mark.value) if mark else None for mark in marks]


async def feed(context: Context) -> Feed | None:
    username = await context.viewer()
    return Feed(username) if username else None


async def mark_seen(context: Context, through: str) -> Feed:
    """Two round trips: the cursor has to belong to the viewer's feed, so the username is read first."""
    feed = Feed(await context.store.site.username(context.actor()))
    position = pagination.marked_position(_listing_name(feed), through)
    await context.write(context.store.follows.mark_seen(feed.username, position))
    return feed


def _listing_name(feed: Feed) -> str:
    return f"feed:{feed.username.lower()}"


async def _page(feed: Feed, context: Context, paging: PageArguments, unseen_only: bool) -> Connection[Article]:
    name = _listing_name(feed)
    window = pagination.window(name, paging, ARTICLE_TIME_CURSOR)
    floor = await context.reads.seen(feed.username) if unseen_only else None
    page = _page_of(await context.reads.feed_page(feed.username, window, floor), window)
    return (await pagination.connections_of_pages(context, [(name, page, FeedTotal(feed, unseen_only))]))[0]


def _page_of(pull: Pull, window: Window) -> Page:
    """The page of a pull that read one place more than the page has, to see whether there is a next one."""
    more, behind = int(len(pull.positions) > window.count), int(pull.behind)
    places = tuple(pull.positions[: window.count])
    if window.upwards:
        return Page(places[::-1], above=more, below=behind)
    return Page(places, above=behind, below=more)


async def _unseen_count(feed: Feed, context: Context) -> int:
    """Exact up to `UNSEEN_COUNTED`, which is the highest count."""
    mark = await context.reads.seen(feed.username)
    page = await context.reads.feed_page(feed.username, Window(UNSEEN_COUNTED), mark)
    return min(len(page.positions), UNSEEN_COUNTED)
