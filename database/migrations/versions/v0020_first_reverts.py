"""
A ban that was reverted but for its votes may be reverted once more, which restores them. In the view of actions,
`reverted_by` stays the first revert, as in the store.
"""

from alembic import op

from database.migrations.versions.v0005_comments import TIMESTAMP, replace_view

revision = "v0020_first_reverts"
down_revision = "v0019_removed_articles"


def upgrade() -> None:
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    replace_view(
        "moderation_actions_view",
        f"""SELECT number, 'action:' || number AS id, kind,
        {timestamp("at_ms")} AS at, moderator, subject_id, group_name, reason, {timestamp("expires_ms")} AS expires_at,
        role, reverts, (SELECT min(later.number) FROM moderation_actions AS later
        WHERE later.reverts = moderation_actions.number) AS reverted_by, ban FROM moderation_actions""",
    )
