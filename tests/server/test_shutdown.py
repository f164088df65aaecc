"""Graceful stop of a server with open streams, WebSockets and requests."""

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
CLIENTS = 20  # threads that vote all the time


@pytest.fixture
def live(tmp_path) -> Iterator[Live]:
    """A server of one test, with one article. Its time limit for open requests must not be exceeded."""
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
def test_stream_ends_without_completion(live, accepted):
    """After a completion, a client would not reconnect."""
    with httpx.stream(
        "POST", f"{live.url}/graphql", json=listen(live), headers={"Accept": accepted}, timeout=30
    ) as stream:
        parts = stream.iter_raw()
        begun = next(parts)
        live.process.send_signal(signal.SIGTERM)
        rest = b"".join(parts)

    assert begun
    assert b"complete" not in rest and b"--graphql--" not in rest
    assert live.process.wait() == 0


def test_websocket_completes_its_mutation_and_closes_with_service_restart(live, tmp_path):
    """Valkey is paused, so that the mutation is still open when the server begins to stop."""
    user(live, "bob")
    subscription = listen(live)
    url = live.url.replace("http", "ws") + "/graphql"
    with connect(url, subprotocols=["graphql-transport-ws"]) as websocket, redis_of(tmp_path) as redis:
        redis.client_pause(30_000, all=False)
        websocket.send('{"type": "connection_init"}')
        assert json.loads(websocket.recv())["type"] == "connection_ack"
        websocket.send(json.dumps({"id": "subscription", "type": "subscribe", "payload": subscription}))
        log_in = 'mutation { logIn(input: {username: "bob", password: "correct horse"}) { user { username } } }'
        websocket.send(json.dumps({"id": "mutation", "type": "subscribe", "payload": {"query": log_in}}))
        websocket.send('{"type": "ping"}')
        assert json.loads(websocket.recv())["type"] == "pong"
        live.process.send_signal(signal.SIGTERM)
        until(lambda: refuses_connections(live))
        redis.client_unpause()
        received = []
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                received.append(json.loads(websocket.recv(timeout=30)))

    assert [(message["id"], message["type"]) for message in received] == [
        ("mutation", "next"),
        ("mutation", "complete"),
    ]
    assert received[0]["payload"]["data"]["logIn"]["user"] == {"username": "bob"}
    assert closed.value.rcvd.code == 1012
    assert live.process.wait() == 0


def refuses_connections(live: Live) -> bool:
    host, _, port = live.url.removeprefix("http://").partition(":")
    with socket() as client:
        return client.connect_ex((host, int(port))) != 0


@pytest.mark.slow
def test_every_request_of_many_clients_is_answered(live):
    tokens = [user(live, f"user-{number}") for number in range(4)]
    article, answered, dropped = id_of_article(live), [], []

    def vote_repeatedly(token: str) -> None:
        """Vote on one connection until the server closes it and accepts no other."""
        with httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {token}"}, timeout=30) as client:
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

    clients = [threading.Thread(target=vote_repeatedly, args=(tokens[number % 4],)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    until(lambda: len(answered) > 10 * CLIENTS)
    assert live.stop() == 0
    for client in clients:
        client.join()

    assert dropped == []
