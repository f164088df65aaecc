"""One server, by links that are made when first used, and again whenever they were lost; and confirmed writes to it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import monotonic
from typing import Any, Protocol

from hiredis import ReplyError

from store.client.commands import Command, is_write, marks
from store.client.connection import MOST_WAITING, Connection, Unreachable, lost_replies
from store.client.tracking_cache import TrackingCache

CONFIRMING_TIME = 0.8  # seconds that replicas have to confirm: less than a link waits for a reply
Connect = Callable[[], Awaitable[Connection]]


class Server(Protocol):
    """One server, or what does as one."""

    def send(self, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        """The replies to commands, in order, errors among them; all LOST where nothing answers."""

    async def primaries(self) -> "Sequence[Server]":
        """The servers that together hold everything."""

    def cache(self, key: str) -> TrackingCache | None:
        """What was read of the server that has a key, if there is a link to it that keeps anything."""

    def mark_stale(self, since: float) -> None:
        """Look anew whom to ask, unless that was done after an instant of the monotonic clock."""

    def close(self) -> None:
        """Close what is open; it can be used again."""


class NodeClient:
    """A server by one link. All who need it while it is being made wait for the same."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._link: Connection | None = None
        self._since = 0.0
        self._making: asyncio.Task[Connection] | None = None

    def send(self, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        link = self._link
        return link.send(commands) if link and link.is_open else self._send_first(commands)

    async def link(self) -> Connection:
        """The link, which is made unless it is open. Raises Unreachable."""
        if self._link and self._link.is_open:
            return self._link
        if self._making is None:
            self._making = asyncio.create_task(_made(self._connect))
            self._making.add_done_callback(self._take)
        making, ourselves = self._making, asyncio.current_task()
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            if making.cancelled() and ourselves and not ourselves.cancelling():
                raise Unreachable("it was closed") from None
            raise

    async def _send_first(self, commands: Sequence[Command]) -> list[Any]:
        try:
            link = await self.link()
        except Unreachable as error:
            return lost_replies(commands, error)
        return await link.send(commands)

    async def primaries(self) -> Sequence[Server]:
        return [self]

    def cache(self, key: str) -> TrackingCache | None:
        return self._link.cache if self._link and self._link.is_open else None

    def mark_stale(self, since: float) -> None:
        """Close the link: behind a name or a sentinel there may be another server by now."""
        if self._link and self._since < since:
            self._link.close()

    def close(self) -> None:
        if self._making:
            self._making.cancel()
        if self._link:
            self._link.close()
        self._link, self._making = None, None

    def _take(self, making: "asyncio.Task[Connection]") -> None:
        link = None if making.cancelled() or making.exception() else making.result()
        if making is self._making:
            self._link, self._making, self._since = link, None, monotonic()
        elif link:
            link.close()  # nobody waits for it any more


async def _made(connect: Connect) -> Connection:
    return await connect()


class ReplicatedWrites:
    """
    A server whose writes are answered once `count` of its replicas have them; reads have a link of their own.

    What wants to be written while replicas are awaited leaves together, with one WAIT: it keeps its link from all
    else. A write that changes nothing, as it was made before, waits as well: a mark is written behind the others,
    because WAIT looks at nothing but what its own link wrote.
    """

    def __init__(self, connect: Connect, count: int) -> None:
        self._reading, self._writing = NodeClient(connect), NodeClient(connect)
        self._count = count
        self._pending: list[tuple[Sequence[Command], asyncio.Future[list[Any]]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        if not any(is_write(command) for command in commands):
            return await self._reading.send(commands)
        done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._pending.append((commands, done))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await done

    async def primaries(self) -> Sequence[Server]:
        return [self]

    def cache(self, key: str) -> TrackingCache | None:
        return self._reading.cache(key)

    def mark_stale(self, since: float) -> None:
        self._reading.mark_stale(since)
        self._writing.mark_stale(since)

    def close(self) -> None:
        self._reading.close()
        self._writing.close()

    async def _flush(self) -> None:
        while self._pending:
            try:
                link = await self._writing.link()
            except Unreachable as error:
                group, self._pending = self._pending, []
                replies = iter(lost_replies([command for commands, _ in group for command in commands], error))
            else:
                group, self._pending = self._pending[:MOST_WAITING], self._pending[MOST_WAITING:]
                replies = iter(await self._confirmed(link, [command for commands, _ in group for command in commands]))
            for commands, done in group:
                answer = [next(replies) for _ in commands]
                if not done.done():  # whoever asked may have gone
                    done.set_result(answer)
        self._flushing = None

    async def _confirmed(self, link: Connection, commands: Sequence[Command]) -> list[Any]:
        wait: Command = ("WAIT", self._count, round(CONFIRMING_TIME * 1000))
        *replies, confirmed = await link.send([*commands, *marks(commands), wait])
        marked = replies[len(commands) :]
        if set(marked) <= {"OK"} and isinstance(confirmed, int) and confirmed >= self._count:
            return replies[: len(commands)]
        unconfirmed = ReplyError(f"UNCONFIRMED {confirmed} of {self._count} replicas, {marked}")
        return [reply if isinstance(reply, ReplyError) else unconfirmed for reply in replies[: len(commands)]]
