"""
A user who leaves a server of two processes, and a backup that was made before.

Codes such as U6 name rows of docs/behaviours.md.
"""

import asyncio
import shutil
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.server.commands import run
from tests.server.conftest import REGISTER, serving
from tests.support.sockets import close_code, opened_socket

CONNECTIONS = 8  # of each user: some to each process
VOTE = "mutation($id: ID!) { vote(input: {articleId: $id}) { userErrors { code } } }"
POST = 'mutation { post(input: {title: "A title", content: "text"}) { article { id } } }'
DELETE = """mutation { deleteUser(input: {currentPassword: "correct horse"}) { deletedUserId userErrors { code } } }"""
STATE = """query($id: ID!, $name: String!) {
  user(username: $name) { id } node(id: $id) { ... on Article { poster { id username } } } }"""
CODE = "userErrors { code }"


def page(url: str) -> str:
    return httpx.get(url).raise_for_status().text


@pytest.mark.one_server
@pytest.mark.slow
async def test_user_who_left_is_gone_in_all_processes_and_after_a_restore(tmp_path: Path):  # U6
    backup, other, third = (tmp_path / name for name in ("backup", "other", "third"))
    with serving(tmp_path / "data", workers=2, partitions=4) as live:
        tokens = {
            name: live.ask(REGISTER.replace("alice", name))["data"]["register"]["token"] for name in ("alice", "bob")
        }
        id = live.ask(POST, tokens["alice"])["data"]["post"]["article"]["id"]
        shown = [f"{live.url}/hn/v0/item/{id.partition(':')[2]}.json", f"{live.url}/rss.xml", f"{live.url}/atom.xml"]
        assert all("alice" in page(url) for url in shown)
        assert run("backup", backup, data_dir=tmp_path / "data").returncode == 0

        async with AsyncExitStack() as stack:
            sockets = {
                name: [(await opened_socket(live.url, tokens[name]))[0] for _ in range(CONNECTIONS)] for name in tokens
            }
            for socket in (*sockets["alice"], *sockets["bob"]):
                stack.push_async_callback(socket.close)
            answer = await asyncio.to_thread(live.ask, DELETE, tokens["alice"])
            pseudonym = answer["data"]["deleteUser"]["deletedUserId"]
            for _ in range(CONNECTIONS):
                found = live.ask(STATE, id=id, name="alice")["data"]
                assert found == {"user": None, "node": {"poster": {"id": pseudonym, "username": "[deleted]"}}}
                refused = live.ask(VOTE, tokens["alice"], id=id)["data"]["vote"]
                assert refused == {"userErrors": [{"code": "UNAUTHENTICATED"}]}
                assert not any("alice" in page(url) for url in shown)
            assert '"by"' not in page(shown[0])
            assert "creator" not in page(shown[1]) and "<author>" not in page(shown[2])
            again = live.ask(REGISTER.replace("{ token", "{ token " + CODE))["data"]["register"]
            assert again == {"token": None, "userErrors": [{"code": "USERNAME_TAKEN"}]}
            assert await asyncio.gather(*map(close_code, sockets["alice"])) == [4403] * CONNECTIONS
            assert [await opened_socket(live.url, tokens["bob"])]

    for folder, arguments, printed in (
        (other, (), "deleted again 1 users"),
        (third, ("--without-deletions",), None),
    ):
        folder.mkdir()
        shutil.copy(tmp_path / "data" / "deletions.jsonl", folder)
        done = run("restore", backup, *arguments, data_dir=folder)
        assert done.returncode == 0, done.stderr
        assert (printed in done.stdout) if printed else ("deleted" not in done.stdout)
        assert run("verify", data_dir=folder).returncode == 0
        with serving(folder) as live:
            found = live.ask(STATE, id=id, name="alice")["data"]
        names = ("[deleted]", None) if printed else ("alice", {"id": "user:alice"})
        assert (found["node"]["poster"]["username"], found["user"]) == names
