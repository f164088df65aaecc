"""The route that ends mails of replies: by a token in its path, without a session or a cookie."""

import pytest

from store import mailboxes
from store.mailboxes import MailFrequency
from tests.server.in_process import serving

MAIL = {"public_url": "https://up.example", "mail_from": "Up <up@up.example>", "smtp_url": "smtp://127.0.0.1:1"}
REGISTER = """mutation { register(input: {username: "Alice", password: "correct horse", email: "a@up.example"}) {
  token userErrors { code } } }"""
EDIT = "mutation { editAccount(input: {mailReplies: AT_ONCE}) { userErrors { code } } }"
STATE = "{ account { mailReplies } }"


@pytest.fixture
async def http(redis_url):
    async with serving(redis_url, **MAIL) as http:
        yield http


async def ask(http, query, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return (await http.post("/graphql", json={"query": query}, headers=headers)).json()["data"]


@pytest.fixture
async def alice(http):
    """The token of Alice, who gets mails of replies."""
    token = (await ask(http, REGISTER))["register"]["token"]
    await ask(http, EDIT, token)
    return token


@pytest.fixture
async def path(http, alice, store):
    """The path that the mails of Alice have a link to."""
    key = (await store.mailboxes.get("alice")).key
    return f"/unsubscribe/{mailboxes.unsubscribing_token('Alice', key)}"


async def test_get_shows_a_button_and_post_ends_mails(http, alice, path, store):
    shown = await http.get(path)
    assert (shown.status_code, "<button>" in shown.text) == (200, True)
    assert (await store.mailboxes.get("alice")).replies is MailFrequency.AT_ONCE
    policy = shown.headers["Content-Security-Policy"]
    assert "form-action 'self'" in policy and "default-src 'none'" in policy
    assert shown.headers["Cache-Control"] == "no-store"

    done = await http.post(path, data={"List-Unsubscribe": "One-Click"})
    assert (done.status_code, "no more mails" in done.text) == (200, True)
    assert await ask(http, STATE, alice) == {"account": {"mailReplies": "NEVER"}}
    assert (await http.post(path, data={"List-Unsubscribe": "One-Click"})).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path[:-1],
        lambda path: path.replace("alice", "bob"),
        lambda path: path + "0",
    ],
)
async def test_wrong_token_ends_nothing(http, alice, path, change):
    refused = await http.post(change(path))

    assert (refused.status_code, "not valid" in refused.text) == (404, True)
    assert await ask(http, STATE, alice) == {"account": {"mailReplies": "AT_ONCE"}}
