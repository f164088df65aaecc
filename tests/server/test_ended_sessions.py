"""Sessions that their user ends, in a server of two processes: both close their sockets and streams."""

import asyncio
import json
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.server.conftest import REGISTER, serving
from tests.servers import PATIENCE
from tests.support.sockets import ENDED, SUBSCRIPTION, asked, close_code, last_event, opened_socket

CONNECTIONS = 6  # of each session: some to each process
LOG_IN = 'mutation { logIn(input: {username: "alice", password: "correct horse"}) { token } }'
LOG_OUT = "mutation { logOut { userErrors { code } } }"
END = "mutation($id: ID) { endSession(input: {sessionId: $id}) { userErrors { code } } }"
CHANGE = """mutation { changePassword(input: {currentPassword: "correct horse", newPassword: "battery staple"}) {
  userErrors { code } } }"""
OWN = "{ account { sessions { id isCurrent } } }"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("ended"), workers=2, partitions=4) as live:
        yield live, live.ask(REGISTER)["data"]["register"]["token"]


async def test_sockets_and_streams_of_ended_sessions_end_in_all_processes(two):
    live, token = two
    loop = asyncio.get_running_loop()

    async def ask(query, token, **variables):
        return (await loop.run_in_executor(None, lambda: live.ask(query, token, **variables)))["data"]

    async def log_in():
        return (await ask(LOG_IN, None))["logIn"]["token"]

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
