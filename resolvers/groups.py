"""
Groups, and the articles of each.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
What is written about a group (title, about) and whether an admin has listed it are its description; most have none.
"""

from collections.abc import Awaitable, Sequence

from resolvers import arguments
from resolvers.arguments import BadInput, PageArguments, articles_by, paginated
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.pagination import Connection, article_connections, name_connection
from store import home, queries, records, validation
from store.follows import Follow
from store.ranking.formulas import Order
from store.records import Article, Group


async def title(groups: Sequence[Group], context: Context) -> list[str | None]:
    found = await context.reads.group_descriptions(group.name for group in groups)
    return [each.title if each else None for each in found]


async def about(groups: Sequence[Group], context: Context) -> list[str | None]:
    found = await context.reads.group_descriptions(group.name for group in groups)
    return [each.about if each else None for each in found]


async def is_listed(groups: Sequence[Group], context: Context) -> list[bool]:
    found = await context.reads.group_descriptions(group.name for group in groups)
    return [each is not None and each.listed_at is not None for each in found]


async def viewer_is_following(groups: Sequence[Group], context: Context) -> list[bool]:
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(groups)
    site = context.store.site
    return await context.reads.load_all(home.follows_group(site, viewer, group.name) for group in groups)


async def follower_count(groups: Sequence[Group], context: Context) -> list[int]:
    return await context.reads.load_all(home.follower_count(context.store.site, group.name) for group in groups)


@paginated
async def articles(
    groups: Sequence[Group],
    context: Context,
    order: Order | None = Order.SCORE,
    since: int | None = None,
    *,
    paging: PageArguments,
    page: int | None = None,
    pinned: bool | None = False,
) -> list[Connection[Article] | BadInput]:
    wanted = [articles_by(context.store.site, order, group.name, since) for group in groups]
    if page is not None:
        paging = paging._replace(page=page)
    return await article_connections(context, wanted, paging, pinned=bool(pinned))


async def group(context: Context, name: str) -> Group | None:
    """
    The group with a name. A group that has no articles is an empty one, listed or not. None for a name that no group
    can have.
    """
    found = arguments.group_name(name)
    return None if found == arguments.NO_GROUP else records.group(found)


async def edit(context: Context, group: str, **changes: str | None) -> Group:
    """Change what is given. Null removes a text."""
    actor, texts = context.actor(), {field: text or "" for field, text in changes.items()}
    return records.group(await context.write(context.store.groups.edit(actor, group, texts)))


async def follow(context: Context, group: str) -> Follow:
    return await _follow(context, context.store.follows.follow_group(context.actor(), group))


async def unfollow(context: Context, group: str) -> Follow:
    return await _follow(context, context.store.follows.unfollow_group(context.actor(), group))


async def _follow(context: Context, command: Awaitable[Follow]) -> Follow:
    followed = await context.write(command)
    context.reads.set_checked_login(followed.follower)
    return followed


@paginated
async def groups(context: Context, *, paging: PageArguments) -> Connection[Group]:
    return name_connection("groups", await all_names(context.reads), paging, validation.GROUP, records.group)


async def all_names(reads: Reads) -> list[str]:
    """The names of all groups that have articles or are listed, sorted. One round trip."""
    names = await reads.load_all(queries.groups(partition) for partition in range(reads.site.partitions))
    return sorted({name for part in names for name in part})
