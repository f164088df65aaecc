"""Root fields of Query."""

from asyncio import gather
from collections.abc import Sequence

from resolvers import arguments
from resolvers.arguments import BadInput, PageArguments, articles_by, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, article_connection, name_connection
from resolvers.rate_limits import RateLimit
from store import listings, records, validation
from store.errors import Invalid
from store.ranking.formulas import FRONT_PAGE_SIZE, Order
from store.records import Article, Comment, Feed, Group, Inbox, Notification, User
from store.sessions import Login

Node = Article | Comment | User | Group | Feed | Inbox | Notification


async def node(context: Context, id: str) -> Node | BadInput | None:
    return (await nodes(context, [id]))[0]


async def nodes(context: Context, ids: Sequence[str]) -> list[Node | BadInput | None]:
    """
    One round trip for all of them; one more for the articles of comments, and for notifications. A malformed id has its
    own error.
    """
    arguments.check_count(ids)
    articles, comments, users, feeds, inboxes, notifications = await gather(
        _articles(context, ids),
        _comments(context, ids),
        _users(context, ids),
        _feeds(context, ids),
        _inboxes(context, ids),
        _notifications(context, ids),
    )
    found = {**articles, **comments, **users, **feeds, **inboxes, **notifications, **_groups(ids)}
    return [found[id] if id in found else BadInput(f"this is not a valid id: {id[:100]}") for id in ids]


async def viewer(context: Context) -> User | None:
    username = await context.viewer()
    return records.user(username) if username else None


async def session(context: Context) -> Login | None:
    return await context.login()


async def rate_limit(context: Context) -> RateLimit | None:
    return context.rate_limit()


async def feed(context: Context) -> Feed | None:
    username = await context.viewer()
    return Feed(username) if username else None


async def inbox(context: Context) -> Inbox | None:
    username = await context.viewer()
    return Inbox(username) if username else None


async def article(context: Context, id: str) -> Article | None:
    return (await context.reads.articles([arguments.article_number(id)]))[0]


async def comment(context: Context, id: str) -> Comment | None:
    """One round trip, and one more for its article: without that there is no comment."""
    return (await context.reads.comments([arguments.comment_number(id)]))[0]


async def user(context: Context, username: str) -> User | None:
    """None also for a malformed name, as names come from links and from people who mistype them."""
    if not validation.USERNAME.fullmatch(username):
        return None
    profile = (await context.reads.profiles([username]))[0]
    return records.user(profile.username) if profile else None


async def group(context: Context, name: str) -> Group | None:
    """A group that no article was posted to is an empty one. None for a name that no group can have."""
    found = arguments.group_name(name)
    return None if found == arguments.NO_GROUP else records.group(found)


@paginated
async def articles(
    context: Context,
    order: Order | None = Order.SCORE,
    group: str | None = None,
    since: int | None = None,
    *,
    paging: PageArguments,
    page: int | None = None,
    pinned: bool | None = False,
) -> Connection[Article]:
    name = arguments.group_name(group) if group is not None else None
    listing = articles_by(context.store.site, order, name, since)
    if page is not None:
        paging = paging._replace(page=page)
    return await article_connection(context, listing, paging, pinned=bool(pinned))


@paginated
async def articles_by_link(context: Context, link: str, *, paging: PageArguments) -> Connection[Article]:
    """
    Raises:
        BadInput: this is no link, or an earlier version made the store and its links are not indexed yet.
    """
    site = context.store.site
    if not site.rankings.has_links:
        raise BadInput("links are not indexed in this store yet: `upvote reindex` does it")
    try:
        valid = validation.link(link)
    except Invalid as fault:
        raise BadInput(fault.message) from fault
    return await article_connection(context, listings.by_link(site, valid), paging)


@paginated
async def front_page(context: Context, date: int | None = None, *, paging: PageArguments) -> Connection[Article]:
    return await article_connection(context, listings.front_page(context.store.site, date), paging, FRONT_PAGE_SIZE)


@paginated
async def all_groups(context: Context, *, paging: PageArguments) -> Connection[Group]:
    return name_connection("groups", await context.reads.groups(), paging, validation.GROUP, records.group)


async def _articles(context: Context, ids: Sequence[str]) -> dict[str, Article | None]:
    numbers = {id: number for id in ids if (number := records.article_number(id))}
    return dict(zip(numbers, await context.reads.articles(numbers.values()), strict=True))


async def _comments(context: Context, ids: Sequence[str]) -> dict[str, Comment | None]:
    numbers = {id: number for id in ids if (number := records.comment_number(id))}
    return dict(zip(numbers, await context.reads.comments(numbers.values()), strict=True))


async def _users(context: Context, ids: Sequence[str]) -> dict[str, User | None]:
    names = {id: name for id in ids if (name := records.username(id))}
    profiles = await context.reads.profiles(names.values())
    return {
        id: records.user(profile.username) if profile else None for id, profile in zip(names, profiles, strict=True)
    }


async def _feeds(context: Context, ids: Sequence[str]) -> dict[str, Feed | None]:
    """The viewer's feed by its id; None for ids of other users' feeds."""
    owned = [id for id in ids if records.feed_owner(id)]
    own = await feed(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


async def _inboxes(context: Context, ids: Sequence[str]) -> dict[str, Inbox | None]:
    """The viewer's inbox by its id; None for ids of other users' inboxes."""
    owned = [id for id in ids if records.inbox_owner(id)]
    own = await inbox(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


async def _notifications(context: Context, ids: Sequence[str]) -> dict[str, Notification | None]:
    """The viewer's notifications by id; None for those of others."""
    parts = {id: each for id in ids if (each := records.notification_parts(id))}
    viewer = await context.viewer() if parts else None
    own = {id: number for id, (name, number) in parts.items() if viewer and name.lower() == viewer.lower()}
    found = await context.reads.notifications(viewer, list(own.values())) if viewer else {}
    return {id: found.get(own[id]) if id in own else None for id in parts}


def _groups(ids: Sequence[str]) -> dict[str, Group]:
    return {id: records.group(name) for id in ids if (name := records.group_name(id))}
