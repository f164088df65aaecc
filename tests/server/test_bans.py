"""
Bans in a server of two processes: both refuse who is banned, and close their sockets and streams.

Codes such as M1 name rows of docs/behaviours.md.
"""

import asyncio
import json
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.server.commands import run
from tests.server.conftest import REGISTER, serving
from tests.servers import PATIENCE
from tests.support.sockets import ENDED, SUBSCRIPTION, close_code, last_event, opened_socket

CONNECTIONS = 8  # of each user: some to each process
VOTE = "mutation($id: ID!) { vote(input: {articleId: $id}) { userErrors { code } } }"
POST = 'mutation { post(input: {title: "A title", content: "text"}) { article { id } userErrors { code } } }'
BAN = 'mutation { banUser(input: {userId: "user:alice", reason: "spam"}) { changed userErrors { code message } } }'
LOG_IN = 'mutation { logIn(input: {username: "alice", password: "correct horse"}) { token } }'


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of two processes, and the tokens of alice, bob and the moderator mona."""
    with serving(tmp_path_factory.mktemp("bans"), workers=2, partitions=4) as live:
        names = ("alice", "bob", "mona")
        tokens = {name: live.ask(REGISTER.replace("alice", name))["data"]["register"]["token"] for name in names}
        data_dir = live.printed[-1].split(maxsplit=1)[1]  # the last line is "data", and the folder
        granted = run("role", "grant", "mona", "MODERATOR", data_dir=data_dir)
        assert granted.returncode == 0, granted.stderr
        yield live, tokens


@pytest.mark.slow
async def test_ban_is_known_to_all_processes_once_it_is_answered(served):  # M1, M6
    live, tokens = served
    loop = asyncio.get_running_loop()

    async def ask(query, token, **variables):
        return await loop.run_in_executor(None, lambda: live.ask(query, token, **variables))

    id = (await ask(POST, tokens["bob"]))["data"]["post"]["article"]["id"]
    async with AsyncExitStack() as stack:
        sockets = {
            name: [(await opened_socket(live.url, tokens[name]))[0] for _ in range(CONNECTIONS)]
            for name in ("alice", "bob")
        }
        for socket in (*sockets["alice"], *sockets["bob"]):
            stack.push_async_callback(socket.close)
        http = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))
        headers = {"accept": "text/event-stream", "authorization": f"Bearer {tokens['alice']}"}
        streams = [
            await stack.enter_async_context(
                http.stream("POST", f"{live.url}/graphql", json={"query": SUBSCRIPTION}, headers=headers)
            )
            for _ in range(CONNECTIONS)
        ]

        assert (await ask(BAN, tokens["mona"]))["data"]["banUser"] == {"changed": True, "userErrors": []}
        before = [await ask(VOTE, tokens["alice"], id=id) for _ in range(CONNECTIONS)]
        token = (await ask(LOG_IN, token=None))["data"]["logIn"]["token"]
        after = [await ask(query, token, id=id) for query in (VOTE, POST) for _ in range(CONNECTIONS)]
        codes = await asyncio.gather(*map(close_code, sockets["alice"]))
        ends = await asyncio.gather(*map(last_event, streams))

        assert [answer["data"]["vote"]["userErrors"] for answer in before] == [
            [{"code": "UNAUTHENTICATED"}]
        ] * CONNECTIONS
        refused = [
            error["code"] for answer in after for each in answer["data"].values() for error in each["userErrors"]
        ]
        assert refused == ["BANNED"] * 2 * CONNECTIONS
        assert codes == [4403] * CONNECTIONS
        for data, complete in ends:
            assert (json.loads(data.removeprefix("data: "))["errors"][0]["extensions"], complete) == (
                ENDED,
                "event: complete",
            )
        posted = (await ask(POST.replace("A title", "Another"), tokens["bob"]))["data"]["post"]["article"]["id"]
        for socket in sockets["bob"]:
            message = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
            assert message["payload"]["data"] == {"articlePosted": {"id": posted}}
        socket, viewer = await opened_socket(live.url, token)
        await socket.close()
        assert viewer == {"viewer": {"username": "alice", "isBanned": True}}
