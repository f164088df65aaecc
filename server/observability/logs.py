"""
Logs on standard error: a line for each operation, and the warnings and errors of everything else in the same format.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from traceback import format_tb
from typing import TYPE_CHECKING, Any, TextIO

import orjson
import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper, add_log_level
from structlog.stdlib import ExtraAdder, ProcessorFormatter
from structlog.typing import ExcInfo, Processor

from server.observability.log_stream import LogStream
from server.settings import Settings

if TYPE_CHECKING:  # slow to import, and the stream is installed before the managed Valkey starts
    from engine import Client, Observation

Fields = dict[str, Any]

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
UNAVAILABLE = "UNAVAILABLE"  # the code of an operation that the store did not answer
MAX_NAME = 100  # characters of an operation's name, which the client chooses
SHOWN_MESSAGES = (OSError,)  # errors whose messages come from the system and so contain nothing that clients sent
TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
COMMON: list[Processor] = [add_log_level, TimeStamper(fmt="iso", utc=True)]
SLOW_SECONDS = 1.0  # of an operation whose line is written at once
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
    return formatter.format(logging.LogRecord("upvote", logging.WARNING, "", 0, DROPPED, (dropped,), None)) + "\n"


class Counting(logging.Handler):
    """Calls `count` with the level of each warning or error."""

    def __init__(self, count: Callable[[str], object]) -> None:
        super().__init__(logging.WARNING)
        self._count = count

    def emit(self, record: logging.LogRecord) -> None:
        self._count("error" if record.levelno >= logging.ERROR else "warning")


class Logs:
    """
    Logs operations, without documents, variables or tokens. Their lines are gathered; those of operations that are slow
    or failed, and of refusals, are written at once.

    Bypasses Python's logging and the processors of structlog, which take several times as long for a line.
    """

    def __init__(self, settings: Settings, stream: LogStream) -> None:
        self._stream = stream
        self._line = _json_line if _is_json(settings) else partial(_console_line, _rendering(settings))
        self._level = LEVELS[settings.log_level]

    def on_end(self, observation: "Observation") -> None:
        level = "warning" if UNAVAILABLE in observation.codes else "info"
        if LEVELS[level] >= self._level:
            self._stream.add(self._line("operation", level, _fields(observation)))
            if observation.codes or observation.seconds >= SLOW_SECONDS:
                self._stream.flush()

    def on_refusal(self, code: str, client: "Client", request_id: str) -> None:
        if self._level <= logging.INFO:
            fields = {"request_id": request_id, "errors": [code], **_trace(trace_id_of(client.traceparent))}
            self._stream.add(self._line("refused", "info", fields))
            self._stream.flush()


def trace_id_of(traceparent: str) -> str | None:
    found = TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return found and found[1]


def _fields(observation: "Observation") -> Fields:
    request = observation.request
    operation = request.operation
    trace = observation.trace_id or trace_id_of(request.client.traceparent)
    return {
        "request_id": request.request_id,
        "operation": operation.name[:MAX_NAME] if operation.name else "",
        "kind": operation.kind.value,
        "document": operation.digest,
        "duration_ms": round(observation.seconds * 1000, 3),
        "answers": observation.results,
        "round_trips": observation.round_trips,
        "commands": observation.commands,
        "errors": sorted(observation.codes),
        **_trace(trace),
    }


def _trace(trace_id: str | None) -> dict[str, str]:
    return {"trace_id": trace_id} if trace_id else {}


def _json_line(event: str, level: str, fields: Fields) -> bytes:
    line = {**fields, "event": event, "level": level, "timestamp": datetime.now(UTC)}
    return orjson.dumps(line, default=str, option=JSON_LINE)


def _console_line(rendering: list[Processor], event: str, level: str, fields: Fields) -> bytes:
    line: Any = {**fields, "event": event}
    for process in [*COMMON, *rendering]:
        line = process(None, level, line)
    return f"{line}\n".encode(LogStream.encoding, LogStream.errors)


def _is_json(settings: Settings) -> bool:
    return (settings.log_format or ("console" if sys.stderr.isatty() else "json")) == "json"


def _rendering(settings: Settings) -> list[Processor]:
    """Tracebacks have neither local variables nor messages of errors, which contain what clients sent."""
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
