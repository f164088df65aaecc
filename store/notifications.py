"""
What notifies whom: the notifications of an inbox, and the field `notified` of an article, a comment or an action, which
has whom it notifies. `inboxes` reads the notifications.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from store import keys
from store.records import Position

# a word of the field `notified`: kind, name in lower case, slot of the user (a share of the users, 0 to 1023, which
# decides the partition), and when (unix milliseconds)
NOTIFIED = re.compile(r"(reply|mention|moderation):([a-z0-9_-]{2,20}):([0-9]{1,4}):([0-9]{1,15})")


class NotificationKind(Enum):
    """Why a user is notified."""

    REPLY = "reply"
    MENTION = "mention"
    MODERATION = "moderation"


class Notified(NamedTuple):
    """Whom an article, a comment or an action notifies: the name in lower case, and when (unix milliseconds)."""

    kind: str
    username: str
    at: int


@dataclass(frozen=True, slots=True)
class Inbox:
    """What concerns a user: replies to them, mentions of them, and what moderators do about them."""

    username: str

    @property
    def id(self) -> str:
        return f"inbox:{self.username.lower()}"


class Notification(NamedTuple):
    """
    What notifies a user, and why (`kind`): the article, comment or action of a moderator (`type`) with this number.
    `at` is in unix milliseconds.
    """

    username: str
    number: int
    kind: NotificationKind
    type: str
    at: int
    is_seen: bool

    @property
    def id(self) -> str:
        return f"notification:{self.username.lower()}:{self.number}"

    @property
    def position(self) -> Position:
        return Position(float(self.at), keys.member(self.number))


def notified(text: str) -> list[Notified]:
    """Decode the field `notified` of an article, a comment, an action or an entry. What is malformed is left out."""
    words = [NOTIFIED.fullmatch(word) for word in text.split()]
    return [Notified(match[1], match[2], int(match[4])) for match in words if match]


def notification_member(number: int, kind: str, type: str) -> str:
    """
    A notification as a member of an inbox. `type` is what notifies, article, comment or action; `number` names it.
    """
    return f"{keys.member(number)} {kind} {type}"
