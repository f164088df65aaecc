"""
A ban may remove the texts of a user, each by an action of its own: this adds the column `ban`, the number of that ban,
to the table of actions and its view.
"""

import sqlalchemy as sa
from alembic import op

from database.migrations.versions.v0005_comments import TIMESTAMP, replace_view

revision = "v0010_bans_of_removals"
down_revision = "v0009_comment_states"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.add_column("moderation_actions", sa.Column("ban", NUMBER))
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    replace_view(
        "moderation_actions_view",
        f"""SELECT number, 'action:' || number AS id, kind,
        {timestamp("at_ms")} AS at, moderator, subject_id, group_name, reason, {timestamp("expires_ms")} AS expires_at,
        role, reverts, (SELECT max(later.number) FROM moderation_actions AS later
        WHERE later.reverts = moderation_actions.number) AS reverted_by, ban FROM moderation_actions""",
    )
