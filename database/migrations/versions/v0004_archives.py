"""
The archive, old articles that leave Redis and stay in the database: the id of the store's archive, which processes move
articles into it, and what they moved last.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0004_archives"
down_revision = "v0003_places"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table("archives", sa.Column("id", sa.Text, primary_key=True))
    op.create_table(
        "archivers",
        sa.Column("partition", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("token", sa.Text, nullable=False),
    )
    op.create_table(
        "archived_batches",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("partition", sa.Integer, nullable=False),
        sa.Column("numbers", sa.Text, nullable=False),
        sa.Column("at_ms", NUMBER, nullable=False),
    )
