"""
Executes the GraphQL documents of the server's own pages, feeds and files, as the client of a request could, and makes
their responses.

Handlers read through the contract, the public GraphQL schema, only. So they can do nothing that a client cannot, and
cost a client the same points of its rate limit.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from engine import Code, Endpoint, QueryResult, Refused
from engine.clients import headers_of, request_id_of
from engine.endpoint import COST_OF_NOT_MODIFIED, matches

# The status of a response by the code of the error. The documents are the server's own, so any other code is a fault of
# the server, about which the client can do nothing: it has status 500.
STATUSES: Mapping[str, int] = {
    Code.BAD_USER_INPUT: 400,  # a variable from the address, such as a cursor
    Code.UNAUTHENTICATED: 401,  # a server key that is not valid
    Code.RATE_LIMITED: 429,
    Code.TOO_MUCH_UNREAD: 429,
    Code.UNAVAILABLE: 503,
    Code.TIMED_OUT: 504,
}
RETRY_AFTER = "5"  # seconds, if the store or the database does not answer
UNCACHED = {"Cache-Control": "no-store"}
UNAVAILABLE = UNCACHED | {"Retry-After": RETRY_AFTER}
REQUEST_ID = "X-Request-Id"  # the header by which an operator finds the lines of a request in the log
REQUEST_ID_NAME = REQUEST_ID.lower().encode()  # as ASGI has it


async def query(request: Request, document: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    Execute a query without the session of the request, as for somebody not logged in, and return its data.

    The name of its operation is in the logs and the metrics. The cost points of its rate limit are taken from the
    client's address, or from its server key.

    Raises:
        HTTPException: the query was refused, or a field of it failed. Starlette makes a response of it: 429 with
            `Retry-After` if the client has no points left, 503 if the store does not answer, 504 if it took too long.
    """
    endpoint: Endpoint = request.app.state.endpoint
    try:
        result = await endpoint.query(_without_session(request), document, variables or {})
    except Refused as refused:
        headers = {name.decode(): value.decode() for name, value in refused.headers}
        raise _failure(request, refused.errors, headers) from refused
    _results(request).append(result)
    if result.errors:
        raise _failure(request, result.errors, _rate_headers(result))
    assert result.data is not None, "data is null only beside errors"
    return result.data


def cacheable(request: Request, body: bytes, media_type: str) -> Response:
    """
    A response that caches may store, with a digest of its body as `ETag`; 304 if the client has the same.

    A 304 costs the client a single point for each query. The headers tell how many points are left.
    """
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    headers = {
        "Cache-Control": request.app.state.cache_control,
        "ETag": f"W/{tag}",
        "Vary": "Accept-Encoding",
        REQUEST_ID: _request_id(request),
    }
    is_known = matches(tag.encode(), request.headers.get("If-None-Match", "").encode())
    for result in _results(request):
        if is_known and result.charge:
            result.charge.set(COST_OF_NOT_MODIFIED)
        headers |= _rate_headers(result)
    if is_known:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def refusal(refused: Refused) -> Response:
    """The response in place of one that the server's connection has refused to send."""
    return PlainTextResponse(refused.errors[0]["message"], STATUSES.get(refused.code, 500), UNCACHED)


def cache_control(seconds: int) -> str:
    """The header of `cacheable` responses: shared caches may serve them for some seconds without asking."""
    shared = f", s-maxage={seconds}" if seconds else ""
    return f"public, max-age=0{shared}, must-revalidate"


def _without_session(request: Request) -> dict[str, Any]:
    """The request's scope, without its token and with an id."""
    left_out = (b"authorization", REQUEST_ID_NAME)
    headers = [(name, value) for name, value in request.scope["headers"] if name not in left_out]
    return {**request.scope, "headers": [*headers, (REQUEST_ID_NAME, _request_id(request).encode())]}


def _request_id(request: Request) -> str:
    if not hasattr(request.state, "request_id"):
        request.state.request_id = request_id_of(headers_of(request.scope))
    found: str = request.state.request_id
    return found


def _results(request: Request) -> list[QueryResult]:
    """The results of all queries of this request."""
    if not hasattr(request.state, "results"):
        request.state.results = []
    found: list[QueryResult] = request.state.results
    return found


def _rate_headers(result: QueryResult) -> dict[str, str]:
    headers = result.charge.headers() if result.charge else []
    return {name.decode(): value.decode() for name, value in headers}


def _failure(request: Request, errors: list[dict[str, Any]], headers: Mapping[str, str]) -> HTTPException:
    """
    The response for the errors of a query. Its status is by the first code of `STATUSES` that one of them has, and its
    message is that of the first error with this code. If none has such a code, the status is 500, and the message that
    of the first error. The log has all errors already, under the request's id.
    """
    codes = [error["extensions"]["code"] for error in errors]
    code = next((each for each in STATUSES if each in codes), codes[0])
    status = STATUSES.get(code, 500)
    retry = {"Retry-After": RETRY_AFTER} if status in (503, 504) else {}
    headers = {**retry, **headers, **UNCACHED, REQUEST_ID: _request_id(request)}
    return HTTPException(status, errors[codes.index(code)]["message"], headers)
