"""Tracebacks as the log has them: the lines of code and the kinds of errors, but no message that may quote a client."""

from collections.abc import Iterator
from traceback import format_tb
from typing import TextIO

from structlog.typing import ExcInfo

QUOTING_NOBODY = (OSError,)  # their messages are the system's


def written(exc_info: ExcInfo) -> str:
    return "\n".join(_written(error) for error in reversed(list(_chain(exc_info[1]))))


def write(file: TextIO, exc_info: ExcInfo) -> None:
    file.write("\n" + written(exc_info))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it was raised from or while handling."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _written(error: BaseException) -> str:
    message = f": {error}" if isinstance(error, QUOTING_NOBODY) else ""
    lines = "".join(format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{lines}{type(error).__qualname__}{message}"
