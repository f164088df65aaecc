"""Bans from the site and from groups."""

from collections.abc import Awaitable

from archive import banned_texts
from resolvers.context import Context
from resolvers.users import checked_username
from store import bans
from store.moderation import Moderated
from store.roles import Authority


async def ban(
    context: Context,
    user_id: str,
    reason: str,
    group: str | None = None,
    until: int | None = None,
    note: str | None = None,
    remove_texts: bool | None = False,
) -> Moderated:
    """Three round trips; if texts are removed, those of `banned_texts.begin`, too."""
    username = checked_username(user_id)

    def act(authority: Authority) -> Awaitable[Moderated]:
        given = (username, group, until, reason, note)
        return bans.ban(context.store.site, authority, *given, removes_texts=bool(remove_texts))

    done = await context.within_removal_limit(act)
    if done.changed and done.action and done.action.removes_texts:
        await context.write(banned_texts.begin(context.store, context.database, done.action.number))
    return done
