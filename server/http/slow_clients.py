"""Closes connections of clients that do not read, over HTTP and WebSocket alike."""

import asyncio
import struct
from asyncio import TimerHandle, Transport
from dataclasses import dataclass, field
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import NamedTuple

CHECKS = 10  # in a row without progress, after which a connection is aborted


class Unread(NamedTuple):
    """Bytes that a client has yet to read, and how many checks in a row found no fewer."""

    size: int = 0
    checks: int = 0


@dataclass
class SlowClients:
    """Checks all connections periodically and aborts those whose client read nothing for `seconds`."""

    seconds: float = 10.0
    _unread: dict[Transport, Unread] = field(default_factory=dict)
    _timer: TimerHandle | None = None

    def add(self, transport: Transport) -> None:
        self._unread[transport] = Unread()
        if self._timer is None:
            self._schedule()

    def remove(self, transport: Transport) -> None:
        self._unread.pop(transport, None)

    def _schedule(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self.seconds / CHECKS, self._check)

    def _check(self) -> None:
        """Count the checks without progress of each connection, and abort those with too many."""
        for transport, (size, checks) in list(self._unread.items()):
            unread = unread_bytes(transport)
            checks = checks + 1 if unread >= size > 0 else 0
            self._unread[transport] = Unread(unread, checks)
            if checks == CHECKS:
                transport.abort()
        self._timer = None
        if self._unread:
            self._schedule()


def unread_bytes(transport: Transport) -> int:
    """
    Bytes in the transport's buffer and, where the system has TIOCOUTQ, in the socket's.

    0 while the transport's buffer is empty: then the socket has taken all output.
    """
    buffered = transport.get_write_buffer_size()
    if not buffered:
        return 0
    try:
        in_socket = ioctl(transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4))
    except OSError:
        return buffered
    return buffered + int(struct.unpack("i", in_socket)[0])
