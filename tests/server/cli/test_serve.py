"""
The command `serve`: its start, its settings, its end.

The fixture `live` is a running server with an article, which the tests share.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from datetime import datetime, timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from schema import schema
from server.managed_valkey import server
from server.settings import WrongSetting, read_settings
from tests import programs
from tests.server.commands import ROOT, environment, run
from tests.server.conftest import POST, REGISTER, serving
from tests.servers import Server, running, until

TITLES = "{ articles { nodes { title votes } } viewer { username } }"


def test_start_prints_addresses_and_data(tmp_path):
    with serving(tmp_path) as live:
        assert [line.split()[0] for line in live.printed] == ["site", "explorer", "endpoint", "data"]
        assert live.printed[0].split()[1] == f"{live.url}/"
        assert live.printed[1].split()[1] == f"{live.url}/explorer"
        assert live.printed[2].split()[1] == f"{live.url}/graphql"
        assert live.printed[3].split()[1] == str(tmp_path)


@pytest.mark.parametrize(
    "request_line",
    [
        "GET /graphql?query={__typename}",
        "GET /graphql?query={nothing}",
        "GET /graphql",
        "PUT /graphql",
        "GET /",
        "GET /article/1",
        "GET /reader/nothing",
        "GET /explorer",
        "GET /explorer/nothing",
        "GET /schema.graphql",
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
        "GET /nothing",
        "nothing at all",
    ],
)
@pytest.mark.parametrize("accept", ["*/*", "text/html"])
def test_every_response_forbids_content_sniffing(live, request_line, accept):
    parts = urlsplit(live.url)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        lines = (f"{request_line} HTTP/1.1", "Host: x", f"Accept: {accept}", "Connection: close")
        client.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = client.makefile("rb").read().partition(b"\r\n\r\n")[0]

    assert head.lower().count(b"\r\nx-content-type-options: nosniff") == 1


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_data_survives_a_restart(tmp_path, by):
    with serving(tmp_path) as first:
        token = first.ask(REGISTER)["data"]["register"]["token"]
        first.ask(POST, token)
        httpx.get(f"{first.url}/readyz")
        first.stop(by)

    with serving(tmp_path) as second:
        assert second.ask(TITLES, token)["data"] == {
            "articles": {"nodes": [{"title": "Redis in Action", "votes": 1}]},
            "viewer": {"username": "alice"},
        }


def test_managed_valkey_ends_with_the_server(tmp_path):
    with serving(tmp_path) as live:
        live.stop()

    with server.running(tmp_path) as url:
        assert url.startswith("unix://")


@pytest.mark.slow
def test_second_server_on_the_same_data_is_refused(tmp_path):
    with serving(tmp_path):
        second = run("serve", port=0, data_dir=tmp_path)

    assert second.returncode == 2
    assert second.stderr == f"upvote: another server uses the data in {tmp_path}\n"


@pytest.mark.parametrize(("command", "workers"), [("serve", 1), ("serve", 2), ("demo", 1)])
def test_address_in_use_is_reported(live, tmp_path, command, workers):
    port = live.url.rpartition(":")[2]

    second = run(command, port=port, data_dir=tmp_path, workers=workers)

    assert (second.returncode, second.stdout) == (2, "")
    assert second.stderr == f"upvote: UPVOTE_HOST=127.0.0.1, UPVOTE_PORT={port}: Address already in use\n"


UNUSABLE = [
    ("a file", "Not a directory"),
    ("a file/data", "Not a directory"),
    ("/proc/data", "No such file or directory"),
]


@pytest.mark.parametrize(("data_dir", "reason"), UNUSABLE)
@pytest.mark.parametrize("workers", [1, 2])
def test_data_directory_that_cannot_be_made_is_named(tmp_path, data_dir, reason, workers):
    (tmp_path / "a file").touch()

    started = run("serve", port=0, data_dir=tmp_path / data_dir, workers=workers)

    assert (started.returncode, started.stdout) == (2, "")
    assert started.stderr == f"upvote: UPVOTE_DATA_DIR={tmp_path / data_dir}: {reason}\n"


@pytest.mark.parametrize("command", [("verify",), ("backup", "a backup"), ("purge", "article:1")])
def test_mistyped_data_directory_is_told_and_not_made(tmp_path, command):
    asked = run(*command, port=0, data_dir=tmp_path / "dta")

    assert (asked.returncode, asked.stdout) == (2, "")
    message = f"UPVOTE_DATA_DIR={tmp_path / 'dta'}: there is no data of Upvote, so its name may be wrong"
    assert asked.stderr == f"upvote: {message}\n"
    assert not (tmp_path / "dta").exists()


@pytest.mark.parametrize("file", ["", "lock", "valkey.log", "appendonlydir", "appendonlydir/appendonly.aof.1.base.rdb"])
def test_data_that_belongs_to_another_user_is_named(tmp_path, file):
    """As after a start by `sudo`. Root may write everywhere, so a test by root gives up this right."""
    data = tmp_path / "data"
    with server.running(data):
        pass
    (data / file).chmod(0o500)
    setpriv = [programs.program("setpriv", "util-linux"), "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    command = [*(setpriv if os.geteuid() == 0 else ()), sys.executable, "-m", "server", "serve"]

    started = subprocess.run(
        command, cwd=ROOT, env=environment(port=0, data_dir=data), capture_output=True, text=True, timeout=60
    )

    assert (started.returncode, started.stdout) == (2, "")
    assert started.stderr == f"upvote: UPVOTE_DATA_DIR={data}: {data / file} cannot be written\n"


@pytest.mark.parametrize("workers", [1, 2])
def test_valkey_that_does_not_start_is_reported_with_its_reason(tmp_path, workers):
    (tmp_path / "appendonlydir").mkdir()
    (tmp_path / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")

    started = run("serve", port=0, data_dir=tmp_path, workers=workers)

    assert (started.returncode, started.stdout) == (2, "")
    reason = "Invalid AOF manifest file format"
    assert started.stderr == f"upvote: Valkey does not start; see {tmp_path}/valkey.log: {reason}\n"


def test_several_workers_share_one_valkey(tmp_path):
    with serving(tmp_path, workers=2) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        answers = [live.ask(TITLES, token)["data"]["viewer"] for _ in range(20)]

        assert answers == [{"username": "alice"}] * 20
        assert live.stop() == 0


def test_server_that_runs_already_is_used(tmp_path, redis_url):
    with serving(tmp_path / "unused", redis_url=redis_url, partitions=4) as live:
        live.ask(REGISTER)
        assert live.printed[-1].split()[1] == redis_url
    with serving(tmp_path / "unused", redis_url=redis_url) as live:
        assert live.ask('{ user(username: "alice") { id } }')["data"]["user"] == {"id": "user:alice"}

    refused = run("serve", port=0, redis_url=redis_url, partitions=8)
    assert not (tmp_path / "unused").exists()
    assert refused.stderr == "upvote: UPVOTE_PARTITIONS is 8, but this store was created with 4\n"


def test_unreachable_store_is_reported(tmp_path):
    refused = run("serve", port=0, redis_url=f"unix://{tmp_path}/nothing")

    assert refused.returncode == 2
    assert refused.stderr.startswith("upvote: the store does not answer (Error 2 connecting to ")


def test_password_of_the_store_is_not_printed(redis, redis_url, tmp_path):
    redis.acl_setuser("upvote", enabled=True, passwords="+secret", keys="*", channels="*", commands=["+@all"])
    with serving(tmp_path, redis_url=redis_url.replace("unix://", "unix://upvote:secret@")) as live:
        assert "secret" not in "".join(live.printed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "many"),
        ("PORT", "70000"),
        ("PARTITIONS", "3"),
        ("PARTITIONS", "2048"),
        ("PARTITIONS", "0"),
        ("VOTING_WINDOW", "0"),
        ("GOOD_VOTES", "1.5"),
        ("VOTE_SCORE", "nan"),
        ("VOTE_SCORE", "-1"),
        ("SESSION_TTL", "soon"),
        ("WORKERS", "0"),
        ("RATE_LIMITS", "maybe"),
        ("REDIS_URL", "localhost:6379"),
        ("REDIS_URL", "redis+sentinel://localhost"),
        ("CONFIRMING_REPLICAS", "-1"),
        ("PROT", "8000"),
    ],
)
def test_wrong_setting_is_named(monkeypatch, name, value):
    monkeypatch.setenv(f"UPVOTE_{name}", value)

    with pytest.raises(WrongSetting, match=f"^UPVOTE_{name}"):
        read_settings()


@pytest.mark.parametrize("name", ["PORT", "WORKERS", "VOTING_WINDOW", "VOTE_SCORE", "RATE_POINTS_BACK", "HOST_"])
def test_long_number_is_refused_and_abbreviated(monkeypatch, name):
    monkeypatch.setenv(f"UPVOTE_{name}", "9" * 5_000)

    with pytest.raises(WrongSetting, match=f"^UPVOTE_{name}") as refused:
        read_settings()
    assert len(str(refused.value)) < 300
    assert "4300" not in str(refused.value)  # the digits of an integer that Python parses


def test_wrong_url_of_a_store_is_refused_without_its_password():
    refused = run("serve", redis_url="redis://alice:secret@localhost:port")

    assert refused.returncode == 2
    assert refused.stderr.startswith("upvote: UPVOTE_REDIS_URL: 'localhost:port' is not a host and port")
    assert "secret" not in refused.stderr


def test_managed_valkey_has_no_replicas(tmp_path):
    refused = run("serve", port=0, data_dir=tmp_path, confirming_replicas=1)

    assert refused.returncode == 2
    assert refused.stderr == "upvote: UPVOTE_CONFIRMING_REPLICAS=1: the managed Valkey has no replicas\n"


def test_wrong_setting_stops_the_start():
    refused = run("serve", voting_window="soon")

    assert refused.returncode == 2
    assert refused.stderr.startswith("upvote: UPVOTE_VOTING_WINDOW=soon: ")
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize("missing", ["public_url", "mail_from"])
def test_mail_without_what_it_needs_stops_the_start(missing):
    mail = {"smtp_url": "smtp://127.0.0.1:1", "public_url": "https://up.example", "mail_from": "up@up.example"}
    del mail[missing]
    refused = run("serve", **mail)

    assert refused.returncode == 2
    assert refused.stderr.startswith(f"upvote: UPVOTE_SMTP_URL: mails need UPVOTE_{missing.upper()}")


def test_settings_of_the_ranking_take_effect(tmp_path):
    with serving(tmp_path, good_votes=1, vote_score=100, voting_window=60) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        fields = "{ frontPage { nodes { score isGood postedAt votingClosesAt } } }"
        (article,) = live.ask(fields)["data"]["frontPage"]["nodes"]

    posted_at, closes_at = (datetime.fromisoformat(article[name]) for name in ("postedAt", "votingClosesAt"))
    assert article["isGood"] is True
    assert article["score"] == posted_at.timestamp() + 100
    assert closes_at - posted_at == timedelta(seconds=60)
    refused = run("serve", port=0, data_dir=tmp_path, good_votes=1)
    assert refused.stderr == (
        "upvote: UPVOTE_VOTE_SCORE is 432, but this store was created with 100.0; "
        "`verify --repair` rebuilds the indexes with the new value\n"
    )


def test_schema_is_served_with_an_etag(live):
    first = httpx.get(f"{live.url}/schema.graphql")
    again = httpx.get(f"{live.url}/schema.graphql", headers={"If-None-Match": first.headers["etag"]})

    assert first.text == schema.FILE.read_text()
    assert (again.status_code, again.content) == (304, b"")


def test_health(live):
    assert httpx.get(f"{live.url}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{live.url}/readyz").json().items() >= {"status": "ok", "store": "answers"}.items()


def test_readiness_follows_the_store(tmp_path):
    store = Server(tmp_path / "data", {"appendonly": "yes"})
    with running(store), serving(tmp_path, redis_url=store.url) as live:
        assert live.ask(TITLES)["data"]["articles"] == {"nodes": []}
        store.kill()
        unready = httpx.get(f"{live.url}/readyz")
        answer = live.ask(TITLES)
        store.start()
        until(lambda: httpx.get(f"{live.url}/readyz").is_success)

    assert unready.status_code == 503
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert "redis" not in str(answer).lower()


def test_schema_command_prints_the_schema():
    command = [sys.executable, "-m", "server", "schema"]

    assert subprocess.check_output(command, cwd=ROOT, text=True) == schema.FILE.read_text()


def test_help_is_printed():
    assert subprocess.run([sys.executable, "-m", "server", "--help"], cwd=ROOT, capture_output=True).returncode == 0


@pytest.mark.one_server
def test_store_out_of_memory_is_readable_and_refuses_writes(redis, redis_url, tmp_path):
    """Reads work even if they would renew a session or create a pin."""
    with serving(tmp_path, redis_url=redis_url, session_ttl=24, rate_limits="on") as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        time.sleep(1.1)  # the 24th part of the session's lifetime, after which it is renewed
        redis.config_set("maxmemory", 1)
        try:
            page = live.ask("{ viewer { username } articles(pinned: true) { nodes { viewerVote } } }", token)
            write = live.ask(POST, token, title="another")
        finally:
            redis.config_set("maxmemory", 0)

    assert page["data"] == {"viewer": {"username": "alice"}, "articles": {"nodes": [{"viewerVote": "UP"}]}}
    assert (page["extensions"]["expiredPins"], page.get("errors")) == (["score"], None)
    assert [error["extensions"]["code"] for error in write["errors"]] == ["UNAVAILABLE"]
