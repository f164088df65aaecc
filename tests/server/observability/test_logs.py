"""
What the server writes to standard error: one JSON line for each operation and for whatever goes wrong.

The fixture `live` is a running server with an article, which the tests share.
"""

import socket
from re import fullmatch
from urllib.parse import urlsplit

import pytest

from tests.server.conftest import REGISTER, serving
from tests.servers import until
from tests.support.logs import digest

TRACE = "0af7651916cd43dd8448eb211c80319c"
NAMED = "query Named { articles { nodes { title } } }"
BREAK = "query Break { articles { nodes { title } } }"
TIMES = ("duration_ms", "timestamp")
PAUSE_MILLISECONDS = 1_200  # an operation is slow from a second on


def without_times(line):
    assert all(line[name] for name in TIMES if name in line)
    return {name: value for name, value in line.items() if name not in TIMES}


def test_operation_is_one_line_with_its_cost(live):
    headers = {"x-request-id": "logs-1", "x-upvote-stats": "1", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    cost = live.post({"query": NAMED}, headers).json()["extensions"]["stats"]

    [line] = live.logged(request_id="logs-1")

    assert without_times(line) == {
        "event": "operation",
        "level": "info",
        "request_id": "logs-1",
        "operation": "Named",
        "kind": "query",
        "document": digest(NAMED),
        "answers": 1,
        "round_trips": cost["roundTrips"],
        "commands": cost["commands"],
        "errors": [],
        "trace_id": TRACE,
    }


def test_fields_of_a_line_are_in_the_order_of_the_documentation(live):
    live.post({"query": NAMED}, {"x-request-id": "logs-7"})

    [line] = live.logged(request_id="logs-7")

    cost = ["duration_ms", "answers", "round_trips", "commands", "errors"]
    assert list(line) == ["request_id", "operation", "kind", "document", *cost, "event", "level", "timestamp"]
    assert fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", line["timestamp"])


def test_lines_of_failed_operations_are_written_at_once(live):
    live.post({"query": NAMED}, {"x-request-id": "logs-8"})
    live.post({"query": "{ article(id: 1) { id } }"}, {"x-request-id": "logs-9"})

    written = live.errors.read_text()

    assert written.index('"logs-8"') < written.index('"logs-9"')


def test_lines_of_refusals_are_written_at_once(live):
    live.post({"query": "{ nothing }"}, {"x-request-id": "logs-10"})

    assert '"logs-10"' in live.errors.read_text()


def test_lines_of_slow_operations_are_written_at_once(tmp_path, redis_url, redis):
    with serving(tmp_path, redis_url=redis_url) as live:
        redis.execute_command("CLIENT PAUSE", PAUSE_MILLISECONDS)
        live.post({"query": NAMED}, {"x-request-id": "logs-11"})

        assert '"logs-11"' in live.errors.read_text()


def test_errors_are_named_by_their_codes(live):
    live.post({"query": "{ a: article(id: 1) { id } b: article(id: 2) { id } }"}, {"x-request-id": "logs-2"})

    [line] = live.logged(request_id="logs-2")

    assert (line["errors"], line["operation"]) == (["BAD_USER_INPUT"], "")


def test_request_without_an_operation_is_one_line(live):
    live.post({"query": "{ nothing }"}, {"x-request-id": "logs-3"})

    [line] = live.logged(request_id="logs-3")

    assert without_times(line) == {
        "event": "refused",
        "level": "info",
        "request_id": "logs-3",
        "errors": ["GRAPHQL_VALIDATION_FAILED"],
    }


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_tokens_variables_and_literals_are_in_no_line(tmp_path, log_format):
    login = "mutation ($name: String!, $word: String!) { logIn(input: {username: $name, password: $word}) { token } }"
    literal = 'query Quiet { article(id: "secret-literal") { id } viewer { username } }'
    with serving(tmp_path, log_format=log_format) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(login, token, name="secret-name", word="secret-word")
        live.ask(literal, "secret-token")
        live.ask("{ secretField }", token)
        live.post({"query": literal, "variables": {"secret-variable": 1}}, {"x-request-id": "secret id"})
        written = live.written()

    assert len(written.splitlines()) == 5  # one for each request
    assert token not in written
    assert "correct horse" not in written
    assert "secret" not in written


@pytest.fixture
def broken(tmp_path, redis_url, redis):
    """A server whose store holds an article without a readable time."""
    with serving(tmp_path, redis_url=redis_url) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask('mutation { post(input: {title: "a", link: "https://example.com/"}) { article { id } } }', token)
        (article,) = redis.scan_iter("article:*")
        redis.hset(article, "time", "never")
        yield live


def test_fault_is_logged_once_with_its_request_and_traceback(broken):
    answer = broken.post({"query": BREAK}, {"x-request-id": "logs-4"}).json()

    fault, operation = broken.logged(request_id="logs-4")

    assert {error["extensions"]["code"] for error in answer["errors"]} == {"INTERNAL_SERVER_ERROR"}
    assert (fault["level"], fault["event"]) == ("error", "request logs-4 failed at articles")
    assert fault["exception"].startswith("Traceback (most recent call last):")
    assert "ValueError" in fault["exception"].splitlines()[-1]
    assert (operation["level"], operation["errors"]) == ("info", ["INTERNAL_SERVER_ERROR"])


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_traceback_quotes_nothing(tmp_path, redis_url, redis, log_format):
    """What a fault says of a value may be what a client has sent."""
    with serving(tmp_path, redis_url=redis_url, log_format=log_format) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask('mutation { post(input: {title: "a", link: "https://example.com/"}) { article { id } } }', token)
        (article,) = redis.scan_iter("article:*")
        redis.hset(article, "time", "secret-time")
        live.ask(BREAK)
        until(lambda: "ValueError" in live.errors.read_text())
        written = live.errors.read_text()

    assert "Traceback (most recent call last)" in written
    assert "secret" not in written


NESTED = """query Nested { groups { nodes { articles(first: 0) { totalCount } } edges { node { articles {
  totalCount } } } } articles { nodes { voters(after: "secret-cursor") { nodes { karma } } groups { articles(
  before: "secret-cursor") { totalCount } } poster { articles(last: 1000) { totalCount } } } }
  article(id: "secret-id") { id } node(id: "secret-node") { id } user(username: "secret name") { id } }"""


def test_errors_of_nested_fields_are_one_line(tmp_path):
    with serving(tmp_path) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        for number in range(3):
            live.ask(
                'mutation($group: String!) { post(input: {title: $group, content: $group, groups: [$group, "all"]}) '
                "{ article { id } } }",
                token,
                group=f"group{number}",
            )
        for _ in range(10):
            answer = live.post({"query": NESTED}, {"x-request-id": "logs-6"}).json()
            assert {error["extensions"]["code"] for error in answer["errors"]} == {"BAD_USER_INPUT"}
        lines = live.logged(request_id="logs-6")
        written = live.written()

    assert [(line["event"], line["level"]) for line in lines] == [("operation", "info")] * 10
    assert len(written.splitlines()) == 14  # 10 requests with errors, and those before
    assert "secret" not in written


def test_operation_with_an_unavailable_store_is_a_warning(broken, redis):
    redis.delete("score:{0}")
    redis.set("score:{0}", "no index")

    broken.post({"query": BREAK}, {"x-request-id": "logs-5"})

    [line] = broken.logged(request_id="logs-5")
    assert (line["level"], line["errors"]) == ("warning", ["UNAVAILABLE"])


def test_lines_below_the_log_level_are_not_written(tmp_path):
    with serving(tmp_path, log_level="warning") as live:
        live.ask("{ __typename }")
        send_garbage(live.url)
        until(live.logged)

        [line] = live.logged()

    assert without_times(line) == {"event": "Invalid HTTP request received.", "level": "warning"}


def send_garbage(url):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(b"garbage\r\n\r\n")
        client.recv(1000)
