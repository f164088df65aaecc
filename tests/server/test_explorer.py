"""
The explorer, a page with GraphiQL and example queries: the page, its files, and its security headers.

The fixture `live` is a running server with an article, which the tests share.
"""

import asyncio
import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from graphql import build_schema, parse, validate
from starlette.applications import Starlette

from server import explorer
from tests import programs
from tests.server.conftest import REGISTER

BROWSER = Path(__file__).with_name("browser")
ROOT = Path(__file__).parents[2]
BUILD = ROOT / "server" / "explorer" / "build"

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
async def client():
    transport = httpx.ASGITransport(Starlette(routes=explorer.routes("/graph?a=1&b=2")))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as client:
        yield client


@pytest.mark.timeout(900)  # the first run on a machine may install Chromium
@pytest.mark.slow
async def test_explorer_runs_a_query_and_shows_documentation_without_other_hosts(live):
    seen = await browse("explorer.mjs", live.url, "query Titles { articles(first: 1) { nodes { __typename } } }")

    assert seen["title"] == "Upvote"
    assert seen["tabs"][:2] == ["Titles", "TopArticles"]
    assert seen["documentation"].startswith(
        "Docs\n\nArticles, comments, votes on both, and rankings.\n\nStart with a query: articles, "
    )
    assert "query: Query" in seen["documentation"]
    assert "".join(seen["response"].split()) == '{"data":{"articles":{"nodes":[{"__typename":"Article"}]}}}'
    assert seen["otherHosts"] == []
    assert seen["errors"] == []


@pytest.mark.timeout(900)
@pytest.mark.slow
async def test_token_is_used_in_all_tabs_and_after_a_reload(live):
    registered = live.ask(REGISTER.replace("alice", "explorer"))["data"]["register"]
    newest = live.ask("{ articles(order: TIME, first: 1) { nodes { id postedAt groups { name } } } }")
    (article,) = newest["data"]["articles"]["nodes"]

    found = await browse("session.mjs", live.url, registered["token"])

    assert found["answers"] == [{"data": {"viewer": {"username": "explorer"}}}] * 3
    headers = found["seen"]  # those that each of six tabs shows
    assert set(headers.values()) == {f'{{"Authorization": "Bearer {registered["token"]}"}}'}
    assert len(headers) == 6
    assert f'articleId: "{article["id"]}"' in found["examples"]["Vote"]
    assert f'date: "{article["postedAt"][:10]}"' in found["examples"]["FrontPage"]
    group = article["groups"][0]["name"] if article["groups"] else "show"
    assert f'group: "{group}"' in found["examples"]["NewestInShow"]
    # after a reload, and after one for which the ids in the stored examples were made wrong
    assert found["kept"] == found["renewed"] == found["examples"]["Vote"]
    assert found["errors"] == []


async def browse(script, url, *arguments):
    programs.node_modules(BROWSER)
    command = [programs.node(), BROWSER / script, programs.chromium(), url, *arguments]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    assert process.returncode == 0
    return json.loads(output)


async def test_content_security_policy_allows_this_server_only(client):
    for path in ["/explorer", *await hashed_files(client)]:
        policy = (await client.get(path, headers=HTML)).headers["Content-Security-Policy"]

        assert "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self';" in policy
        assert "://" not in policy


async def test_page_has_the_path_of_the_endpoint(client):
    page = await client.get("/explorer", headers=HTML)

    assert 'data-endpoint="graph?a=1&amp;b=2"' in page.text
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_files_with_a_hash_in_their_name_are_cached_for_a_year(client):
    for path in await hashed_files(client):
        file = await client.get(path)

        assert file.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert file.headers["Content-Encoding"] == "gzip"
        assert file.content == (explorer.STATIC / Path(path).name).read_bytes()


async def test_file_is_not_compressed_for_clients_without_gzip(client):
    licences = await client.get("/explorer/THIRD-PARTY-LICENCES.txt", headers={"Accept-Encoding": "identity"})

    assert "Content-Encoding" not in licences.headers
    assert licences.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert licences.headers["Cache-Control"] == "no-cache"
    assert licences.content == (explorer.STATIC / "THIRD-PARTY-LICENCES.txt").read_bytes()


@pytest.mark.parametrize("name", ["absent.js", "explorer.html", "%2e%2e", "%2e%2e%2f__init__.py"])
async def test_other_paths_are_not_found(client, name):
    answer = await client.get(f"/explorer/{name}")

    assert answer.status_code == 404


def test_examples_are_valid_against_the_schema():
    schema = build_schema((ROOT / "schema/schema.graphql").read_text())
    examples = parse((ROOT / "server/explorer/build/examples.graphql").read_text())

    assert validate(schema, examples) == []


@pytest.mark.slow
@pytest.mark.timeout(900)  # the first run on a machine installs the packages
def test_served_files_are_built_from_the_sources():
    programs.node_modules(BUILD)
    with TemporaryDirectory() as folder:
        shutil.copytree(BUILD, f"{folder}/build", symlinks=True)
        subprocess.run([programs.node(), "build.mjs"], cwd=f"{folder}/build", check=True)

        assert contents(Path(folder, "static")) == contents(explorer.STATIC), "build them: make explorer"


def contents(folder):
    return {file.name: sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


async def hashed_files(client):
    page = await client.get("/explorer", headers=HTML)
    return [f"/{path}" for path in re.findall(r"explorer/explorer-\w+\.\w+", page.text)]
