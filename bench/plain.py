"""
Reads and writes of the peers in Python, other servers over the same data that the project is compared with:
redis.asyncio as in its documentation, one pipeline for each batch.
"""

import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, cast

import orjson
from redis.asyncio import Redis

from store import followed, keys

CONFIG = orjson.loads(Path(os.environ["BENCH_CONFIG"]).read_bytes())  # as `_config` of bench/__main__.py describes it
VOTES = {1: "UP", 0: "NONE", -1: "DOWN"}

Place = tuple[str, float]  # member and value, as redis-py gives them
Hash = dict[str, str]  # the fields of an article or a comment, as Redis has them


def connect() -> "Redis":
    return Redis.from_url(CONFIG["url"], decode_responses=True)


async def piped(redis: "Redis", commands: Iterable[Sequence[Any]]) -> list[Any]:
    async with redis.pipeline(transaction=False) as pipeline:
        for command in commands:
            pipeline.execute_command(*command)
        return await pipeline.execute()


async def viewers(redis: "Redis", authorizations: Sequence[str]) -> list[str | None]:
    return [await viewer(redis, authorization) for authorization in authorizations]


async def viewer(redis: "Redis", authorization: str | None) -> str | None:
    if not authorization:
        return None
    return logged_in(await redis.get(keys.session(0, digest(authorization))))


def logged_in(session: str | None) -> str | None:
    if session is None:
        return None
    username, expires_at, *_ = session.split()
    return None if int(expires_at) < time.time() * 1000 else username


def digest(authorization: str) -> str:
    """The SHA-256 of the token in the header, by which the key of its session is named."""
    return sha256(urlsafe_b64decode(authorization.removeprefix("Bearer ") + "==")).hexdigest()


def listing(group: str | None) -> tuple[str, str]:
    """The name of a listing, as its cursors have it, and its index."""
    return (f"group:{group}:score", keys.group(0, group, "score")) if group else ("score", keys.index(0, "score"))


async def page(redis: "Redis", index: str, first: int, after: str | None) -> list[Place]:
    """The places of a page, and one more if there is one, to see whether more follow."""
    command = redis.zrange(
        index,
        cast(Any, below(after)),
        cast(Any, "-inf"),
        desc=True,
        byscore=True,
        offset=0,
        num=first + 1,
        withscores=True,
    )
    return await cast(Awaitable[list[Place]], command)


def below(after: str | None) -> str:
    """The upper bound of a page's values: below the cursor's value."""
    return f"({urlsafe_b64decode(after + '==').decode().split('|')[1]}" if after else "+inf"


async def timelines(redis: "Redis", asked: Sequence[tuple[str, int]]) -> list[list[Place]]:
    """The newest articles of users. `asked` has a username and `first` for each; one more is read, as in `page`."""
    commands = [("ZRANGE", keys.timeline(0, name), 0, first, "REV", "WITHSCORES") for name, first in asked]
    return [[(member, float(value)) for member, value in reply] for reply in await piped(redis, commands)]


async def feed(redis: "Redis", username: str, first: int) -> list[Place]:
    """The newest articles of a user and of those whom they follow, one more than `first` to see whether more follow."""
    names = await cast(Awaitable[list[str]], redis.zrange(followed.following(0, username), 0, -1))
    ranges = await timelines(redis, [(name, first) for name in (username, *names)])
    return list(islice(merge(*ranges, key=lambda place: (place[1], place[0]), reverse=True), first + 1))


async def articles(redis: "Redis", numbers: Sequence[int]) -> list[Hash]:
    return await piped(redis, [("HGETALL", keys.article(0, number)) for number in numbers])


async def votes(redis: "Redis", numbers: Sequence[int], voter: str) -> list[str]:
    sets = (keys.voted, keys.downvoted)
    replies = await piped(redis, [("SISMEMBER", key(0, number), voter) for number in numbers for key in sets])
    return [VOTES[up - down] for up, down in zip(replies[::2], replies[1::2], strict=True)]


async def voters(redis: "Redis", numbers: Sequence[int]) -> list[list[str]]:
    found = await piped(redis, [("SMEMBERS", keys.voted(0, each)) for each in numbers])
    return [sorted(names, key=str.lower) for names in found]


async def cast_vote(redis: "Redis", name: str, authorization: str, *arguments: int) -> tuple[bool, Hash]:
    """Run one of Upvote's own scripts of votes. Returns whether the vote changed something, and the subject's hash."""
    given = CONFIG["scripts"][name]
    now = round(time.time() * 1000)
    script = redis.register_script(given["text"])
    status, _, flat, *_ = await script(
        keys=given["keys"],
        args=["", digest(authorization), now, *CONFIG["policy"], *arguments],  # "": the session names the voter
    )
    return status == "voted", dict(zip(flat[::2], flat[1::2], strict=True))


def is_open(stored: Hash) -> bool:
    return time.time() * 1000 <= int(stored["time"]) + CONFIG["votingWindow"]


def score(stored: Hash) -> float:
    return (int(stored["time"]) + CONFIG["voteWorth"] * (int(stored["up"]) - int(stored["down"]))) / 1000


def instant(stored: Hash) -> str:
    at = datetime.fromtimestamp(int(stored["time"]) / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cursor(listing: str, place: Place) -> str:
    member, value = place
    return urlsafe_b64encode(f"{listing}|{value}|{member}".encode()).decode().rstrip("=")
