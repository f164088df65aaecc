"""
Root fields of Subscription. Each yields a record for every event, read after the event.

An event says that an article was posted or changed; it comes by Redis pub/sub to the mailbox of a subscriber. An event
MISSED says that others were lost, because the connection broke or the mailbox was full: then new articles are read from
the listing by time, oldest first. Each article is sent once.

A topic names the events that a mailbox gets. `Sent` knows what a subscriber was sent; its floor is the position in the
listing below which nothing needs to be read again.
"""

from asyncio import gather, sleep
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import TypeVar

from resolvers import arguments, articles, moderation, queues
from resolvers.arguments import BadInput, PageArguments, maintained_order
from resolvers.comments import shown_in_threads
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.live import RankingChange
from resolvers.sent import PAGE, Sent
from store import blocked, feeds, inboxes, listings, log, recent_comments, roles, threads
from store.errors import NotAModerator, NotFound, StoreUnavailable, Unauthenticated
from store.events import (
    OF_COMMENTS,
    QUEUES,
    RECONNECT_PAUSE,
    Event,
    EventKind,
    Mailbox,
    Topic,
    of_all_new_comments,
    of_comment_changes,
    of_inbox,
    of_moderation,
    of_new_comments,
    of_posts,
)
from store.inboxes import INBOX_SIZE
from store.listings import Listing, Page, Window
from store.moderation_records import ModerationAction
from store.notifications import Notification
from store.ranking.formulas import PAGE_SIZE, Order
from store.records import Article, Comment, ContentState, HiddenComment, Position

MOST_PENDING = 10_000  # articles or comments of a listing that may wait for a subscriber
MOST_COMMENTS = 1_000  # events about different comments that may wait for a subscriber
COMMENTS_AT_ONCE = 20  # that are read together; they are sent as they were then, so they are few

P = TypeVar("P", Article, Comment)
FoundComment = tuple[Comment | None, Article | None]  # a comment and its article; None if there is none to send


class SubscriberTooSlow(Exception):
    """More articles, or changed comments, wait to be sent than a subscriber may have pending."""

    def __init__(self, limit: int, pending: str = "articles") -> None:
        super().__init__(f"more than {limit} {pending} wait to be sent: subscribe again")


class ChangesLost(Exception):
    """The log no longer has changes that were missed while the connection to Redis was lost."""

    def __init__(self) -> None:
        super().__init__("changes of comments were lost: subscribe again, and read them again")


async def article_changed(context: Context, id: str) -> AsyncGenerator[Article, None]:
    """
    An article after each change, also after a comment, which changes the number of comments. Ends when the article is
    deleted, or is not visible any more and the viewer may not read it.
    """
    number = arguments.article_number(id)
    with context.live.changed_articles([number]) as changed:
        if await articles.article(context, id) is None:
            raise NotFound(f"there is no article:{number}")
        context.clear()  # what was read is not needed any more, and a subscription may be open for days
        while True:
            _, found = await changed.take()
            if found is not None and found.state is not ContentState.VISIBLE:
                (found,) = await _read_again(context, [number])
            if found is None:
                return
            yield found


async def articles_changed(context: Context, ids: Sequence[str]) -> AsyncGenerator[Article, None]:
    """
    As `article_changed` for each of at most `MAX_IDS` articles, but those that cannot be read are left out.

    After an event MISSED all of them are sent, as any may have changed. Nothing is kept of numbers without an article,
    so that memory does not grow with made-up ones.
    """
    arguments.check_count(ids)
    numbers = list(dict.fromkeys(map(arguments.article_number, ids)))
    with context.live.changed_articles(numbers) as changed:
        for number, article in zip(numbers, await context.articles(numbers), strict=True):
            if article is None:
                changed.forget(number)
        context.clear()  # as in `article_changed`
        while True:
            number, found = await changed.take()
            if found is not None and found.state is not ContentState.VISIBLE:
                (found,) = await _read_again(context, [number])
            if found is not None:
                yield found


async def article_posted(context: Context, group: str | None = None) -> AsyncGenerator[Article, None]:
    async with aclosing(_new_articles(context, arguments.group_name(group) if group is not None else None)) as posts:
        async for _, article in posts:
            yield article


async def feed_article(context: Context) -> AsyncGenerator[Article, None]:
    """Each new article of the viewer's feed. For each, the followed users and the session are read again."""
    viewer = await context.viewer()
    if viewer is None:
        raise context.unauthenticated()
    async with aclosing(_new_articles(context, group=None)) as posts:
        async for event, article in posts:
            if not await context.live.read_after(event, partial(_is_in_feed, viewer, article)):
                continue
            context.clear()
            if await context.viewer() is None:
                raise context.unauthenticated()
            yield article


async def notification(context: Context) -> AsyncGenerator[Notification, None]:
    """Each new notification of the viewer. For each, the session is read again."""
    viewer = await context.viewer()
    if viewer is None:
        raise context.unauthenticated()
    async with aclosing(_notifications(context, viewer)) as notifications:
        async for each in notifications:
            context.clear()
            if await context.viewer() is None:
                raise context.unauthenticated()
            yield each


async def comment_posted(
    context: Context, article_id: str | None = None, group: str | None = None, under: str | None = None
) -> AsyncGenerator[Comment, None]:
    """
    Each new comment, once: of the site, of a group, of an article, or below a comment of the article.

    Raises:
        BadInput: the arguments exclude each other.
        SubscriberTooSlow, ChangesLost: comments were missed.
    """
    if article_id is None and under is not None:
        raise BadInput("`under` needs `articleId`")
    if article_id is not None and group is not None:
        raise BadInput("`articleId` and `group` exclude each other")
    comments = (
        _new_comments(context, arguments.group_name(group) if group is not None else None)
        if article_id is None
        else _new_comments_of(context, article_id, under)
    )
    async with aclosing(comments) as found:
        async for comment in found:
            yield comment


async def _new_comments(context: Context, group: str | None) -> AsyncGenerator[Comment, None]:
    """New comments of the site or of a group. Those that are missed are read from the list of recent comments."""
    listing = recent_comments.listing(context.store.site, group)
    async with aclosing(_posts(context, of_all_new_comments(group), listing, _comments)) as posts:
        async for _, comment in posts:
            yield comment


async def _new_comments_of(context: Context, article_id: str, under: str | None) -> AsyncGenerator[Comment, None]:
    """New comments of an article, or below a comment of it, for those who may read it. Ends as `article_changed`."""
    number = arguments.article_number(article_id)
    above = arguments.comment_number(under) if under is not None else None
    with context.live.events.mailbox(of_new_comments(number), MOST_COMMENTS) as mailbox:
        latest = await _highest_comment(context, number, above)
        async with aclosing(_comments_after(context, mailbox, partial(_new_comment, above))) as found:
            async for event, comment in found:
                # an announced comment has waited for a moderator, so newer ones may have been sent before
                if event.number > latest or event.kind is EventKind.COMMENT_ANNOUNCED:
                    latest = max(latest, event.number)
                    yield comment


async def comment_changed(context: Context, article_id: str) -> AsyncGenerator[Comment, None]:
    """
    Each comment of an article after a vote, an edit or its deletion. Ends as `article_changed`.

    Raises:
        SubscriberTooSlow, ChangesLost: changes were missed.
    """
    number = arguments.article_number(article_id)
    with context.live.events.mailbox(of_comment_changes(number), MOST_COMMENTS) as mailbox:
        await _highest_comment(context, number, above=None)  # raises NotFound if there is no such article
        async with aclosing(_comments_after(context, mailbox, _changed_comment)) as found:
            async for _, comment in found:
                yield comment


async def moderation_queue_changed(context: Context, group: str | None = None) -> AsyncGenerator[int, None]:
    """
    How many things wait for moderators, whenever that changes. The roles are read at the start and after each event.

    Raises:
        NotAModerator: the viewer does not moderate there, or no more.
    """
    with context.live.events.mailbox(QUEUES, subject_of=_as_one) as mailbox:
        sent = await _waiting(context, group, context.reads)
        async for event in mailbox:
            waiting = await context.live.read_after(event, partial(_waiting, context, group))
            if waiting != sent:
                sent = waiting
                yield waiting


async def moderated(
    context: Context, group: str | None = None, subject_id: str | None = None
) -> AsyncGenerator[ModerationAction, None]:
    """
    Each new action, once. After an event MISSED, those that were not sent are read from the log. For each action the
    session and the roles of the viewer are read again: they decide whether the viewer may read its note.
    """
    listing = moderation.log_of(context.store.site, group, subject_id)
    name = group and arguments.group_name(group)
    with context.live.events.mailbox(of_moderation(name)) as mailbox:
        newest = await context.reads.page(listing, Window(PAGE))
        sent = Sent(newest.positions, known=(position.number for position in newest.positions))
        async for event in mailbox:
            async with aclosing(_new_actions(context, listing, event, sent)) as actions:
                async for action in actions:
                    is_wanted = subject_id is None or action.subject_id == subject_id.lower()
                    if is_wanted and sent.add(action.number, action.at, context.store.site.clock()):
                        context.clear()
                        yield action


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


async def _read_again(context: Context, numbers: Sequence[int]) -> list[Article | None]:
    """What the viewer may read of some articles now. While the store does not answer, this retries."""
    while True:
        context.clear()
        try:
            return await context.articles(numbers)
        except StoreUnavailable:
            await sleep(RECONNECT_PAUSE)


async def _is_readable(context: Context, event: Event) -> bool:
    """
    Whether the viewer may read the article of an event. Subscribers share the read of it; the session and the roles of
    the viewer are read again only if it is not visible.
    """
    (article,) = await context.live.read_after(event, lambda reads: reads.articles_of_any_state([event.number]))
    if article is not None and article.state is not ContentState.VISIBLE:
        (article,) = await _read_again(context, [event.number])
    return article is not None


def _as_one(event: Event) -> int:
    """The same subject for all events of a mailbox, so that it keeps only the latest: all lead to the same read."""
    return 0


async def _waiting(context: Context, group: str | None, reads: Reads) -> int:
    """How many things wait for moderators. Two round trips: the roles are read anew for each subscriber."""
    try:
        authority = await roles.read_authority(context.store.site, context.actor())
    except Unauthenticated:
        raise context.unauthenticated() from None
    groups = queues.moderated_groups(authority, group)
    if groups == ():  # the viewer moderates none; None is the whole site
        place = "of any group" if group is None else f"of the group {arguments.group_name(group)}"
        raise NotAModerator(f"you are no moderator {place}")
    return await queues.waiting(context, groups, reads)


async def _comments_after(
    context: Context, mailbox: Mailbox, read: Callable[[Event, Reads], Awaitable[FoundComment]]
) -> AsyncGenerator[tuple[Event, Comment], None]:
    """
    The events about comments of an article, each with its comment, which `read` finds, if the viewer may read it. Ends
    as `article_changed`. The comments of up to `COMMENTS_AT_ONCE` pending events are read together.

    Raises:
        SubscriberTooSlow, ChangesLost: events were missed.
    """
    while events := await mailbox.take(COMMENTS_AT_ONCE):
        about_comments = [event for event in events if event.kind in OF_COMMENTS]
        reads = [context.live.read_after(event, partial(read, event)) for event in about_comments]
        found = dict(zip(about_comments, await gather(*reads), strict=True))
        for event in events:
            if event.kind is EventKind.MISSED:
                raise SubscriberTooSlow(MOST_COMMENTS, "changed comments") if mailbox.has_overflowed else ChangesLost
            if event in found:
                if comment := await _as_readable(context, *found[event]):
                    yield event, comment
            elif event.kind is EventKind.DELETED or not await _is_readable(context, event):
                return


async def _highest_comment(context: Context, article: int, above: int | None) -> int:
    """
    A number that new comments of an article exceed. One round trip; one more with `above`, and one more if the article
    is not visible and somebody is logged in.

    Raises:
        NotFound: there is no such article that the viewer may read, or it has no comment `above`.
    """
    highest_number = context.reads.load(threads.highest_number(context.store.site, article))
    (found,), highest = await gather(context.articles([article]), highest_number)
    if found is None:
        raise NotFound(f"there is no article:{article}")
    if above is not None:
        (comment,) = await shown_in_threads(context, [above])
        if comment is None or comment.article != article:
            raise NotFound(f"article:{article} has no comment:{above}")
    return highest


async def _as_readable(context: Context, comment: Comment | None, article: Article | None) -> Comment | None:
    """A comment that was read for all subscribers; None if this viewer may not read its article."""
    if comment is None or article is None:
        return None
    if article.state is ContentState.VISIBLE:
        return comment
    (readable,) = await _read_again(context, [article.number])
    return HiddenComment(*comment) if readable else None


async def _new_comment(above: int | None, event: Event, reads: Reads) -> FoundComment:
    """
    A comment that was just posted, and its article. The comment is None if it was deleted or hidden already, or is not
    below the comment `above`.
    """
    number = event.number
    ((comment, article),), is_below = await gather(reads.stored_comments([number]), _is_below(number, above, reads))
    return comment if comment and is_below and comment.state is ContentState.VISIBLE else None, article


async def _is_below(number: int, above: int | None, reads: Reads) -> bool:
    """Whether a comment is anywhere below the comment `above`; True without one."""
    return above is None or (await reads.load(threads.are_under(reads.site, above, [number])))[number] == 1


async def _changed_comment(event: Event, reads: Reads) -> FoundComment:
    """
    The comment of an event, as everybody sees it who may read its article; and the article.

    If the comment is gone and the event is its deletion, the log tells how the deletion left it. If it is gone after
    another event, it is None: the event of its deletion follows. A comment that no thread shows any more (`is_bare`)
    has neither poster nor content.
    """
    ((comment, article),) = await reads.stored_comments([event.number])
    if comment is None and event.kind is EventKind.COMMENT_DELETED:
        (article,) = await reads.articles_of_any_state([event.article])
        return await reads.load(log.deleted_comment(reads.site, event.number, event.id)), article
    return comment and (comment.as_hidden if comment.is_bare else comment.as_shown), article


async def _is_in_feed(viewer: str, article: Article, reads: Reads) -> bool:
    follows = feeds.follows(reads.site, viewer, article.poster)
    blocks = blocked.blocks(reads.site, viewer, article.poster)
    is_followed, is_blocked = await reads.load_all([follows, blocks])
    hides = await reads.hidden(viewer, [article.number])
    return (article.poster == viewer or is_followed) and not is_blocked and not hides


def _new_articles(context: Context, group: str | None) -> AsyncGenerator[tuple[Event, Article], None]:
    """Each article that is posted in the site or a group, with the event after which it was read."""
    site = context.store.site
    listing = listings.whole(site, Order.TIME) if group is None else listings.group(site, group, Order.TIME)
    return _posts(context, of_posts(group), listing, _articles)


async def _posts(
    context: Context, topic: Topic, listing: Listing, read: Callable[[Sequence[int], Reads], Awaitable[Sequence[P]]]
) -> AsyncGenerator[tuple[Event, P], None]:
    """
    Each article or comment that is posted, with the event after which it was read. Those that are missed are read from
    a listing by time.

    Raises:
        SubscriberTooSlow: more than `MOST_PENDING` wait to be sent.
    """
    site, live = context.store.site, context.live
    with live.events.mailbox(topic) as mailbox:
        newest = await context.reads.page(listing, Window(PAGE))
        sent = Sent(newest.positions, known=(position.number for position in newest.positions))
        async for event in mailbox:
            # above it the listing is read; None: only what the event is about
            position = sent.floor if event.kind is EventKind.MISSED else None
            while True:
                numbers = [event.number]
                if position:
                    numbers, position = await _missed(context, listing, position, sent, event)
                for each in await live.read_after(event, partial(read, numbers)):
                    if sent.add(each.number, each.posted_at, site.clock()):
                        yield event, each
                if position is None:
                    break
                event = Event(EventKind.MISSED)  # a new one, as `live` caches reads by event


async def _comments(numbers: Sequence[int], reads: Reads) -> list[Comment]:
    """Comments that everybody may read."""
    return [each for each in await reads.comments(numbers) if each and each.state is ContentState.VISIBLE]


async def _missed(
    context: Context, listing: Listing, position: Position, sent: Sent[int], event: Event
) -> tuple[list[int], Position | None]:
    """The unsent entries of the page above a position, oldest first, and the position of the next page, if any."""
    page = await context.live.read_after(event, partial(_page_above, listing, position))
    if page.above > MOST_PENDING:
        raise SubscriberTooSlow(MOST_PENDING)
    numbers = sent.unsent(position.number for position in reversed(page.positions))
    return numbers, page.positions[0] if page.above else None


async def _page_above(listing: Listing, position: Position, reads: Reads) -> Page:
    return await reads.page(listing, Window(PAGE, upwards=True, beyond=position))


async def _notifications(context: Context, viewer: str) -> AsyncGenerator[Notification, None]:
    """
    Each new notification of a user, once; and once more when an appeal is answered, which gives it a new time. After an
    event MISSED, the unsent ones are read from the inbox.
    """
    with context.live.events.mailbox(of_inbox(viewer)) as mailbox:
        newest = (await context.reads.load(inboxes.page(context.store.site, viewer, Window(PAGE)))).notifications
        positions = [each.position for each in newest]
        sent = Sent(newest=positions, known=positions)
        async for event in mailbox:
            found = await context.live.read_after(event, partial(_new_notifications, viewer, event, sent))
            for each in found:
                if sent.add(each.position, each.at, context.store.site.clock()):
                    yield each


async def _new_notifications(viewer: str, event: Event, sent: Sent[Position], reads: Reads) -> list[Notification]:
    """
    The unsent notifications that an event is about, oldest first. There are none if the effect of the event is not
    applied yet: then it is published again.
    """
    if event.kind is EventKind.MISSED:
        window = Window(INBOX_SIZE, upwards=True, beyond=sent.floor)
        page = await reads.load(inboxes.page(reads.site, viewer, window))
        found = page.notifications[::-1]
    else:
        found = tuple((await reads.load(inboxes.find(reads.site, viewer, [event.number]))).values())
    by_position = {each.position: each for each in found}
    return [by_position[position] for position in sent.unsent(by_position)]


async def _new_actions(
    context: Context, listing: Listing, event: Event, sent: Sent[int]
) -> AsyncGenerator[ModerationAction, None]:
    """
    The unsent actions that an event is about, oldest first; after an event MISSED, those of the log above `sent.floor`,
    page by page.
    """
    numbers = [event.number] if event.kind is EventKind.MODERATED else []
    position = sent.floor if event.kind is EventKind.MISSED else None
    while True:
        if position:
            page = await context.live.read_after(event, partial(_page_above, listing, position))
            numbers = [each.number for each in reversed(page.positions)]
            position = page.positions[0] if page.above else None
        unsent = sent.unsent(numbers)
        for action in await context.live.read_after(event, partial(_actions, unsent)):
            yield action
        if position is None:
            return
        event = Event(EventKind.MISSED)  # a new one, as `live` caches reads by event


async def _actions(numbers: Sequence[int], reads: Reads) -> list[ModerationAction]:
    return [action for action in await reads.actions(numbers) if action]


async def _articles(numbers: Sequence[int], reads: Reads) -> list[Article]:
    return [article for article in await reads.articles(numbers) if article]
