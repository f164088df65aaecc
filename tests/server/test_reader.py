"""The reader, which is the site's pages and their script, as a server serves it: its files, addresses and headers."""

import gzip
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest

from server import reader
from tests import programs
from tests.server import in_process
from tests.server.commands import ROOT

SOURCES = ROOT / "reader"
MAX_SCRIPT = 116_000  # bytes, compressed: all scripts that the front page loads
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
LOADED = re.compile(r'<(?:script|link)[^>]* (?:src|href)="\./(reader/[^"]+)"')
IMPORTED = re.compile(r'(?:from|import)\(?[`"\']\./([\w.-]+\.js)')
BEFORE_PAINT = re.compile(r'<script src="\./reader/theme-')
serving = partial(in_process.serving, headers=HTML)


@pytest.fixture
async def client(redis_url):
    async with serving(redis_url) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("/", "./"),
        ("/good", "./"),
        ("/top/day", "../"),
        ("/nothing/at/all", "../../"),
        ("/nothing%2Fat/all", "../"),
        ("/nothing?a=/b/c", "./"),
    ],
)
async def test_base_leads_to_the_root_at_any_depth(client, path, base):
    page = await client.get(path)

    assert re.findall("<base[^>]*>", page.text) == [f'<base href="{base}" />']
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/good/", "../good"),
        ("/user/alice/?a=/b/", "../alice?a=/b/"),
        ("/a%2Fb/", "../a%2Fb"),
        ("//evil.example/", "../evil.example"),
        ("/explorer/", "../explorer"),
    ],
)
async def test_slash_at_the_end_is_removed_under_any_prefix(client, path, to):
    answer = await client.get(f"http://up{path}")

    assert (answer.status_code, answer.headers["Location"]) == (307, to)


async def test_addresses_in_the_page_are_relative_and_come_after_the_base(client):
    page = (await client.get("/")).text

    assert len(LOADED.findall(page)) == len(set(LOADED.findall(page))) >= 3
    assert re.findall(r'(?:href|src)="/', page) == []
    assert page.index("<base") < page.index("./reader/")


async def test_policy_allows_nothing_inline_and_no_other_host(client):
    front_page = await client.get("/")
    for path in ["/", "/top/day", "/nothing", *LOADED.findall(front_page.text), "/reader/THIRD-PARTY-LICENCES.txt"]:
        policy = (await client.get(path)).headers["Content-Security-Policy"]

        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';")
        assert "unsafe" not in policy
        assert "://" not in policy
    assert "<style" not in front_page.text
    assert re.findall(r"<script(?![^>]* src=)", front_page.text) == []


async def test_theme_is_chosen_before_the_first_paint(client):
    """A script that is neither a module nor deferred runs before the body is parsed."""
    page = (await client.get("/")).text

    assert len(BEFORE_PAINT.findall(page.partition("</head>")[0])) == 1


@pytest.mark.parametrize("path", ["/nothing", "/top/year"])
async def test_unknown_path_is_a_page_with_status_404_for_browsers_only(client, path):
    browser = await client.get(path)
    head = await client.head(path)
    program = await client.get(path, headers={"Accept": "*/*"})
    post = await client.post(path)

    assert (browser.status_code, '<div id="root">' in browser.text) == (404, True)
    assert (head.status_code, head.content) == (404, b"")
    assert (program.status_code, program.text) == (404, "Not Found")
    assert (post.status_code, post.text) == (404, "Not Found")


@pytest.mark.parametrize(
    ("setting", "accept"), [("on", "application/json"), ("off", "application/json"), ("off", "*/*")]
)
async def test_program_gets_the_path_of_the_endpoint(redis_url, setting, accept):
    async with serving(redis_url, reader=setting) as client:
        answer = await client.get("/", headers={"Accept": accept})

    assert answer.json() == {"graphql": "/graphql"}
    assert answer.headers["Vary"] == "Accept"


@pytest.mark.parametrize("accept", ["*/*", "text/*", ""])
async def test_crawler_that_accepts_anything_gets_the_front_page(client, accept):
    answer = await client.get("/", headers={"Accept": accept})

    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1" in answer.text


async def test_without_the_reader_browsers_get_the_explorer(redis_url):
    async with serving(redis_url, reader="off") as client:
        front_page = await client.get("/")
        explorer = await client.get("/explorer")
        others = [await client.get(path) for path in ["/good", "/article/1", "/nothing", "/reader/nothing.js"]]

    assert (front_page.status_code, front_page.headers["Location"]) == (303, "explorer")
    assert explorer.status_code == 200
    assert [(each.status_code, each.text) for each in others] == [(404, "Not Found")] * 4


async def test_browser_at_the_endpoint_is_led_to_the_explorer(client):
    answer = await client.get("/graphql")

    assert (answer.status_code, answer.headers["Location"]) == (303, "explorer")  # relative: a proxy may have a prefix


async def test_built_files_are_compressed_and_cached_for_a_year(client):
    for path in LOADED.findall((await client.get("/")).text):
        plain = await client.get(f"/{path}", headers={"Accept-Encoding": "identity"})
        zipped = await client.get(f"/{path}")

        assert plain.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert plain.headers["Vary"] == zipped.headers["Vary"] == "Accept-Encoding"
        assert plain.content == zipped.content == (reader.STATIC / path).read_bytes()
        assert "Content-Encoding" not in plain.headers
        assert zipped.headers["Content-Encoding"] == "gzip"


async def test_licences_are_not_cached_by_their_name(client):
    licences = await client.get("/reader/THIRD-PARTY-LICENCES.txt")

    assert licences.headers["Cache-Control"] == "no-cache"
    assert licences.headers["Content-Type"] == "text/plain; charset=utf-8"
    for package in ["react-dom 19", "@urql/exchange-graphcache 9", "graphql-ws 6", "wouter 3"]:
        assert f"\n{package}" in f"\n{licences.text}"
    assert "Permission is hereby granted" in licences.text


@pytest.mark.parametrize("name", ["absent.js", "index.html", "%2e%2e", "%2e%2e%2findex.html", "%2e%2e%2f__init__.py"])
async def test_other_files_are_not_found(client, name):
    answer = await client.get(f"/reader/{name}", headers={"Accept": "*/*"})

    assert answer.status_code == 404


def test_built_files_are_few():
    """Each change of the sources renames those that have what is changed, and those that import them."""
    names = sorted(path.name.partition("-")[0] for path in reader.FILES.iterdir())

    scripts = ["RenderedMarkdown", "index", "packages", "pages", "rolldown", "socket", "theme"]
    assert names == sorted([*scripts, "style", "THIRD"])


def test_front_page_loads_little_script():
    scripts = first_scripts()
    sizes = {name: len(gzip.compress((reader.FILES / name).read_bytes())) for name in scripts}

    assert {name.partition("-")[0] for name in scripts} == {"theme", "rolldown", "packages", "index", "socket"}
    assert sum(sizes.values()) < MAX_SCRIPT, sizes


def first_scripts():
    """The names of the scripts that the page names and of those that these import at once, or for subscriptions."""
    page = (reader.STATIC / "index.html").read_text()
    found = [Path(path).name for path in LOADED.findall(page) if path.endswith(".js")]
    for name in found:
        text = (reader.FILES / name).read_text()
        found += [each for each in IMPORTED.findall(text) if each not in found and is_loaded(each)]
    return found


def is_loaded(name):
    """Whether the front page loads a script. One has all other pages, and one what renders texts of users."""
    return not name.startswith(("pages-", "RenderedMarkdown-"))


@pytest.mark.slow
@pytest.mark.timeout(900)  # the first run on a machine installs the packages
def test_served_files_are_built_from_the_sources(tmp_path):
    modules = programs.node_modules(SOURCES)
    copy, schema = tmp_path / "reader", tmp_path / "schema"
    ignored = shutil.ignore_patterns("node_modules", "gql")
    shutil.copytree(SOURCES, copy, ignore=ignored)
    (copy / "node_modules").symlink_to(modules)
    schema.mkdir()
    shutil.copy(ROOT / "schema/schema.graphql", schema)

    for command in (["@graphql-codegen/cli/cjs/bin.js"], ["vite/bin/vite.js", "build"]):
        subprocess.run([programs.node(), modules / command[0], *command[1:]], cwd=copy, check=True)

    assert contents(tmp_path / "server/reader/static") == contents(reader.STATIC), "build them: make reader"


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
