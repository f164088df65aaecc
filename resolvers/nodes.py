"""Nodes by id, of any type. A node is an object of the GraphQL schema with an id such as `article:1541`."""

from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping, Sequence

from resolvers import arguments, comments, feeds, home, inboxes
from resolvers.arguments import BadInput
from resolvers.context import Context
from store import leaving, records
from store.inboxes import find as find_notifications
from store.moderation_records import ModerationAction
from store.notifications import Inbox, Notification
from store.records import Article, Comment, Feed, Group, Home, User

Node = Article | Comment | User | Group | Feed | Home | Inbox | Notification | ModerationAction
# finds the nodes of one type among all ids of a request; the result has no entry for an id of another type
Reader = Callable[[Context, Sequence[str]], Awaitable[Mapping[str, Node | None]]]


async def node(context: Context, id: str) -> Node | BadInput | None:
    return (await nodes(context, [id]))[0]


async def nodes(context: Context, ids: Sequence[str]) -> list[Node | BadInput | None]:
    """
    The objects with these ids. One round trip for all of them; one more for the articles of comments, and for
    notifications. A malformed id has its own error.
    """
    arguments.check_count(ids)
    readers: Sequence[Reader] = (_articles, _comments, _users, _feeds, _homes, _inboxes, _notifications, _actions)
    parts = await gather(*(read(context, ids) for read in readers))
    found = {id: each for part in (*parts, _groups(ids)) for id, each in part.items()}
    return [found[id] if id in found else BadInput(f"this is not a valid id: {id[:100]}") for id in ids]


async def _articles(context: Context, ids: Sequence[str]) -> dict[str, Article | None]:
    numbers = {id: number for id in ids if (number := records.article_number(id))}
    return dict(zip(numbers, await context.articles(numbers.values()), strict=True))


async def _comments(context: Context, ids: Sequence[str]) -> dict[str, Comment | None]:
    numbers = {id: number for id in ids if (number := records.comment_number(id))}
    return dict(zip(numbers, await comments.of_viewer(context, list(numbers.values())), strict=True))


async def _users(context: Context, ids: Sequence[str]) -> dict[str, User | None]:
    """Users by id. The pseudonym of somebody who is being deleted has no profile yet."""
    names = {id: name for id in ids if (name := records.username(id))}
    pseudonyms = [name for name in names.values() if records.is_pseudonym(name)]
    begun, profiles = await gather(
        context.reads.load_all([leaving.is_begun(context.store.site, name) for name in pseudonyms]),
        context.reads.profiles(names.values()),
    )
    unfinished = {name for name, is_begun in zip(pseudonyms, begun, strict=True) if is_begun}
    written = [
        profile.username if profile else name if name in unfinished else None
        for name, profile in zip(names.values(), profiles, strict=True)
    ]
    return {id: records.user(name) if name else None for id, name in zip(names, written, strict=True)}


async def _feeds(context: Context, ids: Sequence[str]) -> dict[str, Feed | None]:
    """The viewer's feed by its id; None for ids of other users' feeds."""
    owned = [id for id in ids if records.feed_owner(id)]
    own = await feeds.feed(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


async def _homes(context: Context, ids: Sequence[str]) -> dict[str, Home | None]:
    """The viewer's home by its id; None for ids of other users' homes."""
    owned = [id for id in ids if records.home_owner(id)]
    own = await home.home(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


async def _inboxes(context: Context, ids: Sequence[str]) -> dict[str, Inbox | None]:
    """The viewer's inbox by its id; None for ids of other users' inboxes."""
    owned = [id for id in ids if records.inbox_owner(id)]
    own = await inboxes.inbox(context) if owned else None
    return {id: own if own and own.id == id.lower() else None for id in owned}


async def _notifications(context: Context, ids: Sequence[str]) -> dict[str, Notification | None]:
    """The viewer's notifications by id; None for those of others."""
    parts = {id: each for id in ids if (each := records.notification_parts(id))}
    viewer = await context.viewer() if parts else None
    own = {id: number for id, (name, number) in parts.items() if viewer and name.lower() == viewer.lower()}
    if viewer is None or not own:
        return dict.fromkeys(parts)
    found = await context.reads.load(find_notifications(context.store.site, viewer, list(own.values())))
    return {id: found.get(own[id]) if id in own else None for id in parts}


async def _actions(context: Context, ids: Sequence[str]) -> dict[str, ModerationAction | None]:
    numbers = {id: number for id in ids if (number := records.action_number(id))}
    return dict(zip(numbers, await context.reads.actions(numbers.values()), strict=True))


def _groups(ids: Sequence[str]) -> dict[str, Group]:
    return {id: records.group(name) for id in ids if (name := records.group_name(id))}
