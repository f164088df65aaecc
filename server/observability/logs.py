"""
Logs on standard error: a line for each operation, and the warnings and errors of everything else in the same format.

A log that cannot be written, or that nobody reads, never stops the server.
"""

import atexit
import logging
import os
import re
import socket
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from io import TextIOBase
from select import select
from traceback import format_tb
from typing import TYPE_CHECKING, Any, TextIO

import orjson
import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper, add_log_level
from structlog.stdlib import ExtraAdder, ProcessorFormatter
from structlog.typing import ExcInfo, Processor

from server.settings import Settings

if TYPE_CHECKING:  # slow to import, and the stream is installed before the managed Valkey starts
    from engine import Client, Observation

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
UNAVAILABLE = "UNAVAILABLE"  # the code of an operation that the store did not answer
MAX_NAME = 100  # characters of an operation's name, which the client chooses
SHOWN_MESSAGES = (OSError,)  # errors whose messages come from the system and so contain nothing that clients sent
TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
COMMON: list[Processor] = [add_log_level, TimeStamper(fmt="iso", utc=True)]
STANDARD_ERROR = 2
MAX_QUEUED = 1_000_000  # bytes: half a second of a busy process
NOT_READ = "it is not read"
DRAIN_SECONDS = 1.0  # in which the queue is written when the process ends

Write = Callable[[bytes], int]  # returns how many bytes were written


def configure(settings: Settings) -> None:
    """Configure Python's logging. Levels below warning stay off: debug messages of libraries contain tokens."""
    handler = logging.StreamHandler()
    handler.setLevel(LEVELS[settings.log_level])
    handler.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*COMMON, ExtraAdder(["request_id"])],
            processors=[ProcessorFormatter.remove_processors_meta, *_rendering(settings)],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


class Counting(logging.Handler):
    """Calls `count` with the level of each warning or error."""

    def __init__(self, count: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._count = count

    def emit(self, record: logging.LogRecord) -> None:
        self._count("error" if record.levelno >= logging.ERROR else "warning")


class Logs:
    """
    Logs operations, without documents, variables or tokens.

    Bypasses Python's logging, which takes three times as long for a line.
    """

    def __init__(self, settings: Settings) -> None:
        self._logger = structlog.wrap_logger(
            structlog.WriteLogger(sys.stderr),
            processors=[*COMMON, *_rendering(settings)],
            wrapper_class=structlog.make_filtering_bound_logger(LEVELS[settings.log_level]),
        ).bind()

    def on_end(self, observation: "Observation") -> None:
        level = logging.WARNING if UNAVAILABLE in observation.codes else logging.INFO
        if self._logger.is_enabled_for(level):
            self._logger.log(level, "operation", **_fields(observation))

    def on_refusal(self, code: str, client: "Client", request_id: str) -> None:
        self._logger.info("refused", request_id=request_id, errors=[code], **_trace(trace_id_of(client.traceparent)))


def trace_id_of(traceparent: str) -> str | None:
    found = TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return found and found[1]


class LogStream(TextIOBase):
    """
    Text for a file descriptor, in the order of its lines. It never fails and never blocks the writer.

    A line is written at once if the system can write it without blocking; otherwise a thread writes it from a queue. A
    line that cannot be written, or for which the queue has no space, is dropped and counted. `on_dropped` is called
    with the number of lines dropped.

    `fault` says why the last line was dropped, and is None once a line is written again.
    """

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, descriptor: int, max_queued: int = MAX_QUEUED) -> None:
        self.fault: str | None = None
        self.dropped = 0
        self.on_dropped: Callable[[int], object] = lambda count: None
        self._descriptor = descriptor
        self._max_queued = max_queued
        self._opened = ExitStack()
        self._write_now = _unblocking(descriptor, self._opened)
        self._unfinished = ""  # a line without its end
        self._is_torn = False  # the last line was written in part
        self._queue: deque[bytes] = deque()
        self._queued = 0  # bytes in the queue, and those that the thread is writing
        self._lock = threading.RLock()  # a finalizer may log within `write`
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> int:
        with self._lock:
            if not text.endswith("\n"):
                self._unfinished += text
                return len(text)
            line = (self._unfinished + text).encode(self.encoding, self.errors)
            self._unfinished = ""
            if not self._queued and self._write_now:
                self._put(line, self._write_now)
            else:
                self._enqueue(line)
        return len(text)

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        self._write_now = None
        self._opened.close()
        super().close()

    def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait until the queue is written. What is still there after `seconds` is dropped."""
        with self._lock:
            if not self._changed.wait_for(lambda: not self._queued, seconds):
                self._drop(len(self._queue), NOT_READ)
                self._queued -= sum(map(len, self._queue))
                self._queue.clear()

    def _put(self, line: bytes, write: Write) -> None:
        """Write a line. Its rest is queued where that would block."""
        data = b"\n" + line if self._is_torn else line
        try:
            while data:
                written = write(data)
                self._is_torn = written < len(data)
                data = data[written:]
        except BlockingIOError:
            if self._enqueue(data):
                self._is_torn = False
        except OSError as error:
            self._drop(1, error.strerror or str(error))
        else:
            self.fault = None

    def _enqueue(self, line: bytes) -> bool:
        if self._queued + len(line) > self._max_queued:
            self._drop(1, NOT_READ)
            return False
        if not self._has_thread():
            return False
        self._queue.append(line)
        self._queued += len(line)
        self._changed.notify_all()
        return True

    def _has_thread(self) -> bool:
        if self._thread is None:
            thread = threading.Thread(target=self._write_queue, name="log", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:  # no threads are left: the next line tries again
                self._drop(1, str(error))
                return False
            self._thread = thread
        return True

    def _write_queue(self) -> None:
        while True:
            with self._lock:
                self._changed.wait_for(lambda: self._queue)
                line = self._queue.popleft()
            self._put(line, self._write_blocking)
            with self._lock:
                self._queued -= len(line)
                self._changed.notify_all()

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


def _fields(observation: "Observation") -> dict[str, Any]:
    request = observation.request
    return {
        "request_id": request.request_id,
        "operation": (request.operation.name or "")[:MAX_NAME],
        "kind": request.operation.kind.value,
        "document": request.operation.digest,
        "duration_ms": round(observation.seconds * 1000, 3),
        "answers": observation.results,
        "round_trips": observation.round_trips,
        "commands": observation.commands,
        "errors": sorted(observation.codes),
        **_trace(observation.trace_id or trace_id_of(request.client.traceparent)),
    }


def _trace(trace_id: str | None) -> dict[str, str]:
    return {"trace_id": trace_id} if trace_id else {}


def _rendering(settings: Settings) -> list[Processor]:
    """Tracebacks have neither local variables nor messages of errors, which contain what clients sent."""
    at_terminal = sys.stderr.isatty()
    if (settings.log_format or ("console" if at_terminal else "json")) == "json":
        return [ExceptionRenderer(format_traceback), JSONRenderer(serializer=_json)]
    return [structlog.dev.ConsoleRenderer(colors=at_terminal, exception_formatter=write_traceback)]


def _json(line: Any, **unused: Any) -> str:
    return orjson.dumps(line, default=str).decode()


def format_traceback(exc_info: ExcInfo) -> str:
    return "\n".join(_format(error) for error in reversed(list(_chain(exc_info[1]))))


def write_traceback(file: TextIO, exc_info: ExcInfo) -> None:
    file.write("\n" + format_traceback(exc_info))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, its cause or context, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _format(error: BaseException) -> str:
    message = f": {error}" if isinstance(error, SHOWN_MESSAGES) else ""
    lines = "".join(format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{lines}{type(error).__qualname__}{message}"


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
