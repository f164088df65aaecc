"""
The articles that are moving between Redis and the archive, which is in the SQL database: those that are about to leave
Redis, and those that have just come back. Their numbers are in the set `moving` of their partition, a share of the
data. Reads ignore what the database has of them.
"""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

from store import keys
from store.kinds import Kind
from store.queries import Read
from store.records import Article, article, pairs
from store.scripts.registry import Script
from store.site import Site

MISSING_ARTICLES = Script("missing_articles")

MOVING = Kind(
    "moving",
    "set",
    parts=(),
    holds="numbers of articles whose places in the database do not count: they are about to leave Redis, or came back",
    lifetime="seconds",
    written_by="archive, unarchive, verify",
)

CALLS = count()  # numbers for `new_call`


class State(NamedTuple):
    """
    What Redis has of an article that it did not have a moment ago. `article` is None if Redis still does not have it;
    `may_be_archived` is False if Redis has it, or if it was deleted.
    """

    article: Article | None
    may_be_archived: bool


def new_call() -> int:
    """
    A number for the context of reads that have to be sent again. A request sends equal reads only once, and reads with
    different contexts are not equal.
    """
    return next(CALLS)


def numbers(partitions: Iterable[int]) -> list[Read[frozenset[int]]]:
    """Reads of the numbers of the moving articles, one for each partition. They are always sent (`new_call`)."""
    call = new_call()
    return [Read(("SMEMBERS", MOVING(partition)), _numbers, (call,)) for partition in partitions]


def states(site: Site, articles: Sequence[int]) -> list[Read[dict[int, State]]]:
    """Reads of the states of articles by number, one for each partition. They are always sent (`new_call`)."""
    call, by_partition = new_call(), dict[int, list[int]]()
    for number in articles:
        by_partition.setdefault(site.partition_of_article(number), []).append(number)
    return [
        Read(
            # the script appends each number to the key without one
            MISSING_ARTICLES.command([keys.article(partition, ""), MOVING(partition)], *part),
            _states,
            (call, tuple(part)),
        )
        for partition, part in by_partition.items()
    ]


async def states_of(site: Site, articles: Sequence[int]) -> dict[int, State]:
    """The states of articles by number, now. One round trip."""
    reads = states(site, articles)
    replies = await site.redis.pipeline([read.command for read in reads])
    return {
        number: state
        for read, reply in zip(reads, replies, strict=True)
        for number, state in read.result(reply).items()
    }


async def marked(site: Site, partition: int) -> list[int]:
    """As `numbers` for one partition, but sent here: the numbers of its moving articles now. One round trip."""
    return [int(number) for number in await site.redis.run(("SMEMBERS", MOVING(partition)))]


def _numbers(call: int, reply: Sequence[str]) -> frozenset[int]:
    return frozenset(map(int, reply))


def _states(call: int, numbers: Sequence[int], reply: Sequence[list[str]]) -> dict[int, State]:
    return {number: _state(number, flat) for number, flat in zip(numbers, reply, strict=True)}


def _state(number: int, flat: list[str]) -> State:
    if len(flat) == 1:  # a status: "absent" or "deleted"
        return State(None, may_be_archived=flat == ["absent"])
    return State(article(number, pairs(flat)), may_be_archived=False)
