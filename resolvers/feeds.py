"""
Fields of Feed: the articles of the viewer and of those whom they follow, newest first, merged whenever a page is read.
A feed belongs to the viewer, so a request has at most one. A pull is such a merge of the newest articles of some users.

The mark is the position up to which the viewer has seen the feed. A read of only the unseen articles takes it as its
floor: all that it returns is above it. Public functions whose first argument is a sequence are batch resolvers: they
return a value for each element, in order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from resolvers import pagination
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, LateTotal
from store import feeds as feeds_of_store
from store import hidden, keys
from store import home as homes_of_store
from store.feeds import UNSEEN_COUNTED, Pull
from store.listings import Page, Window
from store.queries import Read
from store.records import Article, Feed, Position
from store.site import Site


@dataclass(frozen=True, slots=True)
class FeedTotal(LateTotal):
    """Counts the articles of a feed, or the unseen ones."""

    feed: Feed
    unseen_only: bool

    async def count(self, context: Context) -> int:
        if self.unseen_only:
            return await _unseen_count(self.feed, context)
        return await _size(context.reads, self.feed.username)


@paginated
async def articles(
    feeds: Sequence[Feed], context: Context, *, paging: PageArguments, unseen_only: bool | None = False
) -> list[Connection[Article]]:
    return [await _page(feed, context, paging, bool(unseen_only)) for feed in feeds]


async def unseen_count(feeds: Sequence[Feed], context: Context) -> list[int]:
    return [await _unseen_count(feed, context) for feed in feeds]


async def seen_through(feeds: Sequence[Feed], context: Context) -> list[int | None]:
    marks = [await _mark_of(feed, context.reads) for feed in feeds]
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


async def _mark_of(feed: Feed, reads: Reads) -> Position | None:
    """The position up to which the user has marked the feed as seen; None without a mark."""
    (profile,) = await reads.profiles([feed.username])
    return profile.seen if profile else None


def _listing_name(feed: Feed) -> str:
    return f"feed:{feed.username.lower()}"


async def _page(feed: Feed, context: Context, paging: PageArguments, unseen_only: bool) -> Connection[Article]:
    name = _listing_name(feed)
    window = pagination.window(name, paging, ARTICLE_TIME_CURSOR)
    floor = await _mark_of(feed, context.reads) if unseen_only else None
    page = _page_of(await _pull(context.reads, feed.username, window, floor), window)
    return await pagination.connection_of_page(context, name, page, FeedTotal(feed, unseen_only))


def _page_of(pull: Pull, window: Window) -> Page:
    """
    The page of a pull. The pull has read one place more than the page has, to see whether another page follows.
    `pull.behind` says whether there are articles on the side from which the client comes.
    """
    more, behind = int(len(pull.positions) > window.count), int(pull.behind)
    places = tuple(pull.positions[: window.count])
    if window.upwards:
        return Page(places[::-1], above=more, below=behind)
    return Page(places, above=behind, below=more)


async def _unseen_count(feed: Feed, context: Context) -> int:
    """How many articles of a feed are unseen: exact up to `UNSEEN_COUNTED`, which is the highest count."""
    mark = await _mark_of(feed, context.reads)
    page = await _pull(context.reads, feed.username, Window(UNSEEN_COUNTED), mark)
    return min(len(page.positions), UNSEEN_COUNTED)


async def _pull(reads: Reads, username: str, window: Window, floor: Position | None) -> Pull:
    """
    One place more than the page of a feed has, above `floor`, without what the user hides. Two or three round trips or,
    where articles are hidden, more.
    """
    last_posts, hides_articles = await posters_of(reads, username, floor)
    one_more = Window(window.count + 1, window.upwards, window.beyond)
    if not hides_articles:
        return await reads.pull(last_posts, one_more, floor)
    ahead = await _shown(reads, username, last_posts, one_more, floor)
    if window.beyond is None:
        return Pull(ahead, behind=False)
    # whether an article that is shown is behind: at the position, or on the side from which the client comes
    from_here = homes_of_store.before(window.beyond, window.upwards)  # so that the position itself is read, too
    back = Window(count=1, upwards=not window.upwards, beyond=from_here)
    return Pull(ahead, bool(await _shown(reads, username, last_posts, back, floor)))


async def _shown(
    reads: Reads, username: str, last_posts: Mapping[str, float], window: Window, floor: Position | None
) -> list[Position]:
    """The next places of a feed that the user does not hide, nearest first."""
    shown: list[Position] = []
    beyond, size = window.beyond, window.count
    while True:
        found = (await reads.pull(last_posts, Window(size, window.upwards, beyond), floor)).positions
        hides = await reads.hidden(username, [each.number for each in found])
        shown += [each for each in found if each.number not in hides]
        if len(shown) >= window.count or len(found) < size:
            return shown[: window.count]
        beyond, size = found[-1], min(2 * size, UNSEEN_COUNTED)


async def _size(reads: Reads, username: str) -> int:
    """How many articles a feed has. One round trip besides those of its page; three if the user hides articles."""
    posters, hides_articles = await posters_of(reads, username, floor=None)
    size = await reads.count(posters)
    if not hides_articles:
        return size
    numbers = chain(*await reads.load_all(hidden.numbers(reads.site, username)))
    slots, names = set(map(keys.slot, posters)), {name.lower() for name in posters}
    # the number of an article contains the slot, a hash of its poster's name, so most articles of others are not read
    suspects = await reads.articles([number for number in numbers if number % keys.SLOTS in slots])
    return size - sum(each is not None and each.poster.lower() in names for each in suspects)


async def posters_of(reads: Reads, username: str, floor: Position | None) -> tuple[dict[str, float], bool]:
    """
    The user and everyone they follow and do not block, with the time of each one's newest article; and whether the user
    hides any article.

    One or two round trips. With a floor only those who posted after it are read, unless they are too many.
    """
    site = reads.site
    left_out: list[Read[Any]] = [homes_of_store.blocked(site, username), *hidden.counts(site, username)]
    found = await reads.load_all([*left_out, *_of_followed(site, username, floor)])
    blocked_names, *hidden_counts = found[: len(left_out)]
    last_posts, blocked = await _followed(reads, username, floor, found[len(left_out) :]), set(blocked_names)
    if blocked:
        last_posts = {name: time for name, time in last_posts.items() if name not in blocked}
    return last_posts, any(hidden_counts)


def _of_followed(site: Site, username: str, floor: Position | None) -> list[Read[Any]]:
    """The first reads for `_followed`."""
    own = feeds_of_store.last_posts(site, [username])
    if floor:
        return [*feeds_of_store.posters_since(site, floor), *own]
    if site.partitions == 1:
        return [feeds_of_store.followed_posters(site, username), *own]
    return [feeds_of_store.following(site, username)]


async def _followed(reads: Reads, username: str, floor: Position | None, found: Sequence[Any]) -> dict[str, float]:
    """
    Those whom a user follows, blocked ones too, and the user: the time of each one's newest article, by name. `found`
    are the results of `_of_followed`.
    """
    site = reads.site
    if floor:
        recent = _merged(found)
        if len(recent) > feeds_of_store.MAX_RECENT_POSTERS:
            found = await reads.load_all(_of_followed(site, username, floor=None))
            return await _followed(reads, username, floor=None, found=found)
        follows = await reads.load_all(feeds_of_store.follows(site, username, name) for name in recent)
        return {
            name: time
            for (name, time), is_followed in zip(recent.items(), follows, strict=True)
            if is_followed or name == username
        }
    if site.partitions == 1:
        return _merged(found)
    (names,) = found
    return _merged(await reads.load_all(feeds_of_store.last_posts(site, [*names, username])))


def _merged(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: time for part in parts for name, time in part.items()}
