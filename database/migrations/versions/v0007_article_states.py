"""Whether an article is shown and whether it is locked, and views that leave out what is not shown."""

import sqlalchemy as sa
from alembic import op

from database.migrations.versions.v0005_comments import TIMESTAMP, replace_view

revision = "v0007_article_states"
down_revision = "v0006_moderation"


def upgrade() -> None:
    op.add_column("articles", sa.Column("state", sa.Text, nullable=False, server_default="VISIBLE"))
    op.add_column("articles", sa.Column("locked", sa.Boolean, nullable=False, server_default=sa.false()))
    timestamp = TIMESTAMP[op.get_context().dialect.name].format
    replace_view(
        "articles_view",
        f"""SELECT number, 'article:' || number AS id, title, link, content, poster,
        {timestamp("posted_ms")} AS posted_at, {timestamp("edited_ms")} AS edited_at,
        up - down AS votes, up, down, imported_votes, archived,
        (SELECT count(*) FROM comments WHERE article = articles.number AND state = 'VISIBLE') AS comments,
        state, locked FROM articles""",
    )
    replace_view(
        "users_view",
        f"""SELECT username, name, {timestamp("joined_ms")} AS joined_at,
        (SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = users.name AND state <> 'REMOVED')
        + (SELECT coalesce(sum(up - down - 1), 0) FROM comments WHERE poster = users.name) AS karma FROM users""",
    )
    replace_view(
        "groups",
        """SELECT article_groups.name, count(*) AS articles FROM article_groups JOIN articles USING (number)
        WHERE articles.state = 'VISIBLE' GROUP BY article_groups.name""",
    )
