"""A primary that sentinels watch. They are asked for every new link, so that a failover is followed once decided."""

import asyncio
from collections.abc import AsyncIterator, Callable

from store.client.connection import AnyConnection, Connection, Unreachable, connected
from store.client.urls import Address, RedisURL


async def primary(url: RedisURL, make: Callable[[asyncio.StreamWriter], AnyConnection]) -> AnyConnection:
    """
    A new link to the server that the sentinels call the primary and that calls itself so.

    Raises:
        Unreachable: no sentinel answers in time, or none knows a primary that does.
    """
    reason: object = "no sentinel answers"
    async for address in _told(url):
        if address is None:
            reason = f"no sentinel knows the service {url.service}"
            continue
        try:
            link = await connected(url.connection(address), make)
        except Unreachable as error:
            reason = error
            continue
        is_primary = False
        try:
            (role,) = await link.send([("ROLE",)])
            is_primary = isinstance(role, list) and role[0] == "master"
        finally:
            if not is_primary:
                link.close()
        if is_primary:
            return link
        reason = f"{address[0]}:{address[1]} is not the primary yet"
    raise Unreachable(reason)


async def _told(url: RedisURL) -> AsyncIterator[Address | None]:
    """What the sentinels say where the primary is, each thing once; they are asked all at once."""
    asking = [asyncio.create_task(_ask(url, sentinel)) for sentinel in url.addresses]
    told: set[Address | None] = set()
    try:
        for answer in asyncio.as_completed(asking):
            try:
                address = await answer
            except Unreachable:
                continue
            if address not in told:
                told.add(address)
                yield address
    finally:
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def _ask(url: RedisURL, sentinel: Address) -> Address | None:
    link = await connected(url.sentinel(sentinel), Connection)
    try:
        (reply,) = await link.send([("SENTINEL", "GET-MASTER-ADDR-BY-NAME", url.service)])
    finally:
        link.close()
    if isinstance(reply, Exception):
        raise Unreachable(reply)
    return (reply[0], int(reply[1])) if reply else None
