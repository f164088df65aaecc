"""
Inboxes: the notifications of a user. The script that writes a text also notifies users of its partition, a share of the
data; those of other partitions are notified a moment later, by `effects`. Here inboxes are read, and marked as seen. An
inbox has at most 1,000 notifications, the newest. The value of a notification, by which it is sorted, is its time (unix
milliseconds).
"""

from collections.abc import Sequence
from typing import NamedTuple

from store import keys, notifications, records
from store.errors import Unauthenticated
from store.listings import Window
from store.notifications import Notification, NotificationKind
from store.queries import Read
from store.records import Position
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot

FIND_NOTIFICATIONS = Script("find_notifications")
INBOX_PAGE = Script("inbox_page")
MARK_INBOX_SEEN = Script("mark_inbox_seen")

INBOX_SIZE = 1_000  # notifications: notify.lua drops the oldest ones beyond
# what there is: the kind of a notification, and the type of what notifies
CAUSES = (("reply", "comment"), ("mention", "comment"), ("mention", "article"), ("moderation", "action"))


class InboxPage(NamedTuple):
    """
    Some notifications, newest first. `above` counts those before them and `total` all, or all unseen ones if only these
    were asked for. `seen` is the newest position that is marked as seen: the time and number of a notification.
    """

    notifications: tuple[Notification, ...]
    above: int
    total: int
    unseen: int
    seen: Position | None


class Inboxes:
    """The command that marks an inbox as seen."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def mark_seen(self, viewer: Actor, position: Position) -> str:
        """
        Mark an inbox as seen up to a position, and return the viewer's username. One round trip.

        The mark never moves back, and never beyond the newest notification: what comes later is unseen.

        Raises:
            Unauthenticated: the session has ended.
        """
        partition = actor_slot(viewer) % self._site.partitions
        mark = (repr(position.value), position.member)
        status, *reply = await self._site.run(MARK_INBOX_SEEN, partition, viewer, *mark)
        if status == "unauthenticated":
            raise Unauthenticated
        username: str = reply[0]
        return username


def page(site: Site, username: str, window: Window, *, unseen_only: bool = False) -> Read[InboxPage]:
    """The read of a page of an inbox. One round trip; the same cost at any position."""
    beyond = window.beyond
    command = INBOX_PAGE.command(
        _keys(site, username),
        window.count,
        "up" if window.upwards else "down",
        repr(beyond.value) if beyond else "",
        beyond.member if beyond else "",
        "unseen" if unseen_only else "",
    )
    return Read(command, _page, (username,))


def find(site: Site, username: str, numbers: Sequence[int]) -> Read[dict[int, Notification]]:
    """The read of a user's notifications by number; without those that do not exist. One round trip."""
    members = [notifications.notification_member(number, *cause) for number in numbers for cause in CAUSES]
    return Read(FIND_NOTIFICATIONS.command(_keys(site, username), *members), _found, (username, tuple(members)))


def _keys(site: Site, username: str) -> list[str]:
    partition = site.partition_of_user(username)
    return [keys.inbox(partition, username), keys.user(partition, username)]


def _page(username: str, reply: list[str]) -> InboxPage:
    total, above, unseen, mark, *flat = reply
    seen = records.parse_seen_mark(mark)
    pairs = zip(flat[::2], flat[1::2], strict=True)
    found = tuple(_notification(username, member, float(at), seen) for member, at in pairs)
    return InboxPage(found, int(above), int(total), int(unseen), seen)


def _found(username: str, members: Sequence[str], reply: list[str | None]) -> dict[int, Notification]:
    mark, *times = reply
    seen = records.parse_seen_mark(mark or "")
    found = [
        _notification(username, member, float(at), seen)
        for member, at in zip(members, times, strict=True)
        if at is not None
    ]
    return {each.number: each for each in found}


def _notification(username: str, member: str, at: float, seen: Position | None) -> Notification:
    number, kind, type = member.split()
    is_seen = seen is not None and Position(at, number) <= seen
    return Notification(username, int(number), NotificationKind(kind), type, at=int(at), is_seen=is_seen)
