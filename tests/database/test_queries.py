"""
Runs the queries of docs/database.md, and compares its tables with the database.

`mirrored` brings the database up to date with the log of the store.
"""

import random
import re
from pathlib import Path

import pytest
from sqlalchemy import text

from database.database import Database
from database.tables import METADATA
from store import reverts, roles
from store.articles import Draft
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from tests.database.conftest import mirrored, opened
from tests.database.histories import History
from tests.store.discussions import commented

PAGE = (Path(__file__).parents[2] / "docs" / "database.md").read_text()
QUERIES = re.findall(r"^```sql\n(.*?);\n```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
async def filled(store, clock, database):
    """Fill the store and its database, so that each of the queries finds something."""
    history = History(store, clock, random.Random(7))
    await history.run(400)
    number = (await store.articles.post("Alice", Draft("a title", content="text"))).article.number
    await store.articles.vote(number, "bob", Vote.UP)
    clock.advance(60)
    await store.articles.edit(number, "Alice", {"title": "another"})
    comment = await commented(store, number, "bob")
    await commented(store, number, "Alice", comment)
    for voter in ("Alice", "Carol", "dave"):
        await store.comments.vote(comment.number, voter, Vote.UP)
    await store.groups.add("show", {"title": "What we made", "about": "Anything that *works*."})
    await store.groups.add("empty")
    action = (await roles.grant(store.site, OPERATOR, "bob", Role.MODERATOR, group="show", reason="a good eye")).action
    await reverts.revert(store.site, OPERATOR, action.number, "a mistake")
    await mirrored(store, database)


async def test_queries_find_the_same_in_both_databases(store, filled, database, postgres_url):
    async with opened(postgres_url) as other:
        await mirrored(store, other)
        found = [[await answers(each, query) for query in QUERIES] for each in (database, other)]

    assert len(QUERIES) == 16
    assert [query for query, rows in zip(QUERIES, found[0], strict=True) if not rows] == []
    assert found[0] == found[1]


async def answers(database: Database, query: str) -> list[tuple[object, ...]]:
    """The rows of an answer, with numbers and instants as SQLite has them."""
    rows = await database.run(lambda connection: connection.execute(text(query)).all())
    return [tuple(plain(value) for value in row) for row in rows]


def plain(value: object) -> object:
    """A value of PostgreSQL, such as a datetime or a Decimal, as SQLite has it."""
    if hasattr(value, "isoformat"):
        return value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    return value if value is None or isinstance(value, str) else round(float(value), 6)


async def test_tables_of_the_page_are_those_of_the_database(database):
    shown = {name: names(cells) for name, cells in re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE, re.MULTILINE)}
    views = {name: columns for name, columns in shown.items() if name.endswith("_view") or name == "groups"}

    for table in METADATA.tables.values():
        if not table.name.startswith("search") and table.name in shown:
            assert shown[table.name] == [column.name for column in table.columns], table.name
    assert {"articles", "article_groups", "votes", "users", "follows", "edits", "positions"} <= shown.keys()
    assert {"comments", "comment_votes", "comment_edits", "group_texts", "moderation_actions"} <= shown.keys()
    # the columns of a view are those that a query gets
    for name, columns in views.items():
        found = await database.run(lambda connection, name=name: connection.execute(text(f"SELECT * FROM {name}")))
        assert columns == list(found.keys()), name
    assert len(views) == 12


def names(cells: str) -> list[str]:
    return re.findall(r"`(\w+)`", cells)
