"""
What proxies may do with responses: compression, shared caches, and the entity tags of both.

The fixture `live` is a running server with an article, which the tests share.
"""

import gzip

import httpx
import pytest

from server.compression import accepts_gzip
from server.settings import Settings
from tests.server.conftest import REGISTER, serving

LONG = {"query": "{ __schema { types { name description } } }"}
SHORT = {"query": "{ __typename }"}
PAGE = {"query": "{ articles { nodes { id title } } }"}


def get(live, params, encoding=None, **headers):
    """A response whose body is as it was sent."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()} | {"Accept-Encoding": encoding or ""}
    with httpx.stream("GET", f"{live.url}/graphql", params=params, headers=headers) as response:
        return response, b"".join(response.iter_raw())


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("cached"), cache_seconds=60, rate_limits="on") as live:
        yield live


@pytest.mark.parametrize(
    ("header", "is_accepted"),
    [
        (b"gzip", True),
        (b"gzip, deflate, br, zstd", True),
        (b"br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        (b"deflate,GZIP", True),
        (b"x-gzip", True),
        (b"gzip;q=0", False),
        (b"gzip; q=0.000", False),
        (b"identity", False),
        (b"notgzip", False),
        (b"br", False),
        (b"", False),
        (b"a" * 10_000, False),
    ],
)
def test_encoding_is_accepted_by_name(header, is_accepted):
    assert accepts_gzip(header) is is_accepted


def test_long_responses_are_compressed_for_those_who_accept_it(live):
    plain, plain_body = get(live, LONG)
    packed, body = get(live, LONG, "gzip, deflate, br")

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) == len(body) < len(plain_body) / 2
    assert gzip.decompress(body) == plain_body
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept, Accept-Encoding, Authorization"
    assert plain.headers["etag"] == packed.headers["etag"]
    assert packed.headers["etag"].startswith("W/")


def test_posts_are_compressed_and_short_responses_are_not(live):
    posted = httpx.post(f"{live.url}/graphql", json=LONG, headers={"Accept-Encoding": "gzip"})
    short, _ = get(live, SHORT, "gzip")

    assert posted.headers["content-encoding"] == "gzip"
    assert posted.json()["data"]
    assert "content-encoding" not in short.headers
    assert short.headers["vary"] == posted.headers["vary"]


def test_tag_of_a_compressed_response_is_revalidated(live):
    packed, _ = get(live, LONG, "gzip")
    for encoding in ("gzip", None):
        again, body = get(live, LONG, encoding, If_None_Match=packed.headers["etag"])
        assert (again.status_code, body) == (304, b"")
        assert again.headers["etag"] == packed.headers["etag"]
        assert again.headers["vary"] == packed.headers["vary"]


def test_streams_are_not_compressed(live):
    headers = {"Accept-Encoding": "gzip"}
    for accept in ("text/event-stream", 'multipart/mixed;subscriptionSpec="1.0"'):
        with httpx.stream("POST", f"{live.url}/graphql", json=LONG, headers=headers | {"Accept": accept}) as response:
            assert "content-encoding" not in response.headers
            assert b'"types"' in b"".join(response.iter_raw())


def test_contract_is_compressed(live):
    contract = httpx.get(f"{live.url}/schema.graphql", headers={"Accept-Encoding": "gzip"})

    assert contract.headers["content-encoding"] == "gzip"
    assert contract.text.startswith(('"""', "directive", "schema", "type"))


@pytest.mark.parametrize(
    ("settings", "compresses"),
    [
        ({}, True),
        ({"trusted_proxies": "10.0.0.0/8"}, False),
        ({"trusted_proxies": "10.0.0.0/8", "compress": "on"}, True),
        ({"compress": "off"}, False),
    ],
)
def test_behind_a_proxy_responses_are_compressed_only_if_a_setting_says_so(settings, compresses):
    assert Settings(**settings).compresses is compresses


def test_nothing_is_compressed_behind_a_proxy(tmp_path):
    with serving(tmp_path, trusted_proxies="127.0.0.1") as live:
        response, _ = get(live, LONG, "gzip")

    assert "content-encoding" not in response.headers


def test_without_the_setting_shared_caches_ask_each_time(live):
    response, _ = get(live, PAGE)

    assert response.headers["cache-control"] == "public, max-age=0, must-revalidate"


def test_shared_caches_may_serve_anonymous_gets(cached):
    response, _ = get(cached, PAGE)
    again, _ = get(cached, PAGE, If_None_Match=response.headers["etag"])

    assert response.headers["cache-control"] == "public, max-age=0, s-maxage=60, must-revalidate"
    assert response.headers["vary"] == "Accept, Accept-Encoding, Authorization, X-Upvote-Stats"
    assert again.status_code == 304
    assert again.headers["cache-control"] == response.headers["cache-control"]
    assert again.headers["vary"] == response.headers["vary"]


def test_no_other_response_may_be_served_by_shared_caches(cached):
    token = cached.ask(REGISTER)["data"]["register"]["token"]
    responses = [
        get(cached, PAGE, Authorization=f"Bearer {token}")[0],
        get(cached, PAGE, Authorization="Bearer junk")[0],
        get(cached, PAGE, X_Upvote_Stats="1")[0],
        get(cached, {"query": "{ rateLimit { remaining } }"})[0],
        get(cached, {"query": "{ articles(first: 1000) { nodes { id } } }"})[0],
        get(cached, {"query": "{ nothing }"})[0],
        cached.post(PAGE),
    ]

    assert [response.headers["cache-control"] for response in responses] == ["private, no-store"] * 4 + ["no-store"] * 3
