"""
Immutable records as read from the store, and their ids, such as `article:1541` or `user:alice`. Instants are unix
milliseconds; the schema formats them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, NamedTuple

from caches import memo
from store import numbering, validation
from store.moderation_records import RoleGrant, parse_roles

NUMBER = re.compile(r"[1-9][0-9]{0,15}")  # of an article, a comment or an action
ENTRY_ID = re.compile(r"([0-9]+)-([0-9]+)")  # of the log
CACHEABLE_LENGTH = 1_000  # characters of content
INSTANTS = range(253_402_300_800_000)  # unix milliseconds to the end of the year 9999, the range of a DateTime
SEEN_MARK = re.compile(r"([0-9]{1,15}(?:\.0)?) ([0-9]{1,16})")  # value (a time) and member of the newest position seen
PSEUDONYM = re.compile(r"~[a-z0-9]{12}")  # in the place of the name of a deleted user
NAME = re.compile(rf"[A-Za-z0-9_-]{{2,20}}|{PSEUDONYM.pattern}")
UPVOTERS = re.compile(rf"(?:{NAME.pattern})(?: (?:{NAME.pattern})){{0,9}}")  # up to ten names
DELETED = "[deleted]"  # the name that deleted users have for clients
UPHELD, OVERRULED = "+", "-"  # what has become of a flag: stands after the number of what was flagged
FLAG_OUTCOMES = re.compile(r"[1-9][0-9]{0,15}[+-](?: [1-9][0-9]{0,15}[+-]){0,9}")
ARTICLE_BYTES = 1_200  # of an article's record without its title, link and content
COMMENT_BYTES = 1_000  # of a comment's record without its content


class Vote(Enum):
    """A voter's vote. The value is what it adds to the votes of the article."""

    UP = 1
    DOWN = -1
    NONE = 0


VOTES_BY_VALUE = {vote.value: vote for vote in Vote}


class Position(NamedTuple):
    """
    The sort key of an entry in an order: by value, then by the text of the member, highest first. The member names an
    article or a comment by its number with 16 digits, and a user by the username.
    """

    value: float
    member: str

    @property
    def number(self) -> int:
        """The number of the article at this position."""
        return int(self.member)


class PartitionPage(NamedTuple):
    """
    The part of a page that one partition, a share of the data, holds, highest first.

    `above` counts the positions before these, `total` all of the partition's listing. Where values decay, `at` is the
    instant of the values (unix milliseconds).

    Two kinds of listings do not count exactly: those whose values decay, and those by VOTES since an instant, if the
    page begins beyond a position. For them `above` is exact if it is 0 or if no position follows these; else it is 1,
    which means that there are some.
    """

    above: int
    total: int
    positions: tuple[Position, ...]
    at: int | None = None


class ContentState(Enum):
    """Whether an article or a comment is shown. Only VISIBLE and DELETED arise without moderation."""

    VISIBLE = "visible"
    PENDING = "pending"
    REMOVED = "removed"
    DELETED = "deleted"


class Article(NamedTuple):
    """A named tuple: pages create many of them, and a dataclass takes longer."""

    number: int
    title: str
    link: str | None
    content: str | None
    poster: str
    posted_at: int
    edited_at: int | None
    upvotes: int
    downvotes: int
    imported_votes: int  # upvotes of an imported story whose voters are unknown
    groups: tuple[str, ...]
    comment_count: int = 0  # visible ones
    state: ContentState = ContentState.VISIBLE
    is_locked: bool = False
    active_at: int | None = None  # when the newest comment was posted; None without comments

    @property
    def id(self) -> str:
        return f"article:{self.number}"

    @property
    def votes(self) -> int:
        return self.upvotes - self.downvotes

    @property
    def is_cacheable(self) -> bool:
        """Whether its JSON may be cached: the content is short."""
        return len(self.content or "") <= CACHEABLE_LENGTH

    @property
    def held_bytes(self) -> int:
        return size_of([self])


class Comment(NamedTuple):
    """`parent` is None if it answers the article. A deleted comment with replies has neither poster nor content."""

    number: int
    article: int
    parent: int | None
    depth: int
    poster: str | None
    content: str | None
    posted_at: int
    edited_at: int | None
    upvotes: int
    downvotes: int
    imported_votes: int  # upvotes of an imported comment whose voters are unknown
    reply_count: int
    state: ContentState
    is_bare: bool = False  # neither visible nor above visible ones, so that no thread has it

    @property
    def id(self) -> str:
        return f"comment:{self.number}"

    @property
    def as_shown(self) -> "Comment | None":
        """
        What everybody may read of the comment, if its article is visible. A hidden comment with visible ones below it
        is shown without poster and content, any other hidden one not at all (None).
        """
        if self.state is ContentState.VISIBLE:
            return self
        return None if self.is_bare else self.as_hidden

    @property
    def as_hidden(self) -> "Comment":
        """The comment without poster and content: only its place in the thread is left."""
        return self._replace(poster=None, content=None)

    @property
    def votes(self) -> int:
        return self.upvotes - self.downvotes

    @property
    def is_cacheable(self) -> bool:
        """Whether its JSON may be cached: the content is short."""
        return len(self.content or "") <= CACHEABLE_LENGTH

    @property
    def held_bytes(self) -> int:
        return COMMENT_BYTES + text_bytes(self.content or "")


class UncachedComment(Comment):
    """The comment in the reply to a write. Nothing reads this record again, so its JSON is not cached."""

    __slots__ = ()
    is_cacheable = False


class HiddenComment(UncachedComment):
    """A comment that is not visible, or whose article is not, for its poster and those who moderate the article."""

    __slots__ = ()


class HiddenArticle(Article):
    """
    An article that is not visible. It has a class of its own so that a page finds it among the types of its articles,
    which takes less than to look at the state of each: see `HIDDEN`.
    """

    __slots__ = ()
    is_cacheable = False


class ArchivedConversation(Article):
    """
    An article that has left Redis with its conversation: its comments and notifications are read from the database. One
    that had neither is `ArchivedAlone`.
    """

    __slots__ = ()


class ArchivedAlone(Article):
    """An article that has left Redis, and had neither comments nor notifications: so none are looked for."""

    __slots__ = ()


class HiddenArchivedConversation(ArchivedConversation):
    """An article that was removed and has left Redis with its conversation."""

    __slots__ = ()
    is_cacheable = False


class HiddenArchivedAlone(ArchivedAlone):
    """An article that was removed and has left Redis, and had neither comments nor notifications."""

    __slots__ = ()
    is_cacheable = False


HIDDEN = frozenset({HiddenArticle, HiddenArchivedConversation, HiddenArchivedAlone})
IN_REDIS = frozenset({Article, HiddenArticle})


class UncachedArticle(Article):
    """The article in the reply to a write. Nothing reads this record again, so its JSON is not cached."""

    __slots__ = ()
    is_cacheable = False


@dataclass(frozen=True, slots=True)
class User:
    """
    A user by name, as written at registration. Pages of articles show no more of their posters. A deleted user has a
    pseudonym in the place of the name: the id has it, and the username is `DELETED`.
    """

    username: str
    id: str = field(init=False)
    is_cacheable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"user:{self.username.lower()}")
        if is_pseudonym(self.username):
            object.__setattr__(self, "username", DELETED)


@dataclass(frozen=True, slots=True)
class Profile:
    """The hash of a user without the password. `bans` has words: site=UNTIL or group:NAME=UNTIL (unix milliseconds)."""

    username: str
    joined_at: int
    karma: int
    seen: Position | None = None  # the newest position of the feed that is marked as seen
    roles: tuple[RoleGrant, ...] = ()
    bans: str = ""
    display_name: str | None = None
    about: str | None = None
    avatar_url: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """The feed of a user: articles by the users they follow, and their own."""

    username: str

    @property
    def id(self) -> str:
        return f"feed:{self.username.lower()}"


@dataclass(frozen=True, slots=True)
class Home:
    """The front page of a user, whose articles are merged from what the user follows when it is read."""

    username: str

    @property
    def id(self) -> str:
        return f"home:{self.username.lower()}"


@dataclass(frozen=True, slots=True)
class Group:
    """A group by its name in lower case; it need not have articles."""

    name: str
    id: str = field(init=False)
    is_cacheable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"group:{self.name}")


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """
    What was written about a group: the key `place` has it. `created_at` is when that was first done, `listed_at` when
    an admin made the group; None if none has (both in unix milliseconds).
    """

    title: str | None
    about: str | None
    created_at: int
    listed_at: int | None


# Pages show the same users and groups many times, so their records are memoised.
@memo(entry_bytes=250)
def user(username: str) -> User:
    return User(username)


def named(username: str | None) -> User | None:
    """As `user`; None if there is no name, or if it is the pseudonym of a deleted user."""
    return None if username is None or is_pseudonym(username) else user(username)


def is_pseudonym(username: str) -> bool:
    """Whether this is not a name, but what replaces that of a deleted user."""
    return username.startswith("~")


@memo(entry_bytes=250)
def group(name: str) -> Group:
    return Group(name)


def article(number: int, fields: Mapping[str, str]) -> Article | None:
    """Decode the hash of an article; None if it is empty."""
    if not fields:
        return None
    read = Article(
        number,
        fields["title"],
        fields.get("link"),
        fields.get("content"),
        fields["poster"],
        int(fields["time"]),
        int(fields["edited"]) if "edited" in fields else None,
        int(fields["up"]),
        int(fields["down"]),
        int(fields.get("imported", 0)),
        tuple(fields["groups"].split()),
        int(fields.get("comments", 0)),
        ContentState(fields["state"]) if "state" in fields else ContentState.VISIBLE,
        fields.get("locked") == "1",
        _active_at(fields),
    )
    return read if read.state is ContentState.VISIBLE else HiddenArticle(*read)


def _active_at(fields: Mapping[str, str]) -> int | None:
    """The time of the newest comment. The field is kept when the last comment is deleted, and says nothing then."""
    return int(fields["active"]) if "active" in fields and fields.get("comments", "0") != "0" else None


def comment(number: int, fields: Mapping[str, str]) -> Comment | None:
    """Decode the hash of a comment; None if it is empty."""
    if not fields:
        return None
    return Comment(
        number,
        int(fields["article"]),
        int(fields["parent"]) if "parent" in fields else None,
        int(fields["depth"]),
        fields.get("poster"),
        fields.get("content"),
        int(fields["time"]),
        int(fields["edited"]) if "edited" in fields else None,
        int(fields["up"]),
        int(fields["down"]),
        int(fields.get("imported", 0)),
        int(fields.get("replies", 0)),
        ContentState(fields.get("state", "visible")),
        "bare" in fields,
    )


def deleted_comment(number: int, values: Mapping[str, str]) -> Comment:
    """A comment as the entry of its deletion describes it: without poster, content and replies."""
    kept = {name: text for name, text in values.items() if name in ("article", "parent", "depth", "time", "up", "down")}
    if not kept.get("parent"):
        kept.pop("parent", None)
    found = comment(number, kept | {"state": ContentState.DELETED.value})
    assert found
    return UncachedComment(*found)


def article_number(id: str) -> int | None:
    """The number in an article's id; None for any other text."""
    return _number("article", id)


def comment_number(id: str) -> int | None:
    """The number in a comment's id; None for any other text."""
    return _number("comment", id)


def action_number(id: str) -> int | None:
    """The number in the id of an action; None for any other text."""
    return _number("action", id)


def _number(kind: str, id: str) -> int | None:
    found, _, number = id.partition(":")
    if found != kind or not NUMBER.fullmatch(number) or int(number) > numbering.HIGHEST_NUMBER:
        return None
    return int(number)


def username(id: str) -> str | None:
    """The name in a user's id; None for any other text."""
    return _username("user", id)


def feed_owner(id: str) -> str | None:
    """The name in a feed's id; None for any other text."""
    return _username("feed", id)


def inbox_owner(id: str) -> str | None:
    """The name in an inbox's id; None for any other text."""
    return _username("inbox", id)


def home_owner(id: str) -> str | None:
    """The name in a home's id; None for any other text."""
    return _username("home", id)


def notification_parts(id: str) -> tuple[str, int] | None:
    """The name of the user and the number of what notifies, in a notification's id; None for any other text."""
    rest, _, number = id.rpartition(":")
    name, found = _username("notification", rest), _number("", f":{number}")
    return (name, found) if name and found else None


def _username(kind: str, id: str) -> str | None:
    found, _, name = id.partition(":")
    return name if found == kind and NAME.fullmatch(name) else None


def group_name(id: str) -> str | None:
    """The name in a group's id; None for any other text."""
    kind, _, name = id.partition(":")
    return name.lower() if kind == "group" and validation.GROUP.fullmatch(name) else None


def size_of(articles: Sequence[Article | None]) -> int:
    """The memory that records of articles take, in bytes."""
    texts = [
        text_bytes(article.title) + text_bytes(article.link or "") + text_bytes(article.content or "")
        for article in articles
        if article
    ]
    return ARTICLE_BYTES * len(articles) + sum(texts)


def profile(username: str, fields: Mapping[str, str]) -> Profile | None:
    """Decode the hash of a user; None if it is empty. The name is as written at registration, not as in `username`."""
    if "name" not in fields:  # there is no such user, or the user is being deleted
        return None
    karma = int(fields["karma"]) + int(fields.get("comment_karma", 0))
    seen, roles = parse_seen_mark(fields.get("seen", "")), parse_roles(fields.get("roles", ""))
    texts = (fields.get("display_name"), fields.get("about"), fields.get("avatar_url"))
    return Profile(fields["name"], int(fields["joined"]), karma, seen, roles, fields.get("bans", ""), *texts)


def group_description(name: str, fields: Mapping[str, str]) -> GroupDescription | None:
    """Decode what was written about a group; None if it is empty."""
    if not fields:
        return None
    listed_at = int(fields["listed"]) if "listed" in fields else None
    return GroupDescription(fields.get("title"), fields.get("about"), int(fields["created"]), listed_at)


def parse_seen_mark(text: str) -> Position | None:
    """Decode the mark of a feed or an inbox: time and member. None if no article can have this position."""
    match = SEEN_MARK.fullmatch(text)
    if not match or int(float(match[1])) not in INSTANTS:
        return None
    return Position(float(match[1]), match[2])


text_bytes = str.__sizeof__  # as `sys.getsizeof`, in a third of the time; a page of 25 calls it 75 times
make_tuple = tuple.__new__  # creates a named tuple without a call of Python code; a page creates hundreds


def parse_positions(flat: Sequence[str]) -> tuple[Position, ...]:
    """Decode positions from the flat list of members and values in a script's reply."""
    return tuple(
        [make_tuple(Position, (float(value), member)) for member, value in zip(flat[::2], flat[1::2], strict=True)]
    )


def pairs(flat: list[str]) -> dict[str, str]:
    """Decode a hash from the flat list of fields and values in a script's reply."""
    return dict(zip(flat[::2], flat[1::2], strict=True))
