"""
A table of all words of the search index (SQLite only), for suggestions; and texts with names such as `c++`, which are
single words from now on, are indexed again.
"""

from alembic import op
from sqlalchemy import text

from database import search

revision = "v0016_names_with_symbols"
down_revision = "v0015_rings"

HAVE_NAMES = "{0} LIKE '%++%' OR {0} LIKE '%#%' OR lower({0}) LIKE '%.net%'"


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab(search_index, 'row')")
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
