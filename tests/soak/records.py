"""
What the model keeps of users, articles, comments, and what moderators did about them. The model is a server in plain
Python, with which the soak test compares the real one. Instants are unix milliseconds. A `number` is the one in an id,
such as `article:12`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

DECIDING = ("REMOVE", "APPROVE", "PURGE")  # kinds of actions that set the state of a text


class Key(NamedTuple):
    """The sort key of an article: by value, then by posting time and number."""

    value: float
    posted_at: int
    number: int


class Notice(NamedTuple):
    """
    Says that a text notifies a user. `at` is the time of the notification; None if the user does not get it: there was
    no such user, or they block the poster. `written_at` is when the text was written, which may be before `at`: it is
    the time of a notification that comes back with its text.
    """

    kind: str  # "REPLY", "MENTION" or "MODERATION"
    at: int | None
    written_at: int = 0


@dataclass(eq=False)
class Appeal:
    """
    An appeal against an action. Moderators of any of the `groups` could revert the action when the appeal was made. A
    revert answers the appeal without a text.
    """

    author: "User"
    at: int
    text: str
    groups: frozenset[str]
    answer: str | None = None
    answered_by: "User | None" = None
    answered_at: int | None = None


@dataclass(eq=False)
class Annulment:
    """
    The votes that an action annuls: those that were cast from `since` to `until`. `held` and `total` are as they were
    when the votes were annulled or restored: what is deleted later changes neither. `is_kept` says that the votes stay
    annulled although the action was reverted, until it is reverted once more.
    """

    since: int
    until: int
    held: int = 0  # votes that do not count because of the action
    total: int = 0  # votes that it has annulled; once it is reverted, those that were restored
    is_restored: bool = False
    is_kept: bool = False

    @property
    def done(self) -> int:
        """How many votes are annulled, or after a revert restored."""
        return self.total - self.held if self.is_restored else self.held


@dataclass(eq=False, repr=False)
class Action:
    """
    What a moderator did. `role` is that of a GRANT_ROLE or a REVOKE_ROLE. `notified` is whom it notifies, and when.
    """

    number: int
    kind: str  # as in the schema: "REMOVE", "BAN", "REVERT" and so on
    at: int
    moderator: "User"
    subject: "Article | Comment | User"
    group: str | None
    reason: str
    note: str | None
    role: str | None = None
    until: int | None = None  # of a ban; None for good
    before: str = "VISIBLE"  # the state of the text that it has removed or approved
    rule: str | None = None  # the rule that held the text that it has approved
    removes_texts: bool = False  # whether it is a ban that removes all texts of the user
    annulment: Annulment | None = None
    ban: "Action | None" = None  # the ban with `removes_texts` that has made this removal
    reverts: "Action | None" = None
    reverted_by: "Action | None" = None
    notified: "tuple[User, int] | None" = None
    appeal: Appeal | None = None

    def __repr__(self) -> str:
        return f"action:{self.number}"

    @property
    def has_kept_votes(self) -> bool:
        """Whether it is a ban that was reverted but for the votes that it has annulled."""
        return self.annulment is not None and self.annulment.is_kept

    @property
    def is_revertible(self) -> bool:
        return self.reverted_by is None or self.has_kept_votes


class AnnulledVote(NamedTuple):
    """The vote that a user has cast last ("UP", "DOWN" or "NONE"), and the actions that keep it from counting."""

    value: str
    actions: tuple[Action, ...]


class Flag(NamedTuple):
    """
    A user's flag on a text. `groups` are those that the article had then; `cleared_by` is the approval since which the
    flag counts no more. `counts` is whether it counts toward hiding the text: its user was not banned, and had the
    karma that the rules ask for.
    """

    at: int
    reason: str
    note: str | None
    groups: frozenset[str]
    cleared_by: Action | None = None
    counts: bool = False


class HeldEdit(NamedTuple):
    """An edit that a rule holds since an instant. `changes` are the new values of title, link or content."""

    rule: str
    at: int
    changes: Mapping[str, str | None]


def newest_standing(actions: "Iterable[Action]", *kinds: str) -> "Action | None":
    """The newest action of these kinds that was not reverted. `actions` are in the order in which they were done."""
    standing = [each for each in actions if each.kind in kinds and each.reverted_by is None]
    return standing[-1] if standing else None


def standing(flags: "Mapping[User, Flag]") -> "list[tuple[User, Flag]]":
    """The flags that were not cleared, the oldest first."""
    found = [(user, flag) for user, flag in flags.items() if flag.cleared_by is None]
    return sorted(found, key=lambda each: (each[1].at, each[0].name))


@dataclass(eq=False, repr=False)
class User:
    """
    A user, also one who has left. `posted` and `commented` have what was posted with an idempotency key: when, its
    input, and the text. `recent` and `recent_comments` have what was posted without one: when, and the text.
    """

    name: str
    password: str
    joined_at: int
    following: dict["User", int] = field(default_factory=dict)  # by followee, when the follow began
    groups: set[str] = field(default_factory=set)  # names of those that the user follows
    hidden: dict[Any, int] = field(default_factory=dict)  # when articles were hidden
    blocked: dict["User", int] = field(default_factory=dict)  # when users were blocked
    mark: Key | None = None  # the newest article seen in the feed
    inbox_mark: tuple[int, int] | None = None  # time and number of the newest notification seen
    posted: dict[str, tuple[int, Any, "Article"]] = field(default_factory=dict)  # by idempotency key
    recent: dict[Any, tuple[int, "Article"]] = field(default_factory=dict)  # by input
    commented: dict[Any, tuple[int, Any, "Comment"]] = field(default_factory=dict)  # by partition and idempotency key
    recent_comments: dict[Any, tuple[int, "Comment"]] = field(default_factory=dict)  # by input
    actions: list[Action] = field(default_factory=list)  # of moderators, about the user
    profile: dict[str, str | None] = field(default_factory=dict)  # by the fields of the input
    mail_replies: str = "NEVER"
    roles: dict[tuple[str, str | None], int] = field(default_factory=dict)  # when each was granted, by role and group
    saved: dict[Any, int] = field(default_factory=dict)  # when articles and comments were saved

    def __repr__(self) -> str:
        return self.name

    @property
    def has_left(self) -> bool:
        """Whether the name is a pseudonym."""
        return self.name.startswith("~")

    @property
    def shown_name(self) -> str:
        return "[deleted]" if self.has_left else self.name

    @property
    def lower(self) -> str:
        return self.name.lower()

    @property
    def is_admin(self) -> bool:
        return ("ADMIN", None) in self.roles

    @property
    def moderates_site(self) -> bool:
        return self.moderates(())

    def moderates(self, groups: Iterable[str]) -> bool:
        """Whether this is a moderator of the site, or of one of some groups."""
        places = {None, *groups}
        return any(group in places for _, group in self.roles)

    def outranks(self, other: "User", groups: Collection[str]) -> bool:
        """Whether this user may act, as a moderator, on another one or on their text in these groups."""
        if self.is_admin:
            return True
        if self.moderates_site:
            return not other.moderates_site
        return self.moderates(groups) and not other.moderates(groups)


@dataclass(eq=False, repr=False)
class Article:
    """An article with its votes, flags and actions of moderators. A held one waits for a moderator: it is PENDING."""

    number: int
    title: str
    link: str | None
    content: str | None
    poster: User
    posted_at: int
    groups: set[str]
    state: str = "VISIBLE"  # or "PENDING" or "REMOVED"
    is_announced: bool = True  # False while it is held since it was posted: nobody has heard of it
    rule: str | None = None  # the name of the rule that holds it
    held_edit: HeldEdit | None = None
    notified: dict[str, Notice] = field(default_factory=dict)  # by name in lower case
    edited_at: int | None = None
    up: set[User] = field(default_factory=set)
    down: set[User] = field(default_factory=set)
    cast_at: dict[User, int] = field(default_factory=dict)  # of all votes but the poster's own
    annulled: dict[User, AnnulledVote] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    flags: dict[User, Flag] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"article:{self.number}"

    @property
    def votes(self) -> int:
        return len(self.up) - len(self.down)

    @property
    def decisions(self) -> list[Action]:
        """The actions about the whole article, the oldest first."""
        return [each for each in self.actions if each.kind in DECIDING and each.group is None]

    @property
    def is_visible(self) -> bool:
        return self.state == "VISIBLE"

    @property
    def is_locked(self) -> bool:
        return newest_standing(self.actions, "LOCK") is not None


class Move(NamedTuple):
    """
    The least and the most upvotes and downvotes that a comment had before some votes moved it in its thread. `number`
    is that of the last of these votes, as `Model.moves` counts them.
    """

    number: int
    up_low: int
    up_high: int
    down_low: int
    down_high: int


@dataclass(eq=False, repr=False)
class Comment:
    """A stub, which was deleted and has replies, has neither poster nor content."""

    number: int
    article: Article
    parent: "Comment | None"
    poster: User | None
    content: str | None
    posted_at: int
    state: str = "VISIBLE"  # or "PENDING", "REMOVED" or "DELETED"
    is_announced: bool = True  # False while it is held since it was posted: nobody has heard of it
    rule: str | None = None  # the name of the rule that holds it
    held_edit: HeldEdit | None = None
    edited_at: int | None = None
    up: set[User] = field(default_factory=set)
    down: set[User] = field(default_factory=set)
    cast_at: dict[User, int] = field(default_factory=dict)  # of all votes but the poster's own
    annulled: dict[User, AnnulledVote] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notified: dict[str, Notice] = field(default_factory=dict)  # by name in lower case
    actions: list[Action] = field(default_factory=list)
    flags: dict[User, Flag] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"comment:{self.number}"

    @property
    def votes(self) -> int:
        return len(self.up) - len(self.down)

    @property
    def is_stub(self) -> bool:
        return self.poster is None

    @property
    def decisions(self) -> list[Action]:
        """The actions about it, the oldest first."""
        return [each for each in self.actions if each.kind in DECIDING]

    @property
    def is_visible(self) -> bool:
        """Whether it is neither deleted nor held nor removed; its article may not be visible."""
        return self.state == "VISIBLE"

    @property
    def is_shown(self) -> bool:
        """Whether it is in lists and inboxes."""
        return self.is_visible and self.article.is_visible

    @property
    def ancestors(self) -> "list[Comment]":
        """The comments above it, the outermost first."""
        return [*self.parent.ancestors, self.parent] if self.parent else []


def named(user: User | None) -> User | None:
    """A user whom others see; None for one who has left."""
    return None if user is None or user.has_left else user


def vote_of(subject: Article | Comment, voter: User | None) -> str:
    """The vote that a user has cast, also if it does not count."""
    if (annulled := subject.annulled.get(voter)) if voter else None:
        return annulled.value
    return "UP" if voter in subject.up else "DOWN" if voter in subject.down else "NONE"


def set_vote(subject: Article | Comment, voter: User, value: str) -> None:
    """Count a vote of a user in place of the one that counts."""
    subject.up.discard(voter)
    subject.down.discard(voter)
    if value != "NONE":
        (subject.up if value == "UP" else subject.down).add(voter)


class Reading(NamedTuple):
    """A comment that is not visible, as its poster and moderators read it by its id, or as a mutation returns it."""

    comment: Comment
    has_content: bool = True
