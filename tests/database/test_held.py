"""
A text that a rule of the site holds is PENDING: shown to nobody but its poster and moderators, until one approves it.
The database has this state.

`mirrored` brings the database up to date with the log of the store, `rebuilt` makes its rows again.

Codes such as M2 name rows of docs/behaviours.md.
"""

import pytest
from sqlalchemy import select

from database import tables
from store import article_moderation, comment_moderation
from store.articles import Draft
from store.roles import OPERATOR
from tests.conftest import registered
from tests.database.conftest import mirrored, rebuilt
from tests.store.held import holding
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions


async def states(database):
    """The states of all articles and comments in the database, by number."""

    def read(connection):
        found = [select(each.c.number, each.c.state) for each in (tables.ARTICLES, tables.COMMENTS)]
        return {number: state for query in found for number, state in connection.execute(query)}

    return await database.run(read)


async def test_state_of_what_is_held_is_in_the_database(store, database):  # M2
    for name in ("alice", "bob"):
        await registered(store, name)
    article = await post(store, "alice")
    with holding(store):
        held = (await store.articles.post("bob", Draft("held", content="@alice"))).article
        comment = (await store.comments.post(article.number, parent=None, poster="bob", content="@alice")).comment
    await mirrored(store, database)
    pending = await states(database)
    await rebuilt(store, database)
    assert await states(database) == pending
    await article_moderation.approve(store.site, OPERATOR, held.number)
    await comment_moderation.approve(store.site, OPERATOR, comment.number)
    await mirrored(store, database)
    shown = await states(database)

    numbers = (article.number, held.number, comment.number)
    assert [pending[number] for number in numbers] == ["VISIBLE", "PENDING", "PENDING"]
    assert [shown[number] for number in numbers] == ["VISIBLE"] * 3
