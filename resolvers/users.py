"""The fields of a user."""

from collections.abc import Sequence

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.pagination import Asked, Connection, of_articles, of_users
from store import listings
from store.records import Article, Profile, User


async def joined_at(users: Sequence[User], context: Context) -> list[int]:
    return [profile.joined_at for profile in await _profiles(users, context)]


async def karma(users: Sequence[User], context: Context) -> list[int]:
    return [profile.karma for profile in await _profiles(users, context)]


async def articles(
    users: Sequence[User],
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> list[Connection[Article] | BadInput]:
    timelines = [listings.timeline(context.store.site, user.username) for user in users]
    return await of_articles(context, timelines, Asked(first, after, last, before))


async def followers(
    users: Sequence[User],
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> list[Connection[User] | BadInput]:
    found = [listings.followers(context.store.site, user.username) for user in users]
    return await of_users(context, found, Asked(first, after, last, before))


async def following(
    users: Sequence[User],
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> list[Connection[User] | BadInput]:
    found = [listings.following(context.store.site, user.username) for user in users]
    return await of_users(context, found, Asked(first, after, last, before))


async def viewer_is_following(users: Sequence[User], context: Context) -> list[bool]:
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(users)
    return await context.reads.follows(viewer, [user.username for user in users])


async def _profiles(users: Sequence[User], context: Context) -> list[Profile]:
    found = await context.reads.profiles(user.username for user in users)
    return [profile or Profile(user.username, 0, 0) for user, profile in zip(users, found, strict=True)]
