"""
Texts with names such as `c++`, which are single words from now on, are indexed again for the search. That changes the
table of words, too, so it is created here; `v0018_words` fills it.
"""

from alembic import op
from sqlalchemy import text

from database import search, vocabulary

revision = "v0016_names_with_symbols"
down_revision = "v0015_rings"

HAVE_NAMES = "{0} LIKE '%++%' OR {0} LIKE '%#%' OR lower({0}) LIKE '%.net%'"


def upgrade() -> None:
    connection = op.get_bind()
    vocabulary.create(connection)
    # by table: the numbers, or names of users, of the rows that have such a name
    found = {
        table: connection.execute(
            text(f"SELECT {key} FROM {table} WHERE {' OR '.join(map(HAVE_NAMES.format, columns))}")
        )
        for table, key, *columns in (
            ("articles", "number", "title", "content"),
            ("users", "username", "display_name"),
            ("comments", "number", "content"),
        )
    }
    search.index(connection, *(rows.scalars().all() for rows in found.values()))
