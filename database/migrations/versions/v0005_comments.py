"""
The tables of comments, of votes on them and of their edits, their full-text index, and views that count comments.
`docs/database.md` explains the columns.
"""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "v0005_comments"
down_revision = "v0004_archives"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIMESTAMP = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0} / 1000.0, 'unixepoch')",
    "postgresql": "to_timestamp({0} / 1000.0)",
}


SEARCH = {
    "sqlite": [
        "CREATE VIRTUAL TABLE search_comments USING fts5(title, content, tags, tokenize = \"ascii tokenchars '/_-'\")",
    ],
    "postgresql": [
        "CREATE TABLE search_comments (id BIGINT PRIMARY KEY, words TEXT NOT NULL, vector TSVECTOR NOT NULL)",
        "CREATE INDEX search_comments_by_word ON search_comments USING gin (vector) WITH (fastupdate = off)",
    ],
}


def upgrade() -> None:
    create_comments()
    create_votes_and_edits()
    for statement in SEARCH[op.get_context().dialect.name]:
        op.execute(statement)
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    create_views(timestamp)
    replace_views(timestamp)


def create_comments() -> None:
    op.create_table(
        "comments",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("article", NUMBER, nullable=False),
        sa.Column("parent", NUMBER),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("poster", sa.Text),
        sa.Column("content", sa.Text),
        sa.Column("posted_ms", NUMBER, nullable=False),
        sa.Column("edited_ms", NUMBER),
        sa.Column("up", NUMBER, nullable=False),
        sa.Column("down", NUMBER, nullable=False),
        sa.Column("imported_votes", NUMBER, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.create_index("comments_by_article", "comments", ["article", "parent", "number"])
    op.create_index("comments_by_poster", "comments", ["poster", "posted_ms"])


def create_votes_and_edits() -> None:
    op.create_table(
        "comment_votes",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("voter", sa.Text, primary_key=True),
        sa.Column("value", sa.SmallInteger, nullable=False),
        sa.Column("cast_ms", NUMBER),
        sa.Column("counts", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("comment_votes_by_voter", "comment_votes", ["voter", "number"])
    op.create_table(
        "comment_edits",
        sa.Column("partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("entry", sa.Text, primary_key=True),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("editor", sa.Text, nullable=False),
        sa.Column("edited_ms", NUMBER, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_index("comment_edits_by_number", "comment_edits", ["number"])


def create_views(timestamp: Callable[[str], str]) -> None:
    op.execute(
        f"""CREATE VIEW comments_view AS SELECT number, 'comment:' || number AS id, article, parent, depth, content,
        poster, {timestamp("posted_ms")} AS posted_at, {timestamp("edited_ms")} AS edited_at,
        up - down AS votes, up, down, imported_votes, state FROM comments"""
    )
    op.execute(
        f"""CREATE VIEW comment_votes_view AS SELECT number, voter, value, {timestamp("cast_ms")} AS cast_at, counts
        FROM comment_votes"""
    )
    op.execute(
        f"""CREATE VIEW comment_edits_view AS SELECT number, editor, {timestamp("edited_ms")} AS edited_at, content
        FROM comment_edits"""
    )


def replace_views(timestamp: Callable[[str], str]) -> None:
    """Add the number of comments to articles, and the votes on comments to the karma of users."""
    replace_view(
        "articles_view",
        f"""SELECT number, 'article:' || number AS id, title, link, content, poster,
        {timestamp("posted_ms")} AS posted_at, {timestamp("edited_ms")} AS edited_at,
        up - down AS votes, up, down, imported_votes, archived,
        (SELECT count(*) FROM comments WHERE article = articles.number AND state = 'VISIBLE') AS comments
        FROM articles""",
    )
    replace_view(
        "users_view",
        f"""SELECT username, name, {timestamp("joined_ms")} AS joined_at,
        (SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = users.name)
        + (SELECT coalesce(sum(up - down - 1), 0) FROM comments WHERE poster = users.name) AS karma FROM users""",
    )


def replace_view(name: str, query: str) -> None:
    """
    Give a view another query. In PostgreSQL it is not dropped, as views of other programs may read it. SQLite has no
    other way.
    """
    if op.get_context().dialect.name == "sqlite":
        op.execute(f"DROP VIEW {name}")
        op.execute(f"CREATE VIEW {name} AS {query}")
    else:
        op.execute(f"CREATE OR REPLACE VIEW {name} AS {query}")
