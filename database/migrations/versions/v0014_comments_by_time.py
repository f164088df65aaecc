"""The index of comments by time, for lists of comments of the whole site."""

from alembic import op

revision = "v0014_comments_by_time"
down_revision = "v0013_profiles"


def upgrade() -> None:
    op.create_index("comments_by_time", "comments", ["posted_ms", "number"])
