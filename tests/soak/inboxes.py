"""
Inboxes: whom a text notifies, and the pages of an inbox, as docs/comments.md describes them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.

A text, which is an article or a comment, keeps whom it has notified. An inbox has all texts that have notified its
user, and the actions of moderators about the user and their texts. A notification is not kept apart from its cause, and
disappears with it. The mark of an inbox is the time and number of the newest notification that the user has seen.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.soak.input_checks import NUMBER, USERNAME
from tests.soak.model import Model
from tests.soak.pages import ListingEntry, Page, PageArguments, cut, descending
from tests.soak.records import Action, Article, Comment, Notice, User

MOST_MENTIONS = 4  # of a text, with its edits: the setting of the servers that the model is compared with
CODE_AND_LINKS = re.compile(r"`[^`]*`|https?://\S*")
MENTION = re.compile(r"(?<![\w@/.+=&#%\\-])@([A-Za-z0-9_-]{2,20})(?![\w@-])")


@dataclass(frozen=True)
class Inbox:
    user: User


@dataclass(frozen=True)
class Notification:
    user: User
    subject: Article | Comment | Action
    notice: Notice

    @property
    def key(self) -> tuple[int, int]:
        return self.notice.at or 0, self.subject.number

    @property
    def is_seen(self) -> bool:
        return self.user.inbox_mark is not None and self.key <= self.user.inbox_mark


def notify(model: Model, text: Article | Comment, answered: User | None = None) -> None:
    """
    Notify whom the content of a text mentions, and the poster of what it answers, but nobody twice, and not its poster.
    """
    assert text.poster is not None
    if answered is not None and answered is not text.poster:
        _add(model, text, answered.lower, "REPLY")
    mentioned = dict.fromkeys(name.lower() for name in MENTION.findall(CODE_AND_LINKS.sub(" ", text.content or "")))
    for name in list(mentioned)[:MOST_MENTIONS]:
        is_full = sum(notice.kind == "MENTION" for notice in text.notified.values()) >= MOST_MENTIONS
        if name != text.poster.lower and not is_full:
            _add(model, text, name, "MENTION")
    model.reached.count("texts with too many mentions", len(mentioned) > MOST_MENTIONS)


def _add(model: Model, text: Article | Comment, name: str, kind: str) -> None:
    """
    Note that a text notifies a user, also where there is no user with this name. The time of the notification is later
    than the mark: it is unseen.
    """
    if name in text.notified:
        return
    user = model.users.get(name)
    is_blocked = user is not None and text.poster in user.blocked
    model.reached.count("notifications of the blocked", is_blocked)
    seen_until = user.inbox_mark[0] if user and user.inbox_mark else 0
    text.notified[name] = Notice(kind, unseen_time(model, user) if user and not is_blocked else None, model.now)
    model.reached.count(f"notifications {kind}", user is not None)
    model.reached.count("mentions of nobody", user is None)
    model.reached.count("notifications at the mark", user is not None and seen_until >= model.now)


def unseen_time(model: Model, user: User) -> int:
    """The time of a new notification: now, or just after the mark."""
    seen_until = user.inbox_mark[0] if user.inbox_mark else 0
    return max(model.now, seen_until + 1)


def announce(model: Model, text: Article | Comment) -> None:
    """Notify those whom a text answers or mentions, now that it is shown for the first time, but not who blocks it."""
    for name, notice in text.notified.items():
        user = model.users.get(name)
        is_told = user is not None and text.poster not in user.blocked
        at = unseen_time(model, user) if user and is_told else None
        text.notified[name] = notice._replace(at=at, written_at=model.now)
        model.reached.count("notifications of what was held", is_told)


def put_back(model: Model, text: Article | Comment) -> None:
    """Put a text that is shown again back into inboxes: at the time when it was written, which may have been seen."""
    for name, notice in text.notified.items():
        user = model.users.get(name)
        is_told = user is not None and notice.written_at >= user.joined_at
        # a notification that was written before its user blocked the poster comes back, too
        is_told = is_told and user.blocked.get(text.poster, model.now + 1) > notice.written_at
        text.notified[name] = notice._replace(at=notice.written_at if is_told else None)
        model.reached.count("notifications that come back", is_told)


def mark_seen(model: Model, user: User, through: tuple[int, int]) -> None:
    """Move the mark of an inbox, never back, and never beyond the newest notification."""
    newest = max((each.key for each in notifications(model, user)), default=None)
    mark = min(through, newest or through)
    if newest is None or (user.inbox_mark is not None and mark <= user.inbox_mark):
        model.reached.count("marks of inboxes that would move back", newest is not None)
        return
    user.inbox_mark = mark
    model.version += 1


def notifications(model: Model, user: User) -> Iterator[Notification]:
    texts: list[Article | Comment] = [*model.visible(), *(each for each in model.comments.values() if each.is_shown)]
    for text in texts:
        notice = text.notified.get(user.lower)
        if notice is not None and notice.at is not None:
            yield Notification(user, text, notice)
    for action in model.actions.values():
        if action.notified and action.notified[0] is user:
            yield Notification(user, action, Notice("MODERATION", action.notified[1]))


def unseen(model: Model, user: User) -> int:
    return sum(not each.is_seen for each in notifications(model, user))


def page(model: Model, user: User, paging: PageArguments, unseen_only: bool) -> Page:
    paging.check()
    listing = ("inbox", user.lower)
    position = paging.position(listing)
    chosen = [each for each in notifications(model, user) if not (unseen_only and each.is_seen)]
    model.reached.count("pages of inboxes", bool(chosen))
    model.reached.count("pages of unseen notifications", unseen_only and user.inbox_mark is not None and bool(chosen))
    return cut("Notification", listing, descending([ListingEntry(each.key, each) for each in chosen]), paging, position)


def find(model: Model, viewer: User | None, name: str, number: int) -> Notification | None:
    """A notification of the viewer; None for those of others."""
    if viewer is None or viewer.lower != name.lower():
        return None
    return next((each for each in notifications(model, viewer) if each.subject.number == number), None)


def parts(id: str) -> tuple[str, int] | None:
    """The name and the number in the id of a notification; None if it is malformed."""
    _, name, number = [*id.split(":", 2), "", ""][:3]
    is_right = USERNAME.fullmatch(name) and NUMBER.fullmatch(number) and int(number) < 2**53
    return (name, int(number)) if is_right else None
