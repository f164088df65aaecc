"""
Measures pages of threads of 1,000 and of 100,000 comments, of several shapes, and the writes to them; then pinned pages
after votes on a tenth of the comments, and votes while there are pins. A pinned page goes on with a thread in the order
that it had when its pin was made; votes have to keep what pins need.

    python -m bench.threads [SIZE [CONVERSATION]]

The figures are CPU time of the server's main thread, including the network, so that other processes do not affect them.
Both threads are in one store, and are measured in turn.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.conversations import SHAPES, Conversation
from bench.since import cpu_seconds
from server.managed_valkey import server
from store import keys, threads
from store.articles import Draft
from store.comments import COMMENT
from store.records import Vote
from store.store import Store
from store.threads import CommentOrder, ThreadPage, ThreadPosition, ThreadWindow

SIZES = (1_000, 100_000)
ROUNDS = 9
CALLS = 20  # of a round
BATCH = 100  # comments
VOTERS = 40
NOW = 1_470_311_520_000  # unix milliseconds
UNLIMITED = 1_000_000  # greatest depth of the comments of a page
# Columns of the two tables: pages of 100 comments, counts of what is below 20 comments, and writes. In the second
# one, "pinned" is the page before it with a pin; the last three are votes without a pin, with one and with 30.
CASES = (
    "first 100", "last 100", "100 in the middle", "100 before it", "first 100, depth 10", "20 counts", "comment", "vote"
)  # fmt: skip
PINNED = (
    "first 100", "pinned", "100 in the middle", "pinned", "100 before it", "pinned", "vote", "with a pin", "30 pins"
)  # fmt: skip
MOST_PINS = 30  # of one thread: one a minute for each of three orders


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured, and what is done before it."""

    run: Callable[[], Awaitable[object]]
    prepare: Callable[[], Awaitable[object]] | None = None


async def main(size: int, names: Sequence[str]) -> None:
    tables = [Table("conversation", "comments", *columns, title="µs of the server") for columns in (CASES, PINNED)]
    for name in names:
        shape = SHAPES[name]
        with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
            store = await Store.open(url, clock=lambda: NOW, cached_keys=0)
            sizes, chance = (SIZES[0], size), random.Random(size)
            filled = [await fill(store, shape(count, chance), chance) for count in sizes]
            for table, made in zip(tables, (cases, pinned_cases), strict=True):
                figures = await measured(store, [await made(store, *each, chance) for each in filled])
                for count, row in zip(sizes, figures, strict=True):
                    table.add_row(name, f"{count:,}", *(f"{figure:,.0f}" for figure in row))
                print(name, *([round(figure) for figure in row] for row in figures), file=sys.stderr)
            await store.close()
    for table in tables:
        Console(width=170).print(table)


async def fill(store: Store, conversation: Conversation, chance: random.Random) -> tuple[int, Sequence[int]]:
    """Post a conversation, vote on its comments, and return the numbers of the article and of the comments."""
    site = store.site
    await site.redis.run(
        ("HSET", keys.user(site.partition_of_user("poster"), "poster"), "name", "poster", "joined", NOW, "karma", 0)
    )
    posted = await store.articles.post("poster", Draft("A title", content="A text"))
    assert posted.article
    article, numbers = posted.article.number, list[int]()
    start = 0
    while start < len(conversation):
        end = start + 1  # a batch of comments whose parents have numbers
        while end < min(len(conversation), start + BATCH) and (conversation[end] or 0) < start:
            end += 1
        replies = await site.redis.pipeline(
            [_comment(store, article, numbers, parent, start + i) for i, parent in enumerate(conversation[start:end])]
        )
        numbers += [int(reply[1]) for reply in replies]
        start = end
    await _vote_on_a_tenth(store, numbers, chance)
    return article, numbers


async def _vote_on_a_tenth(store: Store, numbers: Sequence[int], chance: random.Random) -> None:
    for _ in range(len(numbers) // 10):
        liked = numbers[min(int(chance.paretovariate(0.5)) - 1, len(numbers) - 1)]
        await store.comments.vote(liked, f"voter-{chance.randrange(VOTERS)}", chance.choice((Vote.UP, Vote.DOWN)))


def _comment(store: Store, article: int, numbers: Sequence[int], parent: int | None, each: int) -> tuple[object, ...]:
    """
    The call of comment.lua for comment number `each` of a conversation; `parent` is an index of `numbers`. The head of
    the script describes its arguments.
    """
    above = "" if parent is None else numbers[parent]
    arguments = (1, article, above, f"Text {each}", 0)  # partitions, article, parent, content, slot of the poster
    arguments += (f"{each:064x}", f"{each:064x}", 10_000, 1_000, "")  # for posting once: digests, milliseconds, no key
    arguments += ("", 0, "", 0)  # held by no rule, on an article of any age, and nobody is mentioned
    return store.site.command(
        COMMENT, store.site.partition_of_article(article), *arguments, username=f"user-{each % 100}"
    )


async def cases(store: Store, article: int, numbers: Sequence[int], chance: random.Random) -> list[Case]:
    """What the columns of `CASES` measure, in a thread whose comments have these numbers."""
    middle = await _position(store, article, numbers[len(numbers) // 2])
    some, site = numbers[:: len(numbers) // 20], store.site

    def page(window: ThreadWindow, max_depth: int = UNLIMITED) -> Case:
        return Case(partial(_page, store, article, window, max_depth))

    async def counts() -> None:
        await site.redis.run(threads.descendant_counts(site, partition=0, numbers=some).command)

    async def comment() -> None:
        await store.comments.post(article, chance.choice(numbers), "poster", f"A new text {chance.random()}")

    async def vote() -> None:
        await store.comments.vote(chance.choice(numbers), f"other-{chance.random()}", Vote.UP)

    return [
        page(ThreadWindow(100)),
        page(ThreadWindow(100, upwards=True)),
        page(ThreadWindow(100, beyond=middle)),
        page(ThreadWindow(100, upwards=True, beyond=middle)),
        page(ThreadWindow(100), max_depth=10),
        Case(counts),
        Case(comment),
        Case(vote),
    ]


async def pinned_cases(store: Store, article: int, numbers: Sequence[int], chance: random.Random) -> list[Case]:
    """What the columns of `PINNED` measure: since the pin was made, a tenth of the comments was voted on."""
    site, beyond = store.site, await _position(store, article, numbers[len(numbers) // 2])
    start = await threads.pin(site, article, CommentOrder.BEST)
    assert start
    for number in chance.sample(numbers, len(numbers) // 10):
        await store.comments.vote(number, "another", chance.choice((Vote.UP, Vote.DOWN)))
    pinned = beyond._replace(moves=start.moves, newest=start.newest)

    async def set_pins(*orders: str, count: int = 1) -> None:
        moves = int(await site.redis.run(("GET", threads.moves(0))))
        await site.redis.run(("DEL", threads.pins(0, article)))
        for order in orders:
            for each in range(count):
                await site.redis.run(("ZADD", threads.pins(0, article), each, f"{order}:{moves + each}"))

    async def use_pin() -> None:
        await site.redis.run(("ZADD", threads.pins(0, article), 0, f"best:{start.moves}"))

    async def vote() -> None:
        await store.comments.vote(chance.choice(numbers), f"other-{chance.random()}", Vote.UP)

    windows = [ThreadWindow(100), ThreadWindow(100, beyond=beyond), ThreadWindow(100, upwards=True, beyond=beyond)]
    windows_of_pin = [
        ThreadWindow(100, beyond=start),
        ThreadWindow(100, beyond=pinned),
        ThreadWindow(100, upwards=True, beyond=pinned),
    ]
    orders = ("best", "votes", "controversial")
    return [
        *(
            Case(partial(_page, store, article, window, UNLIMITED), use_pin)
            for pair in zip(windows, windows_of_pin, strict=True)
            for window in pair
        ),
        Case(vote, set_pins),
        Case(vote, partial(set_pins, "best")),
        Case(vote, partial(set_pins, *orders, count=MOST_PINS // len(orders))),
    ]


async def measured(store: Store, both: Sequence[Sequence[Case]]) -> list[list[float]]:
    """The median of the rounds of each case, for both threads in turn."""
    figures: list[list[list[float]]] = [[[] for _ in cases_of] for cases_of in both]
    for _ in range(ROUNDS):
        for which, cases_of in enumerate(both):
            for place, case in enumerate(cases_of):
                figures[which][place].append(await _microseconds(store, case))
    return [[median(rounds) for rounds in row] for row in figures]


async def _page(store: Store, article: int, window: ThreadWindow, max_depth: int) -> ThreadPage:
    read = threads.page(store.site, article, CommentOrder.BEST, window, max_depth=max_depth)
    return read.result(await store.site.redis.run(read.command))


async def _position(store: Store, article: int, number: int) -> ThreadPosition:
    """A comment's position, as cursors have it: the levels of its outermost and innermost ancestors, and its own."""
    path, levels, above = [number], list[threads.ThreadLevel](), str(number)
    while above := await store.site.redis.run(("HGET", keys.comment(0, above), "parent")):
        path.insert(0, int(above))
    path.insert(0, article)
    for depth, (parent, each) in enumerate(pairwise(path)):
        value = await store.site.redis.run(("ZSCORE", threads.REPLIES(0, parent, "best"), keys.member(each)))
        levels.append(threads.ThreadLevel(depth, threads.Position(float(value), keys.member(each))))
    moves = await store.site.redis.run(("GET", threads.moves(0)))
    return ThreadPosition(threads.kept_levels(levels), int(moves))


async def _microseconds(store: Store, case: Case) -> float:
    """Mean time of a call."""
    if case.prepare:
        await case.prepare()
    before = await cpu_seconds(store)
    for _ in range(CALLS):
        await case.run()
    return (await cpu_seconds(store) - before) / CALLS * 1e6


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else SIZES[1], sys.argv[2:] or list(SHAPES)))
