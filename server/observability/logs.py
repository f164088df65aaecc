"""
Logs on standard error: a line for each operation, and the warnings and errors of everything else in the same format.
"""

import logging
import re
import sys
from collections import deque
from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime
from functools import partial
from time import time
from traceback import format_tb
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import orjson
import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper, add_log_level
from structlog.stdlib import ExtraAdder, ProcessorFormatter
from structlog.typing import ExcInfo, Processor

from server.observability.log_stream import LogStream
from server.settings import Settings

if TYPE_CHECKING:  # slow to import, and the stream is installed before the managed Valkey starts
    from engine import Client, Observation
    from engine.documents import Operation

Fields = dict[str, Any]  # of a line, by name

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
UNAVAILABLE = "UNAVAILABLE"  # the code of an operation that the store did not answer
MAX_NAME = 100  # characters of an operation's name, which the client chooses
SHOWN_MESSAGES = (OSError,)  # errors whose messages come from the system and so contain nothing that clients sent
# the header of W3C Trace Context; its group 1 is the trace id
TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
COMMON: list[Processor] = [add_log_level, TimeStamper(fmt="iso", utc=True)]
SLOW_SECONDS = 1.0  # of an operation whose line is written at once
BATCH_LINES = 200  # operations whose lines are gathered before they are written
JSON_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
DROPPED = "lines of the log dropped since the process started: %d"


def configure(settings: Settings) -> None:
    """Configure Python's logging. Levels below warning stay off: debug messages of libraries contain tokens."""
    formatter = ProcessorFormatter(
        foreign_pre_chain=[*COMMON, ExtraAdder(["request_id"])],
        processors=[ProcessorFormatter.remove_processors_meta, *_rendering(settings)],
    )
    handler = logging.StreamHandler()
    handler.setLevel(LEVELS[settings.log_level])
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(True)
    if isinstance(sys.stderr, LogStream):
        sys.stderr.note_of = partial(_note, formatter)


def _note(formatter: logging.Formatter, dropped: int) -> str:
    """The line that tells how many lines were dropped."""
    record = logging.LogRecord(
        "upvote", logging.WARNING, pathname="", lineno=0, msg=DROPPED, args=(dropped,), exc_info=None
    )
    return formatter.format(record) + "\n"


class Counting(logging.Handler):
    """Calls `count` with the level of each warning or error."""

    def __init__(self, count: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._count = count

    def emit(self, record: logging.LogRecord) -> None:
        self._count("error" if record.levelno >= logging.ERROR else "warning")


class EndedOperation(NamedTuple):
    """
    What the log's line of an operation says; `at` is when it ended (unix seconds). It holds no variables, which may be
    large.
    """

    at: float
    request_id: str
    operation: "Operation"
    seconds: float
    results: int
    round_trips: int
    commands: int
    codes: set[str]
    trace_id: str | None
    traceparent: str

    def fields(self) -> Fields:
        """The fields of the line, by name."""
        _, request_id, operation, seconds, results, round_trips, commands, codes, trace_id, traceparent = self
        name = operation.name
        fields = {
            "request_id": request_id,
            "operation": name[:MAX_NAME] if name else "",
            "kind": operation.kind.value,
            "document": operation.digest,
            "duration_ms": round(seconds * 1000, 3),
            "answers": results,
            "round_trips": round_trips,
            "commands": commands,
            "errors": sorted(codes) if codes else [],
        }
        if trace_id or traceparent:
            fields |= _trace(trace_id or trace_id_of(traceparent))
        return fields


def ended_operation(observation: "Observation") -> EndedOperation:
    """What the line of an operation needs. `tuple.__new__` makes it in less time than a call of the class."""
    request = observation.request
    values = (
        time(),
        request.request_id,
        request.operation,
        observation.seconds,
        observation.results,
        observation.round_trips,
        observation.commands,
        observation.codes,
        observation.trace_id,
        request.client.traceparent,
    )
    return tuple.__new__(EndedOperation, values)


def level_of(codes: Container[str]) -> str:
    return "warning" if UNAVAILABLE in codes else "info"


class Logs:
    """
    Logs operations, without documents, variables or tokens. Those that have ended are gathered, and their lines made
    together, which takes a fourth of the time. Lines of operations that are slow or failed, and of refusals, are
    written at once.

    Bypasses Python's logging and the processors of structlog, which take several times as long for a line.
    """

    def __init__(self, settings: Settings, stream: LogStream) -> None:
        self._stream = stream
        self._line = _json_line if _is_json(settings) else partial(_console_line, _rendering(settings))
        self._level = LEVELS[settings.log_level]
        self._ended: deque[EndedOperation] = deque()

    def on_end(self, observation: "Observation") -> None:
        if self._level > logging.INFO and LEVELS[level_of(observation.codes)] < self._level:
            return
        self._ended.append(ended_operation(observation))
        if len(self._ended) == 1:
            self._stream.add_later(self._lines)
        if observation.codes or observation.seconds >= SLOW_SECONDS or len(self._ended) >= BATCH_LINES:
            self._stream.flush()

    def on_refusal(self, code: str, client: "Client", request_id: str) -> None:
        if self._level <= logging.INFO:
            fields = {"request_id": request_id, "errors": [code], **_trace(trace_id_of(client.traceparent))}
            self._stream.add(self._line("refused", "info", fields, time()))

    def _lines(self) -> Iterator[bytes]:
        """The lines of the operations that have ended. Called in any thread."""
        while self._ended:
            each = self._ended.popleft()
            yield self._line("operation", level_of(each.codes), each.fields(), each.at)


def trace_id_of(traceparent: str) -> str | None:
    found = TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return found and found[1]


def _trace(trace_id: str | None) -> dict[str, str]:
    return {"trace_id": trace_id} if trace_id else {}


def _json_line(event: str, level: str, fields: Fields, at: float) -> bytes:
    """A line. It changes `fields`, which nothing else needs any more: to copy them would take a fourth of the time."""
    fields["event"], fields["level"], fields["timestamp"] = event, level, datetime.fromtimestamp(at, UTC)
    return orjson.dumps(fields, default=str, option=JSON_LINE)


def _console_line(rendering: list[Processor], event: str, level: str, fields: Fields, at: float) -> bytes:
    timestamp = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
    line: Any = {**fields, "event": event, "timestamp": timestamp}
    for process in [add_log_level, *rendering]:
        line = process(None, level, line)  # None: no logger is used
    return f"{line}\n".encode(LogStream.encoding, LogStream.errors)


def _is_json(settings: Settings) -> bool:
    return (settings.log_format or ("console" if sys.stderr.isatty() else "json")) == "json"


def _rendering(settings: Settings) -> list[Processor]:
    """
    What makes the text of a line. Tracebacks have neither local variables nor messages of errors, which contain what
    clients sent.
    """
    if _is_json(settings):
        return [ExceptionRenderer(format_traceback), JSONRenderer(serializer=_json)]
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=write_traceback)]


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
