"""The README shows only what works: its queries are run in their order, its tables compared with the code."""

import inspect
import json
import re
from pathlib import Path

import httpx
import pytest

from server.cli.main import main
from server.settings import PREFIX, Settings
from store import key_kinds
from tests.server.conftest import serving

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLE = re.compile(r"```graphql\n(.*?)```\n+```json\n(.*?)```", re.DOTALL)
REGISTER = 'mutation { register(input: {username: "%s", password: "correct horse"}) { token } }'
SHOWN = "article:3676697395200749"
WORD = re.compile(r"[a-z]+|%")
NAMES = {
    "p": "p",
    "number": "N",
    "order": "ORDER",
    "name": "NAME",
    "username": "NAME",
    "digest": "DIGEST",
    "listing": "LISTING",
    "at": "TIME",
}


def test_examples_give_the_answers_shown(tmp_path):
    """
    A new store; each token goes with the examples after it. Where the README shows …, any text stands, and for the id
    of an article, which tells its time, the id that is given here.
    """
    examples = EXAMPLE.findall(README)
    assert len(examples) >= 4
    with serving(tmp_path) as live:
        token = given = None
        for query, expected in examples:
            answer = _compact(live.ask(query.replace(SHOWN, given or SHOWN), token))
            given = given or next(iter(re.findall(r"article:[0-9]+", answer)), None)
            pattern = re.escape(_compact(json.loads(expected)).replace(SHOWN, given or SHOWN))
            assert re.fullmatch(pattern.replace("…", '[^"]+'), answer)
            token = next(iter(re.findall(r'"token":"([^"]+)"', answer)), token)


def test_subscription_is_sent_what_a_vote_changes(tmp_path):
    (subscription,) = re.findall(r"```graphql\n(subscription.*?)\n```", README, re.DOTALL)
    assert README.count(subscription) == 2, "the one of the curl command is the one shown"
    with serving(tmp_path) as live:
        alice, bob = (live.ask(REGISTER % name)["data"]["register"]["token"] for name in ("alice", "bob"))
        post = 'mutation { post(input: {title: "a title", content: "a text"}) { article { id } } }'
        article = live.ask(post, alice)["data"]["post"]["article"]["id"]
        asked = {"query": subscription.replace(SHOWN, article)}
        headers = {"Accept": "text/event-stream"}
        with httpx.stream("GET", f"{live.url}/graphql", params=asked, headers=headers) as stream:
            lines = stream.iter_lines()
            assert next(lines) == ":"
            live.ask("mutation($id: ID!) { vote(input: {articleId: $id}) { changed } }", bob, id=article)
            data = next(line for line in lines if line.startswith("data:"))

    assert json.loads(data.removeprefix("data:")) == {"data": {"articleChanged": {"votes": 2}}}


def test_lab_says_of_the_sample_what_is_shown_of_other_stories(capsys, monkeypatch):
    (command,) = re.findall(r"^    \.venv/bin/upvote (lab .+)$", README, re.MULTILINE)
    (shown,) = re.findall(r"^    \d+ stories of .*\n(?:    .*\n|\n)+", README, re.MULTILINE)
    monkeypatch.chdir(ROOT)

    assert main(command.split()) == 0
    assert WORD.findall(capsys.readouterr().out) == WORD.findall(shown)


def test_settings_table_is_complete():
    rows = [
        f"| `{PREFIX}{name.upper()}` | {_default(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]

    assert [row for row in rows if row not in README] == []
    assert len(re.findall(rf"^\| `{PREFIX}", README, re.MULTILINE)) == len(rows)


def test_key_table_has_the_declared_kinds():
    rows = []
    for kind in key_kinds.DECLARED:
        key = kind.build(*(NAMES[name] for name in inspect.signature(kind.build).parameters))
        cells = (kind.type, kind.members, kind.lifetime, kind.written_by, kind.backup.value)
        rows.append(f"| `{key}` | {' | '.join(cells)} |")

    shown = README.lower()
    assert [row for row in rows if row.lower() not in shown] == []
    types = "hash|set|string|zset|list|channel"
    assert len(re.findall(rf"^\| `\w+(?::\{{p\}}[\w:]*)?` \| (?:{types}) ", README, re.MULTILINE)) == len(rows)


@pytest.mark.parametrize("command", re.findall(r"^\s*(make \w+)", README, re.MULTILINE))
def test_make_knows_the_commands(command):
    assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def _default(value: object) -> str:
    if value is None:
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _compact(answer: object) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
