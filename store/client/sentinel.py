"""
Connects to the primary that sentinels name. They are asked for each new connection, so that a failover is followed.

Why not redis-py's `Sentinel.discover_master`: it asks one sentinel after the other, so that silent sentinels use up the
time of a connection; and it trusts the first answer, even of an isolated sentinel that still names the old primary.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from store.client import Unreachable
from store.client.connection import C, RedisConnection, connect
from store.client.urls import Address, RedisURL


async def connect_to_primary(url: RedisURL, make: Callable[[asyncio.StreamWriter], C]) -> C:
    """
    Open a connection to the server that a sentinel names, if it reports itself to be the primary.

    Raises:
        Unreachable: no sentinel answers in time, or none names a primary that does.
    """
    reason: object = "no sentinel answers"
    async for address in _named_primaries(url):
        try:
            return await _connect_if_primary(url, address, make)
        except Unreachable as error:
            reason = error
    raise Unreachable(reason)


async def _connect_if_primary(url: RedisURL, address: Address | None, make: Callable[[asyncio.StreamWriter], C]) -> C:
    if address is None:
        raise Unreachable(f"no sentinel knows the service {url.service}")
    connection = await connect(url.connection(address), make)
    is_primary = False
    try:
        (role,) = await connection.send([("ROLE",)])
        is_primary = isinstance(role, list) and role[0] == "master"
    finally:
        if not is_primary:
            connection.close()
    if not is_primary:
        raise Unreachable(f"{address[0]}:{address[1]} is not the primary yet")
    return connection


async def _named_primaries(url: RedisURL) -> AsyncIterator[Address | None]:
    """The distinct answers of the sentinels, which are all asked at once; None stands for one that knows no primary."""
    asking = [asyncio.create_task(_ask(url, sentinel)) for sentinel in url.addresses]
    answers: set[Address | None] = set()
    try:
        for next_answer in asyncio.as_completed(asking):
            try:
                answer = await next_answer
            except Unreachable:
                continue
            if answer not in answers:
                answers.add(answer)
                yield answer
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def _ask(url: RedisURL, sentinel: Address) -> Address | None:
    connection = await connect(url.sentinel(sentinel), RedisConnection)
    try:
        (reply,) = await connection.send([("SENTINEL", "GET-MASTER-ADDR-BY-NAME", url.service)])
    finally:
        connection.close()
    if isinstance(reply, Exception):
        raise Unreachable(reply)
    return (reply[0], int(reply[1])) if reply else None
