"""The index of comments by time."""

from alembic import op

revision = "v0014_comments_by_time"
down_revision = "v0013_profiles"


def upgrade() -> None:
    op.create_index("comments_by_time", "comments", ["posted_ms", "number"])
