"""
The setting UPVOTE_RULES, which names a file of rules, and the commands that print an example of it and try one.

Codes such as M5 name rows of docs/behaviours.md.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import pytest

from server.cli.rules import EXAMPLE
from server.managed_valkey import server
from store import rules
from store.rules import FlagRules
from tests.server.commands import run
from tests.server.conftest import serving

ROOT = Path(__file__).parents[3]
# the second flag hides a text, whoever sets it
HIDING = "[flags]\nhide_at = 2\nleast_age_days = 0\nleast_karma = 0\nleast_voters = 0\nlast_flags = 0\n"
POST = 'mutation { post(input: {title: "a title", content: "a text"}) { article { id } } }'
FLAG = "mutation($id: ID!) { flag(input: {subjectId: $id, reason: SPAM}) { changed subject { id } } }"
TITLE = "query($id: ID!) { article(id: $id) { title } }"
# the same, with the name of the rule that refuses
POST_FOR_RULE = 'mutation { post(input: {title: "a title", content: "a text"}) { userErrors { rule } } }'
REGISTER_FOR_RULE = """mutation($name: String!) {
  register(input: {username: $name, password: "correct horse battery"}) { token userErrors { rule } } }"""
REGISTER = """mutation($name: String!) {
  register(input: {username: $name, password: "correct horse battery"}) { token } }"""


def asked(live, query, token=None, **variables):
    """The data of an answer."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return live.post({"query": query, "variables": variables}, headers=headers).json()["data"]


def test_example_is_the_default_of_deploy():
    printed = run("rules", "example")

    assert (printed.returncode, printed.stderr, printed.stdout) == (0, "", EXAMPLE)
    assert (ROOT / "deploy" / "rules.toml").read_text() == EXAMPLE
    assert rules.read(ROOT / "deploy" / "rules.toml").flags == FlagRules(3)


def test_tables_of_the_example_that_do_not_apply_can_be_used(tmp_path):
    (tmp_path / "rules.toml").write_text(re.sub("^#(?! )", "", EXAMPLE, flags=re.MULTILINE))

    found = rules.read(tmp_path / "rules.toml")

    assert [each.name for each in fields(found) if not getattr(found, each.name)] == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, "No such file or directory"), ("[flags]\nhide_at = 0", "[flags] hide_at is 0, but must be from 1 to 1000")],
)
def test_wrong_rules_stop_the_start(tmp_path, text, reason):
    file = tmp_path / "rules.toml"
    if text is not None:
        file.write_text(text)

    started = run("serve", port=0, data_dir=tmp_path / "data", rules=file)

    assert (started.returncode, started.stdout) == (2, "")
    assert started.stderr == f"upvote: UPVOTE_RULES={file}: {reason}\n"


@pytest.mark.slow
def test_flags_hide_in_all_processes_also_after_a_restart(tmp_path):  # M5
    file, data = tmp_path / "rules.toml", tmp_path / "data"
    file.write_text(HIDING)
    with serving(data, rules=file, workers=2, partitions=8) as live:
        alice, *others = [
            asked(live, REGISTER, name=name)["register"]["token"] for name in ("alice", "bob", "carol", "dave")
        ]
        hidden, flagged_once = [
            asked(live, POST.replace("a title", title), alice)["post"]["article"] for title in ("a", "b")
        ]
        first = [asked(live, FLAG, token, id=hidden["id"])["flag"] for token in others[:2]]
        asked(live, FLAG, others[0], id=flagged_once["id"])
        assert first == [{"changed": True, "subject": hidden}, {"changed": True, "subject": None}]
        assert [asked(live, TITLE, id=hidden["id"])["article"] for _ in range(10)] == [None] * 10
        assert asked(live, TITLE, alice, id=hidden["id"])["article"] == {"title": "a"}
    with serving(data, rules=file, workers=2, partitions=8) as live:
        assert asked(live, TITLE, id=flagged_once["id"])["article"] == {"title": "b"}
        second = asked(live, FLAG, others[2], id=flagged_once["id"])["flag"]

        assert second == {"changed": True, "subject": None}
        assert [asked(live, TITLE, id=each["id"])["article"] for each in (hidden, flagged_once)] == [None, None]


def test_command_says_what_is_wrong(tmp_path):
    file = tmp_path / "rules.toml"
    missing = run("rules", "try", file, data_dir=tmp_path)
    file.write_text("[word]")
    wrong = run("rules", "try", file, data_dir=tmp_path)
    file.write_text(HIDING)
    without = run("rules", "try", file, data_dir=tmp_path, database_url="none")

    assert [each.returncode for each in (missing, wrong, without)] == [2, 2, 2]
    assert missing.stderr == f"upvote: {file}: No such file or directory\n"
    assert "there is no table [word]" in wrong.stderr
    assert without.stderr == "upvote: UPVOTE_DATABASE_URL=none: there is no database\n"


def test_command_that_only_reads_makes_no_database(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text(HIDING)
    with server.running(tmp_path / "data"):
        pass  # an empty store
    missing = tmp_path / "missing.db"

    for command in (("rules", "try", file), ("database", "status")):
        done = run(*command, data_dir=tmp_path / "data", database_url=f"sqlite:///{missing}")

        assert (done.returncode, missing.exists()) == (2, False)
        assert done.stderr == f"upvote: UPVOTE_DATABASE_URL=sqlite:///{missing}: there is no such file\n"


def test_command_tries_rules_on_a_store_of_its_own(tmp_path):
    (tmp_path / "rules.toml").write_text(HIDING + "[votes]\nleast_karma = 1")
    with serving(tmp_path / "data"):
        pass  # an empty store, and its database

    printed = run("rules", "try", tmp_path / "rules.toml", data_dir=tmp_path / "data")

    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout.splitlines()[0] == "0 texts and 0 votes of others were replayed; nothing was changed"
    assert printed.stdout.splitlines()[-1] == "votes: nothing"


@pytest.mark.slow
def test_limits_of_a_day_hold_in_two_processes_at_once(tmp_path):  # M10
    file = tmp_path / "rules.toml"
    file.write_text("[[texts_a_day]]\nyounger_than_days = 1\nmost = 3\n[registrations]\na_day = 2\n")
    settings = {"rules": file, "workers": 2, "partitions": 8, "rate_limits": "on", "rate_posts": 1000}
    with serving(tmp_path / "data", **settings) as live, ThreadPoolExecutor(8) as pool:
        registered = list(pool.map(lambda n: asked(live, REGISTER_FOR_RULE, name=f"user-{n}")["register"], range(8)))
        tokens = [each["token"] for each in registered if each["token"]]
        posts = [POST_FOR_RULE.replace("a title", f"title {n}") for n in range(24)]
        posted = list(pool.map(lambda post: asked(live, post, tokens[0])["post"]["userErrors"], posts))

    assert len(tokens) == 2
    assert [each["userErrors"] for each in registered if not each["token"]] == [[{"rule": "registrations"}]] * 6
    assert sorted(map(len, posted)) == [0] * 3 + [1] * 21
    assert {each["rule"] for errors in posted for each in errors} == {"texts_a_day"}
