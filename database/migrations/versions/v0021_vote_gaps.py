"""
The table of what `database/vote_gaps.py` notes: when the newest article or comment was posted of which the database
does not know all voters.
"""

import sqlalchemy as sa
from alembic import op

from database.migrations.versions.v0005_comments import NUMBER

revision = "v0021_vote_gaps"
down_revision = "v0020_first_reverts"


def upgrade() -> None:
    op.create_table("vote_gaps", sa.Column("posted_ms", NUMBER, primary_key=True, autoincrement=False))
    lacking = " UNION ALL ".join(
        f"""SELECT posted_ms FROM {things} WHERE state <> 'DELETED' AND up + down - imported_votes >
        (SELECT count(*) FROM {votes} AS cast_votes WHERE cast_votes.number = {things}.number AND counts)"""
        for things, votes in (("articles", "votes"), ("comments", "comment_votes"))
    )
    op.execute(
        f"""INSERT INTO vote_gaps SELECT max(posted_ms) FROM ({lacking}) AS lacking
        HAVING max(posted_ms) IS NOT NULL"""
    )
