"""
What all commands of moderators share: what they return, and the lists of actions. An action is the record of what a
moderator did, and its subject the article, comment or user that it is about.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from store import keys, moderation_records, records
from store.errors import AlreadyReverted, NotAModerator, NotFound
from store.listings import Listing
from store.moderation_records import ModerationAction
from store.site import Site


class Moderated(NamedTuple):
    """
    The action of a command. `changed` is False if the command would have changed nothing: then `action` is the standing
    one, and None if there was none.
    """

    action: ModerationAction | None
    changed: bool


def moderated(reply: Sequence[Any]) -> Moderated:
    """The result of a script that replies {"changed" | "same", number of the action, {field, value, ...}}."""
    status, number, flat = reply
    return Moderated(moderation_records.moderation_action(int(number or 0), records.pairs(flat)), status == "changed")


def field_of(name: str, reverts: int | None) -> str:
    """The field of the input that a refusal is about: this one, or `actionId` where an action is reverted."""
    return name if reverts is None else "actionId"


def refuse_about_user(status: str, username: str, reverts: int | None = None) -> None:
    """
    Raise what a status says, if it is one by which scripts refuse an action on a user, or the revert of one: missing,
    outranked or reverted.
    """
    match status:
        case "missing":
            raise NotFound(f"there is no user:{username}", field_of("userId", reverts))
        case "outranked":
            raise NotAModerator(f"user:{username} has the same or a higher role", field_of("userId", reverts))
        case "reverted":
            raise AlreadyReverted(reverts or 0)


def refuse_rank(place: str, subject_id: str) -> NoReturn:
    """Raise the refusal of a moderator who does not moderate the place, or whose role is not above the poster's."""
    raise NotAModerator(
        f"only others who moderate {place}, and have a higher role there than its poster, may act on {subject_id}"
    )


def log(site: Site, scope: str) -> Listing:
    """
    The actions of a scope by time: `all`, `group:NAME`, `ban:NUMBER` for the removals of texts with a ban, or the id of
    an article, a comment or a user.
    """
    partitions = (
        range(site.partitions) if scope.startswith(("all", "group:", "ban:")) else [slot_of(scope) % site.partitions]
    )
    return Listing(
        f"actions:{scope}",
        tuple(keys.actions(partition, scope) for partition in partitions),
        by_time=True,
        may_be_archived=False,
    )


def log_of_both(site: Site, group: str, subject: str) -> Listing:
    """The actions in a group about an article, a comment or a user, given by its id, by time."""
    listing, scope = log(site, subject), f"group:{group}"
    both = tuple((index, keys.actions(slot_of(subject) % site.partitions, scope)) for index in listing.indexes)
    return listing._replace(name=f"actions:{scope}:{subject}", intersections=both)


def slot_of(subject: str) -> int:
    """The slot of a subject, the id of an article, a comment or a user. It is in the numbers of its actions."""
    kind, _, name = subject.partition(":")
    return keys.slot(name) if kind == "user" else keys.slot_of_number(name)


def scopes_of(fields: Mapping[str, str]) -> list[str]:
    """The scopes of the indexes that have an action, by the fields of its hash."""
    optional = [f"{name}:{fields[name]}" for name in ("group", "ban") if fields.get(name)]
    return ["all", fields.get("subject", ""), *optional]
