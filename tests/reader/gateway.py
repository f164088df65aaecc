"""A reverse proxy between a browser and a server, which strips a path prefix and can cut all connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Gateway:
    """
    Proxies each request in a connection of its own, WebSockets too.

    `requests` are their methods and paths. `outside_prefix` are the paths that do not begin with the prefix; they get
    404. While `is_down`, new connections are closed at once.
    """

    def __init__(self, upstream: str, prefix: str = "") -> None:
        address = urlsplit(upstream)
        self._upstream = (address.hostname, address.port)
        self._prefix = prefix
        self._streams: set[asyncio.StreamWriter] = set()
        self.is_down = False
        self.outside_prefix: list[str] = []
        self.requests: list[str] = []

    def cut(self) -> None:
        """Close all connections, and refuse new ones until `restore`."""
        self.is_down = True
        for stream in self._streams:
            stream.transport.abort()

    def restore(self) -> None:
        self.is_down = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            if not self.is_down:
                await self._forward(reader, writer)
        writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line, _, headers = head.decode("latin-1").partition("\r\n")
        method, path, version = line.split(" ")
        self.requests.append(f"{method} {path}")
        if not f"{path}/".startswith(f"{self._prefix}/"):
            self.outside_prefix.append(path)
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if "upgrade: websocket" not in headers.lower():
            headers = "Connection: close\r\n" + headers.replace("Connection: keep-alive\r\n", "")
        up_reader, up_writer = await asyncio.open_connection(*self._upstream)
        up_writer.write(f"{method} {path.removeprefix(self._prefix) or '/'} {version}\r\n{headers}".encode("latin-1"))
        streams = {writer, up_writer}
        self._streams |= streams
        try:
            await self._pump_both(reader, up_writer, up_reader, writer)
        finally:
            self._streams -= streams
            up_writer.close()

    async def _pump_both(self, reader, up_writer, up_reader, writer) -> None:
        pumps = [asyncio.ensure_future(pump(reader, up_writer)), asyncio.ensure_future(pump(up_reader, writer))]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for each in pumps:
            each.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy bytes until the source ends or a connection is lost."""
    with suppress(ConnectionError):
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()


@asynccontextmanager
async def gateway(upstream: str, prefix: str = "") -> AsyncIterator[tuple[Gateway, str]]:
    """A running gateway and its URL, which ends with the prefix and a slash."""
    proxy = Gateway(upstream, prefix)
    async with await asyncio.start_server(proxy.serve, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        yield proxy, f"http://127.0.0.1:{port}{prefix}/"
        proxy.cut()
