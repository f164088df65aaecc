"""Fields of User and of Group."""

from collections.abc import Sequence

from resolvers.arguments import BadInput, PageArguments, articles_by, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, article_connections, user_connections
from store import listings
from store.ranking.formulas import Order
from store.records import Article, Group, Profile, User


async def joined_at(users: Sequence[User], context: Context) -> list[int]:
    return [profile.joined_at for profile in await _profiles(users, context)]


async def karma(users: Sequence[User], context: Context) -> list[int]:
    return [profile.karma for profile in await _profiles(users, context)]


@paginated
async def articles(
    users: Sequence[User], context: Context, *, paging: PageArguments
) -> list[Connection[Article] | BadInput]:
    timelines = [listings.timeline(context.store.site, user.username) for user in users]
    return await article_connections(context, timelines, paging)


@paginated
async def followers(
    users: Sequence[User], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput]:
    followers = [listings.followers(context.store.site, user.username) for user in users]
    return await user_connections(context, followers, paging)


@paginated
async def following(
    users: Sequence[User], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput]:
    following = [listings.following(context.store.site, user.username) for user in users]
    return await user_connections(context, following, paging)


async def viewer_is_following(users: Sequence[User], context: Context) -> list[bool]:
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(users)
    return await context.reads.follows(viewer, [user.username for user in users])


@paginated
async def group_articles(
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


async def _profiles(users: Sequence[User], context: Context) -> list[Profile]:
    profiles = await context.reads.profiles(user.username for user in users)
    return [profile or Profile(user.username, 0, 0) for user, profile in zip(users, profiles, strict=True)]
