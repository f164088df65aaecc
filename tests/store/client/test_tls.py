"""A store over TLS. The bundled Valkey has no TLS, so a proxy of the tests terminates it."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from store import event_connection, events
from store.client import client
from store.errors import StoreUnavailable
from store.store import Store
from tests.conftest import registered
from tests.programs import program, run
from tests.proxy import Proxy
from tests.store.reading import post

pytestmark = pytest.mark.one_server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate of 127.0.0.1, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "certificate.pem", folder / "key.pem"
    what = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", "/CN=upvote", "-addext", "subjectAltName=IP:127.0.0.1")
    run(program("openssl"), "req", *what, *names, "-keyout", str(key), "-out", str(made))
    return made, key


@pytest.fixture
async def port(redis_url: str, certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    """The port of a proxy that takes TLS connections for the store."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    proxy = Proxy(redis_url.removeprefix("unix://"), at=Path())  # `at` is not used: it listens on a port
    server = await asyncio.start_server(proxy.link, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await proxy.close()


@pytest.mark.parametrize("partitions", [1])
async def test_store_is_reached_over_tls(port, certificate, clock, partitions):
    url = f"rediss://127.0.0.1:{port}?ssl_ca_certs={certificate[0]}"
    store = await Store.open(url, partitions=partitions, clock=clock)
    async with event_connection.connect(url, store.site) as listener:
        with listener.mailbox(events.of_posts(None)) as mailbox:
            number = (await post(store, await registered(store, "alice"))).number
            assert (await anext(mailbox)).number == number
    await store.close()


async def test_untrusted_certificate_is_refused(port, monkeypatch):
    monkeypatch.setattr(client, "RETRY_TIME", 0.2)
    with pytest.raises(StoreUnavailable) as refused:
        await Store.open(f"rediss://127.0.0.1:{port}")
    assert "certificate verify failed" in str(refused.value.__cause__)


async def test_error_of_a_wrong_password_says_so_without_it(redis_url, monkeypatch):
    monkeypatch.setattr(client, "RETRY_TIME", 0.2)
    with pytest.raises(StoreUnavailable) as refused:
        await Store.open(redis_url.replace("unix://", "unix://nobody:secret@"))
    assert "invalid username-password pair" in str(refused.value.__cause__)
    assert "secret" not in str(refused.value.__cause__)
