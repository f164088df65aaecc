"""
Standard error as a stream of lines, which are written in batches. A log that cannot be written, or that nobody reads,
never stops the server.
"""

import atexit
import os
import socket
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from io import TextIOBase
from select import PIPE_BUF, select

STANDARD_ERROR = 2  # its file descriptor
BATCH_SECONDS = 0.2  # for which lines are gathered: the most that is lost if the process is killed
BATCH_BYTES = 65_536  # that are written to a file in one step: as much as a pipe holds
MAX_QUEUED = 1_000_000  # bytes of lines that wait: a busy process makes so many in half a second
NOT_READ = "it is not read"
DRAIN_SECONDS = 1.0  # in which the queue is written when the process ends

Write = Callable[[bytes], int]  # returns how many bytes were written
Lines = Callable[[], Iterable[bytes]]  # makes lines, with their ends


class LogStream(TextIOBase):
    """
    Lines for a file descriptor, in their order. It never fails and never blocks the writer.

    `add` and `write` write a line at once, after all gathered ones. `add_later` gathers lines, which a thread makes and
    writes after `BATCH_SECONDS`. Where the system would block, the thread writes what waits.

    Lines that cannot be written, or for which the queue has no space, are dropped and counted: `on_dropped` is called
    with their number. After the next line that can be written comes a note, which `note_of` makes of the number of all
    that were dropped.

    Other processes may write to the same descriptor. Lines do not mix: they are written in pieces of whole lines, each
    of which the system writes in one step. A longer line is a piece of its own.

    `fault` says why the last line was dropped, and is None once a line is written again.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, descriptor: int, max_queued: int = MAX_QUEUED) -> None:
        self.fault: str | None = None
        self.dropped = 0
        self.on_dropped: Callable[[int], object] = lambda count: None
        self.note_of: Callable[[int], str] = lambda dropped: f"lines dropped: {dropped}\n"
        self._descriptor = descriptor
        self._max_queued = max_queued
        self._opened = ExitStack()
        self._write_now = _unblocking(descriptor, self._opened)
        self._piece_bytes = _piece_bytes(descriptor)
        self._unfinished = ""  # a line without its end
        self._is_torn = False  # the last line was written in part
        self._noted = 0  # what `dropped` was when the last note was written
        self._later: dict[Lines, None] = {}  # what makes the next lines
        self._queue: deque[bytes] = deque()
        self._queued = 0  # bytes in the queue, and those that are being written
        self._is_writing = False
        self._is_blocked = self._write_now is None  # only the thread writes
        self._lock = threading.RLock()  # a finalizer may log within `write`
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    def add_later(self, lines: Lines) -> None:
        """Write lines within `BATCH_SECONDS`. They are made when they are written, in any thread."""
        with self._lock:
            self._later[lines] = None
            if not self._call_thread():
                self._write_queue()

    def add(self, line: bytes) -> None:
        """Write a line, with its end, at once."""
        with self._lock:
            self._make_lines()
            self._append(line)
            self._write_queue()

    def write(self, text: str) -> int:
        with self._lock:
            self._unfinished += text
            if text.endswith("\n"):
                line, self._unfinished = self._unfinished.encode(self.encoding, self.errors), ""
                self.add(line)
        return len(text)

    def flush(self) -> None:
        """Write what was gathered, as far as it does not block."""
        if self._lock.acquire(timeout=DRAIN_SECONDS):  # at exit a thread may have been stopped that holds it
            try:
                self._write_queue()
            finally:
                self._lock.release()

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        super().close()  # which flushes
        self._write_now = None
        self._opened.close()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait until the queue is written. What is still there after `seconds` is dropped."""
        with self._lock:
            self._write_queue()
            if not self._changed.wait_for(lambda: not self._queued, seconds):
                waiting = b"".join(self._queue)
                self._queue.clear()
                self._queued -= len(waiting)
                self._drop(waiting.count(b"\n"), NOT_READ)

    def _make_lines(self) -> None:
        while self._later:
            lines, _ = self._later.popitem()
            for line in lines():
                self._append(line)

    def _append(self, line: bytes) -> None:
        if self._queued and self._queued + len(line) > self._max_queued:
            self._drop(1, NOT_READ)
        else:
            self._queue.append(line)
            self._queued += len(line)

    def _write_queue(self) -> None:
        """Write what waits. The rest is left to the thread where that would block."""
        self._make_lines()
        if not self._queue or self._is_writing:  # this thread writes already, and a finalizer has interrupted it
            return
        self._is_writing = True
        try:
            while self._queue and self._write_now and not self._is_blocked:
                self._write_piece(self._write_now)
        finally:  # the handler of a signal may raise
            self._is_writing = False
        if self._is_blocked:
            self._call_thread()

    def _write_piece(self, write: Write) -> None:
        piece = self._take()
        rest = self._put(piece, write)
        self._written(piece)
        if rest:
            self._queue.appendleft(rest)
            self._queued += len(rest)
            self._is_blocked = True

    def _take(self) -> bytes:
        """The next lines, as many as make a piece."""
        lines = [self._queue.popleft()]
        size = len(lines[0])
        while self._queue and (size := size + len(self._queue[0])) <= self._piece_bytes:
            lines.append(self._queue.popleft())
        return b"".join(lines)

    def _put(self, piece: bytes, write: Write) -> bytes:
        """Write a piece. Returns the rest of it where the system would block, else nothing."""
        data = b"\n" + piece if self._is_torn else piece
        try:
            while data:
                written = write(data)
                self._is_torn = not data[:written].endswith(b"\n")
                data = data[written:]
        except BlockingIOError:
            self._is_torn = False  # what is returned goes on where this has ended
            return data
        except OSError as error:
            lines_not_written = piece[-len(data) :].count(b"\n")
            self._drop(lines_not_written, error.strerror or str(error))
        else:
            self.fault = None
        return b""

    def _written(self, piece: bytes) -> None:
        """Count a piece as gone, and add the note after lines that were dropped before it."""
        self._queued -= len(piece)
        if self.fault is None and self.dropped > self._noted:
            self._noted = self.dropped
            note = self.note_of(self.dropped).encode(self.encoding, self.errors)
            self._queue.append(note)
            self._queued += len(note)
        self._changed.notify_all()

    def _call_thread(self) -> bool:
        """Let the thread write what waits. False if no threads are left: the next line tries again."""
        if self._thread is None:
            thread = threading.Thread(target=self._write_in_background, name="log", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return False
            self._thread = thread
        self._changed.notify_all()
        return True

    def _write_in_background(self) -> None:
        """What the thread runs: writes gathered lines. Where the system blocks, it waits in place of other threads."""
        while True:
            with self._lock:
                self._changed.wait_for(lambda: self._queue or self._later)
                # more lines are gathered meanwhile
                if not self._changed.wait_for(lambda: self._is_blocked, BATCH_SECONDS):
                    self._write_queue()
                piece = self._take() if self._is_blocked and self._queue else b""
            if piece:
                self._put(piece, self._write_blocking)
                with self._lock:
                    self._written(piece)
                    self._is_blocked = bool(self._queue) or self._write_now is None

    def _write_blocking(self, data: bytes) -> int:
        while True:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # another process has set O_NONBLOCK on the open file
                select([], [self._descriptor], [])

    def _drop(self, count: int, reason: str) -> None:
        with self._lock:
            self.fault = reason
            self.dropped += count
            self.on_dropped(count)


def install_stream() -> LogStream:
    """Replace `sys.stderr` of this process by a log stream."""
    if isinstance(sys.stderr, LogStream):
        return sys.stderr
    _open_standard_descriptors()
    sys.stderr = stream = LogStream(STANDARD_ERROR)
    atexit.register(stream.drain)
    return stream


def _open_standard_descriptors() -> None:
    """Open closed standard descriptors: else the next file or socket would get the number, and log lines."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _unblocking(descriptor: int, opened: ExitStack) -> Write | None:
    """
    A function that writes to a file, pipe, terminal or socket without blocking, if the system has one.

    The file is opened again: O_NONBLOCK would also affect other processes that share the open file, such as the shell.
    """
    with suppress(OSError):
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISSOCK(mode):
            connection = opened.enter_context(socket.socket(fileno=os.dup(descriptor)))
            return lambda data: connection.send(data, socket.MSG_DONTWAIT)
        if not stat.S_ISREG(mode):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            descriptor = os.open(f"/proc/self/fd/{descriptor}", flags)
            opened.callback(os.close, descriptor)
        return lambda data: os.write(descriptor, data)
    return None


def _piece_bytes(descriptor: int) -> int:
    """How much the system writes to a descriptor in one step, whatever other processes write."""
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return BATCH_BYTES
    return PIPE_BUF
