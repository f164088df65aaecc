"""
URLs of stores: of a server, a unix socket, sentinels or a cluster. Errors of invalid ones do not show the password.
"""

import pytest

from store.client import urls
from store.client.urls import Topology


def test_server_has_an_address_and_options():
    route = urls.parse("redis://alice:s%40cret@[::1]:6380/3?health_check_interval=5")

    assert (route.topology, route.addresses) == (Topology.SERVER, (("::1", 6380),))
    connection = route.connection()
    assert (connection.host, connection.port, connection.db) == ("::1", 6380, 3)
    assert (connection.username, connection.password) == ("alice", "s@cret")


def test_unix_socket_has_a_path():
    connection = urls.parse("unix://alice:secret@/run/valkey.sock?db=2").connection()

    assert (connection.path, connection.username, connection.db) == ("/run/valkey.sock", "alice", 2)


def test_sentinels_have_passwords_of_their_own():
    url = "redis+sentinel://alice:secret@one:1,two/upvote/3?sentinel_password=other"
    route = urls.parse(url)

    assert (route.topology, route.service) == (Topology.SENTINEL, "upvote")
    assert route.addresses == (("one", 1), ("two", 26379))
    server, sentinel = route.connection(("there", 7)), route.sentinel(("one", 1))
    assert (server.host, server.port, server.db, server.password) == ("there", 7, 3, "secret")
    assert (sentinel.host, sentinel.username, sentinel.password) == ("one", None, "other")


def test_cluster_has_seeds_and_one_password_for_all():
    route = urls.parse("rediss+cluster://:secret@one:1,two?ssl_cert_reqs=none")

    assert (route.topology, route.addresses) == (Topology.CLUSTER, (("one", 1), ("two", 6379)))
    connection = route.connection(("three", 3))
    assert (connection.host, connection.port, connection.password) == ("three", 3, "secret")
    assert type(connection).__name__ == "SSLConnection"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("localhost:6379", "a store's URL is redis://"),
        ("http://localhost", "a store's URL is redis://"),
        ("redis+other://localhost", "a store's URL is redis://"),
        ("unix+cluster:///run/valkey.sock", "a store's URL is redis://"),
        ("unix://valkey.sock", "the path of a unix socket is absolute"),
        ("redis://", "'' is not a host and port"),
        ("redis://localhost:port", "'localhost:port' is not a host and port"),
        ("redis://localhost:65536", "'localhost:65536' is not a host and port"),
        ("redis://localhost/first", "'first' is not the number of a database"),
        ("redis://localhost?timeout=5", "an option of the URL is unknown: 'timeout'"),
        ("redis+cluster://one,,two", "'' is not a host and port"),
        ("redis+cluster://one/1", "a cluster has database 0 only"),
        ("redis+sentinel://one:26379", "the name of the service is missing"),
        ("redis+sentinel://one/upvote/first", "'first' is not the number of a database"),
    ],
)
def test_invalid_urls_are_refused(url, reason):
    with pytest.raises(ValueError, match=reason.replace("?", r"\?")) as refused:
        urls.parse(url.replace("://", "://alice:secret@", 1) if "unix" not in url else url)
    assert "secret" not in str(refused.value)
