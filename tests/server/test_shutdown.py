"""A server that is told to stop while people use it."""

import json
import signal
import threading
from collections.abc import Iterator
from socket import socket

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.server.conftest import POST, REGISTER, Live, redis_of, serving
from tests.servers import until

ARTICLE = "{ articles { nodes { id } } }"
LISTEN = "subscription($id: ID!) { articleChanged(id: $id) { votes } }"
VOTE = """mutation($id: ID!, $v: VoteValue!) {
  vote(input: {articleId: $id, value: $v}) { changed article { votes } } }"""
CLIENTS = 20


@pytest.fixture
def stopped(tmp_path) -> Iterator[Live]:
    """A server with one article, to be stopped. It must not run out of the time that it gives to those it serves."""
    with serving(tmp_path) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        yield live
        assert "exceeded" not in live.errors.read_text()


def user(live: Live, name: str) -> str:
    return live.ask(REGISTER.replace("alice", name))["data"]["register"]["token"]


def id_of_article(live: Live) -> str:
    (article,) = live.ask(ARTICLE)["data"]["articles"]["nodes"]
    return article["id"]


def listen(live: Live) -> dict[str, object]:
    return {"query": LISTEN, "variables": {"id": id_of_article(live)}}


@pytest.mark.parametrize("accepted", ["text/event-stream", "multipart/mixed;subscriptionSpec=1.0"])
def test_stream_ends_but_is_not_complete(stopped, accepted):
    """Complete, a client would not come again."""
    with httpx.stream(
        "POST", f"{stopped.url}/graphql", json=listen(stopped), headers={"Accept": accepted}, timeout=30
    ) as stream:
        parts = stream.iter_raw()
        begun = next(parts)
        stopped.process.send_signal(signal.SIGTERM)
        rest = b"".join(parts)

    assert begun
    assert b"complete" not in rest and b"--graphql--" not in rest
    assert stopped.process.wait() == 0


def test_socket_answers_what_was_asked_and_is_closed_to_come_again(stopped, tmp_path):
    """What is asked cannot be answered before the server stops, as its Valkey takes no writes until then."""
    user(stopped, "bob")
    asked = listen(stopped)
    url = stopped.url.replace("http", "ws") + "/graphql"
    with connect(url, subprotocols=["graphql-transport-ws"]) as talk, redis_of(tmp_path) as redis:
        redis.client_pause(30_000, all=False)
        talk.send('{"type": "connection_init"}')
        assert json.loads(talk.recv())["type"] == "connection_ack"
        talk.send(json.dumps({"id": "lasting", "type": "subscribe", "payload": asked}))
        log_in = 'mutation { logIn(input: {username: "bob", password: "correct horse"}) { user { username } } }'
        talk.send(json.dumps({"id": "slow", "type": "subscribe", "payload": {"query": log_in}}))
        talk.send('{"type": "ping"}')
        assert json.loads(talk.recv())["type"] == "pong"
        stopped.process.send_signal(signal.SIGTERM)
        until(lambda: takes_nobody(stopped))
        redis.client_unpause()
        said = []
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                said.append(json.loads(talk.recv(timeout=30)))

    assert [(message["id"], message["type"]) for message in said] == [("slow", "next"), ("slow", "complete")]
    assert said[0]["payload"]["data"]["logIn"]["user"] == {"username": "bob"}
    assert closed.value.rcvd.code == 1012
    assert stopped.process.wait() == 0


def takes_nobody(live: Live) -> bool:
    host, _, port = live.url.removeprefix("http://").partition(":")
    with socket() as client:
        return client.connect_ex((host, int(port))) != 0


def test_every_request_of_a_crowd_is_answered(stopped):
    tokens = [user(stopped, f"user-{number}") for number in range(4)]
    article, answered, dropped = id_of_article(stopped), [], []

    def go_on(token: str) -> None:
        """On one connection, until it is closed after an answer; then nobody listens any more."""
        with httpx.Client(base_url=stopped.url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as client:
            for turn in range(1_000_000):
                request = {"query": VOTE, "variables": {"id": article, "v": ("UP", "NONE")[turn % 2]}}
                try:
                    answer = client.post("/graphql", json=request)
                except httpx.ConnectError:
                    return
                except httpx.HTTPError as error:
                    dropped.append(error)
                    return
                answered.append(answer.json()["data"]["vote"]["article"]["votes"])

    crowd = [threading.Thread(target=go_on, args=(tokens[number % 4],)) for number in range(CLIENTS)]
    for client in crowd:
        client.start()
    until(lambda: len(answered) > 10 * CLIENTS)
    assert stopped.stop() == 0
    for client in crowd:
        client.join()

    assert dropped == []
