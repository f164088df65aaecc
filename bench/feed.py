"""
Measures feeds, which are the articles of the users that somebody follows: the first page and a refresh, with few and
many followees, and a naive implementation in the same run.

    python -m bench.feed

The naive implementation reads one range per followee in one redis-py pipeline and merges in Python. Timelines are
written directly; only the articles that pages show get a hash.
"""

import asyncio
import heapq
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from resolvers import feeds
from resolvers.context import Context
from server.managed_valkey import server
from store import followed, keys
from store.articles import Draft
from store.client import Command
from store.client.client import current_usage
from store.records import Feed, Position
from store.store import Store

FOLLOWEES = [10, 100, 1_000, 5_000]
POSTED = [20, 500]  # articles of each followee
FOLLOWERS = [10, 100_000]  # of a poster
ROUNDS = 30  # reads of a feed, and posts
START = 1_470_000_000_000  # unix milliseconds
BATCH = 2_000  # commands in a pipeline
SLOW = 50  # microseconds of a call from which Valkey keeps it in its slow log


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
        store = await Store.open(url)
        await pulls(store, Redis.from_url(url, decode_responses=True))
        await posts(store)
        await store.close()


async def pulls(store: Store, redis: "Redis") -> None:
    """Measure reads of feeds, which pull from the timelines of the followees, and print a table."""
    columns = ["followees", "articles", "page ms", "commands", "naive ms", "naive / page", "refresh ms", "commands"]
    table = Table(*columns, "calls µs: median, longest", title="Feeds: medians of one run")
    for posted in POSTED:
        await write_timelines(store, max(FOLLOWEES), posted)
        for count in FOLLOWEES:
            table.add_row(*await pull(store, redis, count, posted))
    await redis.aclose()
    Console(width=120).print(table)


async def pull(store: Store, redis: "Redis", count: int, posted: int) -> list[str]:
    """The row of the table for a feed with `count` followees, each of whom has posted `posted` articles."""
    reader = f"reader-{count}-{posted}"
    names = [f"poster-{each}" for each in range(count)]
    key = followed.following(store.site.partition_of_user(reader), reader)
    await send(store, [("ZADD", key, each, name) for each, name in enumerate(names)])
    user = keys.user(store.site.partition_of_user(reader), reader)
    newest = Position(float(START + posted * max(FOLLOWEES)), keys.member(2**53 - 1))  # after all articles
    mark = f"{newest.value!r} {newest.member}"  # the reader has seen the feed up to here
    fields = ("name", reader, "joined", START, "karma", 0, "seen", mark)
    await send(store, [("HSET", user, *fields)])

    client = store.site.redis
    await client.run(("CONFIG", "SET", "slowlog-log-slower-than", SLOW))
    await client.run(("SLOWLOG", "RESET"))
    (first, naive, refresh), commands = await timed(
        [
            lambda: page(store, reader, unseen_only=False),
            lambda: naive_pull(store, redis, names),
            lambda: page(store, reader, unseen_only=True),
        ]
    )
    entries = await client.run(("SLOWLOG", "GET", 1_000))
    calls = [duration for _, _, duration, command, *_ in entries if command[0] == "EVALSHA"]
    longest = f"{median(calls):.0f}, {max(calls)}" if calls else f"< {SLOW}"
    shown = [f"{first:.2f}", str(commands[0]), f"{naive:.2f}", f"{naive / first:.1f}", f"{refresh:.2f}"]
    return [str(count), str(posted), *shown, str(commands[2]), longest]


async def timed(runs: Sequence[Callable[[], Awaitable[object]]]) -> tuple[list[float], list[int]]:
    """The median time of each run in milliseconds, and the number of commands that its last call sent."""
    times: list[list[float]] = [[] for _ in runs]
    commands = [0] * len(runs)
    for _ in range(ROUNDS):
        for place, run in enumerate(runs):
            started = perf_counter()
            await run()
            times[place].append((perf_counter() - started) * 1000)
            counted = current_usage.get()
            commands[place] = counted.commands if counted else 0
    return [median(each) for each in times], commands


async def page(store: Store, reader: str, *, unseen_only: bool) -> None:
    (connection,) = await feeds.articles([Feed(reader)], Context(store), first=25, unseen_only=unseen_only)
    assert len(connection.edges) == (0 if unseen_only else 25)


async def naive_pull(store: Store, redis: "Redis", names: Sequence[str]) -> None:
    """The usual way with redis-py: the newest of every timeline, merged, and the articles of the first 25."""
    timelines = [keys.timeline(store.site.partition_of_user(name), name) for name in names]
    commands: list[Command] = [("ZRANGE", key, 0, 24, "REV", "WITHSCORES") for key in timelines]
    found = await piped(redis, commands)
    places = [(float(value), member) for pairs in found for member, value in pairs]
    shown = [int(member) for _, member in heapq.nlargest(25, places)]
    hashes: list[Command] = [
        ("HGETALL", keys.article(store.site.partition_of_article(number), number)) for number in shown
    ]
    assert len(await piped(redis, hashes)) == 25


async def piped(redis: "Redis", commands: Sequence[Command]) -> list[Any]:
    pipeline = redis.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    return await pipeline.execute()


async def write_timelines(store: Store, count: int, posted: int) -> None:
    """Write the timelines of `count` posters, each of whom has posted `posted` articles."""
    commands: list[Command] = []
    for poster in range(count):  # the posters take turns: the n-th articles of all come before the next ones of all
        name = f"poster-{poster}"
        partition = store.site.partition_of_user(name)
        times = [START + turn * count + poster for turn in range(posted)]
        members = [keys.member((turn * count + poster + 1) * keys.SLOTS + keys.slot(name)) for turn in range(posted)]
        pairs = [text for pair in zip(times, members, strict=True) for text in pair]
        commands += [("DEL", keys.timeline(partition, name)), ("ZADD", keys.timeline(partition, name), *pairs)]
        commands += [("ZADD", keys.newest_posts(partition), times[-1], name)]
        fields = ("title", "a title", "poster", name, "time", times[-1], "up", 1, "down", 0, "groups", "")
        commands += [("HSET", keys.article(partition, int(member)), *fields) for member in members[-25:]]
    await send(store, commands)


async def posts(store: Store) -> None:
    """Measure posts of users with few and many followers, and print a table."""
    table = Table("followers", "post ms", title="Posting: medians of one run")
    posters = [f"popular-{count}" for count in FOLLOWERS]
    for poster, count in zip(posters, FOLLOWERS, strict=True):
        partition = store.site.partition_of_user(poster)
        await send(store, [("HSET", keys.user(partition, poster), "name", poster, "joined", START, "karma", 0)])
        await send(
            store, [("ZADD", followed.followers(partition, poster), each, f"follower-{each}") for each in range(count)]
        )
    draft = Draft("a title", "https://example.com/")
    times, _ = await timed([lambda poster=poster: store.articles.post(poster, draft) for poster in posters])
    for count, time in zip(FOLLOWERS, times, strict=True):
        table.add_row(str(count), f"{time:.3f}")
    Console(width=120).print(table)


async def send(store: Store, commands: Sequence[Command]) -> None:
    for start in range(0, len(commands), BATCH):
        await store.site.redis.pipeline(commands[start : start + BATCH])


if __name__ == "__main__":
    asyncio.run(main())
