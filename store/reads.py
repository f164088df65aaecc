"""Everything that is read by id: the command to send, and what its reply means; or what is known without sending it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from store import keys, records
from store.connection import VOTES
from store.link import Command
from store.records import Vote
from store.site import Site

T = TypeVar("T")


CAST = {vote.value: vote for vote in Vote}


class Read(NamedTuple, Generic[T]):
    """Equal reads are the same read: `decode` is a function of a module, `about` what it needs beside the reply."""

    command: Command
    decode: Callable[..., T]
    about: tuple[Any, ...] = ()

    def result(self, reply: Any) -> T:
        return self.decode(*self.about, reply)


class Kind(NamedTuple, Generic[T]):
    """Hashes of one kind: where one of an id is at home, its key there, and what record is made of it."""

    home: Callable[[Site, Any], int]
    key: Callable[[int, Any], str]
    decode: Callable[[Any, dict[str, str]], T | None]


ARTICLES = Kind(Site.home_of_article, keys.article, records.article)
PROFILES = Kind(Site.home_of_user, keys.user, records.profile)


def of(site: Site, kind: Kind[T], id: Any) -> Read[T | None]:
    return Read(("HGETALL", kind.key(kind.home(site, id), id)), kind.decode, (id,))


def cached(site: Site, kind: Kind[T], ids: Iterable[Any], since: float) -> dict[Any, T]:
    """
    Those that this process knows as they were at an instant of the monotonic clock, or later. No round trip.

    Whoever began at that instant finds what is known of a partition once something was read of it since.
    """
    found = {}
    known: dict[int, MutableMapping[str, Any]] = {}
    for id in ids:
        p = kind.home(site, id)
        key = kind.key(p, id)
        if p not in known:
            known[p] = site.connection.cached(key, since)
        entry = known[p].get(key)
        if type(entry) is dict:  # as it was read: the record takes its place
            entry = known[p][key] = kind.decode(id, entry)
        if entry is not None:
            found[id] = entry
    return found


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
    return {number: CAST[vote] for number, vote in zip(numbers, reply, strict=True)}


def _by_name(names: list[str]) -> list[str]:
    return sorted(names, key=str.lower)
