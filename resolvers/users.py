"""Fields of User."""

from collections.abc import Sequence

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.pagination import Connection, PageArguments, article_connections, paginated, user_connections
from store import listings
from store.records import Article, Profile, User


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


async def _profiles(users: Sequence[User], context: Context) -> list[Profile]:
    profiles = await context.reads.profiles(user.username for user in users)
    return [profile or Profile(user.username, 0, 0) for user, profile in zip(users, profiles, strict=True)]
