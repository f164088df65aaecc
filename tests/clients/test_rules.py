"""
The schema keeps the rules of GraphQL ESLint and Relay, and does not break clients of the last release, whose schema is
released.graphql.
"""

from pathlib import Path
from typing import Any

import pytest

from schema.schema import FILE
from tests import programs
from tests.clients.conftest import json_of

SOURCES = Path(__file__).with_name("javascript")
RELEASED = Path(__file__).with_name("released.graphql")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first run on a machine installs the packages


def test_schema_keeps_the_rules_of_eslint_and_relay():
    assert findings("lint.mjs", FILE) == []


def test_broken_rule_is_found(tmp_path):
    schema = tmp_path / "schema.graphql"
    schema.write_text(FILE.read_text().replace("  pageInfo: PageInfo!\n", "  pageInfo: PageInfo\n", 1))

    ((rule, _),) = findings("lint.mjs", schema)

    assert rule == "@graphql-eslint/relay-connection-types"


def test_nothing_released_is_broken():
    broken = findings("breaking.mjs", RELEASED, FILE)

    assert broken == [], (
        "clients of the last release would break. Keep what they use, deprecated. "
        f"With each release: cp schema/{FILE.name} tests/clients/{RELEASED.name}"
    )


def test_breaking_change_is_found_and_an_addition_is_none(tmp_path):
    schema = tmp_path / "schema.graphql"
    schema.write_text(FILE.read_text().replace("  score: Float!\n", "  score: Float\n  stars: Int!\n"))

    assert findings("breaking.mjs", FILE, schema) == ["Field 'Article.score' changed type from 'Float!' to 'Float'"]


def findings(program: str, *schemas: Path) -> list[Any]:
    """What a program of the folder javascript finds in schemas: pairs of rule and message, or messages."""
    programs.node_modules(SOURCES)
    return json_of(programs.node(), "--no-warnings", SOURCES / program, *schemas, cwd=SOURCES)
