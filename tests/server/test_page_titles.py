"""
The field `linkTitle`, which is the title of the page that a link leads to. The pages are those of a real server on this
computer, which the client for foreign addresses is told to allow.
"""

import threading
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from server import page_titles
from server.guarded_client import Answer, GuardedClient
from server.page_titles import MAX_PAGE, title_of
from tests.server import in_process

TITLE = "query($link: URL!) { linkTitle(link: $link) }"
REGISTER = 'mutation { register(input: {username: "alice", password: "correct horse"}) { token } }'
PAGES = {
    "/page": ("text/html; charset=utf-8", "<head><title>\n Caf\u00e9 &amp; more </title>".encode()),
    "/long": ("text/html", b"<title>Long</title>" + b"x" * 2 * MAX_PAGE),
    "/late": ("text/html", b"x" * 2 * MAX_PAGE + b"<title>Late</title>"),
    "/image": ("image/png", b"<title>No</title>"),
}


class Handler(BaseHTTPRequestHandler):
    """Answers with `PAGES`. /moved is a redirect, and /slow answers when the server is stopped, or after 10 s."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/page")
            self.end_headers()
            return
        if self.path == "/slow":
            self.server.closing.wait(10)
        kind, body = PAGES.get(self.path, ("text/html", b"<title>Gone</title>"))
        self.send_response(200 if self.path in PAGES else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        with suppress(OSError):  # the client has read enough
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.asked, server.closing = True, [], threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def reachable(site, monkeypatch):
    """Allow requests to `site`, though its address is not on the public internet."""
    allowed = partial(GuardedClient, allows_private=True, ports={site.server_port})
    monkeypatch.setattr(page_titles, "GuardedClient", allowed)


async def logged_in(http):
    """The headers of a user who is registered by this."""
    answer = await http.post("/graphql", json={"query": REGISTER})
    return {"authorization": f"Bearer {answer.json()['data']['register']['token']}"}


async def title(http, site, path, headers=None):
    """The title of a page of `site`, or the code of the error."""
    link = f"http://127.0.0.1:{site.server_port}{path}"
    body = {"query": TITLE, "variables": {"link": link}}
    answer = (await http.post("/graphql", json=body, headers=headers)).json()
    if "errors" in answer:
        return answer["errors"][0]["extensions"]["code"]
    return answer["data"]["linkTitle"]


async def test_page_is_read_for_who_is_logged_in(redis_url, site, reachable, monkeypatch):
    monkeypatch.setattr(page_titles, "TIME_LIMIT", 0.5)
    async with in_process.serving(redis_url, fetch_titles="on") as http:
        headers = await logged_in(http)
        found = {
            path: await title(http, site, path, headers)
            for path in ("/page", "/moved", "/long", "/late", "/image", "/none", "/slow")
        }

        assert found == {
            "/page": "Caf\u00e9 & more", "/moved": "Caf\u00e9 & more", "/long": "Long", "/late": None, "/image": None,
            "/none": None, "/slow": None,
        }  # fmt: skip
        site.asked.clear()
        assert await title(http, site, "/page") == "UNAUTHENTICATED"
        assert site.asked == []


async def test_what_is_not_on_the_public_internet_is_not_asked(redis_url, site):
    async with in_process.serving(redis_url, fetch_titles="on") as http:
        headers = await logged_in(http)

        assert await title(http, site, "/page", headers) is None
        assert site.asked == []


async def test_titles_are_looked_up_only_where_the_site_says_so(redis_url, site, reachable):
    async with in_process.serving(redis_url) as http:
        assert await title(http, site, "/page", await logged_in(http)) == "NOT_OFFERED"
        assert site.asked == []


@pytest.mark.parametrize("is_on", ["on", "off"])
async def test_what_is_no_link_is_refused(redis_url, is_on):
    async with in_process.serving(redis_url, fetch_titles=is_on) as http:
        body = {"query": TITLE, "variables": {"link": "ftp://example.com/a"}}
        answer = (await http.post("/graphql", json=body, headers=await logged_in(http))).json()

        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
        assert "http" in answer["errors"][0]["message"]


async def test_user_asks_twenty_times_an_hour(redis_url, site, reachable):
    async with in_process.serving(redis_url, fetch_titles="on", rate_limits="on") as http:
        headers = await logged_in(http)
        found = [await title(http, site, "/page", headers) for _ in range(22)]

        assert found == ["Caf\u00e9 & more"] * 20 + ["RATE_LIMITED"] * 2
        assert len(site.asked) == 20


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("text/html", b"<TITLE lang=en>a\n  b</TITLE>", "a b"),
        ("text/html", b"<!-- <title>no</title> --><title>yes</title>", "yes"),
        ("text/html", b'<title> </title><meta content="by &lt;og&gt;" property="og:title">', "by <og>"),
        ("text/html; charset=iso-8859-1", b"<title>caf\xe9</title>", "caf\u00e9"),
        ("text/html", b'<meta charset="windows-1251"><title>\xcc\xee</title>', "\u041c\u043e"),
        ("text/html; charset=iso-8859-99", b"<title>odd</title>", "odd"),
        ("text/html; charset=zlib", b"<title>odd</title>", "odd"),
        ("text/html", b"<titles>no", None),
        ("text/html", b"\xff\xfe", None),
        ("text/plain", b"<title>no</title>", None),
    ],
)
def test_title_is_what_the_page_calls_itself(kind, body, expected):
    assert title_of(Answer(200, httpx.Headers({"content-type": kind}), body)) == expected


@pytest.mark.parametrize("part", [b"<title ", b"<meta ", b"<!--", b"<meta property=", b"<title>"])
@pytest.mark.timeout(5)
def test_half_tags_take_no_longer(part):
    body = (part * MAX_PAGE)[:MAX_PAGE]

    assert title_of(Answer(200, httpx.Headers({"content-type": "text/html"}), body)) is None
