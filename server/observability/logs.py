"""
Logs on standard error: a line for each operation, and the warnings and errors of everything else in the same format.
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator
from traceback import format_tb
from typing import Any, TextIO

import orjson
import structlog
from structlog.processors import ExceptionRenderer, JSONRenderer, TimeStamper, add_log_level
from structlog.stdlib import ExtraAdder, ProcessorFormatter
from structlog.typing import ExcInfo, Processor

from engine import Client, Code, Observation
from server.settings import Settings

LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
MAX_NAME = 100  # characters of an operation's name, which the client chooses
SHOWN_MESSAGES = (OSError,)  # errors whose messages come from the system and so contain nothing that clients sent
TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
COMMON: list[Processor] = [add_log_level, TimeStamper(fmt="iso", utc=True)]


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

    def on_end(self, observation: Observation) -> None:
        level = logging.WARNING if Code.UNAVAILABLE in observation.codes else logging.INFO
        if self._logger.is_enabled_for(level):
            self._logger.log(level, "operation", **_fields(observation))

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        self._logger.info("refused", request_id=request_id, errors=[code], **_trace(trace_id_of(client.traceparent)))


def trace_id_of(traceparent: str) -> str | None:
    found = TRACEPARENT.fullmatch(traceparent) if traceparent else None
    return found and found[1]


def _fields(observation: Observation) -> dict[str, Any]:
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
