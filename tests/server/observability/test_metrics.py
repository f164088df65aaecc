"""
What `/metrics` shows, of one process and of several.

The fixture `live` is a running server with an article, which the tests share.
"""

import resource
import signal
import subprocess
import sys

import httpx
import pytest
from websockets.sync.client import connect

from server.observability.metrics import Counters
from tests.server.conftest import serving
from tests.servers import until
from tests.support.metrics import family, of

# a program that counts, and is killed at once
COUNTING = """
import os, signal, sys
from pathlib import Path
from server.observability.metrics import Counters

counters = Counters(Path(sys.argv[1]))
counters.values[counters.index("open")] += 1
counters.values[counters.index("asked", "page")] += 2
os.kill(os.getpid(), signal.SIGKILL)
"""

PAGE = "query {name} {{ articles {{ nodes {{ title poster {{ karma }} }} }} }}"
SUBSCRIBE = '{"type":"subscribe","id":"1","payload":{"query":"subscription { articlePosted { id } }"}}'


def test_operation_is_counted_with_its_seconds_and_cost(live):
    request = {"query": PAGE.format(name="Counted")}
    answers = [live.post(request, {"x-upvote-stats": "1"}).json() for _ in range(3)]
    costs = [answer["extensions"]["stats"] for answer in answers]

    shown = live.metrics()

    assert shown[of("upvote_operations_total", operation="Counted")] == 3
    assert shown[of("upvote_operation_seconds_count", operation="Counted")] == 3
    assert shown[of("upvote_operation_seconds_bucket", operation="Counted", le="+Inf")] == 3
    assert shown[of("upvote_store_round_trips_total", operation="Counted")] == sum(cost["roundTrips"] for cost in costs)
    assert shown[of("upvote_store_commands_total", operation="Counted")] == sum(cost["commands"] for cost in costs)


def test_executions_are_counted_by_execution_path(tmp_path):
    with serving(tmp_path) as live:
        for _ in range(3):
            live.ask("{ articles { totalCount } }")
            live.ask("{ articles(first: 0) { totalCount } }")
        live.ask("mutation { logOut { userErrors { code } } }")
        live.ask("query($id: ID!) { article(id: $id) { id } }")  # its variable is missing: nothing is executed
        shown = live.metrics()

    assert family(shown, "upvote_executions_total") == {
        of("upvote_executions_total", execution_path="new"): 3,
        of("upvote_executions_total", execution_path="compiled"): 2,
        of("upvote_executions_total", execution_path="error"): 2,
    }


def test_errors_are_counted_by_operation_and_code(live):
    live.ask("query Failing { a: article(id: 1) { id } b: article(id: 1) { id } }")
    live.ask("query Failing($id: ID!) { article(id: $id) { id } }")

    shown = live.metrics()

    assert shown[of("upvote_operations_total", operation="Failing")] == 2
    assert shown[of("upvote_operation_seconds_count", operation="Failing")] == 2
    failing = {name: value for name, value in family(shown, "upvote_errors").items() if "Failing" in name}
    assert failing == {of("upvote_errors_total", operation="Failing", code="BAD_USER_INPUT"): 2}


def test_requests_without_an_operation_are_counted_by_code(tmp_path):
    with serving(tmp_path) as live:
        for query in ("{", "{", "{ nothing }"):
            live.ask(query)

        shown = live.metrics()

    assert family(shown, "upvote_refusals") == {
        of("upvote_refusals_total", code="GRAPHQL_PARSE_FAILED"): 2,
        of("upvote_refusals_total", code="GRAPHQL_VALIDATION_FAILED"): 1,
    }


@pytest.mark.slow
def test_names_after_the_first_hundred_are_counted_as_other(tmp_path):
    long = "x" * 101
    with serving(tmp_path) as live:
        live.ask("{ __typename }")
        for name in [long, *(f"Q{number}" for number in range(109)), "Q0"]:
            live.ask(f"query {name} {{ __typename }}")

        shown = live.metrics()

    assert family(shown, "upvote_operations_total") == {
        of("upvote_operations_total", operation=""): 1,
        of("upvote_operations_total", operation="Q0"): 2,
        **{of("upvote_operations_total", operation=f"Q{number}"): 1 for number in range(1, 99)},
        of("upvote_operations_total", operation="other"): 11,
    }


def test_open_subscriptions_are_shown(live):
    with connect(live.url.replace("http", "ws") + "/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send('{"type":"connection_init"}')
        socket.recv()
        socket.send(SUBSCRIBE)
        until(lambda: live.metrics()["upvote_open_subscriptions"] == 1)

    until(lambda: live.metrics()["upvote_open_subscriptions"] == 0)


@pytest.mark.slow
def test_any_of_several_workers_shows_all(tmp_path):
    with serving(tmp_path, workers=2) as live:
        for _ in range(40):
            live.ask("query Shared { __typename }")

        scrapes = [live.metrics()[of("upvote_operations_total", operation="Shared")] for _ in range(20)]

    assert scrapes == [40] * 20


def test_content_type_is_that_of_prometheus(live):
    content_type = httpx.get(f"{live.url}/metrics").headers["content-type"]

    assert content_type == "text/plain; version=1.0.0; charset=utf-8"


def test_counts_of_a_killed_process_stay_but_not_those_of_open_connections(tmp_path):
    killed = subprocess.run([sys.executable, "-c", COUNTING, tmp_path], timeout=60)
    counters = Counters(tmp_path)
    counters.values[counters.index("asked", "page")] += 0.5
    counters.values[counters.index("open")] += 1

    assert killed.returncode == -signal.SIGKILL
    without_the_dead = "open"  # the counter whose values count for running processes only
    assert counters.totals(without_the_dead) == {("asked", "page"): 2.5, ("open",): 1}


def test_processes_with_the_same_id_one_after_another_are_counted_separately(tmp_path):
    for _ in range(2):
        counters = Counters(tmp_path)
        counters.values[counters.index("asked")] += 1

    assert counters.totals("open") == {("asked",): 2}


def test_new_names_get_consecutive_indexes():
    counters = Counters()

    assert [counters.index("a"), counters.index("a", "b"), counters.index("a"), counters.index("c")] == [0, 1, 0, 2]


def test_name_that_cannot_be_written_is_not_counted(tmp_path):
    """A limit on the file size stands for a full disk."""
    counters = Counters(tmp_path)
    counters.values[counters.index("a")] += 1
    (names,) = tmp_path.glob("*.names")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (names.stat().st_size + 3, before[1]))
    try:
        counters.values[counters.index("lost")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    counters.values[counters.index("b")] += 2

    assert counters.totals() == {("a",): 1, ("b",): 2}


def test_new_name_needs_no_new_file(tmp_path):
    counters = Counters(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        counters.values[counters.index("a")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert counters.totals() == {("a",): 1}
