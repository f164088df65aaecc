"""
Sessions that their user ends, in a server of two processes: both close their sockets and streams. And sessions that end
by time.

Codes such as U4 name rows of docs/behaviours.md.
"""

import asyncio
import json
from contextlib import AsyncExitStack

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from engine import Client
from server import ended_sessions
from server.ended_sessions import EndedSessions
from store.events import Events
from tests.server.conftest import REGISTER, serving
from tests.servers import PATIENCE
from tests.support.sockets import ENDED, SUBSCRIPTION, asked, close_code, last_event, opened_socket

PROTOCOL = "graphql-transport-ws"
CONNECTIONS = 6  # of each session: some to each process
LOG_IN = 'mutation { logIn(input: {username: "alice", password: "correct horse"}) { token } }'
LOG_OUT = "mutation { logOut { userErrors { code } } }"
END = "mutation($id: ID) { endSession(input: {sessionId: $id}) { userErrors { code } } }"
CHANGE = """mutation { changePassword(input: {currentPassword: "correct horse", newPassword: "battery staple"}) {
  userErrors { code } } }"""
OWN = "{ account { sessions { id isCurrent } } }"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of two processes, and the token of alice."""
    with serving(tmp_path_factory.mktemp("ended"), workers=2, partitions=4) as live:
        yield live, live.ask(REGISTER)["data"]["register"]["token"]


async def test_sockets_and_streams_of_ended_sessions_end_in_all_processes(served):
    live, token = served
    loop = asyncio.get_running_loop()

    async def ask(query, token, **variables):
        return (await loop.run_in_executor(None, lambda: live.ask(query, token, **variables)))["data"]

    async def log_in():
        return (await ask(LOG_IN, token=None))["logIn"]["token"]

    async def end_by_id(other):
        (id,) = [each["id"] for each in (await ask(OWN, other))["account"]["sessions"] if each["isCurrent"]]
        return await ask(END, token, id=id)

    ends = [
        lambda other: ask(LOG_OUT, other),
        end_by_id,
        lambda other: ask(END, token),
        lambda other: ask(CHANGE, token),
    ]
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))
        kept = [(await opened_socket(live.url, token))[0] for _ in range(CONNECTIONS)]
        for end in ends:
            other = await log_in()
            sockets = [(await opened_socket(live.url, other))[0] for _ in range(CONNECTIONS)]
            headers = {"accept": "text/event-stream", "authorization": f"Bearer {other}"}
            streams = [
                await stack.enter_async_context(
                    http.stream("POST", f"{live.url}/graphql", json={"query": SUBSCRIPTION}, headers=headers)
                )
                for _ in range(2)
            ]
            ((_, answer),) = (await end(other)).items()

            assert answer["userErrors"] == []
            assert await asyncio.gather(*map(close_code, sockets)) == [4403] * CONNECTIONS
            for data, complete in await asyncio.gather(*map(last_event, streams)):
                assert json.loads(data.removeprefix("data: "))["errors"][0]["extensions"] == ENDED
                assert complete == "event: complete"
        viewers = await asyncio.gather(*[asked(socket, "{ viewer { username } }") for socket in kept])
        assert viewers == [{"viewer": {"username": "alice"}}] * CONNECTIONS
        for socket in kept:
            await socket.close()


async def test_session_that_ends_by_time_ends_what_was_opened_with_it(store, clock, alice, monkeypatch):
    monkeypatch.setattr(ended_sessions, "CHECK_INTERVAL", 0.02)
    token, ended = (await store.sessions.open(alice)).token, asyncio.Event()
    sessions = EndedSessions()
    async with sessions.checked(store, Events()):
        with sessions.watch(Client(token, address="::1"), ended.set):
            clock.advance(store.site.session_lifetime)
            await asyncio.sleep(0.2)
            assert not ended.is_set()

            clock.advance(1)
            await asyncio.wait_for(ended.wait(), PATIENCE)


async def next_message(socket, type="next"):
    """The next message of this type."""
    while (message := json.loads(await asyncio.wait_for(socket.recv(), PATIENCE)))["type"] != type:
        pass
    return message


async def test_ping_refreshes_a_socket_with_a_token_of_the_same_user_only(served):
    live, _ = served
    loop = asyncio.get_running_loop()

    async def ask(query, token=None, **variables):
        return (await loop.run_in_executor(None, lambda: live.ask(query, token, **variables)))["data"]

    async def ping(socket, payload):
        await socket.send(json.dumps({"type": "ping", "payload": payload}))

    token = (await ask(REGISTER.replace("alice", "fred")))["register"]["token"]
    first, second = [(await ask(LOG_IN.replace("alice", "fred")))["logIn"]["token"] for _ in range(2)]
    bob = (await ask(REGISTER.replace("alice", "bob")))["register"]["token"]
    socket, _ = await opened_socket(live.url, first)
    await socket.send(json.dumps({"type": "complete", "id": "1"}))  # the subscription that `opened_socket` has begun
    posted = "subscription { articlePosted { title viewerVote } }"
    await socket.send(json.dumps({"type": "subscribe", "id": "3", "payload": {"query": posted}}))
    for payload in (None, {}, {"Authorization": "Basic x"}, {"Authorization": f"Bearer {second}"}):
        await ping(socket, payload)
        assert (await next_message(socket, "pong")) == {"type": "pong"}
    await ask(LOG_OUT, first)
    assert await asked(socket, "{ viewer { username isBanned } }") == {
        "viewer": {"username": "fred", "isBanned": False}
    }

    await ask('mutation { post(input: {title: "A title", content: "text"}) { article { id } } }', second)
    event = (await next_message(socket))["payload"]
    assert event == {"data": {"articlePosted": {"title": "A title", "viewerVote": "UP"}}}

    others = [(await opened_socket(live.url, token))[0] for _ in range(3)]
    for other, wrong in zip(others, (bob, first, "no token"), strict=True):
        await ping(other, {"Authorization": f"Bearer {wrong}"})
        assert await close_code(other) == 4403
    await ask(LOG_OUT, second)
    assert await close_code(socket) == 4403


async def test_subscriptions_that_need_a_viewer_go_on_with_the_token_of_a_ping(served):
    """The session that they began with has ended."""
    live, _ = served
    loop = asyncio.get_running_loop()

    async def ask(query, token=None):
        return (await loop.run_in_executor(None, lambda: live.ask(query, token)))["data"]

    erin = REGISTER.replace("alice", "erin")
    first = (await ask(erin))["register"]["token"]
    second = (await ask(LOG_IN.replace("alice", "erin")))["logIn"]["token"]
    socket, _ = await opened_socket(live.url, first)
    await socket.send(json.dumps({"type": "complete", "id": "1"}))  # the subscription that `opened_socket` has begun
    fed = "subscription { feedArticle { title viewerVote } }"
    await socket.send(json.dumps({"type": "subscribe", "id": "3", "payload": {"query": fed}}))
    await socket.send(json.dumps({"type": "ping", "payload": {"Authorization": f"Bearer {second}"}}))
    await next_message(socket, "pong")
    await ask(LOG_OUT, first)
    await ask('mutation { post(input: {title: "A title", content: "text"}) { article { id } } }', second)

    while (message := json.loads(await asyncio.wait_for(socket.recv(), PATIENCE)))["id"] != "3":
        pass
    assert message["payload"] == {"data": {"feedArticle": {"title": "A title", "viewerVote": "UP"}}}
    await socket.close()


async def test_upgrade_takes_the_cookie_of_pages_of_the_site_only(served):  # U4
    live, _ = served
    register = REGISTER.replace("alice", "carol").replace('horse"', 'horse", cookie: true')
    async with httpx.AsyncClient(timeout=PATIENCE, headers={"origin": live.url}) as http:
        opened = [
            await http.post(f"{live.url}/graphql", json={"query": register.replace("carol", name)})
            for name in ("carol", "dave")
        ]
    cookie, of_dave = [each.headers["set-cookie"].partition(";")[0] for each in opened]
    token = of_dave.partition("=")[2]

    async def viewer(origin, init=None, cookie=cookie, query="{ viewer { username } }"):
        url, sent = f"{live.url.replace('http', 'ws')}/graphql", {"cookie": cookie}
        async with connect(url, subprotocols=[PROTOCOL], origin=origin, additional_headers=sent) as socket:
            await socket.send(json.dumps({"type": "connection_init", "payload": init}))
            assert (await next_message(socket, "connection_ack"))["type"] == "connection_ack"
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}))
            message = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            return message["payload"]

    carol, nobody = {"data": {"viewer": {"username": "carol"}}}, {"data": {"viewer": None}}
    assert await viewer(live.url) == await viewer(live.url, {"X-Upvote-Viewer": "carol"}) == carol
    assert await viewer(live.url, {"Authorization": f"Bearer {token}", "x-upvote-viewer": "carol"}) == {
        "data": {"viewer": {"username": "dave"}}
    }
    assert await viewer("http://localhost:1") == await viewer(None) == nobody  # the socket is opened, for nobody
    assert await viewer(live.url, {"X-Upvote-Viewer": "carol"}, cookie="other=1") == nobody | {
        "extensions": {"session": "ended"}
    }
    (changed,) = await viewer(live.url, {"X-Upvote-Viewer": "carol"}, of_dave)
    assert changed["extensions"] == {"code": "UNAUTHENTICATED", "session": "changed"}
    with pytest.raises(InvalidStatus):
        await viewer("https://evil.example")
    log_in = register.replace("register", "logIn").replace("{ token }", "{ userErrors { code field } }")
    assert (await viewer(live.url, query=log_in))["data"]["logIn"] == {
        "userErrors": [{"code": "INVALID", "field": ["input", "cookie"]}]
    }
