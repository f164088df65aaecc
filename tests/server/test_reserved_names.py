"""Usernames that the settings reserve: those of `UPVOTE_RESERVED_NAMES`, and that of the site."""

import pytest

from server.settings import WrongSetting, read_settings
from tests.server import in_process
from tests.server.conftest import REGISTER


async def test_names_of_the_settings_are_reserved(redis_url):
    register = REGISTER.replace("{ token }", "{ userErrors { code message } }")
    async with in_process.serving(redis_url, reserved_names="Alice, carol", site_name="The Lobby") as http:
        answers = [
            (await http.post("/graphql", json={"query": register.replace("alice", name)})).json()["data"]["register"]
            for name in ("alice", "the-lobby", "root", "bob")
        ]

    messages = [f"the username {name} is reserved" for name in ("alice", "the-lobby", "root")]
    refused = [{"userErrors": [{"code": "INVALID", "message": message}]} for message in messages]
    assert answers == [*refused, {"userErrors": []}]


def test_reserved_name_that_nobody_can_have_stops_the_start(monkeypatch):
    monkeypatch.setenv("UPVOTE_RESERVED_NAMES", "boss, the boss")

    with pytest.raises(WrongSetting, match="UPVOTE_RESERVED_NAMES=boss, the boss: 'the boss' is not a username"):
        read_settings()
