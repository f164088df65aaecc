"""What a request asks for, by its URL."""

import pytest
from httptools import HttpParserInvalidURLError

from server.http_limits.targets import SHORT, Target, target_of

LONG = b"x" * SHORT


@pytest.mark.parametrize(
    ("url", "path", "raw_path", "query"),
    [
        (b"/graphql", "/graphql", b"/graphql", b""),
        (b"/graph%71l?query=%7Bx%7D", "/graphql", b"/graph%71l", b"query=%7Bx%7D"),
        (b"/%C3%A9?a?b", "/\u00e9", b"/%C3%A9", b"a?b"),
        (b"http://host:1/a?b", "/a", b"/a", b"b"),
        (b"/a?" + LONG, "/a", b"/a", LONG),
    ],
)
def test_target_has_its_path_and_its_query(url, path, raw_path, query):
    for _ in range(2):
        assert target_of(url) == Target(path, raw_path, query)


def test_url_without_a_path_is_no_target():
    for _ in range(2):
        with pytest.raises(HttpParserInvalidURLError):
            target_of(b"host:1")
