"""
Trusted proxies and allowed origins: which match, which stop the start, and what is logged of others.

The fixture `live` is a running server with an article, which the tests share.
"""

import httpx
import pytest
from websockets.sync.client import connect

from server.settings import WrongSetting, read_settings
from server.trusted import LOCAL_ORIGINS, TrustedProxies
from tests.server.conftest import serving

REGISTER = """mutation { register(input: {username: "user-%d", password: "correct horse"}) { userErrors { code } } }"""
TYPENAME = {"query": "{ __typename }"}
FRONT_END = (
    "authorization,content-type,if-none-match,baggage,sentry-trace,traceparent,tracestate,"
    "apollographql-client-name,apollographql-client-version,apollo-require-preflight,x-request-id,x-upvote-stats"
)


def preflight(live, origin, headers=FRONT_END):
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": headers}
    return httpx.options(f"{live.url}/graphql", headers=asking | {"Origin": origin})


@pytest.mark.parametrize(
    ("given", "address", "is_trusted"),
    [
        ("10.0.0.0/8", "10.255.1.2", True),
        ("10.0.0.0/8", "::ffff:10.255.1.2", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("10.0.0.0/8, 192.0.2.7", "192.0.2.7", True),
        ("192.0.2.7", "192.0.2.8", False),
        ("2001:db8::/32", "2001:db8:1::1", True),
        ("2001:db8::1", "2001:DB8:0::1", True),
        ("2001:db8::/32", "10.0.0.1", False),
        ("10.0.0.0/8", "unknown", False),
        ("10.0.0.0/8", "", False),
        ("", "10.0.0.1", False),
    ],
)
def test_proxies_are_addresses_and_networks(given, address, is_trusted):
    assert (address in read_settings(trusted_proxies=given).proxies) is is_trusted
    assert (address in TrustedProxies(part.strip() for part in given.split(",") if part)) is is_trusted


@pytest.mark.parametrize("given", ["10.0.0.1/8", "10.0.0.0/33", "proxy.example", "10.0.0.*"])
def test_proxy_that_is_no_address_and_no_network_stops_the_start(given):
    with pytest.raises(WrongSetting, match="UPVOTE_TRUSTED_PROXIES="):
        read_settings(trusted_proxies=given)


@pytest.mark.parametrize(
    ("given", "origin", "is_allowed"),
    [
        ("https://a.example", "https://a.example", True),
        ("https://a.example", "https://a.example:8443", False),
        ("https://a.example", "http://a.example", False),
        ("http://localhost:*", "http://localhost:5173", True),
        ("http://localhost:*", "http://localhost", True),
        ("http://localhost:*", "http://localhost.evil.example", False),
        ("http://localhost:*", "http://localhost:80.evil.example", False),
        ("http://[::1]:*", "http://[::1]:3000", True),
        ("http://127.0.0.1:*, https://b.example", "https://b.example", True),
        ("http://127.0.0.1:*", "http://127.0.0.1x:1", False),
        ("capacitor://localhost", "capacitor://localhost", True),
        ("", "null", False),
    ],
)
def test_origins_match_as_a_whole(given, origin, is_allowed):
    assert (origin in read_settings(allowed_origins=given).origins) is is_allowed


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("https://*.example.com", "only the port may be"),
        ("*", "only the port may be"),
        ("https://Example.com", "lower case: https://example.com"),
        ("HTTPS://example.com", "lower case: https://example.com"),
        ("https://example.com:443", "default port: https://example.com"),
        ("http://example.com:80", "default port: http://example.com"),
        ("https://bücher.example", "ASCII"),
        ("https://example.com/", "without a path"),
        ("https://user@example.com", "an origin looks like"),
        ("example.com", "an origin looks like"),
        ("https://a.example b.example", "an origin looks like"),
    ],
)
def test_origin_that_can_never_match_stops_the_start(given, why):
    with pytest.raises(WrongSetting, match="UPVOTE_ALLOWED_ORIGINS=") as refused:
        read_settings(allowed_origins=given)

    assert why in str(refused.value)


def test_forwarded_addresses_of_a_network_of_proxies_count(tmp_path):
    settings = {"rate_limits": "on", "rate_registrations": 1}

    def register(live, number, address):
        answer = live.post({"query": REGISTER % number}, {"X-Forwarded-For": address})
        return [error["code"] for error in answer.json()["data"]["register"]["userErrors"]]

    with serving(tmp_path / "trusted", trusted_proxies="127.0.0.0/8", **settings) as live:
        trusted = [register(live, n, address) for n, address in enumerate(["192.0.2.1", "192.0.2.2", "192.0.2.1"])]
        assert live.logged(level="warning") == []
    with serving(tmp_path / "other", trusted_proxies="10.0.0.0/8", **settings) as live:
        others = [register(live, n, address) for n, address in enumerate(["192.0.2.1", "192.0.2.2", "192.0.2.1"])]
        warnings = [line["event"] for line in live.logged(level="warning")]

    assert trusted == [[], [], ["RATE_LIMITED"]]
    assert others == [[], ["RATE_LIMITED"], ["RATE_LIMITED"]]
    assert warnings == ["X-Forwarded-For of 127.0.0.1 is ignored: UPVOTE_TRUSTED_PROXIES=127.0.0.1 would trust it"]


@pytest.mark.parametrize("allowed", [None, "https://friend.example"])
def test_refused_origin_is_logged_once_with_the_setting(tmp_path, allowed):
    with serving(tmp_path, **{"allowed_origins": allowed} if allowed else {}) as live:
        for origin in ("http://localhost:5173", live.url, "http://localhost:5173", "https://b.example", "null"):
            live.post(TYPENAME, {"Origin": origin})
            preflight(live, origin)
        if allowed:
            live.post(TYPENAME, {"Origin": allowed})
        warnings = [line["event"] for line in live.logged(level="warning")]

    assert warnings == [
        f"pages of {origin} may not read answers: UPVOTE_ALLOWED_ORIGINS={origin} would allow it"
        for origin in ("http://localhost:5173", "https://b.example")
    ] + ["pages of the origin null may not read answers, and no setting allows it"]


def test_page_behind_a_proxy_that_replaces_the_host_is_not_logged(tmp_path):
    with serving(tmp_path) as live:
        live.post(TYPENAME, {"Origin": "http://localhost:5173", "Sec-Fetch-Site": "same-origin"})
        url = live.url.replace("http", "ws") + "/graphql"
        # not logged either: a server at a loopback address opens WebSockets to pages of any loopback origin
        with connect(url, subprotocols=["graphql-transport-ws"], origin="http://localhost:5173"):
            pass
        live.post(TYPENAME, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})
        warnings = [line["event"] for line in live.logged(level="warning")]

    assert [warning.split()[2] for warning in warnings] == ["https://evil.example"]


def test_origins_that_are_made_up_do_not_fill_the_log(live):
    before = len(live.logged(level="warning"))
    with httpx.Client() as client:
        for number in range(150):
            client.post(f"{live.url}/graphql", json=TYPENAME, headers={"Origin": f"https://{number}.example"})

    assert len(live.logged(level="warning")) - before <= 100


def test_preflights_allow_what_front_ends_send(tmp_path):
    with serving(tmp_path, allowed_origins=LOCAL_ORIGINS) as opened:
        for origin in ("http://localhost:5173", "http://127.0.0.1:3000", "http://[::1]:4173", "https://localhost:5173"):
            assert preflight(opened, origin).status_code == 200
            assert preflight(opened, origin).headers["access-control-allow-origin"] == origin
        odd = preflight(opened, "http://localhost:5173", "x-odd")
        far = preflight(opened, "https://localhost.example:5173")
        answer = opened.post(TYPENAME, {"Origin": "http://localhost:5173"})

    assert (odd.status_code, far.status_code) == (400, 400)
    assert "access-control-allow-origin" not in far.headers
    exposed = answer.headers["access-control-expose-headers"].split(", ")
    assert {"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"} == set(exposed)
