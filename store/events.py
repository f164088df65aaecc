"""
Events, which say what has changed, and the listeners of this process. Every script publishes its change in the same
step, with the id of its entry in the log. `event_connection` receives them.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from operator import attrgetter
from typing import Self

from store.records import ENTRY_ID

CAPACITY = 100  # pending events of a `Mailbox`
RECONNECT_PAUSE = 0.5  # seconds before reconnecting


class EventKind(Enum):
    POSTED = "posted"
    VOTED = "voted"
    EDITED = "edited"
    REGROUPED = "regrouped"
    DELETED = "deleted"
    STATE_CHANGED = "state_changed"  # an article was removed, held, approved, locked or unlocked
    IMPORTED = "imported"
    COMMENTED = "commented"
    COMMENT_VOTED = "comment_voted"
    COMMENT_EDITED = "comment_edited"
    COMMENT_DELETED = "comment_deleted"
    COMMENT_IMPORTED = "comment_imported"
    COMMENT_STATE_CHANGED = "comment_state_changed"  # it was removed, held or approved
    COMMENT_ANNOUNCED = "comment_announced"  # it was held when it was posted, and is shown for the first time
    COMMENTS_LISTED = "comments_listed"  # comments leave lists and inboxes with their article, or come back
    REGISTERED = "registered"
    FOLLOWED = "followed"
    UNFOLLOWED = "unfollowed"
    GROUP_FOLLOWED = "group_followed"
    GROUP_UNFOLLOWED = "group_unfollowed"
    SEEN = "seen"  # a user has marked their feed as seen
    INBOX_SEEN = "inbox_seen"
    NOTIFIED = "notified"
    PROFILE_EDITED = "profile_edited"
    PASSWORD_CHANGED = "password_changed"  # and all other sessions of the user have ended
    SESSION_ENDED = "session_ended"  # sessions of a user have ended: logged out, or taken away by the user
    USER_DELETED = "user_deleted"  # with the slot of the user (0 to 1023) as number: the sessions have ended
    MODERATED = "moderated"
    GROUP_EDITED = "group_edited"
    REDACTED = "redacted"
    PURGED = "purged"
    FLAGGED = "flagged"
    UNFLAGGED = "unflagged"
    EDIT_HELD = "edit_held"  # a rule of the site holds an edit until a moderator approves or rejects it
    EDIT_DROPPED = "edit_dropped"  # another edit of the poster has replaced one that waits
    FLAGS_DECIDED = "flags_decided"  # what became of flags, for users of other shares of the data; in the log only
    APPEALED = "appealed"
    APPEAL_ANSWERED = "appeal_answered"
    VOTES_ANNULLED = "votes_annulled"  # votes of a user count no more, on some articles and comments
    VOTES_RESTORED = "votes_restored"  # they count again
    REPAIRED = "repaired"  # by `verify`: an article, a comment or a user
    RANKED = "ranked"  # the orders or the weights of a group have changed
    MISSED = "missed"  # events were lost: anything may have changed


OF_ARTICLES = frozenset(
    {
        EventKind.POSTED,
        EventKind.VOTED,
        EventKind.EDITED,
        EventKind.REGROUPED,
        EventKind.DELETED,
        EventKind.STATE_CHANGED,
        EventKind.IMPORTED,
    }
)
OF_COMMENTS = frozenset(
    {
        EventKind.COMMENTED,
        EventKind.COMMENT_VOTED,
        EventKind.COMMENT_EDITED,
        EventKind.COMMENT_DELETED,
        EventKind.COMMENT_IMPORTED,
        EventKind.COMMENT_STATE_CHANGED,
        EventKind.COMMENT_ANNOUNCED,
    }
)
CHANGES_COMMENT_COUNT = frozenset(
    {
        EventKind.COMMENTED,
        EventKind.COMMENT_DELETED,
        EventKind.COMMENT_IMPORTED,
        EventKind.COMMENT_STATE_CHANGED,
    }
)
CHANGES_ARTICLE = OF_ARTICLES - {EventKind.POSTED, EventKind.IMPORTED}
MAY_MOVE = OF_ARTICLES - {EventKind.EDITED, EventKind.REGROUPED} | {EventKind.RANKED}  # articles in the site's listings
# after which other things may wait for moderators
CHANGES_QUEUES = frozenset(
    {
        EventKind.FLAGGED,
        EventKind.UNFLAGGED,
        EventKind.EDIT_HELD,
        EventKind.EDIT_DROPPED,
        EventKind.APPEALED,
        EventKind.APPEAL_ANSWERED,
        EventKind.MODERATED,
        EventKind.STATE_CHANGED,
        EventKind.REGROUPED,
        EventKind.DELETED,
        EventKind.COMMENT_DELETED,
        EventKind.COMMENT_STATE_CHANGED,
        EventKind.COMMENTS_LISTED,
    }
)
# clients are not sent these entries of the log, and of most of these events only moderators learn
PRIVATE = frozenset(
    {
        EventKind.FLAGGED,
        EventKind.UNFLAGGED,
        EventKind.EDIT_HELD,
        EventKind.EDIT_DROPPED,
        EventKind.FLAGS_DECIDED,
        EventKind.APPEALED,
        EventKind.APPEAL_ANSWERED,
        EventKind.SESSION_ENDED,
    }
)

ENDS_SESSIONS = frozenset({EventKind.PASSWORD_CHANGED, EventKind.SESSION_ENDED})

# the beginnings of messages about several articles and comments: see `events_in`
ABOUT_VOTES = tuple(f"{kind.value} " for kind in (EventKind.VOTES_ANNULLED, EventKind.VOTES_RESTORED))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Event:
    """
    A change, which has an entry in the log under `id`. `groups` are those whose listings it changes. Only NOTIFIED has
    no entry: it says that the article or comment with this number has notified the user with this `username`.

    Events about articles and comments have their number and the `username` of the poster, those about comments also an
    `article`. MODERATED and REDACTED have the number of the action, and the `username` of the moderator.
    PASSWORD_CHANGED and SESSION_ENDED have that of the user.
    FLAGGED and UNFLAGGED, EDIT_HELD and EDIT_DROPPED, and APPEALED and APPEAL_ANSWERED, which have the number of the
    action, do not say by whom.
    """

    kind: EventKind
    number: int = 0
    username: str = ""
    groups: tuple[str, ...] = ()
    id: str = ""
    article: int = 0

    @classmethod
    def read(cls, message: str) -> Self:
        """
        Parse a message of `publish_event` in `prelude.lua`; any other message is an event MISSED. Its words are kind,
        number, username, id of the entry, for a comment the number of its article, and groups.

        Messages of earlier versions have no id.
        """
        try:
            word, number, username, *groups = message.split()
            kind, id, article = EventKind(word), entry_id(message), 0
            if id:
                groups.pop(0)
            if kind in OF_COMMENTS:
                article = int(groups.pop(0))
            return cls(kind, int(number), username, tuple(groups), id, article)
        except (ValueError, IndexError):
            return cls(EventKind.MISSED)


def events_in(message: str) -> list[Event]:
    """
    The events of a message. One about annulled votes has, after the id, a word for each article and comment, as
    `article:NUMBER:POSTER:GROUP,GROUP` or `comment:NUMBER:POSTER:ARTICLE`: for listeners these are voted on.
    """
    if not message.startswith(ABOUT_VOTES):
        return [Event.read(message)]
    try:
        words = message.split()
        return [_voted_on(word, words[3]) for word in words[4:]]
    except (ValueError, IndexError):
        return [Event(EventKind.MISSED)]


def _voted_on(word: str, id: str) -> Event:
    type, number, poster, rest = word.split(":")
    if type == "comment":
        return Event(EventKind.COMMENT_VOTED, int(number), poster, groups=(), id=id, article=int(rest))
    return Event(EventKind.VOTED, int(number), poster, tuple(rest.split(",")) if rest else (), id)


def entry_id(message: str) -> str:
    """The id of the entry of a message, its fourth word; "" if it has none."""
    words = message.split(" ", 4)
    return words[3] if len(words) > 3 and ENTRY_ID.fullmatch(words[3]) else ""


Topic = tuple[str, int | str | None]  # what events are about: a word, and which article, user or group, if it is of one
Listener = Callable[[Event], None]


def of_article(number: int) -> Topic:
    return "article", number


def article_of(event: Event) -> int:
    """The article that an event is about, or the one that the comment belongs to."""
    return event.article or event.number


def of_posts(group: str | None) -> Topic:
    """New articles, of one group if given."""
    return "posts", group


def of_new_comments(article: int) -> Topic:
    """New comments of an article, its deletion, and changes of its state."""
    return "new comments", article


def of_all_new_comments(group: str | None) -> Topic:
    """New comments of the whole site, or of a group."""
    return "all new comments", group


def of_comment_changes(article: int) -> Topic:
    """Changes of the comments of an article, its deletion, and changes of its state."""
    return "comment changes", article


def of_inbox(username: str) -> Topic:
    """New notifications of a user."""
    return "inbox", username.lower()


def of_listing(group: str | None) -> Topic:
    """Changes that may move articles in the listing of the site, or of a group."""
    return "listing", group


def of_moderation(group: str | None) -> Topic:
    """Actions of moderators: all, or those of one group."""
    return "moderation", group


def of_activity(group: str | None) -> Topic:
    """Changes that may move articles in the listing of the site, or of a group, by their newest comments."""
    return "activity", group


QUEUES: Topic = ("queues", None)  # what waits for moderators
RANKINGS: Topic = ("rankings", None)  # the orders and weights of the store
STATES: Topic = ("states", None)  # changes of whether articles are shown
SESSIONS: Topic = ("sessions", None)  # ends of sessions, by others than moderators
EVERY_ENTRY: Topic = ("entries", None)  # all changes
RARE_TOPICS = (RANKINGS, STATES, SESSIONS, of_moderation(None))  # to which every process listens
RARE = (
    EventKind.RANKED, EventKind.STATE_CHANGED, EventKind.MODERATED, EventKind.REDACTED, EventKind.MISSED,
    EventKind.USER_DELETED, *ENDS_SESSIONS,
)  # fmt: skip
# the beginnings of messages that concern no listener to RARE_TOPICS
ABOUT_OTHERS = tuple(f"{kind.value} " for kind in EventKind if kind not in RARE)


def topics(event: Event) -> Iterator[Topic]:
    """The topics whose listeners get an event. An event MISSED goes to all listeners instead."""
    if event.kind is EventKind.NOTIFIED:
        yield of_inbox(event.username)
        return
    yield EVERY_ENTRY
    if event.kind in CHANGES_QUEUES:
        yield QUEUES
    if event.kind in ENDS_SESSIONS or event.kind is EventKind.USER_DELETED:
        yield SESSIONS
    if event.kind in PRIVATE:
        return
    if event.kind in (EventKind.MODERATED, EventKind.REDACTED):
        yield from map(of_moderation, (None, *event.groups))
        return
    if event.kind in OF_COMMENTS:
        yield from _topics_of_comment(event)
        return
    if event.kind in CHANGES_ARTICLE:
        yield of_article(event.number)
    if event.kind in (EventKind.DELETED, EventKind.STATE_CHANGED):
        yield of_new_comments(event.number)
        yield of_comment_changes(event.number)
    if event.kind is EventKind.POSTED:
        yield from map(of_posts, (None, *event.groups))
    if event.kind is EventKind.RANKED:
        yield RANKINGS
    if event.kind is EventKind.STATE_CHANGED:
        yield STATES
    if event.kind in MAY_MOVE:
        yield of_listing(None)
    if event.kind is not EventKind.EDITED:
        yield from map(of_listing, event.groups)


def _topics_of_comment(event: Event) -> Iterator[Topic]:
    if event.kind in (EventKind.COMMENTED, EventKind.COMMENT_ANNOUNCED):
        yield of_new_comments(event.article)
        yield from map(of_all_new_comments, (None, *event.groups))
    elif event.kind is not EventKind.COMMENT_IMPORTED:
        yield of_comment_changes(event.article)
    if event.kind in CHANGES_COMMENT_COUNT:
        yield of_article(event.article)
        yield from map(of_activity, (None, *event.groups))


class Mailbox:
    """
    The pending events of a subscriber: the latest of each subject, by default of each number.

    More than `capacity` events are replaced with one event MISSED.
    """

    def __init__(self, capacity: int = CAPACITY, subject_of: Callable[[Event], int] = attrgetter("number")) -> None:
        self.has_overflowed = False
        self._capacity = capacity
        self._subject_of = subject_of
        self._events: dict[int, Event] = {}
        self._filled = asyncio.Event()

    def put(self, event: Event) -> None:
        subject = self._subject_of(event)
        self._events.pop(subject, None)
        self._events[subject] = event
        if len(self._events) > self._capacity:
            self._events = {0: Event(EventKind.MISSED)}
            self.has_overflowed = True
        self._filled.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        (event,) = await self.take(1)
        return event

    async def take(self, most: int) -> list[Event]:
        """The oldest pending events, at least one and at most `most`: without any, wait for the next."""
        while not self._events:
            self._filled.clear()
            await self._filled.wait()
        return [self._events.pop(subject) for subject in list(islice(self._events, most))]


class Events:
    """
    The listeners of this process, by topic.

    Those to other topics than `RARE_TOPICS` enter `receiving_votes` before they subscribe: then votes are received,
    too.
    """

    def __init__(self) -> None:
        self.receiving_votes: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
        self._listeners: defaultdict[Topic, set[Listener]] = defaultdict(set)

    @contextmanager
    def subscribed(self, listener: Listener, *topics: Topic) -> Iterator[None]:
        """Call a listener for each event of some topics. It must not block."""
        for topic in topics:
            self._listeners[topic].add(listener)
        try:
            yield
        finally:
            for topic in topics:
                self._listeners[topic].discard(listener)
                if not self._listeners[topic]:
                    del self._listeners[topic]

    @contextmanager
    def mailbox(
        self, topic: Topic, capacity: int = CAPACITY, subject_of: Callable[[Event], int] = attrgetter("number")
    ) -> Iterator[Mailbox]:
        mailbox = Mailbox(capacity, subject_of)
        with self.subscribed(mailbox.put, topic):
            yield mailbox

    def receive(self, message: str) -> None:
        """Dispatch a message. Without listeners to anything but rare topics, other messages are not parsed."""
        rare = sum([topic in self._listeners for topic in RARE_TOPICS])
        if len(self._listeners) > rare or not message.startswith(ABOUT_OTHERS):
            for event in events_in(message):
                self.dispatch(event)

    def dispatch(self, event: Event) -> None:
        for topic in self._listeners if event.kind is EventKind.MISSED else topics(event):
            for listener in self._listeners.get(topic, ()):
                listener(event)
