"""
The cost of requests in points, the bucket that they take from, which is that of a user or of an address, and the
headers with the remaining points, over HTTP. `PAGE` costs 41 points, and `SMALL` 2.

The fixture `live` is a running server with an article, which the tests share.
"""

import asyncio
import json
import time
from datetime import datetime

import httpx
import pytest

from tests.server.conftest import serving
from tests.servers import until
from tests.support.points import LIMIT, PAGE, SLOW_REFILL, SMALL, bearer, points_left, registered

LOG_OUT = "mutation { logOut { userErrors { code } } }"


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A server with 200 points for a user and 100,000 for an address."""
    with serving(
        tmp_path_factory.mktemp("limited"), rate_points=200, rate_address_points=100_000, **SLOW_REFILL
    ) as live:
        yield live


def spent(live, request=SMALL, headers=None):
    """The cost of the second of two requests, from the headers of both responses."""
    (kind, before), (same, after) = [points_left(live.post(request, headers)) for _ in range(2)]
    assert kind == same
    return kind, before - after


def is_spent(live):
    """Whether no process of the server has points left for this address."""
    return {live.post(PAGE).status_code for _ in range(10)} == {429}


@pytest.mark.slow
def test_users_behind_one_address_do_not_take_from_each_other(tmp_path):
    with serving(tmp_path, rate_points=200, rate_address_points=400, **SLOW_REFILL | {"workers": 2}) as live:
        tokens = [registered(live, f"user-{number}") for number in range(10)]
        while not is_spent(live):
            pass
        answers = [live.post(PAGE, bearer(token)) for token in tokens for _ in range(2)]

        assert {answer.status_code for answer in answers} == {200}
        assert {points_left(answer)[0] for answer in answers} == {"user"}
        assert is_spent(live)


def test_session_takes_from_its_user_and_others_from_the_address(limited):
    token = registered(limited, "alice")

    assert spent(limited, PAGE, bearer(token)) == ("user", 41)
    assert spent(limited, PAGE) == ("address", 41)
    assert limited.post(PAGE).headers["ratelimit-policy"] == '"address";q=100000;qu="points";w=100000000'


@pytest.mark.parametrize("junk", ["junk", "A" * 46, "x" * 5_000, "a.b"])
def test_junk_token_takes_from_the_address(limited, junk):
    assert spent(limited, SMALL, bearer(junk)) == ("address", 2)


def test_ended_session_takes_from_the_address(limited):
    token = registered(limited, "bob")
    assert points_left(limited.post(SMALL, bearer(token))) == ("user", 198)
    limited.ask(LOG_OUT, token)
    until(lambda: points_left(limited.post(SMALL, bearer(token)))[0] == "address")

    assert spent(limited, SMALL, bearer(token)) == ("address", 2)


def test_not_modified_costs_one_point(limited):
    url = f"{limited.url}/graphql"
    first = httpx.get(url, params=PAGE)
    again = [httpx.get(url, params=PAGE, headers={"If-None-Match": first.headers["etag"]}) for _ in range(2)]

    assert [answer.status_code for answer in again] == [304, 304]
    assert points_left(first)[1] - points_left(again[0])[1] == points_left(again[0])[1] - points_left(again[1])[1] == 1


async def test_joining_an_equal_request_costs_a_tenth(limited):
    """Requests on many connections, sent before any is answered; some of them arrive together."""
    asks = {"query": "{ articles(first: 100) { nodes { id } } }"}  # 101 points, a tenth of which is 11
    for _ in range(50):
        before = points_left(limited.post(SMALL))[1]
        await at_once(limited, asks, 10)
        cost = before - points_left(limited.post(SMALL))[1] - 2
        assert 101 + 9 * 11 <= cost <= 10 * 101
        if cost < 10 * 101:
            assert (10 * 101 - cost) % (101 - 11) == 0
            return
    pytest.fail("no requests arrived together")


async def at_once(live, request, count):
    """Send a request on so many connections, before any is answered."""
    body = json.dumps(request).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    address = live.url.removeprefix("http://").split(":")
    streams = [await asyncio.open_connection(*address) for _ in range(count)]
    for _, writer in streams:
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
    answers = await asyncio.gather(*(reader.read() for reader, _ in streams))
    for _, writer in streams:
        writer.close()
    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)


def test_refusal_has_the_setting_and_the_time_to_retry(tmp_path):
    with serving(tmp_path, rate_limits="on", rate_points=20, rate_points_back=2) as live:
        token = registered(live, "carol")
        answers = [live.post(PAGE, headers) for headers in (bearer(token), None) for _ in range(2)]
    users, addresses = answers[1], answers[3]

    assert [answer.status_code for answer in answers] == [200, 429, 200, 429]
    for answer, setting, points in ((users, "UPVOTE_RATE_POINTS", 20), (addresses, "UPVOTE_RATE_ADDRESS_POINTS", 40)):
        (error,) = answer.json()["errors"]
        assert error["message"].endswith(f"{setting} changes this limit")
        assert error["extensions"]["code"] == "RATE_LIMITED"
        assert f"the {points} points" in error["message"]
        _, remaining, seconds = LIMIT.fullmatch(answer.headers["ratelimit"]).groups()
        assert (remaining, seconds) == ("0", answer.headers["retry-after"])
    assert users.headers["ratelimit-policy"] == '"user";q=20;qu="points";w=10'


def test_every_response_has_the_remaining_points(limited):
    url, of_json = f"{limited.url}/graphql", {"Content-Type": "application/json"}
    events = {"Accept": "text/event-stream"}
    answers = [
        httpx.post(url, content=b"not JSON", headers=of_json),
        httpx.post(url, content=b"x", headers={"Content-Type": "text/plain"}),
        httpx.post(url, json={"query": "{ nothing }"}),
        httpx.post(url, json=SMALL, headers=events),
        httpx.get(url, params=SMALL),
        httpx.get(url, headers={"Accept": "text/html"}),
        httpx.put(url),
        httpx.options(url),
    ]

    assert [answer.status_code for answer in answers] == [400, 415, 200, 200, 200, 303, 405, 204]
    assert {points_left(answer)[0] for answer in answers} == {"address"}
    assert all("ratelimit-policy" in answer.headers for answer in answers)


def test_field_has_the_values_of_the_headers(limited):
    asks = {"query": "{ rateLimit { limit remaining restoreRate resetAt } }"}
    token = registered(limited, "erin")
    for headers, kind, limit in ((bearer(token), "user", 200), ({}, "address", 100_000)):
        answer = limited.post(asks, headers)
        shown = answer.json()["data"]["rateLimit"]
        assert points_left(answer) == (kind, shown["remaining"])
        assert (shown["limit"], shown["restoreRate"]) == (limit, 0)
        reset_at = datetime.fromisoformat(shown["resetAt"]).timestamp()
        assert reset_at - time.time() == pytest.approx((limit - shown["remaining"]) / 0.001, abs=1_000)


def test_response_with_the_points_of_a_client_is_not_cached(limited):
    answer = httpx.get(f"{limited.url}/graphql", params={"query": "{ rateLimit { remaining } }"})

    assert answer.headers["cache-control"] == "private, no-store"


def test_without_limits_responses_have_no_such_headers(live):
    answer = live.post(SMALL, bearer("junk"))

    assert "ratelimit" not in answer.headers
    assert "ratelimit-policy" not in answer.headers
    assert live.ask("{ rateLimit { limit } }") == {"data": {"rateLimit": None}}


@pytest.mark.slow
def test_workers_share_the_points_of_a_user(tmp_path):
    with serving(tmp_path, rate_points=200, workers=2, **SLOW_REFILL) as live:
        token = registered(live, "dave")
        statuses = []
        while statuses[-10:] != [429] * 10 and len(statuses) < 200:
            statuses.append(live.post(SMALL, bearer(token)).status_code)
            time.sleep(0.02)

    assert 60 <= statuses.count(200) < 130  # two processes that count for themselves answer 200
