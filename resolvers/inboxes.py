"""
Fields of Inbox and of Notification: replies to the viewer, mentions of them, and what moderators do about them. An
inbox belongs to the viewer, so a request has at most one.

The mark is the position up to which the viewer has seen the inbox. Public functions whose first argument is a sequence
are batch resolvers: they return a value for each element, in order.
"""

from collections.abc import Sequence

from resolvers import pagination
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, Edge, page_info
from store import inboxes, records
from store.inboxes import InboxPage
from store.listings import Window
from store.moderation_records import ModerationAction
from store.notifications import Inbox, Notification
from store.records import Article, Comment, ContentState, User

Subject = Article | Comment | ModerationAction
NOTHING = Window(count=0)  # the page without notifications, which says how many are unseen and where the mark is


@paginated
async def notifications(
    inboxes: Sequence[Inbox], context: Context, *, paging: PageArguments, unseen_only: bool | None = False
) -> list[Connection[Notification]]:
    """A page of each inbox. One round trip."""
    return [await _page(inbox, context, paging, bool(unseen_only)) for inbox in inboxes]


async def unseen_count(inboxes: Sequence[Inbox], context: Context) -> list[int]:
    return [page.unseen for page in await _summaries(inboxes, context)]


async def seen_through(inboxes: Sequence[Inbox], context: Context) -> list[int | None]:
    marks = [page.seen for page in await _summaries(inboxes, context)]
    return [round(mark.value) if mark else None for mark in marks]


async def subject(notifications: Sequence[Notification], context: Context) -> list[Subject | None]:
    """
    The article, comment or action of each notification; None if it was deleted or hidden. One or two round trips for
    all.
    """
    comments = [each.number for each in notifications if each.type == "comment"]
    articles = [each.number for each in notifications if each.type == "article"]
    actions = [each.number for each in notifications if each.type == "action"]
    found: dict[int, Subject | None] = {}
    if comments:
        found.update(zip(comments, await context.reads.comments(comments), strict=True))
    if articles:
        found.update(zip(articles, await context.reads.articles(articles), strict=True))
    if actions:
        found.update(zip(actions, await context.reads.actions(actions), strict=True))
    return [_if_visible(found[each.number]) for each in notifications]


async def actor(notifications: Sequence[Notification], context: Context) -> list[User | None]:
    """The poster of the subject. None if that is an action of a moderator, or if it was deleted or hidden."""
    subjects = zip(notifications, await subject(notifications, context), strict=True)
    return [records.named(found.poster) if isinstance(found, Article | Comment) else None for _, found in subjects]


async def inbox(context: Context) -> Inbox | None:
    username = await context.viewer()
    return Inbox(username) if username else None


async def mark_seen(context: Context, through: str) -> Inbox:
    """Two round trips: the cursor has to belong to the viewer's inbox, so the username is read first."""
    inbox = Inbox(await context.store.site.username(context.actor()))
    position = pagination.marked_position(inbox.id, through)
    await context.write(context.store.inboxes.mark_seen(inbox.username, position))
    return inbox


async def _page(inbox: Inbox, context: Context, paging: PageArguments, unseen_only: bool) -> Connection[Notification]:
    window = pagination.window(inbox.id, paging, ARTICLE_TIME_CURSOR)
    page = await context.reads.load(inboxes.page(context.store.site, inbox.username, window, unseen_only=unseen_only))
    edges = [Edge(inbox.id, each.position, each) for each in page.notifications]
    has_next = page.total > page.above + len(edges)
    return Connection(edges, page_info(edges, page.above > 0, has_next), page.total)


async def _summaries(own: Sequence[Inbox], context: Context) -> list[InboxPage]:
    reads, site = context.reads, context.store.site
    return [await reads.load(inboxes.page(site, inbox.username, NOTHING)) for inbox in own]


def _if_visible(subject: Subject | None) -> Subject | None:
    is_hidden = isinstance(subject, Article | Comment) and subject.state is not ContentState.VISIBLE
    return None if is_hidden else subject
