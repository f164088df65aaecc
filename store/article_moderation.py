"""
Commands of moderators on articles: remove and approve them, lock them, and take them out of groups. Each is one atomic
script in the partition (a share of the data) of the article. The state of an article follows from the actions on it
that were not reverted.
"""

from typing import NoReturn

from store import moderation, removals, roles, validation
from store.articles import apply_edit
from store.errors import AlreadyReverted, Invalid, NotFound
from store.moderation import Moderated
from store.moderation_records import ModerationAction
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.roles import Moderator
from store.scripts.registry import Script
from store.site import Site

MODERATE_ARTICLE = Script("moderate_article")

# the field of the input that names the article, by the kind of the action; of all other kinds it is `subjectId`
FIELDS = {"lock": "articleId", "revert": "actionId"}


async def remove(
    site: Site, moderator: Moderator, number: int, group: str | None, reason: str, note: str | None = None
) -> Moderated:
    """
    Hide an article from all lists and searches; with a group, only take it out of that group, to which its poster
    cannot add it back. Two round trips.

    A group's moderator may take an article out of the group. The whole article is for moderators of the site, and for
    those who moderate all of its groups.

    Raises:
        NotFound: there is no such article in Redis.
        NotAModerator: the actor may not do this here, with this poster, or with an article of their own.
        Invalid: the article is not in the group; the reason is empty, or texts are too long.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    return await _act(site, moderator, number, "remove", group, validation.reason(reason), note)


async def approve(
    site: Site, moderator: Moderator, number: int, reason: str | None = None, note: str | None = None
) -> Moderated:
    """
    Make an article visible, at the places that it would have if it had never been hidden, and apply the edit of it
    that waits for approval. Two round trips; one more if that notifies users of other partitions.

    Raises as `remove`, and Invalid for one whose text was purged.
    """
    checked = validation.reason(reason) if reason else ""
    return await _act(site, moderator, number, "approve", group=None, reason=checked, note=note)


async def lock(
    site: Site, moderator: Moderator, number: int, group: str | None, reason: str, note: str | None = None
) -> Moderated:
    """
    Lock an article: it takes no votes and no comments. `group` is one of its groups, in whose name that is done; None
    for the site. Two round trips.

    Raises as `remove`.
    """
    return await _act(site, moderator, number, "lock", group, validation.reason(reason), note)


async def reject_edit(site: Site, moderator: Moderator, number: int, reason: str, note: str | None = None) -> Moderated:
    """
    Drop the edit of an article that waits for approval. The article stays as it is. Two round trips.

    Raises as `remove`.
    """
    return await _act(site, moderator, number, "reject_edit", group=None, reason=validation.reason(reason), note=note)


async def revert(
    site: Site, moderator: Moderator, action: ModerationAction, reason: str, note: str | None = None
) -> Moderated:
    """
    Revert an action of this module. Two round trips.

    Raises as `remove`, and:
        AlreadyReverted: the action was reverted before.
        Invalid: the article would be in too many groups.
    """
    number = int(action.subject_id.removeprefix("article:"))
    checked = validation.reason(reason)
    return await _act(site, moderator, number, "revert", group=None, reason=checked, note=note, reverts=action.number)


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
    given = (site.partitions, number, kind, *details, GROUPS_PER_ARTICLE)
    reply = await roles.run(site, MODERATE_ARTICLE, partition, authority, *given)
    if len(reply) == 1:
        _refuse(reply[0], kind, number, group_name, reverts)
    *result, edit = reply  # `edit` is that of the article which was approved with it; empty if none was
    if edit:
        unnamed = ""  # in place of the poster, as the reply of the script does not have the name
        await apply_edit(site, unnamed, number, *edit)
    if result[0] == "changed" and kind != "lock":
        # comments leave lists and inboxes with their article, and come back with it; a lock leaves them there
        await removals.update_lists(site, number)
    return moderation.moderated(result)


def _refuse(status: str, kind: str, number: int, group: str, reverts: int | None) -> NoReturn:
    match status:
        case "missing":
            raise NotFound(f"there is no article:{number}", FIELDS.get(kind, "subjectId"))
        case "refused":
            whole = "its place" if reverts else "the site, or all of its groups"
            place = f"the group {group}" if kind == "remove" and group else whole
            moderation.refuse_rank(place, f"article:{number}")
        case "reverted":
            raise AlreadyReverted(reverts or 0)
        case "elsewhere":
            raise Invalid(f"article:{number} is not in the group {group}", "group")
        case "purged":
            raise Invalid(f"the text of article:{number} was purged", FIELDS.get(kind, "subjectId"))
        case _:
            raise Invalid(f"article:{number} would be in more than {GROUPS_PER_ARTICLE} groups", "actionId")
