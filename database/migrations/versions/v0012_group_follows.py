"""The table of who follows which groups."""

import sqlalchemy as sa
from alembic import op

revision = "v0012_group_follows"
down_revision = "v0011_webhooks"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIMESTAMP = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0} / 1000.0, 'unixepoch')",
    "postgresql": "to_timestamp({0} / 1000.0)",
}


def upgrade() -> None:
    op.create_table(
        "group_follows",
        sa.Column("follower", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("since_ms", NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("group_follows_by_name", "group_follows", ["name", "follower"])
    since = TIMESTAMP[op.get_context().dialect.name].format("since_ms")
    op.execute(f"CREATE VIEW group_follows_view AS SELECT follower, name, {since} AS since FROM group_follows")
