"""HTTP responses: content negotiation by the Accept and Content-Type headers, statuses, headers and JSON bodies."""

import json
from enum import StrEnum
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson
from starlette.types import Send

from caches import memo
from engine.errors import Code, Refused
from engine.requests import Headers

MAX_MEMO_HEADER = 200  # bytes of a header whose parsed value is memoised


class Media(StrEnum):
    JSON = "application/json"
    RESPONSE = "application/graphql-response+json"
    EVENTS = "text/event-stream"
    MULTIPART = "multipart/mixed"


class Accepted(NamedTuple):
    """What an Accept header allows: a media type for a single result and one for a stream, and whether HTML."""

    single: Media | None
    stream: Media | None
    html: bool


class MediaRange(NamedTuple):
    name: str
    parameters: dict[str, str]
    quality: float


ALLOWED_METHODS = b"GET, HEAD, POST, OPTIONS"

# Statuses of refused requests, as application/json and as application/graphql-response+json. With the older type,
# clients take any other status than 200 for an answer of a proxy, so every well-formed GraphQL request gets 200.
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
DEFAULT_STATUSES = (400, 400)

# Any cache may store the response, but has to revalidate it before each use.
REVALIDATED = (b"cache-control", b"public, max-age=0, must-revalidate")
PRIVATE = (b"cache-control", b"private, no-store")
UNCACHED = (b"cache-control", b"no-store")
VARY = (b"vary", b"Accept, Authorization")
CONTENT_TYPES = {media: (b"content-type", f"{media}; charset=utf-8".encode()) for media in Media}


class EncodedResult(NamedTuple):
    """The result of an operation, or of one event, as JSON."""

    body: bytes
    has_errors: bool


class Response(NamedTuple):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""


def uncached(body: bytes, media: Media) -> Response:
    return Response(200, [CONTENT_TYPES[media], UNCACHED, VARY], body)


def private(body: bytes, media: Media) -> Response:
    return Response(200, [CONTENT_TYPES[media], PRIVATE, VARY], body)


def public(body: bytes, media: Media, headers: Headers) -> Response:
    tag = b'"%b"' % blake2b(body, digest_size=12).hexdigest().encode()
    if matches(tag, headers.get(b"if-none-match", b"")):
        return Response(304, [REVALIDATED, VARY, (b"etag", tag)])
    return Response(200, [CONTENT_TYPES[media], REVALIDATED, VARY, (b"etag", tag)], body)


def matches(tag: bytes, if_none_match: bytes) -> bool:
    tags = (each.strip().removeprefix(b"W/") for each in if_none_match.split(b","))
    return any(each in (tag, b"*") for each in tags)


def refusal(refused: Refused, media: Media) -> Response:
    status = STATUSES.get(refused.code, DEFAULT_STATUSES)[media is Media.RESPONSE]
    headers = [CONTENT_TYPES[media], UNCACHED, VARY, *refused.headers]
    return Response(status, headers, refusal_body(refused))


def refusal_body(refused: Refused) -> bytes:
    return encode({"errors": refused.errors})


def not_allowed(reason: str, allowed: bytes = ALLOWED_METHODS) -> Refused:
    return Refused(Code.METHOD_NOT_ALLOWED, reason, headers=[(b"allow", allowed)])


def options() -> Response:
    return Response(204, [(b"allow", ALLOWED_METHODS), VARY])


def redirect(location: str) -> Response:
    return Response(303, [(b"location", location.encode()), VARY])


async def respond(response: Response, request_id: str, send: Send) -> None:
    headers = [*response.headers, (b"x-request-id", request_id.encode())]
    if response.status not in (204, 304):
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


def accepted(header: bytes) -> Accepted:
    """Without an Accept header, or with a wildcard, it is application/json: older clients expect this type."""
    return _accepted_memo(header) if len(header) <= MAX_MEMO_HEADER else _accepted(header)


def _accepted(header: bytes) -> Accepted:
    ranges = [media_range(part) for part in (header or b"*/*").decode("latin-1").split(",")]
    named = {each.name: each.quality for each in ranges}
    wildcard = named.get("application/*", named.get("*/*", 0.0))
    multipart = max((each.quality for each in ranges if is_subscription_protocol(each)), default=0.0)
    return Accepted(
        single=preferred({Media.RESPONSE: named.get(Media.RESPONSE, 0.0), Media.JSON: named.get(Media.JSON, wildcard)}),
        stream=preferred({Media.EVENTS: named.get(Media.EVENTS, 0.0), Media.MULTIPART: multipart}),
        html=named.get("text/html", 0.0) > 0,
    )


_accepted_memo = memo(256, 700)(_accepted)


def preferred(qualities: dict[Media, float]) -> Media | None:
    media = max(qualities, key=lambda media: qualities[media])
    return media if qualities[media] > 0 else None


def media_range(text: str) -> MediaRange:
    name, *rest = (part.strip() for part in text.split(";"))
    pairs = (part.partition("=") for part in rest)
    parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
    return MediaRange(name.lower(), parameters, quality(parameters.get("q", "1")))


def quality(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def is_subscription_protocol(media: MediaRange) -> bool:
    # multipart/mixed without this parameter asks for incremental delivery, another protocol.
    return media.name == Media.MULTIPART and "subscriptionspec" in media.parameters


def is_json(content_type: bytes) -> bool:
    return _is_json_memo(content_type) if len(content_type) <= MAX_MEMO_HEADER else _is_json(content_type)


def _is_json(content_type: bytes) -> bool:
    media = media_range(content_type.decode("latin-1"))
    return media.name == Media.JSON and media.parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


_is_json_memo = memo(256, 500)(_is_json)


def encode(value: Any) -> bytes:
    """
    Raises:
        ValueError, RecursionError: a number is too long or the nesting too deep for the standard library, too.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson supports no integers beyond 64 bits, no lone surrogates and no more than 254 levels.
        return json.dumps(value, default=_plain).encode()


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else str(value)
