"""
Moderation by a whole server of two workers: a revocation counts in each, and notes are for moderators only.

Codes such as M9 name rows of docs/behaviours.md.
"""

import asyncio
import json

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.server.commands import run
from tests.server.conftest import REGISTER, serving
from tests.servers import PATIENCE

GRANT = """mutation($name: ID!, $group: String) {
  grantRole(input: {userId: $name, role: MODERATOR, group: $group, reason: "a reason"}) {
    action { id } userErrors { code } } }"""
REVERT = """mutation($id: ID!) { revertModeration(input: {actionId: $id, reason: "a mistake", note: "for us"}) {
  action { id } userErrors { code } } }"""
NOTES = "{ moderationLog(first: 3) { nodes { kind reason note } } }"
CONNECTIONS = 20  # so many that both workers answer some of them


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server of two workers, and tokens: of an admin, of a moderator of a group, and of somebody else."""
    folder = tmp_path_factory.mktemp("moderated")
    with serving(folder, workers=2) as live:
        names = ("chief", "helper", "reader")
        tokens = {name: live.ask(REGISTER.replace("alice", name))["data"]["register"]["token"] for name in names}
        granted = run("role", "grant", "chief", "ADMIN", data_dir=folder)
        assert (granted.stdout, granted.stderr) == ("chief is an ADMIN of the whole site\n", "")
        made = live.ask(GRANT, tokens["chief"], name="user:helper", group="show")["data"]["grantRole"]
        other = live.ask(GRANT, tokens["chief"], name="user:helper", group="ask")["data"]["grantRole"]
        assert made["userErrors"] == other["userErrors"] == []
        reverted = live.ask(REVERT, tokens["chief"], id=other["action"]["id"])["data"]["revertModeration"]
        assert reverted["userErrors"] == []
        yield live, folder, tokens | {"nobody": None}


async def answers(live, token):
    """What `NOTES` answers over HTTP by POST and GET, as server-sent events, and over a WebSocket."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(base_url=live.url, headers=headers, timeout=PATIENCE) as http:
        posted = (await http.post("/graphql", json={"query": NOTES})).json()
        got = (await http.get("/graphql", params={"query": NOTES})).json()
        events = await http.post("/graphql", json={"query": NOTES}, headers={"Accept": "text/event-stream"})
        (streamed,) = [line.removeprefix("data: ") for line in events.text.splitlines() if line.startswith("data: {")]
    async with connect(f"{live.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": headers}))
        await asyncio.wait_for(socket.recv(), PATIENCE)
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": NOTES}}))
        sent = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
    return [posted, got, json.loads(streamed), sent["payload"]]


@pytest.mark.slow
async def test_notes_are_for_moderators_over_each_transport(served):  # M9
    """Each is asked after one who may read more, and after one who may read less."""
    live, _, tokens = served
    for name in ("chief", "nobody", "chief", "reader", "helper", "nobody"):
        note = "for us" if name == "chief" else None  # the action is one in the group ask
        shown = [
            {"kind": "REVERT", "reason": "a mistake", "note": note},
            {"kind": "GRANT_ROLE", "reason": "a reason", "note": None},
            {"kind": "GRANT_ROLE", "reason": "a reason", "note": None},
        ]
        assert await answers(live, tokens[name]) == [{"data": {"moderationLog": {"nodes": shown}}}] * 4


async def test_equal_queries_at_once_are_answered_by_viewer(served):  # M9
    live, _, tokens = served
    async with httpx.AsyncClient(base_url=live.url, timeout=PATIENCE) as http:

        async def note(token):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            answer = (await http.post("/graphql", json={"query": NOTES}, headers=headers)).json()
            return answer["data"]["moderationLog"]["nodes"][0]["note"]

        asked = ["chief", "nobody", "reader", "chief", "helper"] * 12
        notes = await asyncio.gather(*(note(tokens[name]) for name in asked))

    assert notes == ["for us" if name == "chief" else None for name in asked]


def test_revoked_admin_is_refused_by_all_workers_at_once(served):  # M1
    live, folder, tokens = served
    run("role", "grant", "reader", "ADMIN", data_dir=folder)
    made = live.ask(GRANT, tokens["reader"], name="user:helper", group="video")["data"]["grantRole"]
    run("role", "revoke", "reader", "ADMIN", data_dir=folder)

    for _ in range(CONNECTIONS):  # each on a connection of its own
        refused = live.ask(GRANT, tokens["reader"], name="user:helper", group="music")["data"]["grantRole"]
        assert refused == {"action": None, "userErrors": [{"code": "NOT_A_MODERATOR"}]}
    assert made["userErrors"] == []
    shown = live.ask('{ group(name: "music") { moderators { totalCount } } }')["data"]["group"]
    assert shown == {"moderators": {"totalCount": 0}}
