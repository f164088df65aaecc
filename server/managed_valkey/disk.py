"""
Syncs the append-only file of the managed Valkey, the one that this program runs itself, to the disk, and refuses writes
before the disk is full.

A full disk is too late: with `appendfsync always` Valkey then ends, and otherwise it has already acknowledged writes
that it holds in memory only. So Valkey refuses writes from all clients while free space is below a reserve.

The disk may fill up between two checks. For that case, a reserve file takes space as large as a quarter of the reserve.
It is deleted when the append-only file cannot be written, or less than an eighth of the reserve is free, and before
Valkey stops.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.errors import CommandError
from server.managed_valkey.supervisor import execute

RESERVE = 32_000_000  # bytes, by default
CHECK_SECONDS = 0.1  # between two checks
SYNC_SECONDS = 0.5  # between two syncs: with the time that one takes, less than a second
FINAL_WRITE_SECONDS = 10.0  # for pending writes when Valkey stops; Valkey retries every second
REFUSE = b"ACL SETUSER default allcommands -@write"  # for all connections; a script fails at once
ACCEPT = b"ACL SETUSER default allcommands"
WRITE_FAILED = b"aof_last_write_status:err"  # a line of INFO
REWRITE_FAILED = b"aof_last_bgrewrite_status:err"  # another line of INFO

logger = logging.getLogger("upvote")


class LogNotWritten(CommandError):
    """Valkey has acknowledged writes that it cannot write to the disk."""


@contextmanager
def monitored(data_dir: Path, socket_path: Path, reserve: int) -> Iterator[None]:
    """
    Make Valkey refuse writes while its data directory has less free space than `reserve` bytes.

    Raises:
        LogNotWritten: at exit, if acknowledged writes are still not in the append-only file.
    """
    monitor = DiskMonitor(data_dir, socket_path, reserve)
    monitor.check()
    try:
        with repeated(CHECK_SECONDS, monitor.check):
            yield
    finally:
        monitor.wait_until_written()


@contextmanager
def synced(folder: Path) -> Iterator[None]:
    """
    Sync the files of a folder to the disk every half second.

    Valkey's own `appendfsync everysec` acknowledges writes during a sync before it has written them to the file, and
    loses them if it is killed then. On a busy disk, 2 of 20 kills lost hundreds of acknowledged writes.
    """
    with repeated(SYNC_SECONDS, FolderSync(folder).sync):
        yield


@contextmanager
def repeated(seconds: float, function: Callable[[], None]) -> Iterator[None]:
    """Call a function in a thread of its own, again and again after so many seconds."""
    stopping = threading.Event()

    def repeat() -> None:
        while not stopping.wait(seconds):
            function()

    thread = threading.Thread(target=repeat, name=function.__qualname__, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


class DiskMonitor:
    """Refuses writes and accepts them again, and keeps the reserve file, as the free space requires."""

    def __init__(self, data_dir: Path, socket_path: Path, reserve: int) -> None:
        self._data_dir = data_dir
        self._socket_path = socket_path
        self._reserve = reserve
        self._reserve_file = data_dir / "reserve"
        self._reserve_file_bytes = reserve // 4
        self._is_failing = False  # Valkey cannot write the append-only file
        self._is_refusing = False  # Valkey was told to refuse writes
        self._has_rewrite_failed = False

    def check(self) -> None:
        """Make Valkey refuse or accept writes by the space that is free now, and log each change."""
        try:
            state = execute(self._socket_path, b"INFO persistence")
            self._is_failing = WRITE_FAILED in state
            free = free_bytes(self._data_dir)
            refusing = self._is_failing or free < self._reserve
            if self._is_refusing and not refusing:  # go on to refuse until there is space for the reserve file again
                refusing = not self._ensure_reserve_file(free)
            if refusing or self._is_refusing:  # again each time: a restarted Valkey has no such rule
                execute(self._socket_path, REFUSE if refusing else ACCEPT)
        except OSError:
            return  # Valkey does not answer, or no file descriptors are left: the next check is soon
        if refusing != self._is_refusing:
            self._is_refusing = refusing
            self._log_change(free)
        self._log_rewrites(REWRITE_FAILED in state)
        if self._is_failing or free < self._reserve // 8:
            self._delete_reserve_file()
        elif not refusing:
            self._ensure_reserve_file(free)

    def wait_until_written(self) -> None:
        """
        Wait until all acknowledged writes are in the append-only file.

        Raises:
            LogNotWritten: they are not within 10 seconds.
        """
        self._delete_reserve_file()
        deadline = time.monotonic() + FINAL_WRITE_SECONDS
        while not self._is_written():
            if time.monotonic() > deadline:
                raise LogNotWritten(
                    f"the append-only file in {self._data_dir} cannot be written: "
                    "the last acknowledged writes may be lost"
                )
            time.sleep(CHECK_SECONDS)

    def _is_written(self) -> bool:
        """Whether all acknowledged writes are in the append-only file."""
        try:
            state = execute(self._socket_path, b"INFO persistence")
        except OSError:
            state = b""
        if b"aof_buffer_length" not in state:  # it has ended or is starting, and holds no acknowledged writes
            return not self._is_failing
        self._is_failing = WRITE_FAILED in state
        return not self._is_failing and b"aof_buffer_length:0\r" in state

    def _ensure_reserve_file(self, free: int) -> bool:
        """Whether the reserve file exists. It is created if there is space for it beside the reserve."""
        try:
            if self._reserve_file.exists() and self._reserve_file.stat().st_size == self._reserve_file_bytes:
                return True
            if free < self._reserve + self._reserve_file_bytes:
                return False
            _allocate(self._reserve_file, self._reserve_file_bytes)
        except OSError:
            self._delete_reserve_file()
            return False
        return True

    def _delete_reserve_file(self) -> None:
        with suppress(OSError):  # the file system may have become read-only
            self._reserve_file.unlink(missing_ok=True)

    def _log_change(self, free: int) -> None:
        if self._is_failing:
            logger.error("writes are refused: the append-only file in %s cannot be written", self._data_dir)
        elif self._is_refusing:
            message = "writes are refused: %s has %d bytes free, and UPVOTE_DISK_RESERVE is %d"
            logger.error(message, self._data_dir, free, self._reserve)
        else:
            logger.warning("writes are accepted again: %s has %d bytes free", self._data_dir, free)

    def _log_rewrites(self, has_failed: bool) -> None:
        if has_failed and not self._has_rewrite_failed:
            logger.error("the append-only file in %s could not be rewritten: see valkey.log", self._data_dir)
        self._has_rewrite_failed = has_failed


class FolderSync:
    """Syncs the files of a folder to the disk. Logs when that begins to fail, and when it works again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last_error: str | None = None

    def sync(self) -> None:
        error = self._sync_files()
        if error and error != self._last_error:
            logger.error("writes cannot be synced to the disk: %s", error)
        elif self._last_error and not error:
            logger.warning("writes are synced to the disk again")
        self._last_error = error

    def _sync_files(self) -> str | None:
        """Sync every file that can be synced; the last error, if any."""
        failure = None
        try:
            for name in os.listdir(self._folder):
                try:
                    with (self._folder / name).open("rb") as file:
                        os.fsync(file.fileno())
                except FileNotFoundError:
                    pass  # deleted by a rewrite
                except OSError as error:
                    failure = str(error)
        except OSError as error:  # no file descriptors are left: there may be some later
            failure = str(error)
        return failure


def free_bytes(folder: Path) -> int:
    """Free space of the file system that a folder is on."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _allocate(file: Path, size: int) -> None:
    with file.open("wb") as opened:
        if size and hasattr(os, "posix_fallocate"):  # macOS has none
            os.posix_fallocate(opened.fileno(), 0, size)
