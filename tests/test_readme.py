"""The README shows only what works: its queries are run in their order, its tables compared with the code."""

import inspect
import json
import re
from pathlib import Path

import pytest

from server.settings import PREFIX, Settings
from store import keys
from tests.server.conftest import serving

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLE = re.compile(r"```graphql\n(.*?)```\n+```json\n(.*?)```", re.DOTALL)
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
    """A new store; each token goes with the examples after it. Where the README shows …, any text stands."""
    examples = EXAMPLE.findall(README)
    assert len(examples) >= 4
    with serving(tmp_path) as live:
        token = None
        for query, expected in examples:
            answer = live.ask(query, token)
            assert re.fullmatch(re.escape(_compact(json.loads(expected))).replace("…", '[^"]+'), _compact(answer))
            token = next((found for found in re.findall(r'"token":"([^"]+)"', _compact(answer))), token)


def test_settings_table_is_complete():
    rows = [
        f"| `{PREFIX}{name.upper()}` | {_default(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]

    assert [row for row in rows if row not in README] == []
    assert len(re.findall(rf"^\| `{PREFIX}", README, re.MULTILINE)) == len(rows)


def test_key_table_is_that_of_keys():
    rows = []
    for function in (function for _, function in inspect.getmembers(keys, inspect.isfunction)):
        if function.__module__ == keys.__name__ and (function.__doc__ or "").count(" | ") == 3:
            kind, holds, lifetime, writers = function.__doc__.split(" | ")
            names = [NAMES[name] for name in inspect.signature(function).parameters]
            rows.append(f"| `{function(*names)}` | {kind} | {holds} | {lifetime} | {writers} |")

    shown = README.lower()
    assert [row for row in rows if row.lower() not in shown] == []
    kinds = "hash|set|zset|string|channel"
    assert len(re.findall(rf"^\| `\w+(?::\{{p\}}[\w:]*)?` \| (?:{kinds}) ", README, re.MULTILINE)) == len(rows)


@pytest.mark.parametrize("command", re.findall(r"^\s*(make \w+)", README, re.MULTILINE))
def test_make_knows_the_commands(command):
    assert re.search(rf"^{command.split()[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def _default(value: object) -> str:
    if value is None:
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _compact(answer: object) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
