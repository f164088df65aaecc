"""
Bans from the site and from groups, and annulments: votes of a user that no longer count.

Both are actions, which are entries in the log of what moderators did. If an action affects many votes or texts, the
first ones are done here, and the rest by a task that every server runs.
"""

from collections.abc import Awaitable

from archive import annulments as annulling
from archive import banned_texts
from resolvers.context import Context
from resolvers.users import checked_username
from store import annulments, bans, reverts
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
    annul_votes: bool | None = False,
) -> Moderated:
    """
    Ban a user, for good or until an instant (unix milliseconds). Three round trips; if texts are removed, also the cost
    of `banned_texts.begin`, and if votes are annulled, that of `archive.annulments.begin`.
    """
    username = checked_username(user_id)

    def act(authority: Authority) -> Awaitable[Moderated]:
        given = (username, group, until, reason, note)
        removes, annuls = bool(remove_texts), bool(annul_votes)
        return bans.ban(context.store.site, authority, *given, removes_texts=removes, annuls_votes=annuls)

    moderated = await context.within_removal_limit(act)
    if moderated.changed and moderated.action and moderated.action.removes_texts:
        await context.write(banned_texts.begin(context.store, context.database, moderated.action.number))
    return await _with_annulment_begun(context, moderated)


async def annul_votes(
    context: Context,
    user_id: str,
    reason: str,
    from_: int | None = None,
    to: int | None = None,
    note: str | None = None,
) -> Moderated:
    """
    Annul the votes of a user, or those cast between two instants (unix milliseconds). It counts as a ban for the rate
    limit of the moderator. Three round trips, and those of `archive.annulments.begin`.
    """
    username = checked_username(user_id)

    def act(authority: Authority) -> Awaitable[Moderated]:
        return annulments.annul(context.store.site, authority, username, from_, to, reason, note)

    return await _with_annulment_begun(context, await context.within_removal_limit(act))


async def _with_annulment_begun(context: Context, moderated: Moderated) -> Moderated:
    """Begin to annul votes if the action of a command annuls some. Return the action as it stands after that."""
    if not (moderated.changed and moderated.action and moderated.action.annulment):
        return moderated
    number = moderated.action.number
    await context.write(annulling.begin(context.store, context.database, number))
    return Moderated(await reverts.read_action(context.store.site, number), moderated.changed)
