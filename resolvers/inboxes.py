"""Fields of Inbox and of Notification. An inbox belongs to the viewer, so a request has at most one."""

from collections.abc import Sequence

from resolvers import pagination
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, Edge, page_info
from store import records
from store.inboxes import InboxPage
from store.listings import Window
from store.records import Article, Comment, ContentState, Inbox, Notification, NotificationKind, Position, User

NOTHING = Window(0)  # the page that has only the numbers of an inbox


@paginated
async def notifications(
    inboxes: Sequence[Inbox], context: Context, *, paging: PageArguments, unseen_only: bool | None = False
) -> list[Connection[Notification]]:
    """One round trip."""
    return [await _page(inbox, context, paging, bool(unseen_only)) for inbox in inboxes]


async def unseen_count(inboxes: Sequence[Inbox], context: Context) -> list[int]:
    return [page.unseen for page in await _summaries(inboxes, context)]


async def seen_through(inboxes: Sequence[Inbox], context: Context) -> list[int | None]:
    marks = [page.seen for page in await _summaries(inboxes, context)]
    return [round(mark.value) if mark else None for mark in marks]


async def subject(notifications: Sequence[Notification], context: Context) -> list[Article | Comment | None]:
    """The article or comment of each notification; None if it was deleted. One or two round trips for all."""
    comments = [each.number for each in notifications if each.type == "comment"]
    articles = [each.number for each in notifications if each.type == "article"]
    found: dict[int, Article | Comment | None] = {}
    if comments:
        found.update(zip(comments, await context.reads.comments(comments), strict=True))
    if articles:
        found.update(zip(articles, await context.reads.articles(articles), strict=True))
    return [_unless_deleted(found[each.number]) for each in notifications]


async def actor(notifications: Sequence[Notification], context: Context) -> list[User | None]:
    """The poster of the subject. None for what a moderator did, and if the subject was deleted."""
    subjects = zip(notifications, await subject(notifications, context), strict=True)
    return [
        records.user(found.poster) if found and found.poster and each.kind is not NotificationKind.MODERATION else None
        for each, found in subjects
    ]


def cursor_position(inbox: Inbox, cursor: str) -> Position:
    """The position that a cursor of an inbox points to. Raises BadInput if it is not one."""
    return pagination.decode_position(inbox.id, cursor, ARTICLE_TIME_CURSOR).position


async def _page(inbox: Inbox, context: Context, paging: PageArguments, unseen_only: bool) -> Connection[Notification]:
    window = pagination.window(inbox.id, paging, ARTICLE_TIME_CURSOR)
    page = await context.reads.inbox(inbox.username, window, unseen_only)
    edges = [Edge(inbox.id, each.position, each) for each in page.notifications]
    has_next = page.total > page.above + len(edges)
    return Connection(edges, page_info(edges, page.above > 0, has_next), page.total)


async def _summaries(inboxes: Sequence[Inbox], context: Context) -> list[InboxPage]:
    return [await context.reads.inbox(inbox.username, NOTHING) for inbox in inboxes]


def _unless_deleted(subject: Article | Comment | None) -> Article | Comment | None:
    return None if subject is None or subject.state is ContentState.DELETED else subject
