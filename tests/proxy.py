"""A proxy between a client of the store and its Valkey, which counts round trips and can lose replies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class Proxy:
    """
    Counts round trips: each begins with the first data from the client after data from the server.

    The next request that contains `loses` is executed by the server, but its reply is lost with the connection. `lost`
    counts these replies.
    """

    def __init__(self, upstream: str, at: Path) -> None:
        self._upstream = upstream
        self._links: set[asyncio.Task[None]] = set()
        self.url = f"unix://{at}"
        self.round_trips = 0
        self.loses: bytes | None = None
        self.lost = 0

    async def link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on the data of a client's connection in both directions, which share `turn`."""
        up_reader, up_writer = await asyncio.open_unix_connection(self._upstream)
        turn = {"server sent last": True}  # then the next data from the client begins a round trip
        pumps = [
            self._pump(reader, up_writer, turn, from_server=False),
            self._pump(up_reader, writer, turn, from_server=True),
        ]
        self._links |= (tasks := {asyncio.ensure_future(pump) for pump in pumps})
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for stream in (writer, up_writer):
                stream.close()

    async def _pump(self, source, sink, turn: dict[str, bool], *, from_server: bool) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65_536):
                if not from_server and turn["server sent last"]:
                    self.round_trips += 1
                turn["server sent last"] = from_server
                if not from_server and self.loses is not None and self.loses in data:
                    self.loses, turn["is lost"] = None, True
                if from_server and turn.get("is lost"):
                    self.lost += 1
                    break
                sink.write(data)
                await sink.drain()

    async def close(self) -> None:
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)


@asynccontextmanager
async def counting(redis_url: str, at: Path) -> AsyncIterator[Proxy]:
    """A running proxy, which listens on the unix socket `at`, to the server at another unix socket."""
    proxy = Proxy(redis_url.removeprefix("unix://"), at)
    server = await asyncio.start_unix_server(proxy.link, at)
    yield proxy
    server.close()
    await proxy.close()
