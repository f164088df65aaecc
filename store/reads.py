"""Everything that is read by id: the command to send, and what its reply means."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from store import keys, records
from store.connection import VOTES
from store.link import Command
from store.records import Article, Profile, Vote
from store.site import Site

T = TypeVar("T")


class Read(NamedTuple, Generic[T]):
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


def votes(site: Site, numbers: Sequence[int], voter: str) -> list[Read[dict[int, Vote]]]:
    """One voter's votes on articles, per partition."""
    homes: defaultdict[int, list[int]] = defaultdict(list)
    for number in numbers:
        homes[site.home_of_article(number)].append(number)
    return [
        Read(VOTES.command([keys.voted(p, ""), keys.downvoted(p, "")], voter, *each), _by_number, (tuple(each),))
        for p, each in homes.items()
    ]


def voters(site: Site, number: int) -> Read[list[str]]:
    """Everyone whose vote counts, up or down, by name."""
    p = site.home_of_article(number)
    return Read(("SUNION", keys.voted(p, number), keys.downvoted(p, number)), _by_name)


def groups(p: int) -> Read[list[str]]:
    return Read(("ZRANGE", keys.groups(p), 0, -1), list)


def _by_number(numbers: Sequence[int], reply: Sequence[int]) -> dict[int, Vote]:
    return dict(zip(numbers, map(Vote, reply), strict=True))


def _by_name(names: list[str]) -> list[str]:
    return sorted(names, key=str.lower)
