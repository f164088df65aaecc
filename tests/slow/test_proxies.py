"""
nginx and Caddy with the configurations of deploy/ before a real server: TLS, WebSocket, streams, addresses, a path.

Only addresses, ports and paths of files are replaced. The part for a path prefix is that of docs/proxy.md.
"""

import asyncio
import gzip
import json
import os
import re
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse, HTTPSConnection
from itertools import count
from pathlib import Path
from socket import create_connection
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright
from websockets.asyncio.client import connect

from engine import Options
from server.http.connections import ConnectionLimiter
from server.limits import max_request_bytes
from tests import programs
from tests.server.conftest import Live, serving
from tests.servers import PATIENCE, free_port, until

ROOT = Path(__file__).parents[2]
DEPLOY, PAGE = ROOT / "deploy", ROOT / "docs" / "proxy.md"
PREFIX = "/community"
KINDS = ["nginx", "caddy"]
FILES = {"nginx": "nginx.conf", "caddy": "Caddyfile"}
# in a page: its base address, and the addresses of its scripts and style sheets
BASE = re.compile(r'<base href="([^"]*)"')
FILE = re.compile(r'<(?:script|link rel="(?:stylesheet|modulepreload)")[^>]*? (?:src|href)="([^"]+)"')
WAIT = 1000 * PATIENCE  # milliseconds, as Playwright takes them
FAULT = re.compile(r'.*(?:\[(?:error|crit|alert|emerg)\]|"level":"(?:error|fatal)").*')  # a line of a log
BY_CLIENTS = ("context canceled", "too large body")  # no faults: a client left a stream, or sent too much
FENCES = {"nginx": "nginx", "caddy": "caddyfile"}  # languages of the page's code blocks
NGINX = """
daemon off;
pid {folder}/pid;
error_log stderr warn;
{user}
events {{}}
http {{
    access_log off;
    {temporary}
    {text}
}}
"""
VISITORS = (f"127.0.1.{number}" for number in count(1))  # each has the limits of an address of its own
NAMES = (f"user-{number}" for number in count(1))
REGISTER = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token userErrors { code } } }'
POST = 'mutation { post(input: {title: "A title", content: "A text"}) { article { id } } }'
VOTE = 'mutation { vote(input: {articleId: "%s"}) { changed } }'
LISTEN = 'subscription { articleChanged(id: "%s") { votes } }'

pytestmark = [pytest.mark.one_server, pytest.mark.timeout(300)]


@dataclass(frozen=True)
class Proxy:
    """A running proxy. `prefix` is the path at which it has the server."""

    kind: str
    port: int
    http_port: int
    tls: ssl.SSLContext
    prefix: str = ""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}{self.prefix}"

    def client(self, address: str, **given: Any) -> httpx.Client:
        """A client with this address, which keeps its connections."""
        transport = httpx.HTTPTransport(verify=self.tls, local_address=address)
        return httpx.Client(transport=transport, timeout=PATIENCE, **given)

    def ask(self, query: str, token: str | None = None, address: str | None = None, **headers: str) -> Any:
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        with self.client(address or next(VISITORS)) as client:
            response = client.post(f"{self.url}/graphql", json={"query": query}, headers=headers)
        return response.raise_for_status().json()["data"]

    def get(self, target: str, **headers: str) -> tuple[HTTPResponse, bytes]:
        """The response to a target, which is sent as it is, without normalization."""
        with closing(HTTPSConnection("127.0.0.1", self.port, context=self.tls, timeout=PATIENCE)) as connection:
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            return response, response.read()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, rate_limits="on", rate_registrations=2, trusted_proxies="127.0.0.1") as live:
        yield live


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    programs.run(
        *(
            programs.program("openssl"),
            "req",
            "-x509",
            "-nodes",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
        ),
        *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
        *("-out", str(paths[0]), "-keyout", str(paths[1])),
    )
    return paths


@pytest.fixture(scope="module", params=KINDS)
def proxy(request, live, certificate, tmp_path_factory) -> Iterator[Proxy]:
    with running(
        request.param, (DEPLOY / FILES[request.param]).read_text(), live, certificate, tmp_path_factory
    ) as found:
        yield found


@pytest.fixture(scope="module", params=KINDS)
def below_path(request, live, certificate, tmp_path_factory) -> Iterator[Proxy]:
    """A proxy that has the server below a path too, by the lines of docs/proxy.md."""
    text, (added,) = (DEPLOY / FILES[request.param]).read_text(), blocks(FENCES[request.param])[1:]
    before = {"nginx": "    location / {", "caddy": "\trespond /metrics"}[request.param]
    text = text.replace(before, f"{added}{before}", 1)
    with running(request.param, text, live, certificate, tmp_path_factory, prefix=PREFIX) as found:
        yield found


def test_http_leads_to_https(proxy):
    response = httpx.get(f"http://127.0.0.1:{proxy.http_port}/search?q=a", headers={"Host": "127.0.0.1"})

    assert response.status_code == 308
    assert urlsplit(response.headers["location"])._replace(netloc="").geturl() == "https:///search?q=a"


def test_query_is_answered_over_tls(proxy):
    response, body = proxy.get("/graphql?query=%7B__typename%7D", Accept="application/json")

    assert json.loads(body) == {"data": {"__typename": "Query"}}
    assert response.headers["Strict-Transport-Security"] == "max-age=31536000"


def test_http_2_is_offered(proxy):
    context = ssl.create_default_context(cadata=None)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    with create_connection(("127.0.0.1", proxy.port)) as raw, context.wrap_socket(raw) as encrypted:
        assert encrypted.selected_alpn_protocol() == "h2"


def test_connections_to_the_server_are_kept(proxy, live):
    with proxy.client(next(VISITORS)) as client:
        for _ in range(20):
            assert client.get(f"{proxy.url}/healthz").status_code == 200
        opened = sum(value for name, value in live.metrics().items() if name.startswith("upvote_connections"))

    assert opened < 10


def test_idle_connections_are_closed_by_the_proxy_first():
    """Else the server might close a connection just when the proxy sends a request on it."""
    kept = [re.findall(r"keepalive(?:_timeout)? (\d+)s", (DEPLOY / name).read_text()) for name in FILES.values()]

    assert kept == [["4"], ["4"]]
    assert float(kept[0][0]) < ConnectionLimiter().idle_seconds


def test_server_sends_something_before_nginx_gives_a_connection_up():
    read_timeout = 60  # seconds; nginx's default
    pings = uvicorn.Config("server.app:create").ws_ping_interval

    assert "proxy_read_timeout" not in (DEPLOY / "nginx.conf").read_text()
    assert pings is not None and max(pings, Options().keep_alive) <= read_timeout / 2


async def test_websocket_gets_events_and_lives_on(proxy):
    """Not with the client of threads, which reads and writes one TLS connection at once: some handshakes are lost."""
    article, vote = article_and_votes(proxy)
    async with connect(
        f"{proxy.url.replace('https', 'wss')}/graphql",
        ssl=proxy.tls,
        origin=f"https://127.0.0.1:{proxy.port}",
        subprotocols=["graphql-transport-ws"],
    ) as socket:
        await socket.send('{"type": "connection_init"}')
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": LISTEN % article}}))
        await socket.send('{"type": "ping"}')
        assert json.loads(await socket.recv())["type"] == "pong"
        received = []
        for _ in range(2):
            await asyncio.to_thread(vote)
            async with asyncio.timeout(PATIENCE):
                event = json.loads(await socket.recv())
            received.append(event["payload"]["data"]["articleChanged"]["votes"])

    assert received == [2, 3]


@pytest.mark.parametrize("accepted", ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"])
def test_event_of_a_stream_arrives_before_the_next_is_caused(proxy, accepted):
    article, vote = article_and_votes(proxy)
    headers = {"Accept": accepted, "Accept-Encoding": "gzip"}
    with (
        proxy.client(next(VISITORS)) as client,
        client.stream("POST", f"{proxy.url}/graphql", json={"query": LISTEN % article}, headers=headers) as stream,
    ):
        texts, received = stream.iter_text(), ""
        next(texts)
        for votes in (2, 3):
            vote()
            while f'"votes":{votes}' not in received:
                received += next(texts)

    assert "content-encoding" not in stream.headers


def test_address_of_the_client_is_counted_whatever_it_claims(proxy, live):
    visitor, other = next(VISITORS), next(VISITORS)
    claims = [{}, {}, {"X-Forwarded-For": "198.51.100.7"}, {"X-Forwarded-For": "127.0.0.1"}]
    answers = [proxy.ask(REGISTER % next(NAMES), address=visitor, **claim) for claim in claims]

    assert [errors(data) for data in answers] == [[], [], ["RATE_LIMITED"], ["RATE_LIMITED"]]
    assert errors(proxy.ask(REGISTER % next(NAMES), address=other)) == []
    assert live.logged(level="warning") == []


def test_addresses_in_feeds_are_those_of_the_proxy_whatever_the_client_claims(proxy):
    claims = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"}
    response, body = proxy.get("/rss.xml", **claims)
    linked = {urlsplit(address)[:2] for address in re.findall(rb"https?://127[^<\"]*|https?://evil[^<\"]*", body)}

    assert response.status == 200
    assert linked == {(b"https", f"127.0.0.1:{proxy.port}".encode())}


def test_largest_request_passes_and_a_larger_one_does_not(proxy):
    with proxy.client(next(VISITORS), headers={"Content-Type": "application/json"}) as client:
        largest = client.post(f"{proxy.url}/graphql", content=b" " * max_request_bytes())
        larger = client.post(f"{proxy.url}/graphql", content=b" " * (max_request_bytes() + 1))

    assert (largest.status_code, larger.status_code) == (400, 413)


def test_pages_are_compressed_once(proxy):
    contract, packed = proxy.get("/schema.graphql", **{"Accept-Encoding": "gzip"})
    small, _ = proxy.get("/healthz", **{"Accept-Encoding": "gzip"})
    plain, text = proxy.get("/schema.graphql")

    assert contract.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed) == text
    assert "Accept-Encoding" in contract.headers["Vary"]
    assert (small.headers["Content-Encoding"], plain.headers["Content-Encoding"]) == (None, None)


@pytest.mark.parametrize("path", ["/metrics", "/metrics?a=b", "/metrics/", "//metrics", "/%6Detrics", "/a/../metrics"])
def test_metrics_are_closed(proxy, path):
    response, body = proxy.get(path)

    assert response.status == 404
    assert b"upvote_" not in body


@pytest.mark.parametrize("path", ["/metrics", "/metrics/", "//metrics", "/%6Detrics"])
def test_metrics_below_a_path_are_closed(below_path, path):
    response, body = below_path.get(PREFIX + path)

    assert response.status == 404
    assert b"upvote_" not in body


def test_query_and_stream_are_answered_below_a_path(below_path):
    article, vote = article_and_votes(below_path)
    headers = {"Accept": "text/event-stream"}
    with (
        below_path.client(next(VISITORS)) as client,
        client.stream("POST", f"{below_path.url}/graphql", json={"query": LISTEN % article}, headers=headers) as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        vote()
        event = next(line for line in lines if line.startswith("data:"))

    assert json.loads(event.removeprefix("data:")) == {"data": {"articleChanged": {"votes": 2}}}


@pytest.mark.parametrize("path", ["/", "/top/day", "/log-in", "/explorer", "/graphql"])
def test_pages_and_their_files_are_found_below_a_path(below_path, path):
    """A browser that opens `/graphql` is led to the explorer."""
    headers = {"Accept": "text/html"}
    with below_path.client(next(VISITORS), headers=headers, follow_redirects=True) as client:
        page = client.get(below_path.url + path)
        base = urljoin(str(page.url), "".join(BASE.findall(page.text)))
        files = [urljoin(base, address) for address in FILE.findall(page.text)]
        found = {address: client.get(address).status_code for address in files}

    assert page.status_code == 200
    assert len(found) >= 2 and set(found.values()) == {200}
    assert all(address.startswith(f"{below_path.url}/") for address in found)


def test_reader_is_live_in_a_browser_below_a_path(below_path):
    _, vote = article_and_votes(below_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=programs.chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(ignore_https_errors=True)
        faults: list[str] = []
        page.on(
            "console", lambda message: faults.append(message.text) if message.type in ("error", "warning") else None
        )
        page.goto(f"{below_path.url}/?order=TIME")
        votes = page.locator("article.line .count").first
        expect(votes).to_have_text("1", timeout=WAIT)
        vote()
        expect(votes).to_have_text("2", timeout=WAIT)
        browser.close()

    assert faults == []


def test_path_without_slash_leads_to_the_front_page(below_path):
    response, _ = below_path.get(PREFIX)

    assert response.status in (301, 302, 308)
    assert urlsplit(urljoin(below_path.url, response.headers["Location"])).path == f"{PREFIX}/"


def test_docs_show_the_files():
    shown = {kind: blocks(FENCES[kind])[0] for kind in KINDS}

    assert shown == {kind: (DEPLOY / FILES[kind]).read_text() for kind in KINDS}


@contextmanager
def running(
    kind: str,
    text: str,
    live: Live,
    certificate: tuple[Path, Path],
    folders: pytest.TempPathFactory,
    prefix: str = "",
) -> Iterator[Proxy]:
    """A proxy with this text of its configuration. It may not log a fault."""
    folder, (chain, key), ports = folders.mktemp(kind), certificate, (free_port(), free_port())
    upstream, adapt = urlsplit(live.url).netloc, {"nginx": nginx, "caddy": caddy}[kind]
    command, config = adapt(text.replace("127.0.0.1:8000", upstream), folder, ports, chain, key)
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    (folder / "config").write_text(config)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
    try:
        until(lambda: is_listening(ports[0]) or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        yield Proxy(kind, *ports, ssl.create_default_context(cafile=chain), prefix)
    finally:
        process.terminate()
        process.wait(PATIENCE)
    faults = FAULT.findall((folder / "log").read_text())
    assert [line for line in faults if not any(cause in line for cause in BY_CLIENTS)] == []


def nginx(text: str, folder: Path, ports: tuple[int, int], chain: Path, key: Path) -> tuple[list[str], str]:
    """The command of nginx and the configuration, which is a part of the block `http`."""
    for was, port in (("443", ports[0]), ("80", ports[1])):
        text = text.replace(f"listen {was}", f"listen 127.0.0.1:{port}").replace(f"[::]:{was}", f"127.0.0.2:{port}")
    text = text.replace("/etc/ssl/example.com.pem", str(chain)).replace("/etc/ssl/example.com.key", str(key))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n    ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""
    config = NGINX.format(folder=folder, user=user, temporary=temporary, text=text)
    return [programs.program("nginx"), "-e", "stderr", "-c", str(folder / "config")], config


def caddy(text: str, folder: Path, ports: tuple[int, int], chain: Path, key: Path) -> tuple[list[str], str]:
    """The command of Caddy and the configuration, with a certificate instead of one from Let's Encrypt."""
    text = text.replace("{\n\tservers", f"{{\n\tadmin off\n\thttp_port {ports[1]}\n\tservers", 1)
    text = text.replace("{$UPVOTE_DOMAIN:example.com} {", f"127.0.0.1:{ports[0]} {{\n\ttls {chain} {key}", 1)
    return [programs.program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "config")], text


def is_listening(port: int) -> bool:
    with suppress(OSError), create_connection(("127.0.0.1", port)):
        return True
    return False


def blocks(language: str) -> list[str]:
    """The blocks of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def article_and_votes(proxy: Proxy) -> tuple[str, Callable[[], None]]:
    """The id of a new article, and a function that adds a vote to it."""
    poster = proxy.ask(REGISTER % next(NAMES))["register"]["token"]
    article = proxy.ask(POST, poster)["post"]["article"]["id"]

    def vote() -> None:
        voter = proxy.ask(REGISTER % next(NAMES))["register"]["token"]
        assert proxy.ask(VOTE % article, voter) == {"vote": {"changed": True}}

    return article, vote


def errors(data: Any) -> list[str]:
    return [error["code"] for error in data["register"]["userErrors"]]
