"""
Keys of other servers that send the requests of their visitors: whose points and whose address count, and when a revoked
key is refused. `PAGE` costs 41 points, and `SMALL` 2.
"""

import re
import subprocess
import time

import pytest

from tests.server.commands import run
from tests.server.conftest import serving
from tests.support.points import PAGE, SLOW_REFILL, SMALL, bearer, points_left, registered

KEY = re.compile(r"[a-z0-9-]+\.[A-Za-z0-9_-]{43}")
REGISTER_AND_TELL = """mutation { register(input: {username: "%s", password: "correct horse"}) {
  userErrors { code } } }"""


def key_command(live, *arguments: str) -> "subprocess.CompletedProcess[str]":
    data_dir = live.printed[-1].split(maxsplit=1)[1]  # the last line is "data", and the folder
    return run("key", *arguments, data_dir=data_dir)


def created(live, name):
    return key_command(live, "create", name).stdout.strip()


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    settings = {"rate_registrations": 2, "rate_points": 200, "rate_key_points_back": 0.001, **SLOW_REFILL}
    with serving(tmp_path_factory.mktemp("keys"), **settings) as live:
        yield live


@pytest.mark.slow
def test_command_shows_a_key_once_and_lists_and_revokes_names(limited):
    shown = created(limited, "blog")
    again = key_command(limited, "create", "blog")
    odd = key_command(limited, "create", "A b")
    missing = key_command(limited, "revoke", "shop")
    listed = key_command(limited, "list").stdout
    revoked = key_command(limited, "revoke", "blog")

    assert KEY.fullmatch(shown)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("upvote: there is a server key blog already")
    assert odd.stderr.startswith("upvote: A b: a name is 1 to 50 of")
    assert missing.stderr == "upvote: there is no server key shop\n"
    assert re.fullmatch(r"blog  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", listed)
    assert (revoked.returncode, revoked.stdout) == (0, "revoked blog\n")
    assert key_command(limited, "list").stdout == ""


def test_key_has_a_bucket_of_its_own_and_a_session_behind_it_its_users(limited):
    key = {"X-Upvote-Key": created(limited, "own")}
    before = points_left(limited.post(SMALL))[1]
    keyed = [points_left(limited.post(PAGE, key)) for _ in range(2)]
    token = registered(limited, "alice")
    session = limited.post(PAGE, key | bearer(token))

    assert keyed == [("key", 100_000 - 41), ("key", 100_000 - 82)]
    assert points_left(session) == ("user", 200 - 41)
    assert points_left(limited.post(SMALL, key)) == ("key", 100_000 - 84)
    assert before - points_left(limited.post(SMALL))[1] < 41  # one registration and two little queries
    assert limited.post(PAGE, key).headers["ratelimit-policy"].startswith('"key";q=100000;qu="points";w=')


def test_junk_token_behind_a_key_takes_from_the_key(limited):
    key = {"X-Upvote-Key": created(limited, "junk")}

    assert points_left(limited.post(SMALL, key | bearer("A" * 46))) == ("key", 99_998)


def test_key_reads_the_log_for_points_by_the_size_of_the_page(limited):
    key = {"X-Upvote-Key": created(limited, "log")}
    query = "{ changes(limit: %d) { changes { kind subjectId } endCursor hasMore } }"
    registered(limited, "carol")
    answer, refused = limited.post({"query": query % 400}, key), limited.post({"query": query % 1})

    assert {"kind": "registered", "subjectId": "user:carol"} in answer.json()["data"]["changes"]["changes"]
    assert points_left(answer) == ("key", 100_000 - 401)
    assert [error["extensions"]["code"] for error in refused.json()["errors"]] == ["FORBIDDEN"]


def test_registrations_count_for_the_visitor_whose_address_the_key_brings(tmp_path):
    with serving(tmp_path, rate_limits="on", rate_registrations=1) as live:
        key = created(live, "site")

        def register(number, **headers):
            query = REGISTER_AND_TELL % f"user-{number}"
            answer = live.post({"query": query}, {name.replace("_", "-"): value for name, value in headers.items()})
            return [error["code"] for error in answer.json()["data"]["register"]["userErrors"]]

        behind_key = [
            register(number, X_Upvote_Key=key, X_Upvote_Visitor=address)
            for number, address in enumerate(
                ["203.0.113.1", "203.0.113.2", "203.0.113.1", "2001:db8::1", "2001:db8::2"]
            )
        ]
        alone = [register(10 + number, X_Upvote_Visitor=f"203.0.113.{10 + number}") for number in range(2)]

    assert behind_key == [[], [], ["RATE_LIMITED"], [], ["RATE_LIMITED"]]
    assert alone == [[], ["RATE_LIMITED"]]  # without a key nobody chooses an address


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"X-Upvote-Key": "own.wrong"}, 401, "UNAUTHENTICATED"),
        ({"X-Upvote-Key": ""}, 401, "UNAUTHENTICATED"),
        ({"X-Upvote-Key": "x" * 1_000}, 401, "UNAUTHENTICATED"),
        ({"X-Upvote-Visitor": "somewhere"}, 200, None),
    ],
)
def test_wrong_key_is_refused_and_a_visitor_without_a_key_is_ignored(limited, headers, status, code):
    answer = limited.post(SMALL, headers)

    assert answer.status_code == status
    assert [error["extensions"]["code"] for error in answer.json().get("errors", [])] == ([code] if code else [])
    assert points_left(answer)[0] == "address"


def test_visitor_that_is_no_address_is_refused(limited):
    key = created(limited, "odd")
    answer = limited.post(SMALL, {"X-Upvote-Key": key, "X-Upvote-Visitor": "somewhere"})

    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_REQUEST")


@pytest.mark.slow
def test_revoked_key_is_refused_within_a_second_by_all_workers(tmp_path):
    with serving(tmp_path, rate_limits="on", workers=2) as live:
        kept, revoked = ({"X-Upvote-Key": created(live, name)} for name in ("kept", "revoked"))
        for _ in range(20):
            assert {live.post(SMALL, key).status_code for key in (kept, revoked)} == {200}
        key_command(live, "revoke", "revoked")
        time.sleep(1)

        assert {live.post(SMALL, revoked).status_code for _ in range(20)} == {401}
        assert {live.post(SMALL, kept).status_code for _ in range(20)} == {200}
