"""A view of users in which removed comments give no karma."""

from alembic import op

from database.migrations.versions.v0005_comments import TIMESTAMP, replace_view

revision = "v0009_comment_states"
down_revision = "v0008_groups"


def upgrade() -> None:
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    replace_view(
        "users_view",
        f"""SELECT username, name, {timestamp("joined_ms")} AS joined_at,
        (SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = users.name AND state <> 'REMOVED')
        + (SELECT coalesce(sum(up - down - 1), 0) FROM comments WHERE poster = users.name AND state <> 'REMOVED')
        AS karma FROM users""",
    )
