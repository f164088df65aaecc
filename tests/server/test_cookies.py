"""
The cookie that keeps a session in a browser: where it is set and counts, and what does not depend on it.

Codes such as U4 name rows of docs/behaviours.md.
"""

import asyncio
import json
import re
from hashlib import sha256

import pytest

from engine.cookies import MAX_AGE
from resolvers.context import Context
from server.settings import WrongSetting, read_settings
from store.errors import Invalid
from store.maintenance.write_lock import WriteLock
from store.one_time_tokens import Purpose, issue
from store.sessions import TOKEN_LENGTH, new_token
from store.site import unix_milliseconds
from tests.server import in_process
from tests.store.reading import everything, post

OWN, HTTPS = "http://up", "https://votes.example"
ARGUMENTS = '{username: "%s", password: "correct horse", cookie: true}'
SESSION = "{ token expiresAt user { username } userErrors { code field } }"
REGISTER = f"mutation {{ register(input: {ARGUMENTS}) {SESSION} }}"
LOG_IN = f"mutation {{ logIn(input: {ARGUMENTS}) {SESSION} }}"
RESET = f'mutation {{ resetPassword(input: {{token: "%s", newPassword: "battery staple", cookie: true}}) {SESSION} }}'
LOG_OUT = "mutation { logOut { userErrors { code } query { viewer { username } } } }"
END_OWN = (
    "mutation($id: ID) { endSession(input: {sessionId: $id}) { account { sessions { id } } userErrors { code } } }"
)
VIEWER = "{ viewer { username } }"
POST = 'mutation { post(input: {title: "A title", content: "text"}) { article { id } userErrors { code } } }'
PART = re.compile(r"\{(\w+)(?::\w+)?\}")  # a parameter in the path of a route
serving = in_process.serving


def name_of(url, prefix=""):
    """The name of the cookie of a site, which has a part of the digest of the site's URL."""
    return f"{prefix}upvote-{sha256(url.encode()).hexdigest()[:8]}"


async def sent(http, query, *, cookie=None, **headers):
    """The response to an operation. Names of headers have `_` for `-`."""
    http.cookies.clear()
    given = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
    if cookie:
        given["cookie"] = cookie
    return await http.post("/graphql", json={"query": query}, headers=given)


async def registered(http, name="alice", origin=OWN):
    """The cookie of a new user, as the browser sends it back."""
    response = await sent(http, REGISTER % name, origin=origin)
    payload = response.json()["data"]["register"]
    assert (payload["token"], payload["userErrors"], payload["user"]) == (None, [], {"username": name})
    return response.headers["set-cookie"].partition(";")[0]


async def viewer_of(http, cookie, **headers):
    found = (await sent(http, VIEWER, cookie=cookie, **headers)).json()["data"]["viewer"]
    return found and found["username"]


@pytest.fixture
async def http(redis_url):
    async with serving(redis_url) as http:
        yield http


@pytest.mark.parametrize(
    ("settings", "origin", "name", "secure"),
    [
        ({}, OWN, name_of(OWN), ""),
        ({"public_url": "http://votes.example/news"}, "http://votes.example", name_of("http://votes.example/news"), ""),
        ({"public_url": HTTPS}, HTTPS, name_of(HTTPS, "__Host-"), "; Secure"),
        ({"public_url": f"{HTTPS}:443/news"}, HTTPS, name_of(f"{HTTPS}:443/news", "__Host-"), "; Secure"),
        ({"trusted_proxies": "127.0.0.1"}, "https://front.example", name_of("https://front.example"), "; Secure"),
    ],
    ids=["no public url", "http", "https", "path", "behind a proxy"],
)
async def test_cookie_is_kept_from_scripts_and_from_other_hosts(redis_url, settings, origin, name, secure):  # U4
    async with serving(redis_url, **settings) as http:
        if "trusted_proxies" in settings:
            http.headers.update({"x-forwarded-proto": "https", "x-forwarded-host": "front.example"})
        for query in (REGISTER, LOG_IN):
            response = await sent(http, query % "alice", origin=origin)
            cookie, _, attributes = response.headers["set-cookie"].partition("; ")
            assert cookie.startswith(f"{name}=") and len(cookie.partition("=")[2]) == TOKEN_LENGTH
            assert attributes == f"Max-Age={MAX_AGE}; Path=/; HttpOnly{secure}; SameSite=Lax"
            assert cookie.partition("=")[2] not in response.text
            assert response.headers["cache-control"] == "no-store"
        token = cookie.partition("=")[2]

        assert await viewer_of(http, cookie, origin=origin) == "alice"
        for other in ("upvote", "__Host-upvote", name_of(OWN + "/"), name.removeprefix("__Host-") + "x"):
            assert await viewer_of(http, f"{other}={token}", origin=origin) is None
        if name.startswith("__Host-"):
            assert await viewer_of(http, cookie.removeprefix("__Host-"), origin=origin) is None
    assert MAX_AGE == 400 * 86_400


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({"origin": OWN}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({"origin": "https://forum.up.example"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"origin": "https://up"}, False),
        ({"origin": "http://up:8080"}, False),
        ({"origin": "http://up.evil.example"}, False),
        ({"origin": "https://allowed.example"}, False),
        ({"origin": "http://localhost:5173", "host": "localhost:8000"}, False),
        ({"origin": "https://evil.example", "sec_fetch_site": "same-origin"}, False),
        ({"sec_fetch_site": "same-site"}, False),
        ({"sec_fetch_site": "none"}, False),
        ({"origin": OWN, "authorization": "Bearer x"}, False),
        ({"origin": OWN, "authorization": ""}, False),
    ],
    ids=str,
)
async def test_cookie_counts_for_pages_of_the_site_and_of_cookie_origins_only(redis_url, redis, headers, counts):  # U4
    origins = {"allowed_origins": "https://allowed.example", "cookie_origins": "https://forum.up.example"}
    async with serving(redis_url, **origins) as http:
        cookie = await registered(http)
        response = await sent(http, VIEWER, cookie=cookie, **headers)

        assert response.json()["data"]["viewer"] == ({"username": "alice"} if counts else None)
        origin = headers.get("origin")
        is_with_cookies = origin == "https://forum.up.example"
        assert response.headers.get("access-control-allow-credentials") == ("true" if is_with_cookies else None)
        if origin in ("https://forum.up.example", "https://allowed.example"):
            assert response.headers["access-control-allow-origin"] == origin
        logged_in = (await sent(http, LOG_IN % "alice", **headers)).headers
        # where a page of the site sends a token, the cookie does not count, but can be set
        assert ("set-cookie" in logged_in) is (counts or "authorization" in headers)
        before = everything(redis)
        posted = (await sent(http, POST, cookie=cookie, **headers)).json()["data"]["post"]
        assert (posted["article"] is not None) is counts
        assert (everything(redis) != before) is counts


async def test_preflight_allows_cookies_to_cookie_origins_only(redis_url):  # U4
    asking = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-upvote-viewer",
    }
    async with serving(redis_url, allowed_origins="http://a.example", cookie_origins="http://b.up") as http:
        found = {
            origin: (await http.options("/graphql", headers=asking | {"Origin": origin})).headers
            for origin in ("http://a.example", "http://b.up", "http://c.example")
        }
        elsewhere = await http.get("/schema.graphql", headers={"Origin": "http://b.up"})

    names = "access-control-allow-origin", "access-control-allow-credentials"
    assert [[found[origin].get(name) for name in names] for origin in found] == [
        ["http://a.example", None],
        ["http://b.up", "true"],
        [None, None],
    ]
    assert "access-control-allow-credentials" not in elsewhere.headers


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=b",
        "",
        "text/plain; x=json",
    ],
)
async def test_simple_form_posts_are_refused_with_the_cookie_too(http, redis, content_type):  # U4
    """A form of another site could send these without asking the server first."""
    cookie = await registered(http)
    before = everything(redis)
    body = json.dumps({"query": POST})

    for origin in (OWN, "https://evil.example"):
        headers = {"cookie": cookie, "origin": origin, "content-type": content_type}
        response = await http.post("/graphql", content=body, headers=headers)
        assert response.status_code == 415
    query_string = await http.post("/graphql", params={"query": POST}, headers={"cookie": cookie, "origin": OWN})
    by_get = await http.get("/graphql", params={"query": POST}, headers={"cookie": cookie, "origin": OWN})
    assert (query_string.status_code, by_get.status_code) == (415, 405)
    assert everything(redis) == before


async def test_no_page_feed_or_cached_answer_depends_on_the_cookie(redis_url, store, clock):  # U4
    clock.now = 1_790_000_000_000
    await store.users.register("bob", "correct horse")
    number = (await post(store, "bob", groups=["show"])).number
    async with serving(redis_url, public_url=OWN) as http:
        cookie = await registered(http)
        assert await viewer_of(http, cookie, origin=OWN) == "alice"
        pages = [route.path for route in http._transport.app.router.routes if hasattr(route, "path")]
        parts = dict.fromkeys(("number", "article", "comment", "id"), str(number)) | {"username": "bob"}
        parts |= {"name": "show", "period": "day", "part": "comments", "token": "no-such-token"}
        paths = [PART.sub(lambda found: parts[found[1]], path) for path in pages if path != "/metrics"]
        paths += ["/no-such-page", "/hn/v0/topstories.json", f"/hn/v0/item/{number}.json", "/hn/v0/user/bob.json"]
        queries = [VIEWER, "{ articles { nodes { title viewerVote } } }", "{ account { sessions { id } } }"]
        targets = [(path, {}) for path in paths] + [("/graphql", {"query": query}) for query in queries]
        assert len(paths) > 30

        for path, parameters in targets:
            for method in ("GET", "HEAD"):
                for accept in ("text/html", "application/json"):
                    answers = []
                    for more in ({}, {"cookie": cookie}, {"cookie": cookie, "x-upvote-viewer": "alice"}):
                        headers = {"accept": accept, "origin": OWN, "sec-fetch-site": "same-origin"} | more
                        headers["x-request-id"] = "the-same"
                        http.cookies.clear()
                        response = await http.request(method, path, params=parameters, headers=headers)
                        assert "set-cookie" not in response.headers
                        answers.append((response.status_code, sorted(response.headers.items()), response.content))
                    assert answers[0] == answers[1] == answers[2], (method, path)


async def test_equal_queries_at_once_are_answered_by_cookie(http):  # U4
    cookies = [None, await registered(http), await registered(http, "bob")]
    asked = [(cookie, origin) for cookie in cookies for origin in (OWN, "https://evil.example")] * 8
    headers = [({"cookie": cookie} if cookie else {}) | {"origin": origin} for cookie, origin in asked]
    http.cookies.clear()
    by_get = http.get("/graphql", params={"query": VIEWER}, headers={"cookie": cookies[1], "origin": OWN})

    *answers, got = await asyncio.gather(
        *[http.post("/graphql", json={"query": VIEWER}, headers=each) for each in headers], by_get
    )

    expected = {(cookies[1], OWN): "alice", (cookies[2], OWN): "bob"}
    names = [(answer.json()["data"]["viewer"] or {}).get("username") for answer in answers]
    assert names == [expected.get(each) for each in asked]
    assert got.json()["data"]["viewer"] is None
    assert got.headers["cache-control"].startswith("public")


async def test_planted_cookie_is_neither_adopted_nor_chosen(http):  # U4
    """Session fixation: who can set a cookie in the browser of somebody else must not get that session."""
    planted, own = await registered(http, "mallory"), await registered(http)
    name = own.partition("=")[0]

    response = await sent(http, LOG_IN % "alice", cookie=planted, origin=OWN)
    opened = response.headers["set-cookie"].partition(";")[0]
    assert opened not in (planted, own)
    assert await viewer_of(http, planted, origin=OWN) == "mallory"
    assert await viewer_of(http, f"{name}={new_token('alice')}", origin=OWN) is None

    for both in (f"{planted}; {own}", f"{own}; {planted}", f"{own}; {name}="):
        assert await viewer_of(http, both, origin=OWN) is None
    for one in (f"other=1; {own}", f"{own};{own}", f"x{own}; {own}"):  # the same twice is no choice
        assert await viewer_of(http, one, origin=OWN) == "alice"
    lines = [("cookie", planted), ("cookie", own), ("origin", OWN)]
    answer = (await http.post("/graphql", json={"query": VIEWER}, headers=lines)).json()
    assert answer["data"]["viewer"] is None


async def test_page_of_another_viewer_is_refused_and_changes_nothing(http, redis):  # U4
    cookie, other = await registered(http), await registered(http, "bob")
    before = everything(redis)

    for query in (VIEWER, POST, LOG_OUT):
        response = await sent(http, query, cookie=other, origin=OWN, x_upvote_viewer="alice")
        (error,) = response.json()["errors"]
        assert (response.status_code, error["extensions"]) == (401, {"code": "UNAUTHENTICATED", "session": "changed"})
    assert everything(redis) == before

    assert await viewer_of(http, cookie, origin=OWN, x_upvote_viewer="Alice") == "alice"
    nobody = (await sent(http, VIEWER, origin=OWN, x_upvote_viewer="alice")).json()
    assert nobody == {"data": {"viewer": None}, "extensions": {"session": "ended"}}
    assert (await sent(http, VIEWER, origin=OWN)).json() == {"data": {"viewer": None}}
    token = cookie.partition("=")[2]
    by_token = {"authorization": f"Bearer {token}", "x_upvote_viewer": "bob"}
    assert await viewer_of(http, other, origin=OWN, **by_token) == "alice"
    await sent(http, LOG_OUT, cookie=cookie, origin=OWN)
    ended = (await sent(http, VIEWER, cookie=cookie, origin=OWN, x_upvote_viewer="bob")).json()
    assert ended["errors"][0]["extensions"]["session"] == "changed"  # an ended token still says whose it was


async def test_cookie_is_removed_with_its_session(http, store):  # U4
    cookie, name = await registered(http), name_of(OWN)
    removed = f"{name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"
    token = cookie.partition("=")[2]

    by_token = await sent(http, VIEWER, cookie=cookie, origin=OWN, authorization=f"Bearer {token}")
    assert "set-cookie" not in by_token.headers
    foreign = await sent(http, LOG_OUT, cookie=cookie, origin="https://evil.example")
    assert (foreign.json()["data"]["logOut"]["userErrors"], "set-cookie" in foreign.headers) == (
        [{"code": "UNAUTHENTICATED"}],
        False,
    )
    await WriteLock(store.site).acquire()  # the store takes no writes, as while it is moved
    closed = await sent(http, LOG_OUT, cookie=cookie, origin=OWN)
    await WriteLock(store.site).release()
    assert closed.json()["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert "set-cookie" not in closed.headers
    for codes in ([], [{"code": "UNAUTHENTICATED"}]):
        response = await sent(http, LOG_OUT, cookie=cookie, origin=OWN)
        assert response.json()["data"]["logOut"] == {"userErrors": codes, "query": {"viewer": None}}
        assert response.headers["set-cookie"] == removed

    opened = (await sent(http, LOG_IN % "alice", origin=OWN)).headers["set-cookie"].partition(";")[0]
    (own,) = (await sent(http, "{ account { sessions { id } } }", cookie=opened, origin=OWN)).json()["data"]["account"][
        "sessions"
    ]
    headers = {"cookie": opened, "origin": OWN}
    http.cookies.clear()
    ended = await http.post("/graphql", json={"query": END_OWN, "variables": own}, headers=headers)
    assert ended.json()["data"]["endSession"] == {"account": None, "userErrors": []}
    assert ended.headers["set-cookie"] == removed
    assert await viewer_of(http, opened, origin=OWN) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": OWN, "accept": "text/event-stream"},
        {"origin": OWN, "accept": 'multipart/mixed;subscriptionSpec="1.0"'},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:1", "host": "localhost:2"},
        {},
    ],
    ids=str,
)
async def test_cookie_that_cannot_be_set_is_invalid_and_nothing_is_changed(http, redis, headers):  # U4
    await registered(http, "bob")
    before = everything(redis)

    for query in (REGISTER % "alice", LOG_IN % "bob"):
        response = await sent(http, query, **headers)
        assert '"userErrors":[{"code":"INVALID","field":["input","cookie"]}]' in response.text
        assert "set-cookie" not in response.headers
    assert everything(redis) == before


async def test_second_cookie_of_one_request_is_invalid(store):  # U4
    class Browser:
        def can_keep(self, scope):
            return True

        def cookie(self, scope, token):
            return b"set-cookie", token.encode()

    context = Context(store, browser=Browser(), scope={"type": "http"})
    context.require_cookie()
    context.keep("first")

    with pytest.raises(Invalid) as refusal:
        context.require_cookie()
    assert refusal.value.field == ("cookie",)
    assert context.response_headers == ((b"set-cookie", b"first"),)


@pytest.mark.parametrize(
    ("origins", "reason"),
    [
        ("https://*.votes.example", "list each origin"),
        ("https://forum.votes.example:*", "list each origin with its port"),
        ("https://evil.example.com", "is not of the same site"),
        ("http://forum.votes.example", "is not of the same site"),
    ],
)
def test_cookie_origin_of_another_site_stops_the_start(origins, reason):
    with pytest.raises(WrongSetting, match=f"UPVOTE_COOKIE_ORIGINS=.*{reason}"):
        read_settings(public_url=HTTPS, cookie_origins=origins)

    allowed = read_settings(public_url=HTTPS, cookie_origins="https://forum.votes.example, https://votes.example:8443")
    assert "https://forum.votes.example" in allowed.origins
    assert allowed.origins_with_cookies == ["https://forum.votes.example", "https://votes.example:8443"]


async def test_streams_take_the_cookie_and_other_gets_do_not(http):  # U4
    cookie = await registered(http)
    question = {"query": "{ viewer { username } }"}

    async def got(accept, **headers):
        http.cookies.clear()
        given = {"accept": accept, "cookie": cookie, "sec-fetch-site": "same-origin"} | headers
        return (await http.get("/graphql", params=question, headers=given)).text

    assert '{"viewer":{"username":"alice"}}' in await got("text/event-stream")
    assert '{"viewer":null}' in await got("text/event-stream", **{"sec-fetch-site": "cross-site"})
    assert '{"viewer":null}' in await got("text/event-stream", origin="https://evil.example")
    for accept in ("*/*", "application/json, text/event-stream", 'multipart/mixed;subscriptionSpec="1.0"'):
        assert '{"viewer":null}' in await got(accept)


async def test_log_in_and_reset_take_no_session_that_a_browser_brings(redis_url, store, clock):
    """Session fixation: whoever plants the cookie of a session does not share the one that is opened."""
    clock.now = unix_milliseconds()  # as the application has it
    async with serving(redis_url) as http:
        planted = await registered(http, "mallory")
        await registered(http, "alice")
        token = (await issue(store.site, "alice", Purpose.RESET)).text
        opened = [planted]
        for document in (LOG_IN % "alice", RESET % token):
            response = await sent(http, document, cookie=planted, origin=OWN)
            opened.append(response.headers["set-cookie"].partition(";")[0])

        assert len(set(opened)) == 3
        assert await viewer_of(http, planted, origin=OWN) == "mallory"
        assert await viewer_of(http, opened[1], origin=OWN) is None  # the reset has ended it
        assert await viewer_of(http, opened[2], origin=OWN) == "alice"
