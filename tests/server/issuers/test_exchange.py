"""
A session in exchange for a token of an identity provider, and what its user may do without a password.

The fixture `http` is a client of an application that accepts the tokens of one issuer; `serve` opens one for another
file of issuers. Codes such as U2 name rows of docs/behaviours.md.
"""

import asyncio
import io
import json
import zipfile

import pytest

from store.identities import Subject
from store.offers import Offers
from store.sessions import TOKEN_LENGTH
from tests.conftest import registered
from tests.server.commands import run
from tests.server.issuers import issuing
from tests.server.issuers.issuing import NOW, OTHER_RSA, Tokens
from tests.store.reading import everything

OWN = {"origin": "http://up"}  # the header of a request by a page of the site itself
EXCHANGE = """mutation($token: String!, $cookie: Boolean) { logInWithToken(input: {token: $token, cookie: $cookie}) {
  user { username } token expiresAt userErrors { code message field } } }"""
DELETE = "mutation($p: String) { deleteUser(input: {currentPassword: $p}) { deletedUserId userErrors { code } } }"
ADDRESS = """mutation($email: String) { editAccount(input: {email: $email}) {
  account { pendingEmail } userErrors { code } } }"""
VIEWER = "{ viewer { username } account { sessions { isCurrent } } session { expiresAt } }"
TOKENS = Tokens()


async def sent(http, query, token=None, headers=None, **variables):
    given, body = {"authorization": f"Bearer {token}"} if token else {}, {"query": query, "variables": variables}
    response = await http.post("/graphql", json=body, headers=given | (headers or {}))
    assert response.status_code == 200, response.text
    return response


async def exchange(http, token, cookie=None, headers=None):
    response = await http.post(
        "/graphql", json={"query": EXCHANGE, "variables": {"token": token, "cookie": cookie}}, headers=headers
    )
    return response, response.json()["data"]["logInWithToken"]


async def test_token_is_exchanged_for_a_session(http):
    token = TOKENS.token(name="Ada")

    _, opened = await exchange(http, token)

    assert (opened["user"], opened["userErrors"]) == ({"username": "Ada"}, [])
    assert len(opened["token"]) == TOKEN_LENGTH
    found = (await sent(http, VIEWER, opened["token"])).json()["data"]
    assert found["account"]["sessions"] == [{"isCurrent": True}]
    found = (await sent(http, VIEWER, token)).json()["data"]
    assert found["account"]["sessions"] == [{"isCurrent": False}]  # the token is none of them
    assert found["session"] == {"expiresAt": "2016-08-04T12:52:00.000Z"}


async def test_token_that_is_not_accepted_is_a_bad_one(http, redis):  # U2
    before = everything(redis)
    forged = {
        TOKENS.token(aud="other"): "audience",
        TOKENS.token(key=OTHER_RSA): "key",
        TOKENS.token(exp=NOW - 61): "expired",  # beyond the leeway of a minute
        "x": "form",
    }
    for token, reason in forged.items():
        _, refused = await exchange(http, token)
        message = f"the token is not accepted: {reason}"
        assert refused["userErrors"] == [{"code": "BAD_TOKEN", "message": message, "field": ["input", "token"]}]
        assert refused["token"] is None

    assert everything(redis) == before


async def test_session_of_the_cookie_is_a_new_one_whatever_the_browser_had(http):
    """Session fixation: a cookie that somebody has put into the browser stays the session of whoever has made it."""
    _, planted = await exchange(http, TOKENS.token("evil", name="Mallory"))
    set_before, _ = await exchange(http, TOKENS.token(name="Ada"), cookie=True, headers=OWN)
    name = set_before.headers["set-cookie"].partition("=")[0]
    http.cookies.clear()

    response, opened = await exchange(
        http, TOKENS.token(name="Ada"), cookie=True, headers=OWN | {"cookie": f"{name}={planted['token']}"}
    )

    cookie = response.headers["set-cookie"].partition(";")[0]
    assert opened["token"] is None
    assert cookie.startswith(f"{name}=") and cookie != f"{name}={planted['token']}"
    http.cookies.clear()
    assert (await sent(http, VIEWER, planted["token"])).json()["data"]["viewer"] == {"username": "Mallory"}
    found = await sent(http, VIEWER, headers=OWN | {"cookie": cookie})
    assert found.json()["data"]["viewer"] == {"username": "Ada"}


async def test_only_the_issuer_ends_its_tokens(http):
    token = TOKENS.token(name="Ada")

    ended = (await sent(http, "mutation { logOut { userErrors { code } } }", token)).json()["data"]["logOut"]

    assert ended == {"userErrors": [{"code": "FORBIDDEN"}]}
    assert (await sent(http, VIEWER, token)).json()["data"]["viewer"] == {"username": "Ada"}


async def test_fields_that_the_issuer_says_are_not_edited(serve, tmp_path):  # U1
    table = {**issuing.TABLE, "claims": {"name": "name", "display_name": "nick", "avatar": "picture"}}
    edit = """mutation($d: String, $u: URL, $a: String) {
      editProfile(input: {displayName: $d, avatarUrl: $u, about: $a}) {
        user { displayName about avatarUrl } userErrors { code field } } }"""
    only_about = """mutation { editProfile(input: {about: "me"}) {
      user { displayName about avatarUrl } userErrors { code field } } }"""
    async with serve(issuing.written(tmp_path, table)) as http:
        token = TOKENS.token(name="Ada", nick="Countess", picture="https://example.com/a.png")
        refused = (await sent(http, edit, token, d="Me", u="https://example.com/b.png", a="me")).json()["data"]
        done = (await sent(http, only_about, token)).json()["data"]["editProfile"]
        register = 'mutation { register(input: {username: "bob", password: "correct horse"}) { token } }'
        bob = (await sent(http, register)).json()["data"]["register"]["token"]
        own = (await sent(http, edit, bob, d="Bob", u=None, a="me")).json()["data"]["editProfile"]

    forbidden = [{"code": "FORBIDDEN", "field": ["input", "displayName"]}]
    assert refused["editProfile"] == {"user": None, "userErrors": forbidden}
    shown = {"displayName": "Countess", "about": "me", "avatarUrl": "https://example.com/a.png"}
    assert done == {"user": shown, "userErrors": []}
    assert own["user"] == {"displayName": "Bob", "about": "me", "avatarUrl": None}


async def test_user_leaves_with_a_recent_log_in_at_the_issuer(http):
    for claims in ({}, {"auth_time": NOW - 301}):  # a log-in is recent for five minutes
        refused = (await sent(http, DELETE, TOKENS.token(name="Ada", **claims))).json()["data"]["deleteUser"]
        assert refused == {"deletedUserId": None, "userErrors": [{"code": "BAD_CREDENTIALS"}]}

    payload = (await sent(http, DELETE, TOKENS.token(auth_time=NOW - 299))).json()["data"]["deleteUser"]

    assert payload["userErrors"] == [] and payload["deletedUserId"].startswith("user:~")
    for token in (TOKENS.token(auth_time=NOW - 299), TOKENS.token(iat=NOW + 5)):
        response = await http.post("/graphql", json={"query": VIEWER}, headers={"authorization": f"Bearer {token}"})
        assert response.status_code == 401
        assert response.json()["errors"][0]["extensions"] == {"code": "UNAUTHENTICATED", "reason": "gone"}


async def test_address_is_changed_with_a_recent_log_in_at_the_issuer(serve, tmp_path):
    mail = {"smtp_url": "smtp://127.0.0.1:1", "mail_from": "up@up.example", "public_url": "http://up"}
    async with serve(issuing.written(tmp_path), **mail) as http:

        async def edited(email, **claims):
            token = TOKENS.token(name="Ada", **claims)
            return (await sent(http, ADDRESS, token, email=email)).json()["data"]["editAccount"]

        for claims in ({}, {"auth_time": NOW - 301}):
            refused = await edited("ada@example.com", **claims)
            assert refused == {"account": None, "userErrors": [{"code": "BAD_CREDENTIALS"}]}
        done = await edited("ada@example.com", auth_time=NOW - 299)
        again = await edited("ada@example.com")  # the mail is sent again, which needs nothing
        removed = await edited(None, auth_time=NOW - 301)

    assert done == again == {"account": {"pendingEmail": "ada@example.com"}, "userErrors": []}
    assert removed["userErrors"] == [{"code": "BAD_CREDENTIALS"}]


async def test_exchanged_session_counts_for_five_minutes(http, clock):
    _, first = await exchange(http, TOKENS.token(name="Ada"))
    clock.advance(301)
    assert (await sent(http, DELETE, first["token"])).json()["data"]["deleteUser"]["userErrors"]
    _, second = await exchange(http, TOKENS.token())

    assert (await sent(http, DELETE, second["token"])).json()["data"]["deleteUser"]["userErrors"] == []


async def test_where_there_are_no_passwords_no_stored_one_is_asked_for(http, clock):
    """The user had one before they were switched off: a session that was opened since is one that was exchanged."""
    await http.app.state.store.users.register("Ada", "correct horse")
    await http.app.state.store.identities.link("Ada", Subject("site", "1"))
    _, opened = await exchange(http, TOKENS.token(name="Ada"))
    assert (await sent(http, DELETE, opened["token"])).json()["data"]["deleteUser"]["userErrors"]
    http.app.state.store.users.offers = Offers(has_passwords=False)

    assert (await sent(http, DELETE, opened["token"])).json()["data"]["deleteUser"]["userErrors"] == []


async def test_session_of_a_user_with_a_password_does_not_count_as_the_password(http):
    register = 'mutation { register(input: {username: "bob", password: "correct horse"}) { token } }'
    token = (await sent(http, register)).json()["data"]["register"]["token"]

    refused = (await sent(http, DELETE, token)).json()["data"]["deleteUser"]

    assert refused["userErrors"] == [{"code": "BAD_CREDENTIALS"}]


async def test_export_takes_the_token_and_has_the_identities(http):  # U7
    headers = {"authorization": f"Bearer {TOKENS.token('5|1', name='Ada')}"}
    response = await http.post("/export", headers=headers)

    with zipfile.ZipFile(io.BytesIO(response.content)) as found:
        lines = found.read("identities.jsonl").splitlines()
    assert [json.loads(line) for line in lines] == [{"issuer": "site", "id": "5|1"}]
    # a token that has expired counts as none, so that no reason is given
    for token, reason in ((TOKENS.token(aud="other"), "audience"), (TOKENS.token(exp=NOW - 61), "")):
        refused = await http.post("/export", headers={"authorization": f"Bearer {token}"})
        assert refused.status_code == 401
        assert reason in refused.text


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("Grace", "site", "1"), "1 of site is Grace"),
        (("nobody", "site", "1"), "there is no user nobody"),
        (("Grace", "shop", "1"), "there is no issuer shop; UPVOTE_ISSUERS has site"),
        (("Grace", "site", ""), "a subject has 1 to 255 printable characters"),
    ],
)
async def test_command_links_a_subject_to_a_user(store, redis_url, tmp_path, arguments, printed):  # U1
    await registered(store, "Grace")
    file = issuing.written(tmp_path)

    done = await asyncio.to_thread(run, "user", "link", *arguments, redis_url=redis_url, issuers=file)

    assert printed in done.stdout + done.stderr
    assert done.returncode == (0 if printed == "1 of site is Grace" else 2)
