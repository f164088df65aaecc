"""
The front door, which is the path `/log-in/NAME`: a browser logs in at an identity provider, here one on loopback, and
comes back with the cookie of a session.

Codes such as U1 name rows of docs/behaviours.md.
"""

import json
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from store.sessions import TOKEN_LENGTH
from tests.examples import first
from tests.server.conftest import serving
from tests.server.issuers import issuing, provider
from tests.server.issuers.issuing import OTHER_RSA
from tests.server.issuers.provider import Users

VIEWER = "{ viewer { username displayName } account { sessions { agent isCurrent } } }"
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture
async def asked():
    """The provider that the server asks for keys and tokens."""
    async with provider.running() as asked:
        yield asked


@pytest.fixture(params=[None, "a secret: with /signs"], ids=["public client", "with a secret"])
def users(request, asked):
    return Users(asked, request.param)


@pytest.fixture
def live(asked, users, tmp_path):
    claims = {"name": "name", "display_name": "nick"}
    more = {"client_id": "door", "claims": claims} | ({"client_secret": users.secret} if users.secret else {})
    with serving(tmp_path / "data", issuers=issuing.written(tmp_path, asked.table(**more))) as live:
        yield live


@pytest.fixture
async def browser(live):
    async with httpx.AsyncClient(base_url=live.url, timeout=30, headers={"user-agent": AGENT}) as browser:
        yield browser


async def begun(browser, path="/log-in/site"):
    """The address to which a browser is sent."""
    response = await browser.get(path)
    assert (response.status_code, response.headers["cache-control"]) == (303, "no-store")
    return response.headers["location"]


async def returned(browser, location):
    """The address to which the provider sends the browser back."""
    async with httpx.AsyncClient() as other:
        return (await other.get(location)).headers["location"]


async def viewer(browser, **headers):
    """What a page of the site reads about its viewer, by the cookies of the browser."""
    given = {"origin": str(browser.base_url).rstrip("/")} | headers
    return (await browser.post("/graphql", json={"query": VIEWER}, headers=given)).json()["data"]


async def test_browser_logs_in_and_keeps_the_session_in_the_cookie(browser, live, users, asked):  # U1
    location = await begun(browser, "/log-in/site?next=/article/1%3Fpage=2")
    query = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
    assert location.startswith(f"{asked.url}/authorization?")
    assert (query["response_type"], query["client_id"], query["scope"]) == ("code", "door", "openid profile")
    assert (query["redirect_uri"], query["code_challenge_method"]) == (f"{live.url}/log-in/site/done", "S256")
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3

    done = await browser.get(await returned(browser, location))

    assert (done.status_code, done.headers["location"]) == (303, f"{live.url}/article/1?page=2")
    cookies = {each.partition("=")[0]: each for each in done.headers.get_list("set-cookie")}
    # the cookie of the log-in first, then that of the session
    removed, name = sorted(cookies, key=lambda name: name.startswith("upvote-log-in-"), reverse=True)
    assert "HttpOnly" in cookies[name] and "SameSite=Lax" in cookies[name]
    assert "Max-Age=0" in cookies[removed]
    assert not any(name.startswith("upvote-log-in-") for name in browser.cookies)
    token = cookies[name].partition("=")[2].partition(";")[0]
    assert len(token) == TOKEN_LENGTH and token not in done.headers["location"] + done.text
    assert await viewer(browser) == {
        "viewer": {"username": "Ada", "displayName": "Countess"},
        "account": {"sessions": [{"agent": "Firefox on Linux", "isCurrent": True}]},
    }
    assert all("id_token" not in path and "eyJ" not in path for path in asked.asked)


async def test_head_neither_begins_nor_ends_a_log_in(browser, users, live):
    back = await returned(browser, await begun(browser))

    heads = [await browser.head(path) for path in ("/log-in/site", back)]

    assert [(head.status_code, head.headers["allow"]) for head in heads] == [(405, "GET")] * 2
    assert not any("set-cookie" in head.headers for head in heads)
    assert (await browser.get(back)).status_code == 303


@pytest.mark.parametrize(
    "next", first(["//evil.example/", "https://evil.example/", "/\\evil.example", "/\tx", "x", ""], 3)
)
async def test_browser_goes_on_to_pages_of_the_site_only(browser, live, next):
    location = await begun(browser, "/log-in/site?" + urlencode({"next": next}))

    done = await browser.get(await returned(browser, location))

    assert done.headers["location"] == f"{live.url}/"


async def test_log_in_ends_once_and_in_the_browser_where_it_began(browser, live, asked):
    """Neither a code of somebody else, nor a state that was used, nor one of another browser opens a session."""
    back = await returned(browser, await begun(browser))
    async with httpx.AsyncClient(base_url=live.url, timeout=30) as other:
        refusals = [await other.get(back)]
        await begun(other)
        refusals.append(await other.get(back))
    assert (await browser.get(back)).status_code == 303
    refusals.append(await browser.get(back))
    await begun(browser)
    refusals += [await browser.get(back), await browser.get("/log-in/site/done"), await browser.get(f"{back}&iss=x")]

    assert {refused.status_code for refused in refusals} == {400}
    assert not any("set-cookie" in refused.headers for refused in refusals)


async def test_each_tab_of_a_browser_has_a_log_in_of_its_own(browser, live):  # U1
    first, second = [await begun(browser, f"/log-in/site?next=/{name}") for name in ("first", "second")]

    done = [await browser.get(await returned(browser, location)) for location in (first, second)]

    assert [each.headers.get("location") for each in done] == [f"{live.url}/first", f"{live.url}/second"]


async def test_log_says_why_a_log_in_has_failed(browser, users, live):
    back = await returned(browser, await begun(browser))
    users.codes.clear()  # the provider answers that the code is wrong
    assert (await browser.get(back)).status_code == 503
    users.claims = {"nonce": "another"}
    assert (await browser.get(await returned(browser, await begun(browser)))).status_code == 401
    state = parse_qs(urlsplit(await begun(browser)).query)["state"][0]
    await browser.get("/log-in/site/done", params={"state": state, "error": "invalid_scope"})

    reasons = [line["event"] for line in map(json.loads, live.errors.read_text().splitlines())]
    assert [reason for reason in reasons if reason.startswith("a log-in")] == [
        "a log-in at the issuer site has failed: it has answered 400 and no ID token, with the error 'invalid_grant'",
        "a log-in at the issuer site has failed: the token is not accepted: nonce",
        "a log-in at the issuer site has failed: it has sent the browser back with the error 'invalid_scope'",
    ]


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"aud": "upvote"}, "audience"),
        ({"aud": ["door", "other"], "azp": "other"}, "audience"),
        ({"iss": "https://evil.example"}, "issuer"),
        ({"exp": 1}, "expired"),
    ],
    ids=str,
)
async def test_id_token_that_is_not_for_this_log_in_opens_no_session(browser, users, claims, reason):  # U2
    users.claims = claims

    done = await browser.get(await returned(browser, await begun(browser)))

    assert (done.status_code, done.text) == (401, f"the token is not accepted: {reason}")
    assert "set-cookie" not in done.headers
    assert (await viewer(browser))["viewer"] is None


@pytest.mark.slow
async def test_forged_id_token_and_refusals_of_the_provider_open_no_session(browser, users, live):  # U2
    users.key = OTHER_RSA
    back = await returned(browser, await begun(browser))
    assert (await browser.get(back)).status_code == 401

    users.key = None
    back = await returned(browser, await begun(browser))
    users.codes.clear()
    assert (await browser.get(back)).status_code == 503  # the provider knows no such code
    state = parse_qs(urlsplit(await begun(browser)).query)["state"][0]
    denied = await browser.get(f"/log-in/site/done?{urlencode({'state': state, 'error': 'access_denied'})}")
    assert (denied.status_code, denied.text) == (401, "the issuer has not logged you in")
    assert (await browser.get("/log-in/other")).status_code == 404
    assert (await viewer(browser))["viewer"] is None


async def test_browser_whose_log_in_fails_is_sent_to_the_page_to_log_in(browser):
    done = "/log-in/site/done?code=x&state=y"

    led = await browser.get(done, headers={"accept": "text/html"})
    told = await browser.get(done)

    assert (led.status_code, urlsplit(led.headers["location"])[2:4]) == (303, ("/log-in", "failed=ended"))
    assert led.headers["cache-control"] == "no-store"
    assert told.status_code == 400
