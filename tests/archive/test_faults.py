"""
`verify` finds what is wrong with archived conversations in the database, and repairs what can be computed (D5). An
archived conversation is an article with its comments that has left Redis: only the database has it.

`on_both` runs a test with SQLite and with PostgreSQL. `first` marks all parameters of a test but the first ones as
slow: `make test` leaves them out.

Codes such as D5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from database.database import Database
from server.cli.backup import back_up
from server.cli.restore import restore
from store.records import article_number, comment_number
from tests.archive.conftest import findings, settings_of
from tests.archive.talks import NODES, THREAD, let_leave, write
from tests.archive.worlds import Pair
from tests.database.conftest import on_both
from tests.examples import first

pytestmark = [pytest.mark.one_server]
# Statements that damage rows, by the beginning of what `verify` reports then: DERIVED can be computed again, LOST not.
DERIVED = {
    "reply_count of comment": "UPDATE comments SET reply_count = 7 WHERE number = :first",
    "descendant_count of comment": "UPDATE comments SET descendant_count = 9 WHERE number = :first",
    "comment_count of article": "UPDATE articles SET comment_count = 9 WHERE number = :article",
    "active_ms of article": "UPDATE articles SET active_ms = NULL WHERE number = :article",
    "left_ms of article": "UPDATE articles SET left_ms = NULL WHERE number = :article",
}
LOST = {
    "path of comment": "UPDATE comments SET path = NULL WHERE number = :first",
    "parent of comment": "UPDATE comments SET parent = 1541 WHERE number = :second",
    "depth of comment": "UPDATE comments SET depth = 5 WHERE number = :second",
    "state of comment": "UPDATE comments SET state = 'no word' WHERE number = :second",
    "state of article": "UPDATE articles SET state = 'no word' WHERE number = :article",
}


async def archived(pair: Pair) -> dict[str, int]:
    """The numbers of an archived article, of a comment, and of the answer to it."""
    article = await pair.mutate("post", "alice", title="A title", content="A text.", groups=["show"])
    pair.clock.advance(1)
    id = article["article"]["id"]
    first = (await write(pair, "comment", "carol", articleId=id, content="@Bob one"))["comment"]["id"]
    second = (await write(pair, "comment", "Bob", articleId=id, content="two", parentId=first))["comment"]["id"]
    await let_leave(pair, id)
    found = {"article": article_number(id), "first": comment_number(first), "second": comment_number(second)}
    return {name: number or 0 for name, number in found.items()}


async def damage(database: Database | None, statement: str, numbers: dict[str, int]) -> None:
    def change(connection: Any) -> None:
        connection.execute(text(statement), {name: each for name, each in numbers.items() if f":{name}" in statement})

    assert database
    await database.write(change)


async def require_answers(pair: Pair, numbers: dict[str, int]) -> None:
    """Check that both stores show the two comments, in the thread and by their ids."""
    given = {"id": f"article:{numbers['article']}", "order": "OLDEST", "depth": 100, "under": None}
    one, other = [await world.ask(THREAD, viewer=None, variables=given | {"first": 50}) for world in pair.worlds]
    shown = [[edge["node"]["id"] for edge in each["data"]["article"]["thread"]["edges"]] for each in (one, other)]
    assert shown[0] == shown[1] == [f"comment:{numbers[name]}" for name in ("first", "second")]
    await pair.ask(NODES, None, ids=[f"comment:{numbers['first']}", f"comment:{numbers['second']}"])


@on_both
@pytest.mark.parametrize("what", first(DERIVED, 4))
async def test_what_can_be_computed_is_repaired(pair: Pair, what: str) -> None:  # D5
    numbers = await archived(pair)
    await damage(pair.archiving.database, DERIVED[what], numbers)

    for repair in (False, True):
        found = await findings(pair.archiving, repair=repair)
        assert any(each.startswith(what) and each.endswith("in the database") for each in found), found

    assert await findings(pair.archiving) == []
    assert numbers["article"] not in await pair.archiving.numbers()
    await require_answers(pair, numbers)


@on_both
@pytest.mark.parametrize("what", first(LOST, 4))
async def test_what_is_lost_is_reported_each_time(pair: Pair, what: str) -> None:  # D5
    numbers = await archived(pair)
    await damage(pair.archiving.database, LOST[what], numbers)

    for repair in (False, True, False):
        found = await findings(pair.archiving, repair=repair)
        assert any(each.startswith(what) for each in found), found


@on_both
@pytest.mark.parametrize("what", ["path of comment", "state of comment", "state of article"])
async def test_a_backup_of_a_damaged_conversation_is_restored_with_what_is_left(
    pair: Pair, redis_url: str, database_url: str, tmp_path: Path, what: str
) -> None:  # D5
    numbers = await archived(pair)
    await damage(pair.archiving.database, LOST[what], numbers)

    await asyncio.to_thread(back_up, settings_of(redis_url, 0, database_url), tmp_path / "backup")

    assert await asyncio.to_thread(restore, settings_of(redis_url, 2), tmp_path / "backup") == 0
