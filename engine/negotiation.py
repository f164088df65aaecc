"""What the client sends and what it accepts, read from its Content-Type and Accept headers."""

from enum import StrEnum
from typing import NamedTuple

from caches import memo

SHORT = 200  # bytes of a header that is memoised


class Media(StrEnum):
    JSON = "application/json"
    RESPONSE = "application/graphql-response+json"
    EVENTS = "text/event-stream"
    MULTIPART = "multipart/mixed"


class Accepted(NamedTuple):
    """The media type for one answer and the one for a stream of them; None where the client takes neither of a kind."""

    single: Media | None
    stream: Media | None
    page: bool


class MediaRange(NamedTuple):
    name: str
    parameters: dict[str, str]
    quality: float


def accepted(header: bytes) -> Accepted:
    """An absent Accept, like a wildcard, means application/json: what clients from before the newer type expect."""
    return _accepted_again(header) if len(header) <= SHORT else _accepted(header)


def _accepted(header: bytes) -> Accepted:
    ranges = [media_range(part) for part in (header or b"*/*").decode("latin-1").split(",")]
    named = {one.name: one.quality for one in ranges}
    wildcard = named.get("application/*", named.get("*/*", 0.0))
    multipart = max((one.quality for one in ranges if is_subscription_protocol(one)), default=0.0)
    return Accepted(
        single=best({Media.RESPONSE: named.get(Media.RESPONSE, 0.0), Media.JSON: named.get(Media.JSON, wildcard)}),
        stream=best({Media.EVENTS: named.get(Media.EVENTS, 0.0), Media.MULTIPART: multipart}),
        page=named.get("text/html", 0.0) > 0,
    )


_accepted_again = memo(256, 700)(_accepted)


def best(qualities: dict[Media, float]) -> Media | None:
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
    # Plain multipart/mixed asks for incremental delivery, which is another protocol.
    return media.name == Media.MULTIPART and "subscriptionspec" in media.parameters


def is_json(content_type: bytes) -> bool:
    return _is_json_again(content_type) if len(content_type) <= SHORT else _is_json(content_type)


def _is_json(content_type: bytes) -> bool:
    media = media_range(content_type.decode("latin-1"))
    return media.name == Media.JSON and media.parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


_is_json_again = memo(256, 500)(_is_json)
