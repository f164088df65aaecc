"""
The front end of docs/frontend.md: the page shows its files. It is generated, compiled and built as in Vite's template,
served by Vite with its proxy, and used in a browser.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import httpx
import pytest

from schema.schema import FILE
from tests import programs
from tests.clients.conftest import ADDRESS, CLOSED, call, json_of, serving_closed_article
from tests.server.conftest import Live
from tests.servers import PATIENCE

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "clients" / "frontend"
BROWSER = ROOT / "tests" / "server" / "browser"
PAGE = (ROOT / "docs" / "frontend.md").read_text()
BLOCK = re.compile(r"^```(?:json|tsx?|yaml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED_BLOCK = re.compile(r"`([\w./]+)`:\n\n```(?:json|tsx?|yaml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# what is generated beside the sources
MADE = ("node_modules", "gql", "__generated__", "dist", "schema.graphql")
REGISTER = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token } }'
POST = 'mutation ($title: String!) { post(input: {title: $title, content: "Read it."}) { article { id } } }'

pytestmark = pytest.mark.timeout(900)  # the first run on a machine installs the packages


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> Iterator[Live]:
    """A separate server, because these tests compare the whole listing."""
    with serving_closed_article(tmp_path_factory.mktemp("server")) as live:
        yield live


@pytest.fixture(scope="module")
def project(live, tmp_path_factory) -> Path:
    """The files of the page, with what `graphql-codegen` and `relay-compiler` write."""
    folder, modules = tmp_path_factory.mktemp("frontend"), programs.node_modules(SOURCES)
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns(*MADE), dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(modules)
    codegen = folder / "codegen.yml"
    codegen.write_text(codegen.read_text().replace(ADDRESS, live.url))
    shutil.copy(FILE, folder / "schema.graphql")
    call("npx", "graphql-codegen", cwd=folder)
    call("npx", "relay-compiler", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def other(live) -> str:
    """The token of a user who has posted three articles, after the closed one of 2016."""
    token = live.ask(REGISTER % "frontend-other")["data"]["register"]["token"]
    for title in ("First", "Second", "Third"):
        live.ask(POST, token, title=title)
    live.ask(REGISTER % "visitor")
    return token


def test_blocks_of_the_page_are_files():
    named = NAMED_BLOCK.findall(PAGE)

    assert [block for _, block in named] == BLOCK.findall(PAGE)
    assert [name for name, block in named if block != (SOURCES / name).read_text()] == []


def test_packages_of_the_page_are_tested():
    package = json.loads((SOURCES / "package.json").read_text())
    named = " ".join(re.findall(r"^    npm install (?:--save-dev )?(.*)", PAGE, re.MULTILINE)).split()

    assert set(named) <= package["dependencies"].keys() | package["devDependencies"].keys()


def test_first_program_of_the_page_prints_the_articles(project, live, other):
    program = project / "src" / "top.ts"
    program.write_text(program.read_text().replace(ADDRESS, live.url))

    printed = call("npx", "tsx", "src/top.ts", cwd=project)
    assert "1 First\n" in printed


def test_front_end_is_compiled_and_built(project):
    call("npx", "tsc", "-b", ".", "relay", cwd=project)
    call("npx", "vite", "build", cwd=project)

    assert list((project / "dist/assets").glob("*.js"))


def test_tests_of_the_page_pass(project, monkeypatch):
    monkeypatch.setenv("UPVOTE", str(Path(sys.executable).with_name("upvote")))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    assert re.search(r"Tests +5 passed \(5\)", call("npx", "vitest", "run", "--no-color", cwd=project))


def test_person_votes_posts_and_logs_in_through_the_proxy(live, project, other):
    programs.node_modules(BROWSER)
    with vite("dev", project, live.url) as url:
        seen = json_of(programs.node(), "frontend.mjs", programs.chromium(), url, live.url, other, cwd=BROWSER)

    assert seen == {
        "refusedLogIn": "no such name and password",
        "first": ["▲ 1 Third", "▲ 1 Second"],
        "joined": ["▲ 1 Third", "▲ 1 Second", "▲ 1 First", "▲ 1 Of 2016"],
        "good": ["▲ 1 Third", "▲ 2 Third"],
        "closed": ["▲ 1 Of 2016", "▲ 2 Of 2016"],  # before the vote, and until it is refused
        "refusedVote": f"voting on {CLOSED} closed",
        "problems": [
            "Title  a title has 1 to 300 characters, this one 0",
            "Link  a link is an absolute http or https URL",
        ],
        "token": None,
        "sockets": [f"{url.replace('http', 'ws')}/graphql"],
        "errors": [],
    }
    assert live.logged(level="warning") == []


def test_relay_joins_pages_through_the_proxy(live, project, other):
    programs.node_modules(BROWSER)
    call("npx", "vite", "build", "relay", cwd=project)
    with vite("preview", project, live.url, "relay") as url:
        seen = json_of(programs.node(), "pages.mjs", programs.chromium(), url, cwd=BROWSER)

    titles = [[title.split(" ", 1)[1] for title in titles] for titles in seen["lists"]]
    assert len(titles) > 1
    assert titles[-1][-4:] == ["Third", "Second", "First", "Of 2016"]
    assert [len(each) for each in titles[:-1]] == [2 * page for page in range(1, len(titles))]
    assert seen["errors"] == []


@contextmanager
def vite(command: str, folder: Path, server: str, *arguments: str) -> Iterator[str]:
    """A server of Vite, as `npm run dev` or `npm run preview` start it; yields its address."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = folder / "node_modules/vite/bin/vite.js"
    process = subprocess.Popen(
        [programs.node(), program, command, *arguments, "--port", str(port), "--strictPort"],
        cwd=folder,
        env=os.environ | {"SERVER_URL": server, "NO_COLOR": "1"},  # with CI set it prints colours
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            assert any("Local:" in line for line in process.stdout)
            httpx.get(f"http://localhost:{port}", timeout=PATIENCE).raise_for_status()
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
