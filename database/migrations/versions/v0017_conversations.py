"""
Columns for what only the database has of an archived article, which has left Redis, and of its comments: see
`KeptOfArticle` and `KeptOfComment` in `database/conversations.py`.
"""

import sqlalchemy as sa
from alembic import op

from database.migrations.versions.v0005_comments import NUMBER

revision = "v0017_conversations"
down_revision = "v0016_names_with_symbols"


def upgrade() -> None:
    for name, type in (("notified", sa.Text), ("active_ms", NUMBER), ("comment_count", NUMBER), ("left_ms", NUMBER)):
        op.add_column("articles", sa.Column(name, type))
    for name, type in (("reply_count", NUMBER), ("descendant_count", NUMBER), ("path", sa.Text), ("notified", sa.Text)):
        op.add_column("comments", sa.Column(name, type))
