"""The words of the search indexes, and how many texts have each: see `database.vocabulary`."""

from alembic import op

from database import vocabulary

revision = "v0018_words"
down_revision = "v0017_conversations"


def upgrade() -> None:
    connection = op.get_bind()
    vocabulary.create(connection)
    vocabulary.count_again(connection)
