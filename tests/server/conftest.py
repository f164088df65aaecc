"""The whole server as its users start it: a process of its own, with a data directory of its own."""

import json
import os
import signal
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import httpx
import pytest
from redis import Redis

from server.cli.import_stories import ImportOptions, import_stories
from server.settings import Settings
from store.store import Store
from tests.server import pages
from tests.server.commands import Command, environment, piped
from tests.servers import PATIENCE

POST = """mutation($title: String! = "Redis in Action") {
  post(input: {title: $title, link: "https://example.com/", groups: ["show"]}) { article { id } } }"""
REGISTER = """mutation { register(input: {username: "alice", password: "correct horse"}) { token } }"""
# for requests without TLS: else httpx loads all certificates for each, in 20 ms
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# the first line of a file of stories
HEADER = "id,title,url,points,comments,author,created_at\n"


@dataclass
class Live:
    """A running server, what it printed when it started, where its errors go, and ways to ask it."""

    process: Command
    url: str
    printed: list[str]
    errors: Path

    def ask(self, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.post({"query": query, "variables": variables}, headers).json()

    def post(self, request: dict[str, Any], headers: dict[str, str] | None = None) -> httpx.Response:
        return httpx.post(
            f"{self.url}/graphql", json=request, headers=headers, timeout=PATIENCE, verify=NO_CERTIFICATES
        )

    def post_bytes(self, body: bytes, headers: dict[str, str]) -> httpx.Response:
        headers = {"Content-Type": "application/json"} | headers
        return httpx.post(
            f"{self.url}/graphql", content=body, headers=headers, timeout=PATIENCE, verify=NO_CERTIFICATES
        )

    def logged(self, **fields: Any) -> list[dict[str, Any]]:
        """The lines of the log that have these fields."""
        lines = [json.loads(line) for line in self.written().splitlines()]
        return [line for line in lines if fields.items() <= line.items()]

    def written(self) -> str:
        """The log. Its lines are gathered before they are written; a request for `/readyz` has them written."""
        with suppress(httpx.TransportError):
            httpx.get(f"{self.url}/readyz", timeout=PATIENCE, verify=NO_CERTIFICATES)
        return self.errors.read_text()

    def metrics(self) -> dict[str, float]:
        """What a scrape shows, by names and labels."""
        text = httpx.get(f"{self.url}/metrics", timeout=PATIENCE, verify=NO_CERTIFICATES).raise_for_status().text
        rows = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in rows}

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait()


@contextmanager
def serving(data_dir: Path, *arguments: object, stderr: int | None = None, **settings: object) -> Iterator[Live]:
    """A running server; its standard error is `stderr`, or the file that `Live.errors` names."""
    handle, errors = tempfile.mkstemp()
    variables = environment(**{"port": 0, "data_dir": data_dir, "rate_limits": "off"} | settings)
    process, stdout = piped(["serve", *arguments], variables, handle if stderr is None else stderr)
    printed = [line.rstrip("\n") for line in until_data(stdout)]
    try:
        url = printed[-2].split()[-1].removesuffix("/graphql")
        httpx.get(f"{url}/healthz", timeout=60, verify=NO_CERTIFICATES).raise_for_status()
        yield Live(process, url, printed, Path(errors))
    finally:
        process.terminate()
        process.wait()
        stdout.close()
        os.close(handle)
        print(Path(errors).read_text(), file=sys.stderr)
        os.remove(errors)


def until_data(stdout: TextIO) -> Iterator[str]:
    """The lines that a server prints when it starts. The last begins with "data", the one before ends with its URL."""
    for line in stdout:
        yield line
        if line.startswith("data "):
            break


def redis_of(folder: Path) -> "Redis":
    """A client of the Valkey that a server runs itself, by the address in its data directory."""
    return Redis(unix_socket_path=(folder / "address").read_text(), decode_responses=True)


@pytest.fixture
async def http(redis_url: str, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    """Asks for pages as a browser does that runs no scripts."""
    async with pages.serving(redis_url) as http:
        yield http


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that has one article."""
    with serving(tmp_path_factory.mktemp("live")) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        assert live.ask(POST, token)["data"]["post"]["article"]["id"].startswith("article:")
        yield live


def line(number: int) -> str:
    """A line of a CSV file of stories to import: one an hour in 28 days, of 0 to 49 points, by one of 30 users."""
    title = "Ask HN: Why?" if number % 7 == 0 else "A title"
    time = f"2016-08-{1 + number // 24 % 28:02d}T{number % 24:02d}:00:00Z"
    return f"{number},{title},https://host{number % 3}.example/,{number % 50},0,user-{number % 30},{time}\n"


@pytest.fixture
def filled(tmp_path: Path, redis_url: str) -> Settings:
    """A store of 8 partitions, with 300 stories whose voters are known and whose posters follow each other."""
    stories = tmp_path / "stories.csv"
    stories.write_text(HEADER + "".join(map(line, range(300))))
    settings = Settings(redis_url=redis_url, partitions=8)
    import_stories(settings, [stories], ImportOptions(shift_to_now=True, with_voters=True, follow=3))
    return settings


@pytest.fixture
def empty(redis_url: str, tmp_path: Path) -> Settings:
    """The settings of an empty store beside `filled`, in another database of the same Valkey."""
    return Settings(redis_url=f"{redis_url}?db=1", data_dir=tmp_path)
