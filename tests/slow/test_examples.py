"""
Runs the commands and queries of the README and of every page in docs/, in the order of the page.

A command runs unchanged, in a shell without the virtual environment, in a folder that looks like an installed checkout.
Only the addresses of the server and of Redis are replaced by those of running ones.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx
import pytest

from server.managed_valkey import server as valkey
from tests import programs

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(sh|graphql)\n(.*?)^```\n+(?:```json\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
SERVER = re.compile(r"(make|upvote) (serve|demo)\s*$")
PACKAGES = ("archive", "caches", "database", "engine", "resolvers", "server", "store")
# languages of blocks that are only shown
NOT_RUN_HERE = (
    "caddyfile",
    "console",
    "json",
    "nginx",
    "python",
    "sql",
    "text",
    "toml",
    "ts",
    "tsx",
    "yaml",
)
ADDRESS, REDIS = "http://127.0.0.1:8000", "redis://127.0.0.1:6379"
SHOWN = ("article:3676697395200749", "comment:3676697396201197", "action:1541")  # ids on the pages
FOR_A_STORE = ("backups", "database")  # pages whose first commands are for a store that is there
LIVE = ROOT / "docs" / "live.md"  # the page of subscriptions, whose commands do not end
REGISTER = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token } }'
POST = 'mutation { post(input: {title: "a title", content: "a text"}) { article { id } } }'

pytestmark = [pytest.mark.one_server, pytest.mark.timeout(300)]


class Checkout:
    """An installed checkout in a separate folder, a shell in it, and the server that was last started there."""

    def __init__(self, folder: Path, redis_url: str = REDIS) -> None:
        self.folder, self.redis_url, self.url = folder, redis_url, ADDRESS
        self.token: str | None = None
        self.ids: dict[str, str] = {}  # those of this store, by the shown ones
        self._server: subprocess.Popen[str] | None = None
        if not Path(sys.prefix, "serve.stamp").exists():
            programs.skip_or_fail("the virtual environment was not made by `make`")
        (folder / ".venv").symlink_to(sys.prefix)
        for name in PACKAGES:
            (folder / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "schema", folder / "schema")  # a command writes there
        for name in ("Makefile", "requirements.lock", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
            os.utime(folder / name, (0, 0))  # older than what was installed, so that make installs nothing

    def run(self, command: str) -> None:
        """Run a command to its end, or start it if it is a server."""
        if SERVER.search(command):
            self.serve(command)
            return
        done = subprocess.run(["sh", "-ec", self._here(command)], **self._shell(), capture_output=True)
        assert done.returncode == 0, command + done.stdout + done.stderr
        assert '"errors"' not in done.stdout

    def serve(self, command: str) -> None:
        self.stop()
        with (self.folder / "server.log").open("w") as log:
            self._server = subprocess.Popen(
                ["sh", "-c", self._here(command)],
                **self._shell(),
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        lines = iter(self._output().readline, "")
        site = next((line for line in lines if line.startswith("site ")), None)
        assert site, command + (self.folder / "server.log").read_text()
        self.url, self.token = site.split()[-1].rstrip("/"), None
        httpx.get(f"{self.url}/healthz", timeout=60).raise_for_status()

    def stop(self) -> None:
        """Stop the server as Ctrl-C does, and wait until all its processes have ended."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGINT)
            with self._server:
                self._output().read()
            self._server = None

    @contextmanager
    def output(self, command: str) -> Iterator[Iterator[str]]:
        """The lines of a command that does not end."""
        process = subprocess.Popen(
            ["sh", "-ec", f"exec {self._here(command)}"], **self._shell(), stdout=subprocess.PIPE
        )
        with process:
            assert process.stdout is not None
            yield iter(process.stdout.readline, "")
            process.terminate()

    def ask(self, query: str, token: str | None = None) -> str:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return compact(httpx.post(f"{self.url}/graphql", json={"query": query}, headers=headers, timeout=60).json())

    def check(self, query: str, expected: str | None) -> None:
        """
        Compare an answer with the one shown, in which … matches any text, and an id shown matches that of the first
        article, comment or action of this store. The token of an answer is sent with later queries.
        """
        answer = self.ask(self._with_ids(query), self.token)
        for shown in SHOWN:
            if found := re.search(rf"{shown.partition(':')[0]}:[0-9]+", answer):
                self.ids.setdefault(shown, found[0])
        self.token = next(iter(re.findall(r'"token":"([^"]+)"', answer)), self.token)
        if expected is None:
            assert '"errors"' not in answer
        else:
            pattern = re.escape(self._with_ids(compact(json.loads(expected))))
            assert re.fullmatch(pattern.replace("…", '[^"]+'), answer)

    def _here(self, command: str) -> str:
        return self._with_ids(command.replace(ADDRESS, self.url).replace(REDIS, self.redis_url))

    def _with_ids(self, text: str) -> str:
        for shown, id in self.ids.items():
            text = text.replace(shown, id)
        return text

    def _shell(self) -> dict:
        environment = {"PATH": os.defpath, "HOME": str(self.folder), "LANG": "C.UTF-8", "UPVOTE_PORT": "0"}
        if Path(sys.prefix) != ROOT / ".venv":  # the environment has another checkout installed
            environment["PYTHONPATH"] = str(self.folder)
        return {"cwd": self.folder, "env": environment, "text": True}

    def _output(self) -> IO[str]:
        assert self._server is not None and self._server.stdout is not None
        return self._server.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    (tmp_path / "upvote").mkdir()
    with valkey.running(tmp_path / "redis") as redis_url:
        checkout = Checkout(tmp_path / "upvote", redis_url)
        yield checkout
        checkout.stop()


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.stem)
def test_commands_and_queries_of_the_page_work(checkout, page):
    blocks = BLOCK.findall(page.read_text())
    if page.stem in FOR_A_STORE:
        with valkey.running(checkout.folder / "data"):
            pass  # an empty store
        checkout.run(".venv/bin/upvote database rebuild")  # with a database
    if page != LIVE and asks_first(blocks):
        checkout.serve(".venv/bin/upvote serve")
    for language, text, expected in blocks:
        if page == LIVE:
            assert text.startswith(("subscription", "curl -N")), "the next test runs these"
        elif language == "sh":
            checkout.run(text)
        else:
            checkout.check(text, expected or None)


def test_queries_of_the_readme_have_the_same_answers_in_the_demo(checkout):
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    checkout.serve("make demo")

    queries = [(text, expected) for language, text, expected in blocks if language == "graphql"]
    assert queries
    for text, expected in queries:
        checkout.check(text, expected)


def test_subscription_receives_the_change_of_a_vote(checkout):
    (_, subscription, _), (_, command, _) = BLOCK.findall(LIVE.read_text())
    assert subscription.strip() in command
    checkout.serve(".venv/bin/upvote serve")
    alice, bob = (json.loads(checkout.ask(REGISTER % name))["data"]["register"]["token"] for name in ("alice", "bob"))
    article = json.loads(checkout.ask(POST, alice))["data"]["post"]["article"]["id"]
    checkout.ids[SHOWN[0]] = article

    with checkout.output(command) as lines:
        assert next(lines) == ":\n"
        checkout.ask(f'mutation {{ vote(input: {{articleId: "{article}"}}) {{ changed }} }}', bob)
        data = next(line for line in lines if line.startswith("data:"))

    assert json.loads(data.removeprefix("data:")) == {"data": {"articleChanged": {"votes": 2}}}


def test_all_shell_commands_are_in_blocks_that_run():
    """Except two, which `tests/clients` runs."""
    pages = "\n".join(map(Path.read_text, PAGES))
    indented = re.findall(r"^    (?:\$ )?((?:make|curl|npm|npx|python3?|\.venv)\b.*)", pages, re.MULTILINE)

    assert {line.partition(" ")[0] for line in indented} == {"npm", "npx"}
    assert set(re.findall(r"^```(\w*)$", pages, re.MULTILINE)) - {""} <= {"sh", "graphql", *NOT_RUN_HERE}


def asks_first(blocks: list[tuple[str, str, str]]) -> bool:
    """Whether a page asks a server that none of its earlier commands has started."""
    started = [bool(SERVER.search(text)) for _, text, _ in blocks]
    asks = [language == "graphql" or ADDRESS in text for language, text, _ in blocks]
    return True in asks and True not in started[: asks.index(True)]


def compact(answer: object) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
