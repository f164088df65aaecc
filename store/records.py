"""What is read from the store, as frozen records. Instants are unix milliseconds; formatting belongs to the schema."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from sys import getsizeof
from typing import NamedTuple

from caches import memo

CACHEABLE_LENGTH = 1_000  # characters
INSTANTS = range(253_402_300_800_000)  # unix milliseconds, to the end of the year 9999: what a DateTime can show
SEEN = re.compile(r"([0-9]{1,15}(?:\.0)?) ([0-9]{1,16})")
ARTICLE = 1_200  # bytes of an article's record beside its title, link and content


class Vote(Enum):
    """A voter's vote, by what it adds to the votes of an article."""

    UP = 1
    DOWN = -1
    NONE = 0


VOTES_BY_VALUE = {vote.value: vote for vote in Vote}


class Position(NamedTuple):
    """The sort key of an entry in an order: entries stand by value, then by the text of the member, highest first."""

    value: float
    member: str

    @property
    def number(self) -> int:
        """The number of the article at this position."""
        return int(self.member)


class PartitionPage(NamedTuple):
    """
    The part of a page that one partition holds, highest first.

    `above` counts the positions before these, `total` all of the partition's listing. Where values decay, `at` is the
    instant of the values (unix milliseconds), and `above` is exact only if it is 0 or if no position follows these;
    otherwise 1 means that there are some.
    """

    above: int
    total: int
    positions: tuple[Position, ...]
    at: int | None = None


class Article(NamedTuple):
    """A tuple, because pages make many of them."""

    number: int
    title: str
    link: str | None
    content: str | None
    poster: str
    posted_at: int
    edited_at: int | None
    upvotes: int
    downvotes: int
    imported: int  # upvotes that came with an import, of whom nobody knows the voters
    groups: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"article:{self.number}"

    @property
    def votes(self) -> int:
        return self.upvotes - self.downvotes

    @property
    def is_cacheable(self) -> bool:
        """Whether it takes little room to be kept."""
        return len(self.content or "") <= CACHEABLE_LENGTH

    @property
    def held_bytes(self) -> int:
        return size_of([self])


class UncachedArticle(Article):
    """An article as a write left it: nobody will read this very record again."""

    __slots__ = ()
    is_cacheable = False


@dataclass(frozen=True, slots=True)
class User:
    """A person by name, as they wrote it when they registered: all that a page of articles shows of its posters."""

    username: str
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"user:{self.username.lower()}")


@dataclass(frozen=True, slots=True)
class Profile:
    """What only the user's own hash holds."""

    username: str
    joined_at: int
    karma: int
    seen: Position | None = None  # the newest position of the feed that was marked as seen


@dataclass(frozen=True, slots=True)
class Feed:
    """The home of one user: articles by the people they follow and by themselves."""

    username: str

    @property
    def id(self) -> str:
        return f"feed:{self.username.lower()}"


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", f"group:{self.name}")


# Pages show the same users and groups again and again: their records are made once.
@memo(8_192, 450)
def user(username: str) -> User:
    return User(username)


@memo(512, 450)
def group(name: str) -> Group:
    return Group(name)


def article(number: int, fields: Mapping[str, str]) -> Article | None:
    """The record of an article's hash; None of an empty one."""
    if not fields:
        return None
    return Article(
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
    )


def size_of(articles: Sequence[Article | None]) -> int:
    """What records of articles hold together, in bytes."""
    size = ARTICLE * len(articles)
    for article in articles:
        if article:
            size += getsizeof(article.title) + getsizeof(article.link) + getsizeof(article.content)
    return size


def profile(username: str, fields: Mapping[str, str]) -> Profile | None:
    """The record of a user's hash, which has the name as its owner writes it; None of an empty one. No password."""
    if not fields:
        return None
    return Profile(fields["name"], int(fields["joined"]), int(fields["karma"]), parse_seen_mark(fields.get("seen", "")))


def parse_seen_mark(text: str) -> Position | None:
    """The mark in a feed as the store keeps it: time and member, space between. None of what no article can have."""
    match = SEEN.fullmatch(text)
    if not match or int(float(match[1])) not in INSTANTS:
        return None
    return Position(float(match[1]), match[2])


make_tuple = tuple.__new__  # makes a tuple of names without a call in Python, of which pages would make hundreds


def parse_positions(flat: Sequence[str]) -> tuple[Position, ...]:
    """Positions from the flat list of members and values that scripts reply with."""
    return tuple(
        [make_tuple(Position, (float(value), member)) for member, value in zip(flat[::2], flat[1::2], strict=True)]
    )


def pairs(flat: list[str]) -> dict[str, str]:
    """A hash from the flat list of fields and values that scripts reply with."""
    return dict(zip(flat[::2], flat[1::2], strict=True))
