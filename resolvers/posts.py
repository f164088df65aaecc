"""
What is posted from now on, each article once.

An event says that an article was posted. Where events are missing, because the connection that hears them was lost or
because more of them waited than a mailbox holds, the articles are read from the listing by time, oldest first.
"""

from collections.abc import AsyncGenerator, Iterable, Sequence
from functools import partial

from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.errors import SubscriberTooSlow
from store import keys, listings
from store.events import Event, EventKind, of_posts
from store.listings import Listing, Page, Window
from store.ranking.formulas import Order
from store.records import Article, Position

PAGE = 100  # articles of the listing that are read at once
MARGIN = 60_000  # milliseconds by which an article may be listed after one of a later time: clocks differ
KEPT = 1_000  # articles that are known as sent at least, so that an event that waited sends none again
MOST_BEHIND = 10_000  # articles that may wait for a subscriber in the listing


class History:
    """
    What a subscriber was sent, and `floor`: all articles below this position of the listing are done with.

    `newest` were posted before the subscription began, or while it did.
    """

    def __init__(self, newest: Sequence[Position]) -> None:
        self._older = {position.number for position in newest}
        self._sent: dict[int, int] = {}  # posting times by number, in the order in which they were sent
        self.floor = Position(0, keys.member(0))
        if newest:
            self.floor = at(newest[0].value - MARGIN)
        if len(newest) == PAGE:
            self.floor = max(self.floor, newest[-1])

    def unknown(self, numbers: Iterable[int]) -> list[int]:
        return [number for number in numbers if number not in self._sent and number not in self._older]

    def add(self, article: Article, now: int) -> bool:
        """Note that an article is sent. Return False if it was sent before."""
        if article.number in self._sent:
            return False
        self._sent[article.number] = article.posted_at
        self.floor = max(self.floor, at(min(article.posted_at, now) - MARGIN))
        while len(self._sent) > KEPT and self._sent[oldest := next(iter(self._sent))] < self.floor.value:
            del self._sent[oldest]
        return True


def at(time: float) -> Position:
    """The position in a listing by time below all articles of this time."""
    return Position(time, keys.member(0))


async def posts(context: Context, group: str | None) -> AsyncGenerator[tuple[Event, Article], None]:
    """
    The articles that are posted, with the events after which they were read.

    Raises:
        SubscriberTooSlow: too many wait, since those before were not taken.
    """
    site, live = context.store.site, context.live
    listing = listings.whole(site, Order.TIME) if group is None else listings.group(site, group, Order.TIME)
    with live.events.mailbox(of_posts(group)) as mailbox:
        (newest,) = await context.reads.pages([(listing, Window(PAGE))])
        history = History(newest.positions)
        async for event in mailbox:
            position = history.floor if event.kind is EventKind.MISSED else None
            while True:
                numbers = [event.number]
                if position:
                    numbers, position = await _missed(context, listing, position, history, event)
                for article in await live.after(event, partial(_articles, numbers)):
                    if history.add(article, site.clock()):
                        yield event, article
                if position is None:
                    break
                event = Event(EventKind.MISSED)  # of its own: what is read for an event is kept as long as the event


async def _missed(
    context: Context, listing: Listing, position: Position, history: History, event: Event
) -> tuple[list[int], Position | None]:
    """The next articles above a position that were not sent, oldest first, and where to go on, if there are more."""
    page = await context.live.after(event, partial(_above, listing, position))
    if page.above > MOST_BEHIND:
        raise SubscriberTooSlow(MOST_BEHIND)
    numbers = history.unknown(position.number for position in reversed(page.positions))
    return numbers, page.positions[0] if page.above else None


async def _above(listing: Listing, position: Position, reads: Reads) -> Page:
    (page,) = await reads.pages([(listing, Window(PAGE, upwards=True, beyond=position))])
    return page


async def _articles(numbers: Sequence[int], reads: Reads) -> list[Article]:
    return [article for article in await reads.articles(numbers) if article]
