"""
The tables of rings, which are users who vote for each other more than by chance, for moderators: what the last search
has found, the members, and the articles that would move in the ranking without their votes. `database/rings.py`
explains the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0015_rings"
down_revision = "v0014_comments_by_time"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "ring_searches",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at_ms", NUMBER, nullable=False),
        sa.Column("votes", NUMBER, nullable=False),
        sa.Column("users", NUMBER, nullable=False),
    )
    op.create_table(
        "rings",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("votes", NUMBER, nullable=False),
        sa.Column("expected", sa.Double, nullable=False),
        sa.Column("coverage", sa.Double, nullable=False),
        sa.Column("article_votes", NUMBER, nullable=False),
        sa.Column("comment_votes", NUMBER, nullable=False),
        sa.Column("moved", NUMBER, nullable=False),
    )
    op.create_table(
        "ring_members",
        sa.Column("ring", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("username", sa.Text, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ring_members_by_name", "ring_members", ["username"])
    op.create_table(
        "ring_moves",
        sa.Column("ring", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("article", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("votes", NUMBER, nullable=False),
        sa.Column("place", NUMBER, nullable=False),
        sa.Column("new_place", NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
