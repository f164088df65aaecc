"""
Commands of moderators on comments: remove and approve them. Each is one atomic script in the partition (a share of the
data) of the article. The state of a comment follows from the actions on it that were not reverted.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from store import comments, effects, keys, moderation, roles, validation
from store.errors import AlreadyReverted, Invalid, NotFound
from store.log import Entry
from store.moderation import Moderated
from store.moderation_records import ModerationAction
from store.roles import Moderator
from store.scripts.registry import Script
from store.site import Site

MODERATE_COMMENT = Script("moderate_comment")


class Poster(NamedTuple):
    """Who posted a comment, with the words of their roles."""

    username: str
    roles: str


async def remove(
    site: Site, moderator: Moderator, number: int, group: str | None, reason: str, note: str | None = None
) -> Moderated:
    """
    Hide a comment everywhere. `group` is the group in whose name that is done; None for the site.

    A comment is for moderators of the site, and of any group of its article. Three round trips, and one more where
    `Comments.set_state` takes more than one.

    Raises:
        NotFound: there is no such comment, or it was deleted.
        NotAModerator: the actor may not do this here, with this poster, or with a comment of their own.
        Invalid: the article is not in the group; the reason is empty, or texts are too long.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    return await _act(site, moderator, number, "remove", group, validation.reason(reason), note)


async def approve(
    site: Site, moderator: Moderator, number: int, reason: str | None = None, note: str | None = None
) -> Moderated:
    """
    Make a comment visible, at the places that it would have if it had never been hidden, and apply the edit of it
    that waits for approval. The cost is that of `remove`.

    Raises as `remove`, and Invalid for one whose text was purged.
    """
    checked = validation.reason(reason) if reason else ""
    return await _act(site, moderator, number, "approve", group=None, reason=checked, note=note)


async def reject_edit(site: Site, moderator: Moderator, number: int, reason: str, note: str | None = None) -> Moderated:
    """
    Drop the edit of a comment that waits for approval. The comment stays as it is. The cost is that of `remove`.

    Raises as `remove`.
    """
    return await _act(site, moderator, number, "reject_edit", group=None, reason=validation.reason(reason), note=note)


async def revert(
    site: Site, moderator: Moderator, action: ModerationAction, reason: str, note: str | None = None
) -> Moderated:
    """
    Revert an action of this module. The cost is that of `remove`.

    Raises as `remove`, and AlreadyReverted: the action was reverted before.
    """
    number = int(action.subject_id.removeprefix("comment:"))
    checked = validation.reason(reason)
    return await _act(site, moderator, number, "revert", group=None, reason=checked, note=note, reverts=action.number)


async def read_poster(site: Site, number: int) -> Poster | None:
    """Who posted a comment, for scripts in its partition; None if it is gone. Two round trips."""
    username = await site.redis.run(("HGET", keys.comment(site.partition_of_article(number), number), "poster"))
    if username is None:
        return None
    held = await site.redis.run(("HGET", keys.user(site.partition_of_user(username), username), "roles"))
    return Poster(username, held or "")


async def notify(site: Site, moderator: str, number: int, action: str, entry: Sequence[Any]) -> None:
    """
    Notify the poster of an article or a comment of an action about it, if the poster is in another partition.
    `action` is the id of the action. `entry` is what its script replies of the entry in the log: the id, a list of the
    partitions in which it has effects, each followed by the id of the last earlier entry with an effect there, and whom
    the action notifies (as the field `notified`).
    """
    id, noted, notified = entry
    of_action = Entry(
        site.partition_of_article(number), id, "moderated", site.clock(), moderator, action, {"notified": notified}
    )
    await effects.apply_noted(site, of_action, noted)


async def _act(
    site: Site,
    moderator: Moderator,
    number: int,
    kind: str,
    group: str | None,
    reason: str,
    note: str | None,
    reverts: int | None = None,
) -> Moderated:
    group_name = "" if group is None else validation.group(group, "group")
    details = (group_name, reason, validation.note(note), reverts or "")
    authority = await roles.read_moderator(site, moderator)
    partition = site.partition_of_article(number)
    poster = await read_poster(site, number)
    if poster is None:
        _refuse("missing", kind, number)
    given = (site.partitions, number, kind, *details, poster.roles, poster.username, comments.STUBS_AT_ONCE)
    status, *reply = await roles.run(site, MODERATE_COMMENT, partition, authority, *given)
    if not reply:
        _refuse(status, kind, number, group_name, reverts)
    *result, change, entry, edit = reply  # each of the last three is empty if there is none
    if entry:
        await notify(site, authority.username, number, f"action:{result[0]}", entry)
    if change:
        await comments.apply_state(site, authority.username, number, change)
    if edit:
        await comments.apply_edit(site, poster.username, number, *edit)
    return moderation.moderated((status, *result))


def _refuse(status: str, kind: str, number: int, group: str = "", reverts: int | None = None) -> NoReturn:
    match status:
        case "missing":
            raise NotFound(f"there is no comment:{number}", "actionId" if kind == "revert" else "subjectId")
        case "refused":
            place = f"the group {group}" if group else "the site, or a group of its article"
            moderation.refuse_rank(place, f"comment:{number}")
        case "reverted":
            raise AlreadyReverted(reverts or 0)
        case "purged":
            raise Invalid(f"the text of comment:{number} was purged", "subjectId")
        case _:
            raise Invalid(f"the article of comment:{number} is not in the group {group}", "group")
