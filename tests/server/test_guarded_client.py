"""The HTTP client for addresses that users or operators choose: it never reaches what is not on the public internet."""

import asyncio
import socket
from ipaddress import ip_address

import pytest

from server.guarded_client import GuardedClient, NoAnswer, is_public
from tests.server import checking

OPEN = {"allows_private": True}
SIGNED = {"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": ""}  # headers that `service` reads


@pytest.fixture
def service():
    with checking.service() as running:
        yield running


@pytest.fixture
async def names(monkeypatch):
    """Names and their addresses, as DNS answers for them: a list of answers is given one after the other."""
    answers = {}
    loop = type(asyncio.get_running_loop())
    real = loop.getaddrinfo

    async def getaddrinfo(self, host, port, **options):
        if host not in answers:
            return await real(self, host, port, **options)
        found = answers[host].pop(0) if len(answers[host]) > 1 else answers[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
    return answers


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fec0::1",
        "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "2002:a9fe:a9fe::1",
        "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b:1::a00:1", "::7f00:1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    ],
)  # fmt: skip
def test_address_that_is_not_public_is_refused(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"]
)
def test_public_address_is_allowed(address):
    assert is_public(ip_address(address))


async def refusal(client, url, **options):
    """The message with which a request is refused. Closes the client."""
    try:
        with pytest.raises(NoAnswer) as refused:
            await client.send("GET", url, **options)
        return str(refused.value)
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("url", "options", "reason"),
    [
        ("http://127.0.0.1/", {}, "127.0.0.1 is not on the public internet"),
        ("http://localhost/", {}, "localhost is not on the public internet"),
        ("http://[::ffff:127.0.0.1]/", {}, "is not on the public internet"),
        ("http://2130706433/", {}, "is not on the public internet"),
        ("http://1.1.1.1:22/", {}, "port 22 is not allowed"),
        ("http://1.1.1.1/", {"needs_tls": True}, "http: only https may be used"),
        ("file:///etc/passwd", OPEN, "only http and https"),
        ("http://no such name/", OPEN, ""),
        ("http://nowhere.invalid/", OPEN, "the name nowhere.invalid is not found"),
    ],
)
async def test_url_that_is_not_allowed_is_not_asked(url, options, reason):
    assert reason in await refusal(GuardedClient(**options), url)


async def test_name_is_asked_at_the_address_that_was_checked(service, names):
    """DNS that changes its mind: the first answer is checked and used, and the name is not looked up again."""
    names["shop.example"] = [["127.0.0.1"], ["10.255.255.1"]]
    client = GuardedClient(allows_private=True, ports={service.server_port})
    hosts = []

    def answer(handler):
        hosts.append(handler.headers["host"])
        checking.saying(fine=True)(handler)

    service.answer = answer
    url = f"http://shop.example:{service.server_port}/check?of=texts"
    done = await client.send("POST", url, content=b"{}", headers=SIGNED)
    await client.close()

    assert (done.status, done.body) == (200, b'{"fine": true}')
    assert hosts == [f"shop.example:{service.server_port}"]


async def test_name_with_one_private_address_is_refused(names):
    names["shop.example"] = [["1.1.1.1", "127.0.0.1"]]

    assert await refusal(GuardedClient(), "http://shop.example/") == "shop.example is not on the public internet"


async def test_each_redirect_is_checked_and_followed_only_if_asked(service, names):
    names["shop.example"] = [["127.0.0.1"]]
    port = service.server_port
    url = f"http://shop.example:{port}/check?of=texts"
    for target, reason in (
        ("http://shop.example:22/", "port 22 is not allowed"),
        ("file:///etc/passwd", "only http and https"),
        ("/again", "TooManyRedirects"),
    ):
        service.answer = checking.body(b"", 307, location=target)
        client = GuardedClient(allows_private=True, ports={port})
        plain = await client.send("POST", url, content=b"{}", headers=SIGNED)
        assert plain.status == 307
        with pytest.raises(NoAnswer, match=reason):
            await client.send("POST", url, content=b"{}", headers=SIGNED, follows=True)
        await client.close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (checking.wait, "no answer within 0.2 s"),
        (checking.drip, "no answer within 0.2 s"),
        (checking.hang_up, "RemoteProtocolError"),
        (checking.speak_nonsense, "RemoteProtocolError"),
        (checking.body(b"x" * 2_000), "an answer of more than 1000 bytes"),
    ],
)
async def test_answer_that_is_late_or_large_or_no_http_is_none(service, answer, reason):
    service.answer = answer
    client = GuardedClient(allows_private=True, ports={service.server_port})
    seconds = 0.2 if "0.2 s" in reason else 20
    with pytest.raises(NoAnswer, match=reason):
        await client.send("POST", service.url, content=b"{}", headers=SIGNED, seconds=seconds, max_answer=1_000)
    await client.close()


async def test_proxy_of_the_environment_is_not_used(service, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    client = GuardedClient(allows_private=True, ports={service.server_port})
    assert (await client.send("POST", service.url, content=b"{}", headers=SIGNED)).status == 204
    await client.close()
