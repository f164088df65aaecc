"""What users write about themselves, also in their view."""

import sqlalchemy as sa
from alembic import op

from database.migrations.versions.v0005_comments import TIMESTAMP, replace_view

revision = "v0013_profiles"
down_revision = "v0012_group_follows"


def upgrade() -> None:
    for name in ("display_name", "about", "avatar_url"):
        op.add_column("users", sa.Column(name, sa.Text))
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    replace_view(
        "users_view",
        f"""SELECT username, name, {timestamp("joined_ms")} AS joined_at,
        (SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = users.name AND state <> 'REMOVED')
        + (SELECT coalesce(sum(up - down - 1), 0) FROM comments WHERE poster = users.name AND state <> 'REMOVED')
        AS karma, display_name, about, avatar_url FROM users""",
    )
