"""
Errors and their codes, which clients read in `extensions.code`.

    Exception
    └── Refused             a request that is not executed: its response has errors and no data
        └── AnswerTooLarge  its result exceeds the size limit

Any other exception becomes the error of a field. Unless it has a code, it is a fault: logged once, masked for clients.
"""

import logging
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from graphql import GraphQLError

logger = logging.getLogger(__name__)

MAX_PATH = 200  # characters of a path in the log: a client chooses the names in it
FAULT_MESSAGE = "internal server error"
SESSION_CHANGED = "somebody else is logged in now: the cookie is of another user than this page shows"
SESSION_ENDED = "the session has ended"


class Code(StrEnum):
    """What is wrong, for clients. Where Apollo Server has a code for it, the text is that code."""

    ANSWER_TOO_LARGE = "ANSWER_TOO_LARGE"
    BAD_REQUEST = "BAD_REQUEST"
    BAD_USER_INPUT = "BAD_USER_INPUT"
    DOCUMENT_NOT_PERSISTED = "PERSISTED_QUERY_NOT_FOUND"
    DOCUMENT_NOT_LISTED = "PERSISTED_QUERY_NOT_IN_LIST"
    DOCUMENT_NOT_TRUSTED = "QUERY_NOT_IN_SAFELIST"
    FAULT = "INTERNAL_SERVER_ERROR"
    FORBIDDEN = "FORBIDDEN"
    HEADERS_TOO_LARGE = "HEADERS_TOO_LARGE"
    INVALID_DOCUMENT = "GRAPHQL_VALIDATION_FAILED"
    METHOD_NOT_ALLOWED = "METHOD_NOT_ALLOWED"
    NO_SUCH_OPERATION = "OPERATION_RESOLUTION_FAILURE"
    NOT_ACCEPTABLE = "NOT_ACCEPTABLE"
    RATE_LIMITED = "RATE_LIMITED"
    TIMED_OUT = "TIMEOUT"
    TOO_COSTLY = "COST_LIMIT_EXCEEDED"
    TOO_LARGE = "PAYLOAD_TOO_LARGE"
    TOO_MANY_CONNECTIONS = "TOO_MANY_CONNECTIONS"
    TOO_MANY_OPERATIONS = "TOO_MANY_OPERATIONS"
    TOO_MUCH = "DOCUMENT_LIMIT_EXCEEDED"
    TOO_MUCH_UNREAD = "TOO_MUCH_UNREAD"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    UNAVAILABLE = "UNAVAILABLE"
    UNPARSABLE_DOCUMENT = "GRAPHQL_PARSE_FAILED"
    UNSUPPORTED_MEDIA_TYPE = "UNSUPPORTED_MEDIA_TYPE"


class Refused(Exception):
    """
    A request is not executed. `code` determines the HTTP status. `errors` are the errors of the response: if they are
    not given, one for each reason.
    """

    def __init__(
        self,
        code: str,
        *reasons: str | GraphQLError,
        errors: list[dict[str, Any]] | None = None,
        headers: Iterable[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(code, *reasons)
        self.code = code
        self.headers = headers
        self.errors = errors or [error_entry(reason, code) for reason in reasons]


def error_entry(reason: str | GraphQLError, code: str) -> dict[str, Any]:
    """An error of a response, with a code."""
    if isinstance(reason, str):
        return {"message": reason, "extensions": {"code": code}}
    formatted: dict[str, Any] = {**reason.formatted}
    formatted["extensions"] = {**(reason.extensions or {}), "code": code}
    return formatted


def session_changed() -> Refused:
    """Why a request is not executed whose cookie is of another user than its page shows."""
    extensions = {"code": str(Code.UNAUTHENTICATED), "session": "changed"}
    return Refused(Code.UNAUTHENTICATED, errors=[{"message": SESSION_CHANGED, "extensions": extensions}])


def session_ended() -> Refused:
    """Why a stream ends whose client has lost its session."""
    extensions = {"code": str(Code.UNAUTHENTICATED), "session": "ended"}
    return Refused(Code.UNAUTHENTICATED, errors=[{"message": SESSION_ENDED, "extensions": extensions}])


class AnswerTooLarge(Refused):
    """The result of an operation exceeds the size limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(Code.ANSWER_TOO_LARGE, f"the answer is larger than {limit} bytes: ask for less at once")


class ErrorFormatter:
    """Formats errors for clients: expected ones with their code, faults masked and logged with the request's id."""

    def __init__(self, codes: Mapping[type[Exception], str]) -> None:
        self._codes = codes

    def format(self, errors: Iterable[GraphQLError], request_id: str) -> list[dict[str, Any]]:
        logged: set[int] = set()
        return [self._format(error, request_id, logged) for error in errors]

    def refusal(self, error: Exception, request_id: str) -> Refused:
        """Convert an exception that was raised outside of any field."""
        located = error if isinstance(error, GraphQLError) else GraphQLError(str(error), original_error=error)
        errors = self.format([located], request_id)
        return Refused(errors[0]["extensions"]["code"], errors=errors)

    def _format(self, error: GraphQLError, request_id: str, logged: set[int]) -> dict[str, Any]:
        """`logged` has the ids of causes that are in the log: several errors may have one cause."""
        cause = root_cause(error)
        code = self.code(error, cause)
        if code is not None:
            return error_entry(error, code)
        if id(cause) not in logged:
            logged.add(id(cause))
            where = ".".join(map(str, error.path or ()))[:MAX_PATH] or "operation"
            logger.error("request %s failed at %s", request_id, where, exc_info=cause, extra={"request_id": request_id})
        return masked(error, request_id)

    def code(self, error: GraphQLError, cause: Exception) -> str | None:
        """The code of an expected error; None for a fault."""
        for class_ in type(cause).__mro__:
            if class_ in self._codes:
                return self._codes[class_]
        own = (error.extensions or {}).get("code")
        if isinstance(own, str):
            return own
        return Code.BAD_USER_INPUT if is_coercion_error(cause) else None


def root_cause(error: GraphQLError) -> Exception:
    cause: Exception = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def is_coercion_error(cause: Exception) -> bool:
    # graphql-core sets `nodes` for an argument that it rejects; errors of resolvers and scalars have none.
    return isinstance(cause, GraphQLError) and bool(cause.nodes)


def masked(error: GraphQLError, request_id: str) -> dict[str, Any]:
    """A fault as clients read it: where it happened, and the id of the request, which is in the log."""
    formatted: dict[str, Any] = {**error.formatted, "message": FAULT_MESSAGE}
    formatted["extensions"] = {"code": str(Code.FAULT), "requestId": request_id}
    return formatted
