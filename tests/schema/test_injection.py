"""
Input never becomes part of a key or a script, and a modified token is invalid.

The fixture `token` is a session token of the user vera.
"""

import pytest

from tests.store.reading import everything

NASTY = [
    "*",
    "{0}",
    "user:{0}:vera",
    "x\r\nFLUSHALL\r\n",
    "a' .. redis.call('FLUSHALL') .. '",
    "../..",
    "\x00",
    "a b",
    "\u0430",  # a Cyrillic letter that looks like an a
]
ASK = """query($text: String!, $id: ID!) {
  article(id: $id) { id } node(id: $id) { id } user(username: $text) { id }
  group(name: $text) { articles { totalCount } }
  articles(after: $text) { totalCount } listed: articles(group: $text) { totalCount } }"""
CHANGE = """mutation($text: String!, $id: ID!) {
  vote(input: {articleId: $id}) { userErrors { code } }
  followUser(input: {userId: $id}) { userErrors { code } }
  markFeedSeen(input: {through: $text}) { userErrors { code } }
  post(input: {title: "t", content: "c", groups: [$text]}) { userErrors { code } } }"""


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("prefix", ["", "article:", "user:", "feed:"])
async def test_malicious_text_is_refused_and_changes_nothing(store, ask, token, redis, prefix, text):
    before = everything(redis)
    read = await ask(ASK, token, text=text, id=prefix + text)
    changed = await ask(CHANGE, token, text=text, id=prefix + text)

    codes = {error["extensions"]["code"] for answer in (read, changed) for error in answer.get("errors", [])}
    refused = {error["code"] for payload in changed["data"].values() for error in payload["userErrors"]}
    assert codes <= {"BAD_USER_INPUT", "NOT_FOUND"}
    assert refused <= {"NOT_FOUND", "INVALID"} and all(payload["userErrors"] for payload in changed["data"].values())
    assert everything(redis) == before


async def test_modified_token_is_invalid(ask, token):
    whoever = "{ viewer { username } }"
    touched = [token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :] for place in (0, 20, 42)]

    assert (await ask(whoever, token))["data"] == {"viewer": {"username": "vera"}}
    for other in (*touched, token[:-4], token * 2, token[::-1]):
        assert (await ask(whoever, other))["data"] == {"viewer": None}
