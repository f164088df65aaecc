"""
Reverts: the command that undoes an action of a moderator, whatever its kind. The module of each kind has the function
that does it, and checks who may.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Mapping

from store import (
    annulments,
    article_moderation,
    bans,
    comment_moderation,
    keys,
    moderation_records,
    records,
    roles,
    validation,
)
from store.errors import Invalid, NotFound
from store.moderation import Moderated
from store.moderation_records import ModerationAction, ModerationKind
from store.roles import Authority, Moderator
from store.site import Site

Reverter = Callable[[Site, Authority, ModerationAction, str, str], Awaitable[Moderated]]  # with reason and note


async def _revert_content(
    site: Site, authority: Authority, action: ModerationAction, reason: str, note: str
) -> Moderated:
    if records.comment_number(action.subject_id):
        return await comment_moderation.revert(site, authority, action, reason, note)
    return await article_moderation.revert(site, authority, action, reason, note)


# the function that reverts an action, by its kind; actions of other kinds cannot be reverted
REVERTERS: Mapping[ModerationKind, Reverter] = {
    ModerationKind.GRANT_ROLE: roles.revert,
    ModerationKind.REVOKE_ROLE: roles.revert,
    ModerationKind.BAN: bans.revert,
    ModerationKind.ANNUL_VOTES: annulments.revert,
    ModerationKind.REMOVE: _revert_content,
    ModerationKind.APPROVE: _revert_content,
    ModerationKind.LOCK: article_moderation.revert,
}


async def revert(
    site: Site,
    actor: Moderator,
    number: int,
    reason: str,
    note: str | None = None,
    *,
    keeps_votes: bool = False,
) -> Moderated:
    """
    Revert the action with a number. Two round trips, and its module's. Votes that were annulled with a ban stay so
    if the revert `keeps_votes`; a second revert restores them, and nothing else.

    The script of its kind records the revert, marks the action as reverted, and sets what the remaining actions say.

    Raises:
        NotFound: there is no such action.
        AlreadyReverted: it was reverted before, and left no votes annulled.
        NotAModerator: the actor has a lower role than the action needed.
        Invalid: it is itself a revert, or of a kind that cannot be reverted, or annuls only votes, which would stay
            annulled; or the reason or the note breaks a rule.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    reason, stored_note = validation.reason(reason), validation.note(note)
    authority, action = await gather(roles.read_moderator(site, actor), read_action(site, number))
    if action is None:
        raise NotFound(f"there is no action:{number}", "actionId")
    if action.kind not in REVERTERS:
        raise Invalid(f"an action of the kind {action.kind.name} cannot be reverted", "actionId")
    if keeps_votes and action.kind is ModerationKind.ANNUL_VOTES:
        raise Invalid("to revert this action is to restore the votes", "keepVotesAnnulled")
    if keeps_votes and action.annulment:
        return await bans.revert(site, authority, action, reason, stored_note, keeps_votes=True)
    return await REVERTERS[action.kind](site, authority, action, reason, stored_note)


async def read_action(site: Site, number: int) -> ModerationAction | None:
    """The action with a number, as it is stored now. One round trip."""
    key = keys.action(site.partition_of_article(number), number)
    return moderation_records.moderation_action(number, await site.redis.run(("HGETALL", key)))
