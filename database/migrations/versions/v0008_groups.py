"""The table of what is written about groups; the view `groups` has titles, and groups that are listed."""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "v0008_groups"
down_revision = "v0007_article_states"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIMESTAMP = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0} / 1000.0, 'unixepoch')",
    "postgresql": "to_timestamp({0} / 1000.0)",
}


def upgrade() -> None:
    op.create_table(
        "group_texts",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("title", sa.Text),
        sa.Column("about", sa.Text),
        sa.Column("created_ms", NUMBER, nullable=False),
        sa.Column("listed_ms", NUMBER),
        sqlite_with_rowid=False,
    )
    create_views(TIMESTAMP[op.get_context().dialect.name].format)


def create_views(timestamp: Callable[[str], str]) -> None:
    op.execute(
        f"""CREATE VIEW group_texts_view AS SELECT name, title, about, {timestamp("created_ms")} AS created_at,
        {timestamp("listed_ms")} AS listed_at FROM group_texts"""
    )
    replace_view(
        "groups",
        """SELECT named.name AS name, count(number) AS articles, title, about
        FROM (
            SELECT article_groups.name, number FROM article_groups JOIN articles USING (number) WHERE state = 'VISIBLE'
            UNION ALL SELECT name, NULL FROM group_texts WHERE listed_ms IS NOT NULL
        ) AS named LEFT JOIN group_texts ON group_texts.name = named.name
        GROUP BY named.name, title, about""",
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
