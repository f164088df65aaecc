"""What the model keeps of users, articles and comments."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Key(NamedTuple):
    """The sort key of an article: by value, then by posting time and number."""

    value: float
    posted_at: int
    number: int


@dataclass(eq=False, repr=False)
class User:
    name: str
    password: str
    joined_at: int
    following: dict["User", int] = field(default_factory=dict)  # by followee, when the follow began
    mark: Key | None = None  # the newest article seen in the feed
    posted: dict[str, tuple[int, Any, "Article"]] = field(default_factory=dict)  # by idempotency key
    recent: dict[Any, tuple[int, "Article"]] = field(default_factory=dict)  # posts without a key, by input
    commented: dict[Any, tuple[int, Any, "Comment"]] = field(default_factory=dict)  # by partition and idempotency key
    recent_comments: dict[Any, tuple[int, "Comment"]] = field(default_factory=dict)  # without a key, by input

    def __repr__(self) -> str:
        return self.name

    @property
    def lower(self) -> str:
        return self.name.lower()


@dataclass(eq=False, repr=False)
class Article:
    number: int
    title: str
    link: str | None
    content: str | None
    poster: User
    posted_at: int
    groups: set[str]
    edited_at: int | None = None
    up: set[User] = field(default_factory=set)
    down: set[User] = field(default_factory=set)
    commented_at: int = 0  # when the newest comment was posted, also if it was deleted

    def __repr__(self) -> str:
        return f"article:{self.number}"

    @property
    def votes(self) -> int:
        return len(self.up) - len(self.down)


class Move(NamedTuple):
    """The least and the most votes that a comment had before some moves. `number` is that of the last of them."""

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
    edited_at: int | None = None
    up: set[User] = field(default_factory=set)
    down: set[User] = field(default_factory=set)
    moves: list[Move] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"comment:{self.number}"

    @property
    def votes(self) -> int:
        return len(self.up) - len(self.down)

    @property
    def is_stub(self) -> bool:
        return self.poster is None

    @property
    def ancestors(self) -> "list[Comment]":
        """The outermost first."""
        return [*self.parent.ancestors, self.parent] if self.parent else []
