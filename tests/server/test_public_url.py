"""The address under which clients reach the server: that of a setting, or else that of each request."""

import pytest

from server.public_url import PublicURL
from server.settings import WrongSetting, read_settings
from server.trusted import TrustedProxies

PROXIES = TrustedProxies(["10.0.0.0/8"])
BY_REQUEST = PublicURL(None, PROXIES)
HOSTILE = ['a"><script>', "a b", "a/b", "a@b", "a?b", "a:b", "a\r\nSet-Cookie: x", "x" * 300, "", "[::1", "ä.example"]


def scope(client="203.0.113.5", **headers):
    """The ASGI scope of a request. Names of headers have `_` for `-`."""
    encoded = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"scheme": "http", "client": (client, 1), "server": ("192.0.2.1", 8000), "headers": encoded}


def test_address_is_that_of_the_request():
    assert BY_REQUEST.of(scope(host="Example.com:8080")) == "http://example.com:8080"
    assert BY_REQUEST.of(scope(host="[::1]:8000")) == "http://[::1]:8000"
    assert BY_REQUEST.of(scope(host="up_vote")) == "http://up_vote"  # as containers may be called


def test_setting_is_used_whatever_the_request_says():
    fixed = PublicURL("https://example.com/news", PROXIES)

    assert fixed.of(scope("10.0.0.1", host="evil.example", x_forwarded_host="evil.example")) == (
        "https://example.com/news"
    )


def test_forwarded_headers_are_used_from_trusted_proxies_only():
    forwarded = {"host": "inside:8000", "x_forwarded_host": "example.com", "x_forwarded_proto": "https"}

    assert BY_REQUEST.of(scope("10.0.0.1", **forwarded)) == "https://example.com"
    assert BY_REQUEST.of(scope("203.0.113.5", **forwarded)) == "http://inside:8000"


def test_value_of_the_nearest_proxy_is_used():
    forwarded = {"x_forwarded_host": "evil.example, example.com", "x_forwarded_proto": "http, https"}

    assert BY_REQUEST.of(scope("10.0.0.1", host="inside", **forwarded)) == "https://example.com"


@pytest.mark.parametrize("host", HOSTILE)
def test_host_that_is_no_host_is_not_used(host):
    assert BY_REQUEST.of(scope(host=host)) == "http://192.0.2.1:8000"
    assert BY_REQUEST.of(scope("10.0.0.1", host="example.com", x_forwarded_host=host)) == "http://example.com"


def test_unknown_scheme_is_not_used():
    assert BY_REQUEST.of(scope("10.0.0.1", host="a", x_forwarded_proto="javascript")) == "http://a"


def test_address_without_host_is_that_of_the_socket():
    over_ipv6 = scope() | {"server": ("::1", 8000)}

    assert BY_REQUEST.of(over_ipv6) == "http://[::1]:8000"
    assert BY_REQUEST.of(scope() | {"server": ("/run/upvote", None)}) == "http://localhost"


def test_shared_caches_store_an_address_of_the_setting_only():
    assert PublicURL("https://example.com", PROXIES).headers == {}
    assert BY_REQUEST.headers["Cache-Control"].startswith("private")


def test_slash_at_the_end_of_the_setting_is_left_out():
    assert read_settings(public_url="https://example.com/news/").public_url == "https://example.com/news"


@pytest.mark.parametrize(
    "url",
    [
        "example.com",
        "ftp://example.com",
        "https://user:pw@example.com",
        "https://example.com/?a=1",
        "https://example.com/#a",
        'https://example.com/"><b>',
        "https://example.com//a",
        "https://",
        "HTTPS://example.com",
    ],
)
def test_setting_that_is_no_address_stops_the_start(url):
    with pytest.raises(WrongSetting, match=r"UPVOTE_PUBLIC_URL=.*a public URL"):
        read_settings(public_url=url)


@pytest.mark.parametrize("name", ["", "   ", "two\nlines", "x" * 101])
def test_name_of_the_site_is_one_line(name):
    with pytest.raises(WrongSetting, match="UPVOTE_SITE_NAME"):
        read_settings(site_name=name)
