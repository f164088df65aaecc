"""Records of moderation as read from the store: roles, actions, and annulled votes, which do not count."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from store import keys

PLACE = rf"(?:site|group:{keys.GROUP.pattern})"  # where a ban holds
BANS = re.compile(rf"(?:{PLACE}=[0-9]{{1,15}}(?: {PLACE}=[0-9]{{1,15}})*)?")  # PLACE=UNTIL: unix ms, 0 for good
GRANTED = re.compile(rf"(admin|moderator)(?::({keys.GROUP.pattern}))?=([0-9]{{1,15}})")  # role, group, unix ms
GRANT = rf"(?:admin|moderator(?::{keys.GROUP.pattern})?)=[0-9]{{1,15}}"  # the same without capturing groups
ROLES = re.compile(rf"(?:{GRANT}(?: {GRANT})*)?")  # the field `roles` of a user: see `parse_roles`


class Role(Enum):
    ADMIN = "admin"
    MODERATOR = "moderator"


class RoleGrant(NamedTuple):
    """A role of a user, in a group or of the whole site, since an instant (unix milliseconds)."""

    role: Role
    group: str | None
    granted_at: int


class ModerationKind(Enum):
    """What an action of a moderator does."""

    REMOVE = "remove"
    APPROVE = "approve"
    LOCK = "lock"
    BAN = "ban"
    ANNUL_VOTES = "annul_votes"
    GRANT_ROLE = "grant_role"
    REVOKE_ROLE = "revoke_role"
    REVERT = "revert"
    PURGE = "purge"
    REJECT_EDIT = "reject_edit"


class AnnulmentState(Enum):
    """How far an action is that annuls votes."""

    RUNNING = "running"
    DONE = "done"
    RESTORING = "restoring"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Annulment:
    """
    What becomes of the votes that the action with this number annuls: those that were cast from `since` (None: from the
    first on) to `until` (None: to the action; unix milliseconds). The action holds `held` votes now. Of `total` votes,
    None if that is not known, `done` are annulled so far, or restored if it was reverted. Votes that were cast before
    `reaches_back_to` are untouched. `is_kept` says that the votes stay annulled although the action was reverted,
    `began_restoring` that a step to restore them was noted.
    """

    number: int
    state: AnnulmentState
    done: int
    total: int | None
    reaches_back_to: int | None
    held: int
    since: int | None
    until: int | None
    is_kept: bool
    began_restoring: bool

    @property
    def id(self) -> str:
        return f"annulment:{self.number}"


class ModerationAction(NamedTuple):
    """
    What a moderator has done. `subject_id` is the id of an article, a comment or a user; `group` is None for the whole
    site. `expires_at` is the end of a ban, None if it is for good. `reverts` and `reverted_by` are numbers of actions,
    and so is `ban`, with which a text was removed. `removes_texts` says that a ban removes all texts of its user.
    """

    number: int
    kind: ModerationKind
    at: int
    moderator: str
    subject_id: str
    group: str | None
    reason: str
    note: str | None
    expires_at: int | None
    role: Role | None
    reverts: int | None
    reverted_by: int | None
    ban: int | None
    removes_texts: bool
    annulment: Annulment | None = None

    @property
    def annulled_votes(self) -> int | None:
        return self.annulment.held if self.annulment else None

    @property
    def is_restored(self) -> bool:
        """Whether the votes that it has annulled come back, or are back."""
        return self.reverted_by is not None and self.annulment is not None and not self.annulment.is_kept

    @property
    def id(self) -> str:
        return f"action:{self.number}"

    @property
    def is_cacheable(self) -> bool:
        """Never, because of the note, which only moderators may read."""
        return False


def moderation_action(number: int, fields: Mapping[str, str]) -> "ModerationAction | None":
    """Decode the hash of an action; None if it is empty."""
    if not fields:
        return None
    return ModerationAction(
        number,
        ModerationKind(fields["kind"]),
        int(fields["at"]),
        fields["moderator"],
        fields["subject"],
        fields.get("group") or None,
        fields["reason"],
        fields.get("note") or None,
        int(fields["until"]) or None if "until" in fields else None,
        Role(fields["role"]) if "role" in fields else None,
        int(fields["reverts"]) if "reverts" in fields else None,
        int(fields["reverted_by"]) if "reverted_by" in fields else None,
        int(fields["ban"]) if "ban" in fields else None,
        "texts" in fields,
        _annulment(number, fields) if "votes" in fields else None,
    )


def _annulment(number: int, fields: Mapping[str, str]) -> Annulment:
    """What becomes of the votes that an action annuls."""
    names = ("annulled", "total", "reaches", "from", "to")
    held, total, reaches, since, until = (int(fields[name]) if fields.get(name) else None for name in names)
    count, settled = held or 0, fields.get("annulment")  # None while the votes are being annulled
    began_restoring = settled in (AnnulmentState.RESTORING.value, AnnulmentState.RESTORED.value)
    if "reverted_by" in fields and "kept" not in fields:
        state = AnnulmentState.RESTORED if settled == AnnulmentState.RESTORED.value else AnnulmentState.RESTORING
        total = total if began_restoring else count
        done = max((total or 0) - count, 0)
    else:
        state = AnnulmentState.DONE if settled == AnnulmentState.DONE.value else AnnulmentState.RUNNING
        done = count
    return Annulment(number, state, done, total, reaches, count, since, until, "kept" in fields, began_restoring)


def parse_roles(text: str) -> tuple[RoleGrant, ...]:
    """Decode the field `roles` of a user: words such as `admin=MS`, `moderator=MS` or `moderator:GROUP=MS`."""
    words = [GRANTED.fullmatch(word) for word in text.split()]
    return tuple(RoleGrant(Role(match[1]), match[2], int(match[3])) for match in words if match)
