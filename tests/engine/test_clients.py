"""The address of the client, from the headers of a request and the address of the connection."""

import pytest

from engine.clients import client_of, network_of

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
        ("10.0.0.1", b"1.1.1.1:50123", "1.1.1.1"),
        ("10.0.0.1", b"9.9.9.9, 1.1.1.1:50123, 10.0.0.2:50124", "1.1.1.1"),
        ("10.0.0.1", b"[2001:db8:1:2::7]:50123", "2001:db8:1:2::/64"),
        ("10.0.0.1", b"[2001:db8:1:2::7]", "2001:db8:1:2::/64"),
        ("10.0.0.1", b"unknown:1", "unknown:1"),
    ],
)
def test_forwarded_address_is_read_from_trusted_proxies_only(peer, forwarded, address):
    scope = {"client": (peer, 1)}

    assert client_of(scope, {b"x-forwarded-for": forwarded}, PROXIES).address == address


def test_client_of_a_unix_socket_has_no_address():
    assert client_of({"client": None}, {}, PROXIES).address == ""


@pytest.mark.parametrize(
    ("address", "prefix", "network"),
    [
        ("203.0.113.9", 64, "203.0.113.9"),
        ("", 64, ""),
        ("2001:db8:1:2:3:4:5:6", 64, "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::1", 64, "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", 48, "2001:db8:1::/48"),
        ("2001:db8:1:2::1", 128, "2001:db8:1:2::1/128"),
        ("::ffff:203.0.113.9", 64, "203.0.113.9"),
        ("fe80::1%eth0", 64, "fe80::/64"),
        ("no:address", 64, "no:address"),
        ("1:" * 100, 64, "1:" * 100),
    ],
)
def test_address_counts_as_its_network(address, prefix, network):
    assert network_of(address, prefix) == network
