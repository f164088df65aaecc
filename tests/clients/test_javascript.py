"""
The clients of front ends, generated from the contract that a running server serves, compiled under a strict TypeScript
and run against that server. All programs do the same, the story: post as one user, then log in as another, read pages,
subscribe, vote, and try to delete an article of the first user.
"""

import json
import re
import shutil
from pathlib import Path

import httpx
import pytest

from tests import programs
from tests.clients.conftest import ADDRESS, CLOSED, call, json_of

SOURCES = Path(__file__).with_name("javascript")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "frontend.md").read_text()
SECTION = PAGE.partition("## Types from the schema")[2].partition("\n## ")[0]
FILES = dict(re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", SECTION, re.DOTALL))
GENERATE, RUN = re.findall(r"^    (npx .*)", SECTION, re.MULTILINE)
STORY = {  # what each program prints, beside the name of its user; story.ts has the names
    "page": ["Third 1", "Second 1"],
    "total": 3,
    "before": ["Third", "Second", "First"],
    "vote": [True, 2, "UP"],
    "received": ["First", 2],
    "after": ["First", "Third", "Second"],
    "moves": [[1, 2], [2, 3], [3, 1]],
    "commented": ["A comment.", 1],
    "late": ["closed at 2016-08-11T11:52:00.000Z"],
    "refused": [["FORBIDDEN", ["input", "articleId"]]],
}
# what a client with a cache knows of the page after all, without another request
CACHED = {"known": ["Third 1", "Second 1", "First 2"]}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first run on a machine installs the packages


@pytest.fixture(scope="session")
def project(live, tmp_path_factory):
    """A front end: the files and commands of docs/frontend.md, and the programs of these tests."""
    folder, modules = tmp_path_factory.mktemp("javascript"), programs.node_modules(SOURCES)
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(modules)
    (folder / "relay/generated").mkdir()
    (folder / "schema.graphql").write_text(httpx.get(f"{live.url}/schema.graphql").text)
    for name, text in FILES.items():
        (folder / name).write_text(text.replace(ADDRESS, live.url))
    call(*GENERATE.split(), cwd=folder)
    call("npx", "relay-compiler", "relay.config.json", cwd=folder)
    call("npx", "tsc", cwd=folder)
    return folder


@pytest.mark.parametrize(
    ("client", "program", "expected"),
    [
        ("apollo", "built/src/apollo.js", STORY | CACHED),
        ("urql", "built/src/urql.js", STORY | CACHED),
        ("relay", "built/relay/story.js", STORY | CACHED),
        ("graphql-ws", "built/src/socket.js", STORY),
    ],
)
def test_client_pages_votes_listens_and_is_refused(live, project, client, program, expected):
    node = (programs.node(), "--no-warnings", "--experimental-websocket")  # Node 20 has WebSocket only as an option

    story = json_of(*node, program, f"{live.url}/graphql", client, CLOSED, cwd=project)

    assert story | {"moves": sorted(story["moves"])} == {"user": f"{client}-voter"} | expected


def test_program_of_the_page_prints_the_top_articles(project):
    lines = call(*RUN.split(), cwd=project).splitlines()

    assert lines[-1] == "1 Of 2016"


def test_page_names_packages_that_are_tested():
    (names,) = re.findall(r"npm install ([^`\n]*)", SECTION)

    assert set(names.split()) <= json.loads((SOURCES / "package.json").read_text())["dependencies"].keys()


def test_readme_has_the_same_client():
    blocks = re.findall(r"```(?:yaml|ts)\n(?s:.*?)^```|^    np.*", SECTION, re.MULTILINE)

    assert len(blocks) == len(FILES) + len(["install", "generate", "run"])
    assert [block for block in blocks if block not in (ROOT / "README.md").read_text()] == []
