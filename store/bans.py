"""
Bans from the site or from a group, until a time or for good. Each is an action of a moderator; the user's hash and
sessions have a copy of its end, so that every script can check it. No job ends a ban: scripts compare times. A ban may
also remove the texts of the user, and annul the user's votes, which means that they do not count.
"""

from store import keys, moderation, roles, validation
from store.errors import Invalid, NotAModerator
from store.kinds import Kind
from store.moderation import Moderated
from store.moderation_records import ModerationAction
from store.roles import Moderator
from store.scripts.registry import Script
from store.site import Site
from store.standing_bans import FOR_GOOD
from store.validation import Faults

BAN = Script("ban")

cleaning = Kind(
    "cleaning",
    "zset",
    parts=(),
    holds="numbers of bans whose texts are to be removed, and of reverted ones whose texts are to come back, by when "
    "they were made or reverted",
    lifetime="until that is done",
    written_by="ban, revert",
)
lifted = Kind(
    "lifted",
    "zset",
    parts=(),
    holds="numbers of reverted bans that had removed texts, by when the last of these came back: none is removed any "
    "more",
    lifetime="an hour",
    written_by="revert",
)


async def ban(
    site: Site,
    actor: Moderator,
    username: str,
    group: str | None,
    until: int | None,
    reason: str,
    note: str | None = None,
    *,
    removes_texts: bool = False,
    annuls_votes: bool = False,
) -> Moderated:
    """
    Ban a user from a group, or without one from the site, until an instant (unix milliseconds) or for good.

    A ban from the site ends all sessions of the user. If it `removes_texts`, the user's articles and comments are
    removed as well, those of the group if there is one: `archive/banned_texts.py` does that in steps. If it
    `annuls_votes`, all votes of the user so far count no more: `archive/annulments.py` does that, too. Nothing changes
    if a ban stands that ends no earlier, and also removes texts and annuls votes where this one would. Two round trips.

    Raises:
        NotAModerator: the actor does not moderate this place, is the user, or has no higher role than the user.
        NotFound: there is no such user.
        Invalid: a time that is over, votes with a ban from a group, or texts that break a rule; `others` has further
            faults.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    if annuls_votes and group is not None:
        raise Invalid("votes are annulled with a ban from the whole site", "annulVotes")
    place, texts = _checked(site, group, until, reason, note)
    given = (username, place, until or FOR_GOOD, texts)
    return await _run(site, actor, *given, removes_texts=removes_texts, with_votes=annuls_votes)


async def revert(
    site: Site,
    actor: Moderator,
    action: ModerationAction,
    reason: str,
    note: str | None = None,
    *,
    keeps_votes: bool = False,
) -> Moderated:
    """
    Revert a ban. The user is then banned until the latest end of the bans that remain. Texts that were removed with it,
    and votes that were annulled, come back in steps; the votes do not if it `keeps_votes` annulled. A second revert
    restores such votes, and nothing else. Two round trips.

    Raises as `ban`, and:
        AlreadyReverted: the action was reverted before, and no votes are left to restore, or it `keeps_votes`.
    """
    username = action.subject_id.removeprefix("user:")
    _, texts = _checked(site, group=None, until=None, reason=reason, note=note)
    ignored = FOR_GOOD  # a revert has no end
    given = (username, action.group or "", ignored, texts)
    return await _run(site, actor, *given, reverts=action.number, with_votes=keeps_votes)


async def _run(
    site: Site,
    actor: Moderator,
    username: str,
    group: str,
    until: int,
    texts: tuple[str, str],
    reverts: int | None = None,
    *,
    removes_texts: bool = False,
    with_votes: bool = False,
) -> Moderated:
    """
    Run the script of a ban, or of the revert of one. `texts` are the reason and the note. `with_votes` says that a ban
    annuls votes, or that its revert keeps them annulled.
    """
    name = username.lower()
    authority = await roles.read_moderator(site, actor)
    values = (
        keys.slot(name),
        group,
        until,
        *texts,
        reverts or "",
        "1" if removes_texts else "",
        "1" if with_votes else "",
    )
    reply = await roles.run(site, BAN, site.partition_of_user(name), authority, name, *values)
    match reply[0]:
        case "refused":
            field = moderation.field_of("group", reverts)
            raise NotAModerator(f"only moderators of {group or 'the site'} ban from it", field)
        case "self":
            field = moderation.field_of("userId", reverts)
            raise NotAModerator("nobody bans themselves, or ends their own ban", field)
    moderation.refuse_about_user(reply[0], name, reverts)
    return moderation.moderated(reply)


def _checked(
    site: Site, group: str | None, until: int | None, reason: str, note: str | None
) -> tuple[str, tuple[str, str]]:
    """The group, "" for the site, and the reason and the note, as they are stored."""
    faults, place = Faults(), ""
    with faults:
        place = "" if group is None else validation.group(group, "group")
    with faults:
        if until is not None and until <= site.clock():
            raise Invalid("a ban ends in the future", "until")
    with faults:
        checked_reason = validation.reason(reason)
    with faults:
        checked_note = validation.note(note)
    faults.raise_any()
    return place, (checked_reason, checked_note)
