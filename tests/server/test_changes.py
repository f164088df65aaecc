"""
The subscription `changes` to the log of a whole server: an EventSource goes on where it was after a restart.

Codes such as D4 name rows of docs/behaviours.md.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.server.commands import run
from tests.server.conftest import POST, REGISTER, Live, serving
from tests.servers import PATIENCE

CHANGES = 'subscription { changes(kinds: ["posted", "registered"]) { kind } }'


@contextmanager
def events(live: Live, key: str, last_event_id: str | None = None) -> Iterator[Iterator[tuple[str, str]]]:
    """The id and the kind of each event; the kind is empty for an id without data."""
    headers = {"Accept": "text/event-stream", "X-Upvote-Key": key}
    if last_event_id is not None:
        headers["Last-Event-ID"] = last_event_id
    arguments = {"params": {"query": CHANGES}, "headers": headers, "timeout": PATIENCE}
    with httpx.stream("GET", f"{live.url}/graphql", **arguments) as response:
        yield parsed(response.iter_lines())


def parsed(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    id = kind = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "id":
            id = value
        elif name == "data" and value:
            kind = json.loads(value)["data"]["changes"]["kind"]
        elif not line and id:
            yield id, kind
            id = kind = ""


@pytest.mark.slow
def test_event_source_goes_on_after_a_restart_of_the_server(tmp_path):  # D4
    with serving(tmp_path, workers=2) as live:
        key = run("key", "create", "reader", data_dir=tmp_path).stdout.strip()
        with events(live, key) as received:
            begun, _ = next(received)
            token = live.ask(REGISTER)["data"]["register"]["token"]
            last, kind = next(received)
            live.ask(POST, token, title="while it listens")
            assert (kind, next(received)[1]) == ("registered", "posted")
        live.ask(POST, token, title="while it is away")
    with serving(tmp_path) as live:
        with events(live, key, last) as received:
            assert next(received) == (last, "")
            assert [next(received)[1] for _ in range(2)] == ["posted", "posted"]
            live.ask(POST, token, title="after the restart")
            assert next(received)[1] == "posted"
        with events(live, key, begun) as received:
            assert [next(received)[1] for _ in range(5)] == ["", "registered", "posted", "posted", "posted"]
