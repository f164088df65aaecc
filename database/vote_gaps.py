"""
Notes which votes the database lacks. Redis deletes the voters of an article or a comment some time after voting on it
has closed. So a database that was made anew later does not know who they were.
"""

from typing import TYPE_CHECKING

from database.statements import Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection


def note(connection: "Connection", posted_before: int) -> None:
    """
    Note the newest article or comment with unknown voters, among those that were posted before an instant (unix
    milliseconds). Counts all votes: a few seconds for a million.
    """
    FORGET.run(connection)
    NOTE.run(connection, {"posted_before": posted_before})


def newest(connection: "Connection") -> int | None:
    """
    When the newest article or comment with unknown voters was posted (unix milliseconds); None if all voters are known.
    """
    return NEWEST.run(connection).scalar_one_or_none()


# A text has unknown voters if it has more votes than rows of these. Imported votes never had voters.
LACKING = """SELECT posted_ms FROM {things} AS things WHERE posted_ms < :posted_before AND state <> 'DELETED'
  AND up + down - imported_votes > (SELECT count(*) FROM {votes} AS cast_votes
  WHERE cast_votes.number = things.number AND counts)"""
ARTICLES = LACKING.format(things="articles", votes="votes")
COMMENTS = LACKING.format(things="comments", votes="comment_votes")
FORGET = Statement("DELETE FROM vote_gaps")
NOTE = Statement(f"""INSERT INTO vote_gaps SELECT max(posted_ms) FROM ({ARTICLES} UNION ALL {COMMENTS}) AS lacking
  HAVING max(posted_ms) IS NOT NULL""")
NEWEST = Statement("SELECT posted_ms FROM vote_gaps")
