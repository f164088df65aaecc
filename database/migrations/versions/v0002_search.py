"""The full-text index of `database.search`."""

from alembic import op

revision = "v0002_search"
down_revision = "v0001_tables"

# The ids of users begin at 2**53 = 9007199254740992, above the numbers of all articles and comments. SQLite gives out
# the id after the one that `sqlite_sequence` has.
STATEMENTS = {
    "sqlite": [
        "CREATE VIRTUAL TABLE search_index USING fts5(title, content, tags, tokenize = \"ascii tokenchars '/_-'\")",
        "CREATE TABLE search_users (id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL UNIQUE)",
        "INSERT INTO sqlite_sequence (name, seq) VALUES ('search_users', 9007199254740991)",
    ],
    "postgresql": [
        "CREATE TABLE search_index (id BIGINT PRIMARY KEY, words TEXT NOT NULL, vector TSVECTOR NOT NULL)",
        "CREATE INDEX search_index_by_word ON search_index USING gin (vector) WITH (fastupdate = off)",
        """CREATE TABLE search_users (
            id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 9007199254740992) PRIMARY KEY,
            username TEXT NOT NULL UNIQUE)""",
    ],
}


def upgrade() -> None:
    for statement in STATEMENTS[op.get_context().dialect.name]:
        op.execute(statement)
