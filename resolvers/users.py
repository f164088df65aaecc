"""
Users: their fields, and whom the viewer follows.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
A User is only a name; what else is known of a user is a Profile, which is read.
"""

from collections.abc import Sequence

from resolvers.arguments import BadInput, PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, article_connections, user_connections
from store import blocked, feeds, listings, records, standing_bans, validation
from store.errors import Forbidden, Invalid
from store.follows import Follow
from store.records import Article, Profile, User

# the texts that users write about themselves: fields of a Profile, and of the input that edits them
PROFILE = {"display_name": "displayName", "about": "about", "avatar_url": "avatarUrl"}


async def joined_at(users: Sequence[User], context: Context) -> list[int]:
    return [profile.joined_at for profile in await _profiles(users, context)]


async def karma(users: Sequence[User], context: Context) -> list[int]:
    return [profile.karma for profile in await _profiles(users, context)]


async def display_name(users: Sequence[User], context: Context) -> list[str | None]:
    return [profile.display_name for profile in await _profiles(users, context)]


async def about(users: Sequence[User], context: Context) -> list[str | None]:
    return [profile.about for profile in await _profiles(users, context)]


async def avatar_url(users: Sequence[User], context: Context) -> list[str | None]:
    return [profile.avatar_url for profile in await _profiles(users, context)]


async def is_banned(users: Sequence[User], context: Context) -> list[bool]:
    return [standing_bans.of_site(profile.bans, context.now) is not None for profile in await _profiles(users, context)]


async def banned_until(users: Sequence[User], context: Context) -> list[int | None]:
    """
    When the ban of each user from the site ends. Only for the viewer, and for moderators; None for a ban for good, and
    for others.
    """
    viewer = await context.viewer()
    (own,) = await context.reads.profiles([viewer]) if viewer else [None]
    bans = [standing_bans.of_site(profile.bans, context.now) for profile in await _profiles(users, context)]
    return [
        ban.until if ban and own and (own.roles or user.username == own.username) else None
        for user, ban in zip(users, bans, strict=True)
    ]


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
    lists = [listings.followers(context.store.site, user.username) for user in users]
    return await user_connections(context, lists, paging)


@paginated
async def following(
    users: Sequence[User], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput]:
    lists = [listings.following(context.store.site, user.username) for user in users]
    return await user_connections(context, lists, paging)


async def viewer_is_following(users: Sequence[User], context: Context) -> list[bool]:
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(users)
    site = context.store.site
    return await context.reads.load_all(feeds.follows(site, viewer, user.username) for user in users)


async def viewer_is_blocking(users: Sequence[User], context: Context) -> list[bool]:
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(users)
    return await context.reads.load_all(blocked.blocks(context.store.site, viewer, user.username) for user in users)


async def user(context: Context, username: str) -> User | None:
    """
    The user with a name. None also for a malformed name, as names come from links and from people who mistype them.
    """
    if not validation.USERNAME.fullmatch(username):
        return None
    profile = (await context.reads.profiles([username]))[0]
    return records.user(profile.username) if profile else None


async def edit_profile(context: Context, **changes: str | None) -> User:
    """
    Change what is given. Null removes a text. An issuer is a service outside at which users log in; a site may take
    some fields from what it says, and these cannot be changed here.
    """
    actor, texts = context.actor(), {field: text or "" for field, text in changes.items()}
    for field, issuer in (await context.issuers_of_fields()).items():
        if field in texts:
            raise Forbidden(f"this is what the issuer {issuer} says of you", PROFILE[field])
    username = await context.write(context.store.users.edit_profile(actor, texts))
    context.reads.set_checked_login(username)
    return records.user(username)


async def follow(context: Context, user_id: str) -> Follow:
    actor, username = context.actor(), checked_username(user_id)
    followed = await context.write(context.store.follows.follow(actor, username))
    context.reads.set_checked_login(followed.follower)
    return followed


async def unfollow(context: Context, user_id: str) -> Follow:
    actor, username = context.actor(), checked_username(user_id)
    followed = await context.write(context.store.follows.unfollow(actor, username))
    context.reads.set_checked_login(followed.follower)
    return followed


def checked_username(user_id: str) -> str:
    """The name in the input `userId`. Raises Invalid if it is malformed."""
    name = records.username(user_id)
    if name is None:
        raise Invalid("a user's id looks like user:alice", "userId")
    return name


async def _profiles(users: Sequence[User], context: Context) -> list[Profile]:
    """The profile of each user; an empty one for a user without one, such as one who is being deleted."""
    profiles = await context.reads.profiles(user.username for user in users)
    pairs = zip(users, profiles, strict=True)
    return [profile or Profile(user.username, joined_at=0, karma=0) for user, profile in pairs]
