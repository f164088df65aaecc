"""The whole server as its users start it: a process of its own, with a data directory of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
POST = """mutation { post(input: {title: "Redis in Action", link: "https://example.com/", groups: ["show"]}) {
  article { id } } }"""
REGISTER = """mutation { register(input: {username: "alice", password: "correct horse"}) { token } }"""


@dataclass
class Live:
    """A running server, what it printed when it started, and a way to ask it."""

    process: "subprocess.Popen[str]"
    url: str
    printed: list[str]

    def ask(self, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = httpx.post(f"{self.url}/graphql", json={"query": query, "variables": variables}, headers=headers)
        return answer.json()

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(by)
        return self.process.wait()


def environment(**settings: object) -> dict[str, str]:
    """Ours, with these settings and no others."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}
    return inherited | {f"UPVOTE_{name.upper()}": str(value) for name, value in settings.items()}


@contextmanager
def serving(data_dir: Path, **settings: object) -> Iterator[Live]:
    process = subprocess.Popen(
        [sys.executable, "-m", "server", "serve"],
        cwd=ROOT,
        env=environment(port=0, data_dir=data_dir, **settings),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    printed = [process.stdout.readline().rstrip("\n") for _ in range(3)]
    try:
        url = printed[0].split()[-1].rstrip("/")
        httpx.get(f"{url}/readyz", timeout=60).raise_for_status()
        yield Live(process, url, printed)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server that has one article."""
    with serving(tmp_path_factory.mktemp("live")) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        assert live.ask(POST, token)["data"]["post"]["article"]["id"] == "article:1773"
        yield live
