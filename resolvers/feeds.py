"""The fields of a feed. A feed belongs to the viewer, so there is never more than one to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from resolvers import pagination
from resolvers.context import Context
from resolvers.pagination import Asked, Connection, connect
from store.feeds import UNSEEN_COUNTED, Pull
from store.listings import Page, Window
from store.records import Article, Feed, Position


@dataclass(frozen=True, slots=True)
class Total:
    """How many articles a feed has, or how many are unseen."""

    feed: Feed
    unseen_only: bool

    async def __call__(self, context: Context) -> int:
        if self.unseen_only:
            return await _unseen(self.feed, context)
        return await context.reads.count(await context.reads.posters_of_feed(self.feed.username, None))


async def articles(
    asked_feeds: Sequence[Feed],
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    unseen_only: bool | None = False,
) -> list[Connection[Article]]:
    asked = Asked(first, after, last, before)
    return [await _page(feed, context, asked, bool(unseen_only)) for feed in asked_feeds]


async def unseen_count(asked_feeds: Sequence[Feed], context: Context) -> list[int]:
    return [await _unseen(feed, context) for feed in asked_feeds]


async def seen_through(asked_feeds: Sequence[Feed], context: Context) -> list[int | None]:
    marks = [await context.reads.seen(feed.username) for feed in asked_feeds]
    return [round(mark.value) if mark else None for mark in marks]


def listing_name(feed: Feed) -> str:
    """What the cursors of a feed belong to."""
    return f"feed:{feed.username.lower()}"


async def _page(feed: Feed, context: Context, asked: Asked, unseen_only: bool) -> Connection[Article]:
    window = pagination.window(listing_name(feed), asked, pagination.ARTICLES_BY_TIME)
    floor = await context.reads.seen(feed.username) if unseen_only else None
    last = await context.reads.posters_of_feed(feed.username, floor)
    one_more = Window(window.count + 1, window.upwards, window.beyond)
    pull = await context.reads.pull(last, one_more, floor)
    return (await connect(context, [(listing_name(feed), _shown(pull, window), Total(feed, unseen_only))]))[0]


def _shown(pull: Pull, window: Window) -> Page:
    """One place more was pulled than is shown, to know whether there is more."""
    more, behind = int(len(pull.positions) > window.count), int(pull.behind)
    places = tuple(pull.positions[: window.count])
    if window.upwards:
        return Page(places[::-1], above=more, below=behind)
    return Page(places, above=behind, below=more)


async def _unseen(feed: Feed, context: Context) -> int:
    """Exact up to `UNSEEN_COUNTED`, then that."""
    mark: Position | None = await context.reads.seen(feed.username)
    last = await context.reads.posters_of_feed(feed.username, mark)
    return len((await context.reads.pull(last, Window(UNSEEN_COUNTED), mark)).positions)
