"""The table of what moderators did, and its view. `docs/database.md` explains the columns."""

import sqlalchemy as sa
from alembic import op

revision = "v0006_moderation"
down_revision = "v0005_comments"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TIMESTAMP = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', {0} / 1000.0, 'unixepoch')",
    "postgresql": "to_timestamp({0} / 1000.0)",
}


def upgrade() -> None:
    op.create_table(
        "moderation_actions",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("at_ms", NUMBER, nullable=False),
        sa.Column("moderator", sa.Text, nullable=False),
        sa.Column("subject_id", sa.Text, nullable=False),
        sa.Column("group_name", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("expires_ms", NUMBER),
        sa.Column("role", sa.Text),
        sa.Column("reverts", NUMBER),
    )
    op.create_index("moderation_actions_by_time", "moderation_actions", ["at_ms"])
    op.create_index("moderation_actions_by_subject", "moderation_actions", ["subject_id", "at_ms"])
    op.create_index("moderation_actions_by_reverted", "moderation_actions", ["reverts"])
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    op.execute(
        f"""CREATE VIEW moderation_actions_view AS SELECT number, 'action:' || number AS id, kind,
        {timestamp("at_ms")} AS at, moderator, subject_id, group_name, reason, {timestamp("expires_ms")} AS expires_at,
        role, reverts, (SELECT max(later.number) FROM moderation_actions AS later
        WHERE later.reverts = moderation_actions.number) AS reverted_by FROM moderation_actions"""
    )
