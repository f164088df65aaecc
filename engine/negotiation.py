"""The media types of requests and responses: what an Accept header allows, and whether a body is JSON."""

from enum import StrEnum
from typing import NamedTuple

from caches import memo

MAX_MEMO_HEADER = 200  # bytes of a header whose parsed value is memoised
VARY = (b"vary", b"Accept, Accept-Encoding, Authorization")  # the headers that a response depends on
SUBSCRIPTION_SPEC = "1.0"  # the version of Apollo's protocol for subscriptions in multipart/mixed


class Media(StrEnum):
    JSON = "application/json"
    RESPONSE = "application/graphql-response+json"
    EVENTS = "text/event-stream"
    MULTIPART = "multipart/mixed"


class Accepted(NamedTuple):
    """
    What an Accept header allows: the media type of a response with a single result, that of a stream of results (None
    if there may be none), and whether the response may be an HTML page.
    """

    single: Media | None
    stream: Media | None
    html: bool


class MediaRange(NamedTuple):
    """One entry of an Accept header, with its quality from 0 to 1."""

    name: str
    parameters: dict[str, str]
    quality: float


def is_short(header: bytes) -> bool:
    return len(header) <= MAX_MEMO_HEADER


@memo(entry_bytes=300, call_microseconds=8, when=is_short)
def accepted(header: bytes) -> Accepted:
    """Parse an Accept header. An empty one or a wildcard means application/json, which older clients expect."""
    ranges = [media_range(part) for part in (header or b"*/*").decode("latin-1").split(",")]
    named = {each.name: each.quality for each in ranges}
    wildcard = named.get("application/*", named.get("*/*", 0.0))
    multipart = max((each.quality for each in ranges if is_subscription_protocol(each)), default=0.0)
    return Accepted(
        single=preferred({Media.RESPONSE: named.get(Media.RESPONSE, 0.0), Media.JSON: named.get(Media.JSON, wildcard)}),
        stream=preferred({Media.EVENTS: named.get(Media.EVENTS, 0.0), Media.MULTIPART: multipart}),
        html=named.get("text/html", 0.0) > 0,
    )


@memo(entry_bytes=300, call_microseconds=3, when=is_short)
def is_json(content_type: bytes) -> bool:
    media = media_range(content_type.decode("latin-1"))
    return media.name == Media.JSON and media.parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


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
    return media.name == Media.MULTIPART and media.parameters.get("subscriptionspec") == SUBSCRIPTION_SPEC
