"""Clients that do not read: a connection whose output waits and gets no less is cut, whatever it speaks."""

import asyncio
import struct
from asyncio import TimerHandle, Transport
from dataclasses import dataclass, field
from fcntl import ioctl
from termios import TIOCOUTQ
from typing import NamedTuple

LOOKS = 10  # that find nothing taken, until a connection is cut


class Waiting(NamedTuple):
    """Bytes that a client has yet to take, and how many looks in a row found them no less."""

    size: int = 0
    looks: int = 0


@dataclass
class Readers:
    """Looks at all connections from time to time, and cuts those that took nothing for `seconds`."""

    seconds: float = 10.0
    _waiting: dict[Transport, Waiting] = field(default_factory=dict)
    _timer: TimerHandle | None = None

    def watch(self, transport: Transport) -> None:
        self._waiting[transport] = Waiting()
        if self._timer is None:
            self._look_later()

    def forget(self, transport: Transport) -> None:
        self._waiting.pop(transport, None)

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self.seconds / LOOKS, self._look)

    def _look(self) -> None:
        for transport, (size, looks) in list(self._waiting.items()):
            waits = untaken(transport)
            looks = looks + 1 if waits >= size > 0 else 0
            self._waiting[transport] = Waiting(waits, looks)
            if looks == LOOKS:
                transport.abort()
        self._timer = None
        if self._waiting:
            self._look_later()


def untaken(transport: Transport) -> int:
    """What waits here and in the socket, where the system tells; nothing as long as the socket holds all of it."""
    here = transport.get_write_buffer_size()
    if not here:
        return 0
    try:
        told = ioctl(transport.get_extra_info("socket").fileno(), TIOCOUTQ, bytes(4))
    except OSError:
        return here
    return here + int(struct.unpack("i", told)[0])
