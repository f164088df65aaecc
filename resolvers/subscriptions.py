"""
Root fields of Subscription. Each yields a record for every event, read after the event.

An event says that an article was posted or changed. If events are missing, because the pub/sub connection was lost or a
mailbox was full, new articles are read from the listing by time, oldest first; each article is sent once.
"""

from asyncio import gather
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from functools import partial

from resolvers import arguments, queries
from resolvers.arguments import PageArguments, maintained_order
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.live import RankingChange
from store import keys, listings
from store.errors import NotFound
from store.events import (
    Event,
    EventKind,
    Mailbox,
    article_of,
    of_article,
    of_comment_changes,
    of_inbox,
    of_new_comments,
    of_posts,
)
from store.inboxes import SIZE as INBOX_SIZE
from store.listings import Listing, Page, Window
from store.ranking.formulas import PAGE_SIZE, Order
from store.records import Article, Comment, ContentState, Notification, Position

PAGE = 100  # articles that are read at once from the listing by time
CLOCK_SKEW = 60_000  # milliseconds by which the clocks of two servers may differ, so that articles are listed late
MAX_SENT = 1_000  # articles, the last that were sent to a subscriber: delayed events about them are ignored
MOST_PENDING = 10_000  # articles in the listing that may wait for a subscriber
MOST_COMMENTS = 1_000  # events about different comments that may wait for a subscriber


class SubscriberTooSlow(Exception):
    """More articles, or changed comments, wait to be sent than a subscriber may have pending."""

    def __init__(self, limit: int, pending: str = "articles") -> None:
        super().__init__(f"more than {limit} {pending} wait to be sent: subscribe again")


class ChangesLost(Exception):
    """The log no longer has changes that were missed while the connection to Redis was lost."""

    def __init__(self) -> None:
        super().__init__("changes of comments were lost: subscribe again, and read them again")


async def article_changed(context: Context, id: str) -> AsyncGenerator[Article, None]:
    """Also after a comment, which changes the number of comments. Ends when the article is deleted."""
    number = arguments.article_number(id)
    with context.live.events.mailbox(of_article(number), subject_of=article_of) as mailbox:
        if await queries.article(context, id) is None:
            raise NotFound(f"there is no article:{number}")
        async for event in mailbox:
            (article,) = await context.live.read_after(event, lambda reads: reads.articles([number]))
            if article is None:
                return
            yield article


async def articles_changed(context: Context, ids: Sequence[str]) -> AsyncGenerator[Article, None]:
    """
    As `article_changed` for each of at most `MAX_IDS` articles, but unknown and deleted ones are left out.

    After an event MISSED all of them are sent, as any may have changed. Nothing is kept of numbers without an article,
    so that memory does not grow with made-up ones.
    """
    arguments.check_count(ids)
    numbers = list(dict.fromkeys(map(arguments.article_number, ids)))
    mailbox, events = Mailbox(subject_of=article_of), context.live.events
    with events.subscribed(mailbox.put, *map(of_article, numbers)):
        found = await context.reads.articles(numbers)
    numbers = [article.number for article in found if article]
    with events.subscribed(mailbox.put, *map(of_article, numbers)):
        async for event in mailbox:
            changed = numbers if event.kind is EventKind.MISSED else [article_of(event)]
            for article in await context.live.read_after(event, partial(_articles, changed)):
                yield article


async def article_posted(context: Context, group: str | None = None) -> AsyncGenerator[Article, None]:
    async with aclosing(_posts(context, arguments.group_name(group) if group is not None else None)) as posts:
        async for _, article in posts:
            yield article


async def feed_article(context: Context) -> AsyncGenerator[Article, None]:
    """For each article, the followed users and the session are read again."""
    viewer = await context.viewer()
    if viewer is None:
        raise context.unauthenticated()
    async with aclosing(_posts(context, None)) as posts:
        async for event, article in posts:
            if not await context.live.read_after(event, partial(_is_in_feed, viewer, article)):
                continue
            context.clear()
            if await context.viewer() is None:
                raise context.unauthenticated()
            yield article


async def notification(context: Context) -> AsyncGenerator[Notification, None]:
    """For each notification, the session is read again."""
    viewer = await context.viewer()
    if viewer is None:
        raise context.unauthenticated()
    async with aclosing(_notifications(context, viewer)) as notifications:
        async for each in notifications:
            context.clear()
            if await context.viewer() is None:
                raise context.unauthenticated()
            yield each


async def comment_posted(context: Context, article_id: str, under: str | None = None) -> AsyncGenerator[Comment, None]:
    """
    Each new comment of an article, or each one below a comment, once. Ends when the article is deleted.

    Raises:
        SubscriberTooSlow, ChangesLost: comments were missed.
    """
    number = arguments.article_number(article_id)
    above = arguments.comment_number(under) if under is not None else None
    with context.live.events.mailbox(of_new_comments(number), MOST_COMMENTS) as mailbox:
        latest = await _highest_comment(context, number, above)
        async for event in _without_loss(mailbox):
            if event.kind is EventKind.DELETED:
                return
            if event.number <= latest:
                continue
            latest = event.number
            comment = await context.live.read_after(event, partial(_new_comment, event.number, above))
            if comment:
                yield comment


async def comment_changed(context: Context, article_id: str) -> AsyncGenerator[Comment, None]:
    """
    Each comment of an article after a vote, an edit or its deletion. Ends when the article is deleted.

    Raises:
        SubscriberTooSlow, ChangesLost: changes were missed.
    """
    number = arguments.article_number(article_id)
    with context.live.events.mailbox(of_comment_changes(number), MOST_COMMENTS) as mailbox:
        await _highest_comment(context, number, None)  # raises NotFound if there is no such article
        async for event in _without_loss(mailbox):
            if event.kind is EventKind.DELETED:
                return
            comment = await context.live.read_after(event, partial(_changed_comment, event))
            if comment:
                yield comment


async def ranking_changed(
    context: Context, order: Order | None = Order.SCORE, group: str | None = None, first: int | None = PAGE_SIZE
) -> AsyncGenerator[RankingChange, None]:
    """The current ranking, then its changes. Applying the moves of each change gives the current ranking."""
    size, name = PageArguments(first).size(), arguments.group_name(group) if group is not None else None
    order = maintained_order(context.store.site, order)
    with context.live.ranking(order, name, size, context.address) as ranking:
        async with aclosing(ranking.changes()) as changes:
            async for change in changes:
                yield change


async def _without_loss(mailbox: Mailbox) -> AsyncGenerator[Event, None]:
    async for event in mailbox:
        if event.kind is EventKind.MISSED:
            raise SubscriberTooSlow(MOST_COMMENTS, "changed comments") if mailbox.has_overflowed else ChangesLost
        yield event


async def _highest_comment(context: Context, article: int, above: int | None) -> int:
    """
    A number that new comments of an article exceed. One round trip; one more with `above`.

    Raises:
        NotFound: there is no such article, or it has no comment `above`.
    """
    reads = context.reads
    (found,), highest = await gather(reads.articles([article]), reads.highest_comment(article))
    if found is None:
        raise NotFound(f"there is no article:{article}")
    if above is not None:
        (comment,) = await reads.comments([above])
        if comment is None or comment.article != article:
            raise NotFound(f"article:{article} has no comment:{above}")
    return highest


async def _new_comment(number: int, above: int | None, reads: Reads) -> Comment | None:
    """A comment that was just posted; None if it was deleted already, or is not below another one."""
    (comment,), is_below = await gather(reads.comments([number]), _is_below(number, above, reads))
    return comment if comment and is_below and comment.state is not ContentState.DELETED else None


async def _is_below(number: int, above: int | None, reads: Reads) -> bool:
    return above is None or (await reads.are_under(above, [number]))[0]


async def _changed_comment(event: Event, reads: Reads) -> Comment | None:
    """The comment of an event. If it is gone, as its deletion left it; None if another event is about that."""
    (comment,) = await reads.comments([event.number])
    if comment is None and event.kind is EventKind.COMMENT_DELETED:
        return await reads.deleted_comment(event.number, event.id)
    return comment


async def _is_in_feed(viewer: str, article: Article, reads: Reads) -> bool:
    return article.poster == viewer or (await reads.follows(viewer, [article.poster]))[0]


class Sent:
    """
    The articles, or notifications, that a subscriber was sent.

    `newest` are the last `PAGE` ones before the subscription began. Those below `floor` in the listing by time need not
    be read again.
    """

    def __init__(self, newest: Sequence[Position]) -> None:
        self._older = {position.number for position in newest}
        self._sent: dict[int, int] = {}  # posting times by number, in the order in which they were sent
        self.floor = Position(0, keys.member(0))
        if newest:
            self.floor = _below(newest[0].value - CLOCK_SKEW)
        if len(newest) == PAGE:
            self.floor = max(self.floor, newest[-1])

    def unsent(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in numbers if number not in self._sent and number not in self._older]

    def add(self, number: int, posted_at: int, now: int) -> bool:
        """Record that an article is sent. Return False if it was sent before."""
        if number in self._sent:
            return False
        self._sent[number] = posted_at
        self.floor = max(self.floor, _below(min(posted_at, now) - CLOCK_SKEW))
        while len(self._sent) > MAX_SENT and self._sent[oldest := next(iter(self._sent))] < self.floor.value:
            del self._sent[oldest]
        return True


def _below(time: float) -> Position:
    """The position in a listing by time below all articles of this time."""
    return Position(time, keys.member(0))


async def _posts(context: Context, group: str | None) -> AsyncGenerator[tuple[Event, Article], None]:
    """
    Each article that is posted, with the event after which it was read.

    Raises:
        SubscriberTooSlow: more than `MOST_PENDING` articles wait to be sent.
    """
    site, live = context.store.site, context.live
    listing = listings.whole(site, Order.TIME) if group is None else listings.group(site, group, Order.TIME)
    with live.events.mailbox(of_posts(group)) as mailbox:
        (newest,) = await context.reads.pages([(listing, Window(PAGE))])
        sent = Sent(newest.positions)
        async for event in mailbox:
            position = sent.floor if event.kind is EventKind.MISSED else None
            while True:
                numbers = [event.number]
                if position:
                    numbers, position = await _missed(context, listing, position, sent, event)
                for article in await live.read_after(event, partial(_articles, numbers)):
                    if sent.add(article.number, article.posted_at, site.clock()):
                        yield event, article
                if position is None:
                    break
                event = Event(EventKind.MISSED)  # a new one, as `live` caches reads by event


async def _missed(
    context: Context, listing: Listing, position: Position, sent: Sent, event: Event
) -> tuple[list[int], Position | None]:
    """The unsent articles of the page above a position, oldest first, and the position of the next page, if any."""
    page = await context.live.read_after(event, partial(_page_above, listing, position))
    if page.above > MOST_PENDING:
        raise SubscriberTooSlow(MOST_PENDING)
    numbers = sent.unsent(position.number for position in reversed(page.positions))
    return numbers, page.positions[0] if page.above else None


async def _page_above(listing: Listing, position: Position, reads: Reads) -> Page:
    (page,) = await reads.pages([(listing, Window(PAGE, upwards=True, beyond=position))])
    return page


async def _notifications(context: Context, viewer: str) -> AsyncGenerator[Notification, None]:
    """Each new notification of a user, once. After an event MISSED, those that are not sent are read from the inbox."""
    with context.live.events.mailbox(of_inbox(viewer)) as mailbox:
        newest = (await context.reads.inbox(viewer, Window(PAGE))).notifications
        sent = Sent([each.position for each in newest])
        async for event in mailbox:
            found = await context.live.read_after(event, partial(_new_notifications, viewer, event, sent))
            for each in found:
                if sent.add(each.number, each.at, context.store.site.clock()):
                    yield each


async def _new_notifications(viewer: str, event: Event, sent: Sent, reads: Reads) -> list[Notification]:
    """
    The unsent notifications that an event is about, oldest first. There are none if its effect is not applied yet: then
    the event is published again.
    """
    if event.kind is EventKind.MISSED:
        window = Window(INBOX_SIZE, upwards=True, beyond=sent.floor)
        found = {each.number: each for each in (await reads.inbox(viewer, window)).notifications[::-1]}
    else:
        found = await reads.notifications(viewer, [event.number])
    return [found[number] for number in sent.unsent(found)]


async def _articles(numbers: Sequence[int], reads: Reads) -> list[Article]:
    return [article for article in await reads.articles(numbers) if article]
