"""
The tables of webhooks: receivers, how far the log of changes was read for them, and messages that wait to be sent.
`database/webhooks.py` explains the columns.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0011_webhooks"
down_revision = "v0010_bans_of_removals"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", NUMBER, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("kinds", sa.Text, nullable=False),
        sa.Column("allows_private", sa.Boolean, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("old_secret", sa.Text),
        sa.Column("old_until_ms", NUMBER),
        sa.Column("created_ms", NUMBER, nullable=False),
        sa.Column("off_ms", NUMBER),
        sa.Column("fault", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "webhook_position",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("cursor", sa.Text, nullable=False),
    )
    op.create_table(
        "webhook_messages",
        sa.Column("number", NUMBER, primary_key=True),
        sa.Column("hook", NUMBER, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("spooled_ms", NUMBER, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("due_ms", NUMBER),
        sa.Column("fault", sa.Text),
        sqlite_autoincrement=True,
    )
    op.create_index("webhook_messages_by_subject", "webhook_messages", ["subject", "hook", "number"])
    op.create_index("webhook_messages_by_due", "webhook_messages", ["hook", "due_ms", "number"])
