"""The address of a client: of the connection, or as trusted proxies forward it."""

import pytest

from engine.requests import client_of

PROXIES = {"10.0.0.1", "10.0.0.2"}


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("1.1.1.1", b"", "1.1.1.1"),
        ("1.1.1.1", b"9.9.9.9", "1.1.1.1"),
        ("10.0.0.1", b"", "10.0.0.1"),
        ("10.0.0.1", b"1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", b"9.9.9.9, 1.1.1.1", "1.1.1.1"),
        ("10.0.0.1", b"9.9.9.9,1.1.1.1 , 10.0.0.2", "1.1.1.1"),
        ("10.0.0.1", b" , ", "10.0.0.1"),
    ],
)
def test_forwarded_address_is_read_from_trusted_proxies_only(peer, forwarded, address):
    scope = {"client": (peer, 1)}

    assert client_of(scope, {b"x-forwarded-for": forwarded}, PROXIES).address == address


def test_client_of_a_unix_socket_has_no_address():
    assert client_of({"client": None}, {}, PROXIES).address == ""
