"""
Room on the disk for the log of a Valkey of our own: writes are refused before there is none.

Where the log cannot be written it is too late: with `appendfsync always` Valkey ends, and else it has acknowledged by
then what it holds in memory only. So Valkey refuses writes, whoever asks, while there is less room than the reserve.
What is faster, as another program or a quota may be, is met by a file that keeps some room: it is removed once the log
cannot be written, and before Valkey is stopped.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.errors import CommandError
from server.managed_valkey.supervisor import ask

RESERVE = 32_000_000  # bytes, unless a setting says otherwise
SECONDS = 0.1  # between two looks
SETTLING_SECONDS = 10.0  # that a log which cannot be written has at the end; Valkey tries again every second
REFUSE = b"ACL SETUSER default allcommands -@write"  # at once and for all connections; a script fails before it writes
ACCEPT = b"ACL SETUSER default allcommands"
FAILING = b"aof_last_write_status:err"
NOT_REWRITTEN = b"aof_last_bgrewrite_status:err"

logger = logging.getLogger("upvote")


class LogNotWritten(CommandError):
    """Valkey has acknowledged what it cannot write."""


@contextmanager
def watched(data_dir: Path, at: Path, reserve: int) -> Iterator[None]:
    """
    Have the Valkey at a socket refuse writes while its data directory has less room than the reserve, in bytes.

    Raises:
        LogNotWritten: at the end, when some of what was acknowledged is still not in the log.
    """
    disk = Disk(data_dir, at, reserve)
    disk.look()
    stopping = threading.Event()
    thread = threading.Thread(target=_watch, args=(disk, stopping), name="disk", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()
        disk.settle()


def _watch(disk: "Disk", stopping: threading.Event) -> None:
    while not stopping.wait(SECONDS):
        disk.look()


class Disk:
    def __init__(self, data_dir: Path, at: Path, reserve: int) -> None:
        self._data_dir = data_dir
        self._at = at
        self._reserve = reserve
        self._file = data_dir / "reserve"
        self._kept = reserve // 4  # bytes of the file
        self._is_failing = False
        self._is_refusing = False
        self._grows_on = False

    def look(self) -> None:
        """Refuse writes, or accept them again."""
        try:
            state = ask(self._at, b"INFO persistence")
            self._is_failing = FAILING in state
            room = free(self._data_dir)
            refusing = self._is_failing or room < self._reserve or (self._is_refusing and not self._keeps_room(room))
            if refusing or self._is_refusing:  # one that was started again has forgotten it
                ask(self._at, REFUSE if refusing else ACCEPT)
        except OSError:
            return  # Valkey does not answer, or there are no more files: the next look is soon
        if refusing != self._is_refusing:
            self._is_refusing = refusing
            self._say(room)
        self._say_of_rewrites(NOT_REWRITTEN in state)
        if self._is_failing or room < self._reserve // 8:
            self._give_room()
        elif not refusing:
            self._keeps_room(room)

    def settle(self) -> None:
        """
        Have all that was acknowledged written.

        Raises:
            LogNotWritten: it is not in 10 seconds.
        """
        self._give_room()
        deadline = time.monotonic() + SETTLING_SECONDS
        while not self._is_written():
            if time.monotonic() > deadline:
                raise LogNotWritten(
                    f"the log of Valkey in {self._data_dir} cannot be written: what was acknowledged last may be lost"
                )
            time.sleep(SECONDS)

    def _is_written(self) -> bool:
        try:
            state = ask(self._at, b"INFO persistence")
        except OSError:
            state = b""
        if b"aof_buffer_length" not in state:  # it has ended, or is starting: it holds nothing that was acknowledged
            return not self._is_failing
        self._is_failing = FAILING in state
        return not self._is_failing and b"aof_buffer_length:0\r" in state

    def _keeps_room(self, room: int) -> bool:
        """Whether the file is there, made now if there is room for it beside the reserve."""
        try:
            if self._file.exists() and self._file.stat().st_size == self._kept:
                return True
            if room < self._reserve + self._kept:
                return False
            _allocate(self._file, self._kept)
        except OSError:
            self._give_room()
            return False
        return True

    def _give_room(self) -> None:
        with suppress(OSError):  # a file system that cannot be written any more
            self._file.unlink(missing_ok=True)

    def _say(self, room: int) -> None:
        if self._is_failing:
            logger.error("writes are refused: the log of Valkey in %s cannot be written", self._data_dir)
        elif self._is_refusing:
            message = "writes are refused: %s has %d bytes of room, and UPVOTE_DISK_RESERVE is %d"
            logger.error(message, self._data_dir, room, self._reserve)
        else:
            logger.warning("writes are accepted again: %s has %d bytes of room", self._data_dir, room)

    def _say_of_rewrites(self, has_failed: bool) -> None:
        if has_failed and not self._grows_on:
            logger.error("the log of Valkey in %s could not be rewritten and grows on: see valkey.log", self._data_dir)
        self._grows_on = has_failed


def free(folder: Path) -> int:
    """How many bytes a folder has room for."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _allocate(file: Path, size: int) -> None:
    with file.open("wb") as opened:
        if size and hasattr(os, "posix_fallocate"):  # macOS has none
            os.posix_fallocate(opened.fileno(), 0, size)
