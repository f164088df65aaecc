"""The media types that the headers of a request accept and have."""

import pytest

from engine.negotiation import Media, accepted, is_json

APOLLO = (
    b'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9'
)
URQL = (
    b"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
)


@pytest.mark.parametrize(
    ("header", "single", "stream"),
    [
        (b"", Media.JSON, None),
        (b"*/*", Media.JSON, None),
        (b"application/*", Media.JSON, None),
        (b"application/json", Media.JSON, None),
        (b"APPLICATION/JSON; charset=utf-8", Media.JSON, None),
        (b"application/graphql-response+json", Media.RESPONSE, None),
        (b"application/graphql-response+json, application/json", Media.RESPONSE, None),
        (b"application/graphql-response+json;q=0.5, application/json", Media.JSON, None),
        (b"application/graphql-response+json;q=0, */*", Media.JSON, None),
        (b"application/json;q=0", None, None),
        (b"application/json;q=0, */*", None, None),
        (b"application/json;q=high", None, None),
        (b"text/event-stream", None, Media.EVENTS),
        (b"text/event-stream, application/json", Media.JSON, Media.EVENTS),
        (b"multipart/mixed", None, None),
        (b"multipart/mixed;subscriptionSpec=1.0", None, Media.MULTIPART),
        (b"multipart/mixed;subscriptionSpec=2.0", None, None),
        (b"multipart/mixed;subscriptionSpec=2.0, multipart/mixed;subscriptionSpec=1.0;q=0.5", None, Media.MULTIPART),
        (b"multipart/mixed;subscriptionSpec=1.0;q=0.5, text/event-stream;q=0.4", None, Media.MULTIPART),
        (b"text/html", None, None),
        (b",;,", None, None),
        (APOLLO, Media.RESPONSE, Media.MULTIPART),
        (URQL, Media.RESPONSE, Media.EVENTS),
    ],
)
def test_accept_selects_types_for_single_results_and_streams(header, single, stream):
    assert accepted(header)[:2] == (single, stream)


@pytest.mark.parametrize(
    ("header", "page"), [(b"text/html,*/*;q=0.8", True), (b"text/html;q=0", False), (b"*/*", False)]
)
def test_html_has_to_be_accepted_by_name(header, page):
    assert accepted(header).html is page


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"application/json", True),
        (b"application/json ; Charset=UTF-8", True),
        (b"application/json; charset=utf-16", False),
        (b"application/graphql", False),
        (b"\xff", False),
        (b"", False),
    ],
)
def test_content_type_has_to_be_json_in_utf8(header, expected):
    assert is_json(header) is expected
