"""Everything that is read by id: the command to send, and what its reply means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from store import keys, records
from store.link import Command
from store.records import Article, Profile
from store.site import Site

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """Equal reads are the same read: `decode` is a function of a module, `about` what it needs beside the reply."""

    command: Command
    decode: Callable[..., T]
    about: tuple[Any, ...] = ()

    def result(self, reply: Any) -> T:
        return self.decode(*self.about, reply)


def article(site: Site, number: int) -> Read[Article | None]:
    return Read(("HGETALL", keys.article(site.home_of_article(number), number)), records.article, (number,))


def profile(site: Site, username: str) -> Read[Profile | None]:
    return Read(("HGETALL", keys.user(site.home_of_user(username), username)), records.profile)


def has_voted(site: Site, number: int, username: str) -> Read[bool]:
    return Read(("SISMEMBER", keys.voted(site.home_of_article(number), number), username), bool)


def has_downvoted(site: Site, number: int, username: str) -> Read[bool]:
    return Read(("SISMEMBER", keys.downvoted(site.home_of_article(number), number), username), bool)


def voters(site: Site, number: int) -> Read[list[str]]:
    """Everyone whose vote counts, up or down, by name."""
    p = site.home_of_article(number)
    return Read(("SUNION", keys.voted(p, number), keys.downvoted(p, number)), _by_name)


def groups(p: int) -> Read[list[str]]:
    return Read(("ZRANGE", keys.groups(p), 0, -1), list)


def _by_name(names: list[str]) -> list[str]:
    return sorted(names, key=str.lower)
