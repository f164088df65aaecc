"""
Columns for what only the database has of an article that a moderator has removed and that left Redis (`KeptOfArticle`
in `database/conversations.py`), and an index of the removed articles that have not left.
"""

import sqlalchemy as sa
from alembic import op

revision = "v0019_removed_articles"
down_revision = "v0018_words"


def upgrade() -> None:
    op.add_column("articles", sa.Column("held_by", sa.Text))
    op.add_column("articles", sa.Column("unannounced", sa.Text))
    in_redis = sa.text("state = 'REMOVED' AND NOT archived")
    op.create_index(
        "articles_removed", "articles", ["posted_ms", "number"], sqlite_where=in_redis, postgresql_where=in_redis
    )
