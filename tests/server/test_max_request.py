"""
Whatever the rules allow can be sent: the limit of a request follows from them.

The fixture `live` is a running server with an article, which the tests share.
"""

import json

import pytest
from websockets.sync.client import connect

from server.limits import max_request_bytes
from store.validation import CONTENT_LENGTH, LINK_LENGTH, TITLE_LENGTH

LONGEST = {
    "title": "😀" * TITLE_LENGTH,
    "link": "https://example.com/" + "語" * (LINK_LENGTH - len("https://example.com/")),
    "content": "😀" * CONTENT_LENGTH,
    "groups": [letter * 50 for letter in "abcde"],
}
POST = "mutation($input: PostInput!) { post(input: $input) { article { content } userErrors { message } } }"


@pytest.fixture(scope="module")
def token(live):
    registered = live.ask('mutation { register(input: {username: "longest", password: "correct horse"}) { token } }')
    return registered["data"]["register"]["token"]


@pytest.mark.parametrize("escaped", [True, False], ids=["escaped", "as it is"])
def test_longest_article_is_taken(live, token, escaped):
    body = json.dumps({"query": POST, "variables": {"input": LONGEST}}, ensure_ascii=escaped).encode()

    answer = live.post_bytes(body, {"Authorization": f"Bearer {token}"}).json()

    assert answer == {"data": {"post": {"article": {"content": LONGEST["content"]}, "userErrors": []}}}


def test_longest_article_is_taken_over_a_socket(live, token):
    url = f"{live.url.replace('http', 'ws')}/graphql"
    payload = {"query": POST, "variables": {"input": LONGEST}}
    with connect(url, subprotocols=["graphql-transport-ws"]) as socket:
        socket.send(json.dumps({"type": "connection_init", "payload": {"token": token}}))
        socket.recv()
        socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        message = json.loads(socket.recv())

    assert message["payload"] == {"data": {"post": {"article": {"content": LONGEST["content"]}, "userErrors": []}}}


def test_request_beyond_that_is_too_large(live):
    answer = live.post_bytes(b" " * (max_request_bytes() + 1), {})

    assert answer.status_code == 413
    assert answer.json()["errors"][0]["extensions"]["code"] == "PAYLOAD_TOO_LARGE"
