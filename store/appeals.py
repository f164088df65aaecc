"""
Appeals: the user whom an action of a moderator concerns may object to it, once for each action, and a moderator
answers. Only the user, and moderators of the group or the site where the action was done, read both. Like flags they
are private: no event, no page of changes and no view of the database has them.

An appeal waits in the queue of the site, and in those of the groups whose moderators could revert the action when the
appeal was made. It leaves these when a moderator answers it or reverts the action, or when what the action is about is
deleted. It is stored with its action, in the partition (a share of the data) of what the action is about.
"""

from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from store import comment_moderation, effects, flags, keys, records, reverts, roles, validation
from store.comment_moderation import Poster
from store.errors import AlreadyReverted, Forbidden, Invalid, NotAModerator, NotFound, Unauthenticated
from store.kinds import Backup, Check, Kind
from store.listings import Listing
from store.log import Entry
from store.moderation_records import ModerationAction, moderation_action
from store.queries import Read
from store.records import pairs
from store.roles import Moderator
from store.scripts.registry import Script
from store.site import Actor, Site

ANSWER_APPEAL = Script("answer_appeal")
APPEAL = Script("appeal")

appeal = Kind(
    "appeal",
    "hash",
    parts=(keys.NUMBER,),
    holds="what somebody says against an action about them: text, username, at, groups; answered_by, answered_at, "
    "answer; ended: when what it is about was deleted",
    written_by="appeal, answerAppeal, reverts, delete",
    backup=Backup.COPIED,
    record="appeal",
    check=Check.APPEAL,
)


class Appeal(NamedTuple):
    """
    The appeal against the action with a number. `at` and `answered_at` are in unix milliseconds. Where a revert of the
    action answers it, it has no `answer`: the reason of the revert says why.
    """

    number: int
    username: str
    at: int
    text: str
    answer: str | None = None
    answered_by: str | None = None
    answered_at: int | None = None

    @property
    def id(self) -> str:
        return f"appeal:{self.number}"

    @property
    def is_cacheable(self) -> bool:
        """Never, because only its author and moderators may read it."""
        return False


async def submit(site: Site, actor: Actor, number: int, text: str) -> ModerationAction:
    """
    Appeal against an action about the actor or their text, and return the action. Also for who is banned. The same text
    again changes nothing.

    One round trip; one more before it if the session is stored in another partition.

    Raises:
        NotFound: there is no such action, or what it is about is gone or not in Redis.
        Forbidden: the action is about somebody else.
        Invalid: the text breaks a rule, the action is a revert, or there is another appeal.
        AlreadyReverted: the action was reverted before.
        Unauthenticated: the session has ended.
    """
    checked = validation.appeal(text)
    status, *reply = await site.run(APPEAL, site.partition_of_article(number), actor, number, checked)
    match status:
        case "unauthenticated":
            raise Unauthenticated
        case "missing":
            raise NotFound(f"there is no action:{number}, or what it is about is gone", "actionId")
        case "forbidden":
            raise Forbidden(f"action:{number} is about somebody else", "actionId")
        case "revert":
            raise Invalid("nobody appeals against a revert", "actionId")
        case "reverted":
            raise AlreadyReverted(number)
        case "known":
            raise Invalid(f"you have appealed against action:{number} before", "actionId")
    found = moderation_action(number, pairs(reply[0]))
    assert found
    return found


async def answer(site: Site, actor: Moderator, number: int, text: str) -> ModerationAction:
    """
    Answer the appeal against an action, and return the action. The user whom it concerns is notified of the action once
    more. The same answer again changes nothing.

    For those who could revert the action, except who has made the appeal. Two round trips; two more for an action
    on a comment, and one for a notification in another partition.

    Raises:
        NotFound: there is no such action or no appeal against it, or what it is about is gone or not in Redis.
        NotAModerator: the actor could not revert the action, or has made the appeal.
        Invalid: the text breaks a rule, or there is another answer.
        AlreadyReverted: the action was reverted, which has answered the appeal.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    checked = validation.appeal(text)
    authority, action = await gather(roles.read_moderator(site, actor), reverts.read_action(site, number))
    comment = records.comment_number(action.subject_id) if action else None
    poster = (await comment_moderation.read_poster(site, comment) if comment else None) or Poster(username="", roles="")
    partition = site.partition_of_article(number)
    given = (site.partitions, number, checked, poster.username, poster.roles)
    status, *reply = await roles.run(site, ANSWER_APPEAL, partition, authority, *given)
    if not reply:
        _refuse(status, number)
    _, fields, id, noted, notified = reply
    entry = Entry(
        partition, id, "appeal_answered", site.clock(), authority.username, f"action:{number}", {"notified": notified}
    )
    await effects.apply_noted(site, entry, noted)
    found = moderation_action(number, pairs(fields))
    assert found
    return found


def of_action(site: Site, number: int) -> Read[Appeal | None]:
    """The read of the appeal against an action; None if there is none. Whoever calls it checks who may read it."""
    return Read(("HGETALL", appeal(site.partition_of_article(number), number)), _appeal, (number,))


def listing(site: Site, groups: Sequence[str] | None) -> Listing:
    """The actions whose appeals wait, the latest appeal first: all of them, or those of any of some groups."""
    return flags.queue_listing(site, flags.APPEALS, groups)


def waiting(partition: int, fields: Mapping[str, str]) -> dict[str, int]:
    """
    The keys of the queues in which an appeal with these fields waits, each with the time since when (unix
    milliseconds).
    """
    if not fields or "answered_by" in fields or "ended" in fields:
        return {}
    scopes = [flags.ALL, *(f"group:{group}" for group in fields.get("groups", "").split())]
    return {flags.QUEUE(partition, flags.APPEALS, scope): int(fields["at"]) for scope in scopes}


def _refuse(status: str, number: int) -> NoReturn:
    match status:
        case "missing":
            missing = f"there is no appeal against action:{number}, or what the action is about is gone"
            raise NotFound(missing, "actionId")
        case "refused":
            raise NotAModerator(f"only who may revert action:{number} answers the appeal against it", "actionId")
        case "self":
            raise NotAModerator("nobody answers their own appeal", "actionId")
        case "reverted":
            raise AlreadyReverted(number)
        case _:
            raise Invalid(f"the appeal against action:{number} was answered before", "actionId")


def _appeal(number: int, fields: dict[str, str]) -> Appeal | None:
    if not fields:
        return None
    answered_at = int(fields["answered_at"]) if "answered_at" in fields else None
    answered = (fields.get("answer"), fields.get("answered_by"), answered_at)
    return Appeal(number, fields["username"], int(fields["at"]), fields["text"], *answered)
