"""
The command `upvote webhook`, and servers that send changes to the receivers that it adds, also when they are killed.

Codes such as U8 name rows of docs/behaviours.md.
"""

import asyncio
import re
import signal
from itertools import chain, repeat

import pytest

from server.cli.main import main
from store.store import Store
from tests.conftest import registered
from tests.server import checking
from tests.server.commands import run
from tests.server.conftest import POST, REGISTER, serving
from tests.server.webhooks.receiving import without_repeats
from tests.servers import until
from tests.store.reading import post

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.fixture
def redis_url_in_environment(redis_url, sqlite_url, monkeypatch) -> str:
    """The URL of a store that commands work on, with a database in a file."""
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)
    monkeypatch.setenv("UPVOTE_DATABASE_URL", sqlite_url)
    return redis_url


def secret_in(text: str) -> str:
    return re.search(r"secret  (whsec_\S+)", text)[1]


def test_webhooks_are_added_listed_rotated_and_removed(redis_url_in_environment, redis, capsys):
    added = ["webhook", "add", "http://10.1.2.3:8080/hook", "--kinds", "posted,commented", "--allow-private"]
    assert main(added) == 0
    first = capsys.readouterr().out
    assert first.startswith("webhook 1\nsecret  whsec_")
    assert "webhooks" in redis.hkeys("consumers:{0}")  # the log keeps what these have not taken

    assert main(["webhook", "list"]) == 0
    assert capsys.readouterr().out == "1  on, 0 waiting  http://10.1.2.3:8080/hook  commented,posted\n"

    assert main(["webhook", "rotate", "1", "--hours", "2"]) == 0
    assert secret_in(capsys.readouterr().out) != secret_in(first)
    assert main(["webhook", "rotate", "1", "--hours", "-1"]) == 2
    assert main(["webhook", "replay", "1"]) == 0
    assert main(["webhook", "remove", "1"]) == 0
    assert "webhooks" not in redis.hkeys("consumers:{0}")
    capsys.readouterr()
    for arguments in (["replay", "1"], ["rotate", "1"], ["remove", "1"]):
        assert main(["webhook", *arguments]) == 2
        assert capsys.readouterr().err == "upvote: there is no webhook 1\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["https://203.0.114.1/", "--kinds", "posted,flagged"], "'flagged' is no kind of change that is sent"),
        (["https://203.0.114.1/", "--kinds", ""], "'' is no kind of change that is sent"),
        (["ftp://203.0.114.1/", "--kinds", "posted"], "it is not a URL with http or https"),
        (["http://127.0.0.1/", "--kinds", "posted"], "127.0.0.1 is not on the public internet"),
        (["http://[::ffff:10.0.0.1]/", "--kinds", "posted"], "::ffff:10.0.0.1 is not on the public internet"),
        (["http://localhost/", "--kinds", "posted"], "localhost is not on the public internet"),
        (["http://203.0.114.1:8080/", "--kinds", "posted"], "the port is not 80 or 443"),
        (["http://no-such-name.invalid/", "--kinds", "posted"], "the name no-such-name.invalid is not found"),
    ],
)
def test_malformed_webhook_is_refused(redis_url_in_environment, capsys, arguments, message):
    assert main(["webhook", "add", *arguments]) == 2

    assert message in capsys.readouterr().err
    assert main(["webhook", "list"]) == 0
    assert capsys.readouterr().out == ""


def test_without_a_database_there_are_no_webhooks(redis_url, monkeypatch, capsys):
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)

    assert main(["webhook", "list"]) == 2
    assert capsys.readouterr().err == (
        "upvote: UPVOTE_DATABASE_URL=none: webhooks need a database, in which their messages wait\n"
    )


def test_changes_after_the_command_are_sent_by_a_server_that_starts_later(
    redis_url_in_environment, sqlite_url, receiver, tmp_path, capsys
):
    """Between both a server with UPVOTE_WEBHOOKS=off runs, which sends nothing."""
    main(["webhook", "add", receiver.url, "--kinds", "posted,registered", "--allow-private"])
    receiver.secrets.append(secret_in(capsys.readouterr().out))

    async def change() -> None:
        store = await Store.open(redis_url_in_environment)
        await post(store, await registered(store, "alice"))
        await store.close()

    asyncio.run(change())
    given = {"redis_url": redis_url_in_environment, "database_url": sqlite_url}
    with serving(tmp_path / "data", webhooks="off", **given) as live:
        assert live.stop() == 0
    assert receiver.taken == []
    with serving(tmp_path / "data", **given):
        until(lambda: len(receiver.taken) == 2)

    assert (sorted(receiver.kinds), receiver.forged) == (["posted", "registered"], 0)


@pytest.mark.slow
def test_killed_servers_lose_nothing(receiver, tmp_path):  # U8
    """Two worker processes are killed while they send. The first two tries fail."""
    folder = tmp_path / "data"
    answers = chain([checking.body(b"", 500)] * 2, repeat(checking.nothing))
    receiver.choose = lambda: next(answers)
    titles = []
    for round in range(2):
        with serving(folder, workers=2) as live:
            if round == 0:
                added = run(
                    "webhook", "add", receiver.url, "--kinds", "posted,voted", "--allow-private", data_dir=folder
                )
                receiver.secrets.append(secret_in(added.stdout))
                token = live.ask(REGISTER)["data"]["register"]["token"]
            for number in range(10):
                titles.append(f"title {round} {number}")
                assert live.ask(POST, token, title=titles[-1])["data"]["post"]["article"]
            if round == 0:
                until(lambda: set(titles_in(receiver)) & set(titles[-10:]))
                live.stop(signal.SIGKILL)
            else:
                until(lambda: set(titles) <= set(titles_in(receiver)))
                metrics = metrics_with_webhooks(live)

    assert receiver.forged == 0
    assert sorted(titles_once(receiver)) == sorted(titles)
    assert metrics['upvote_webhook_off{webhook="1"}'] == 0
    assert metrics['upvote_webhook_tries_total{result="delivered"}'] > 0
    assert 'upvote_webhook_pending{webhook="1"}' in metrics


def titles_in(receiver) -> list[str]:
    """The titles of posts that the receiver has taken, some more than once."""
    return [title_of(each) for each in receiver.taken if each["type"] == "posted"]


def metrics_with_webhooks(live):
    """The metrics of a process that has its database open: one that still opens it has no gauges of webhooks."""
    read = []
    until(lambda: read.append(live.metrics()) or 'upvote_webhook_off{webhook="1"}' in read[-1])
    return read[-1]


def titles_once(receiver) -> list[str]:
    """The titles of posts that the receiver has taken, each message once."""
    return [title_of(each) for each in without_repeats(receiver.taken) if each["type"] == "posted"]


def title_of(message) -> str:
    return next(field["value"] for field in message["data"]["fields"] if field["name"] == "title")
