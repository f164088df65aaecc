"""
The commands `user` and `password`, and the first administrator, whom a start makes.

Codes such as U5 name rows of docs/behaviours.md.
"""

import re
from urllib.parse import urlsplit

import httpx
import pytest

from server.cli.main import main
from tests.server.commands import run
from tests.server.conftest import REGISTER, redis_of, serving
from tests.store.reading import everything

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers

URL = "https://votes.example/forum"
LINK = re.compile(rf"{URL}/(reset|register)#([A-Za-z0-9_-]{{46}})")
RESET = """mutation { resetPassword(input: {token: "%s", newPassword: "battery staple"}) {
  token user { username roles { role group { name } } } userErrors { code } } }"""
ROLES = '{ user(username: "alice") { roles { role } } }'
LOG_IN = 'mutation { logIn(input: {username: "%s", password: "%s"}) { user { username } userErrors { code } } }'
INVITED = """mutation { register(input: {username: "%s", password: "correct horse", invitation: "%s"}) {
  user { username } userErrors { code field } } }"""


@pytest.fixture
def settings(redis_url, monkeypatch):
    """An empty store and the public address of its site, which commands read from the environment."""
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)
    monkeypatch.setenv("UPVOTE_PUBLIC_URL", URL)


def test_user_is_created_also_with_a_reserved_name_and_gets_a_link(settings, redis, capsys):
    assert main(["user", "create", "Support"]) == 0

    printed = capsys.readouterr().out.strip()
    assert LINK.fullmatch(printed)[1] == "reset"
    assert redis.hgetall("user:{0}:support").keys() == {"name", "joined", "karma"}
    assert redis.hget("user:{0}:support", "name") == "Support"


@pytest.mark.parametrize(
    ("name", "message"),
    [("support", "taken"), ("a b", "2 to 20"), ("operator", "commands of the shell"), ("x" * 21, "2 to 20")],
)
def test_refused_user_changes_nothing(settings, redis, capsys, name, message):
    main(["user", "create", "Support"])
    before = everything(redis)

    assert main(["user", "create", name]) == 2
    assert message in capsys.readouterr().err
    assert everything(redis) == before


def test_user_is_created_without_a_link_where_there_is_no_public_url(settings, monkeypatch, redis, capsys):
    monkeypatch.delenv("UPVOTE_PUBLIC_URL")

    assert main(["user", "create", "carol"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, "UPVOTE_PUBLIC_URL is not set" in printed.err) == ("", True)
    assert redis.exists("user:{0}:carol")


def test_password_prints_a_link_of_a_user(settings, redis, capsys):  # U5
    main(["user", "create", "carol"])
    capsys.readouterr()

    assert main(["password", "CAROL"]) == 0
    token = LINK.fullmatch(capsys.readouterr().out.strip())[2]
    assert not any(token in str(redis.dump(key)) + key for key in redis.scan_iter())
    assert main(["password", "nobody"]) == 2
    assert "there is no user:nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value", "command", "message"),
    [
        ("PUBLIC_URL", None, ["password", "carol"], "UPVOTE_PUBLIC_URL is not set"),
        ("PASSWORDS", "off", ["password", "carol"], "UPVOTE_PASSWORDS=off"),
        ("PUBLIC_URL", None, ["user", "invite"], "UPVOTE_PUBLIC_URL is not set"),
        ("PASSWORDS", "off", ["user", "invite"], "UPVOTE_PASSWORDS=off"),
        ("REGISTRATION", "closed", ["user", "invite"], "UPVOTE_REGISTRATION=closed"),
    ],
)
def test_links_need_settings(settings, monkeypatch, capsys, name, value, command, message):
    if value is None:
        monkeypatch.delenv(f"UPVOTE_{name}")
    else:
        monkeypatch.setenv(f"UPVOTE_{name}", value)

    assert main(command) == 2
    assert message in capsys.readouterr().err


def test_first_start_makes_the_administrator_and_prints_a_link_once(tmp_path):
    with serving(tmp_path, admin="Admin") as live:
        (line,) = [line for line in live.printed if line.startswith("admin ")]
        address = line.split()[1]
        assert address.startswith(f"{live.url}/reset#")
        token = urlsplit(address).fragment
        answer = live.ask(RESET % token)["data"]["resetPassword"]
        assert answer["user"] == {"username": "Admin", "roles": [{"role": "ADMIN", "group": None}]}
        assert live.ask(RESET % token)["data"]["resetPassword"]["userErrors"] == [{"code": "BAD_TOKEN"}]
    with serving(tmp_path, admin="admin") as again:
        assert not [line for line in again.printed if line.startswith("admin ")]
        assert again.errors.read_text() == ""
        assert again.ask(LOG_IN % ("admin", "battery staple"))["data"]["logIn"]["user"] == {"username": "Admin"}


def test_name_that_somebody_has_is_never_made_an_administrator(tmp_path):
    with serving(tmp_path) as live:
        assert live.ask(REGISTER)["data"]["register"]["token"]
    with serving(tmp_path, admin="alice") as live:
        assert "somebody has this name" in live.errors.read_text()
        assert not [line for line in live.printed if line.startswith("admin ")]
        assert live.ask(ROLES)["data"]["user"] == {"roles": []}


def test_start_goes_on_where_one_was_killed(tmp_path):
    """The account is there, and its link was not printed."""
    with serving(tmp_path, admin="alice") as live:
        redis = redis_of(tmp_path)
        redis.hset("user:{0}:alice", "first_admin", 1)
        redis.hdel("user:{0}:alice", "roles")
        redis.close()
    with serving(tmp_path, admin="alice") as live:
        assert live.printed[0].startswith("admin ")
        assert live.ask(ROLES)["data"]["user"]["roles"] == [{"role": "ADMIN"}]
        assert not redis_of(tmp_path).hexists("user:{0}:alice", "first_admin")


@pytest.mark.parametrize("name", ["a b", "alice,bob", "x", "operator"])
def test_start_refuses_a_name_that_nobody_can_have(tmp_path, name):
    done = run("serve", admin=name, data_dir=tmp_path, port=0)

    assert done.returncode == 2
    assert f"UPVOTE_ADMIN={name}" in done.stderr


def test_invited_people_register_once(tmp_path):
    with serving(tmp_path, registration="invited", public_url=URL) as live:
        printed = run("user", "invite", data_dir=tmp_path, registration="invited", public_url=URL)
        where, invitation = LINK.fullmatch(printed.stdout.strip()).groups()
        assert where == "register"
        refused = live.ask(REGISTER)["data"]["register"]
        assert refused["token"] is None
        first = live.ask(INVITED % ("carol", invitation))["data"]["register"]
        assert first == {"user": {"username": "carol"}, "userErrors": []}
        second = live.ask(INVITED % ("dave", invitation))["data"]["register"]
        assert second["userErrors"] == [{"code": "BAD_TOKEN", "field": ["input", "invitation"]}]


def test_token_in_an_address_is_not_used_and_not_logged(tmp_path):
    """Pages take tokens after `#`, which browsers send to nobody. A GET uses none up, whatever it has."""
    with serving(tmp_path, admin="alice", log_level="info") as live:
        token = urlsplit(live.printed[0].split()[1]).fragment
        for path in (f"/reset?token={token}", f"/reset#{token}", "/reset"):
            assert httpx.get(f"{live.url}{path}", headers={"Accept": "text/html"}).status_code == 200
        query = httpx.get(f"{live.url}/graphql", params={"query": RESET % token})
        assert query.status_code in (400, 405)
        assert live.ask(RESET % token)["data"]["resetPassword"]["userErrors"] == []
        assert token not in live.errors.read_text()
