"""What goes back over HTTP: statuses, headers and bytes. The one table of statuses is here."""

from hashlib import blake2b
from typing import NamedTuple

from starlette.types import Send

from engine.clients import Headers
from engine.errors import Code, Refused
from engine.json import encode
from engine.negotiation import Media

ALLOWED_METHODS = b"GET, HEAD, POST, OPTIONS"

# Status of a request that is not carried out, as application/json and as application/graphql-response+json: the older
# type has 200 for whatever a GraphQL service understood, since its clients take any other for a proxy's word.
STATUSES: dict[str, tuple[int, int]] = {
    Code.UNPARSABLE_DOCUMENT: (200, 400),
    Code.INVALID_DOCUMENT: (200, 400),
    Code.NO_SUCH_OPERATION: (200, 400),
    Code.BAD_USER_INPUT: (200, 400),
    Code.TOO_COSTLY: (200, 400),
    Code.ANSWER_TOO_LARGE: (200, 400),
    Code.TOO_MUCH: (200, 400),
    Code.DOCUMENT_NOT_PERSISTED: (200, 400),
    Code.DOCUMENT_NOT_LISTED: (200, 400),
    Code.BAD_REQUEST: (400, 400),
    Code.UNAUTHENTICATED: (401, 401),
    Code.FORBIDDEN: (403, 403),
    Code.DOCUMENT_NOT_TRUSTED: (403, 403),
    Code.METHOD_NOT_ALLOWED: (405, 405),
    Code.NOT_ACCEPTABLE: (406, 406),
    Code.TOO_LARGE: (413, 413),
    Code.UNSUPPORTED_MEDIA_TYPE: (415, 415),
    Code.RATE_LIMITED: (429, 429),
    Code.TOO_MUCH_UNREAD: (429, 429),
    Code.FAULT: (500, 500),
    Code.UNAVAILABLE: (503, 503),
    Code.TIMED_OUT: (504, 504),
}
OTHER_REFUSAL = (400, 400)

# An answer may be kept by anyone, and shown by nobody without asking whether it still holds: the next vote changes it.
REVALIDATED = (b"cache-control", b"public, max-age=0, must-revalidate")
PRIVATE = (b"cache-control", b"private, no-store")
UNSTORED = (b"cache-control", b"no-store")
VARY = (b"vary", b"Accept, Authorization")
CONTENT_TYPES = {media: (b"content-type", f"{media}; charset=utf-8".encode()) for media in Media}


class Response(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""


def unstored(body: bytes, media: Media) -> Response:
    return Response(200, [CONTENT_TYPES[media], UNSTORED, VARY], body)


def private(body: bytes, media: Media) -> Response:
    return Response(200, [CONTENT_TYPES[media], PRIVATE, VARY], body)


def public(body: bytes, media: Media, headers: Headers) -> Response:
    tag = b'"%b"' % blake2b(body, digest_size=12).hexdigest().encode()
    if holds(tag, headers.get(b"if-none-match", b"")):
        return Response(304, [REVALIDATED, VARY, (b"etag", tag)])
    return Response(200, [CONTENT_TYPES[media], REVALIDATED, VARY, (b"etag", tag)], body)


def holds(tag: bytes, if_none_match: bytes) -> bool:
    known = (one.strip().removeprefix(b"W/") for one in if_none_match.split(b","))
    return any(one in (tag, b"*") for one in known)


def refusal(refused: Refused, media: Media) -> Response:
    status = STATUSES.get(refused.code, OTHER_REFUSAL)[media is Media.RESPONSE]
    headers = [CONTENT_TYPES[media], UNSTORED, VARY, *refused.headers]
    return Response(status, headers, refusal_body(refused))


def refusal_body(refused: Refused) -> bytes:
    return encode({"errors": refused.errors})


def not_allowed(reason: str, allowed: bytes = ALLOWED_METHODS) -> Refused:
    return Refused(Code.METHOD_NOT_ALLOWED, reason, headers=[(b"allow", allowed)])


def options() -> Response:
    return Response(204, [(b"allow", ALLOWED_METHODS), VARY])


def redirect(page: str) -> Response:
    return Response(303, [(b"location", page.encode()), VARY])


async def respond(response: Response, request_id: str, send: Send) -> None:
    headers = [*response.headers, (b"x-request-id", request_id.encode())]
    if response.status not in (204, 304):
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})
