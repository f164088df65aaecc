"""
The tables of articles, votes, users, follows and edits, their views, and the positions up to which the logs of the
store in Redis were read. Columns that end in `_ms` are unix milliseconds; `docs/database.md` explains the others.
"""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "v0001_tables"
down_revision = None

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIMESTAMP = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0} / 1000.0, 'unixepoch')",
    "postgresql": "to_timestamp({0} / 1000.0)",
}


def upgrade() -> None:
    create_articles()
    create_votes()
    create_people()
    create_history()
    create_views(TIMESTAMP[op.get_context().dialect.name].format)


def create_articles() -> None:
    op.create_table(
        "articles",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("poster", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("link", sa.Text),
        sa.Column("content", sa.Text),
        sa.Column("posted_ms", NUMBER, nullable=False),
        sa.Column("edited_ms", NUMBER),
        sa.Column("up", NUMBER, nullable=False),
        sa.Column("down", NUMBER, nullable=False),
        sa.Column("imported_votes", NUMBER, nullable=False),
        sa.Column("archived", sa.Boolean, nullable=False),
    )
    op.create_index("articles_by_poster", "articles", ["poster", "posted_ms"])
    op.create_index("articles_by_time", "articles", ["posted_ms"])
    op.create_table(
        "article_groups",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("place", sa.SmallInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("article_groups_by_name", "article_groups", ["name", "number"])


def create_votes() -> None:
    op.create_table(
        "votes",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("voter", sa.Text, primary_key=True),
        sa.Column("value", sa.SmallInteger, nullable=False),
        sa.Column("cast_ms", NUMBER),
        sa.Column("counts", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("votes_by_voter", "votes", ["voter", "number"])


def create_people() -> None:
    op.create_table(
        "users",
        sa.Column("username", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("joined_ms", NUMBER, nullable=False),
        sa.Column("seen", sa.Text),
        sqlite_with_rowid=False,
    )
    op.create_index("users_by_name", "users", ["name"], unique=True)
    op.create_table(
        "follows",
        sa.Column("follower", sa.Text, primary_key=True),
        sa.Column("followee", sa.Text, primary_key=True),
        sa.Column("since_ms", NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("follows_by_followee", "follows", ["followee", "follower"])


def create_history() -> None:
    op.create_table(
        "edits",
        sa.Column("partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("entry", sa.Text, primary_key=True),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("editor", sa.Text, nullable=False),
        sa.Column("edited_ms", NUMBER, nullable=False),
        sa.Column("title", sa.Text),
        sa.Column("link", sa.Text),
        sa.Column("content", sa.Text),
    )
    op.create_index("edits_by_number", "edits", ["number"])
    op.create_table(
        "positions",
        sa.Column("partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("at_ms", NUMBER, nullable=False),
    )


def create_views(timestamp: Callable[[str], str]) -> None:
    op.execute("CREATE VIEW groups AS SELECT name, count(*) AS articles FROM article_groups GROUP BY name")
    op.execute(
        f"""CREATE VIEW articles_view AS SELECT number, 'article:' || number AS id, title, link, content, poster,
        {timestamp("posted_ms")} AS posted_at, {timestamp("edited_ms")} AS edited_at,
        up - down AS votes, up, down, imported_votes, archived FROM articles"""
    )
    op.execute(
        f"""CREATE VIEW votes_view AS SELECT number, voter, value, {timestamp("cast_ms")} AS cast_at, counts
        FROM votes"""
    )
    op.execute(
        f"""CREATE VIEW users_view AS SELECT username, name, {timestamp("joined_ms")} AS joined_at,
        (SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = users.name) AS karma FROM users"""
    )
    op.execute(f"CREATE VIEW follows_view AS SELECT follower, followee, {timestamp('since_ms')} AS since FROM follows")
    op.execute(
        f"""CREATE VIEW edits_view AS SELECT number, editor, {timestamp("edited_ms")} AS edited_at,
        title, link, content FROM edits"""
    )
