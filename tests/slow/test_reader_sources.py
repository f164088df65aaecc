"""The sources of the reader: formatted, without errors of types, and served by Vite."""

import os
import re
import subprocess

import httpx
import pytest

from tests import programs
from tests.server.commands import ROOT
from tests.server.conftest import REGISTER, serving
from tests.servers import PATIENCE

SOURCES = ROOT / "reader"


@pytest.mark.timeout(900)  # the first run on a machine installs the packages
@pytest.mark.parametrize(
    "commands",
    [
        [["prettier/bin/prettier.cjs", "--check", "."]],
        [["@graphql-codegen/cli/cjs/bin.js"], ["typescript/bin/tsc", "--noEmit"]],
    ],
    ids=["formatted", "typed"],
)
def test_sources_have_no_faults(commands):
    modules = programs.node_modules(SOURCES)

    for program, *arguments in commands:
        command = [programs.node(), str(modules / program), *arguments]
        done = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_development_server_serves_pages_and_passes_requests_on(tmp_path):
    modules = programs.node_modules(SOURCES)
    command = [programs.node(), str(modules / "vite/bin/vite.js"), "--host", "127.0.0.1", "--port", "0"]
    with (
        serving(tmp_path) as live,
        subprocess.Popen(
            command,
            cwd=SOURCES,
            env=os.environ | {"SERVER_URL": live.url, "NO_COLOR": "1"},
            stdout=subprocess.PIPE,
            text=True,
        ) as vite,
    ):
        try:
            assert vite.stdout is not None
            live.ask(REGISTER)
            url = next(found[0] for line in vite.stdout if (found := re.findall(r"http://127\.0\.0\.1:\d+", line)))
            page = httpx.get(f"{url}/article/1", headers={"Accept": "text/html"}, timeout=PATIENCE)
            script = httpx.get(f"{url}/src/pages/FrontPage.tsx", timeout=PATIENCE)
            answer = httpx.post(f"{url}/graphql", json={"query": "{ viewer { id } }"}, timeout=PATIENCE)
            passed_on = [
                httpx.get(f"{url}{path}", headers={"Accept": "text/html"}, timeout=PATIENCE)
                for path in ("/explorer", "/atom.xml", "/rss.xml?order=HOT", "/user/alice/rss.xml")
            ]
        finally:
            vite.terminate()

    assert '<script src="/src/before-paint.js">' in page.text
    assert "query FrontPage(" in script.text
    assert answer.json() == {"data": {"viewer": None}}
    assert 'id="explorer"' in passed_on[0].text
    assert [each.text.partition("?>")[2].strip()[:5] for each in passed_on[1:]] == ["<feed", "<rss ", "<rss "]
