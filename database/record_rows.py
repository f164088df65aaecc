"""
Writes rows from records of a dump, for `rebuild`: articles, comments, votes, users, follows, groups and actions of
moderators. A dump reads all of the store in Redis; a record has what one key holds, such as the fields of an article.
The number of an article, a comment or an action is the one in its id.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, select, tuple_

from database.changes import Changed, derive
from database.comment_changes import row_of
from database.rows import (
    ABOUT_COMMENTS,
    KEPT_OF_ARTICLE,
    KEPT_OF_COMMENT,
    action_row,
    follow_row,
    group_follow_row,
    group_row,
    remove_rows,
    replace_groups,
    upsert,
    user_row,
    vote_row,
)
from database.statements import slices
from database.states import state
from database.tables import (
    ARTICLES,
    COMMENT_EDITS,
    COMMENT_VOTES,
    COMMENTS,
    EDITS,
    FOLLOWS,
    GROUP_FOLLOWS,
    GROUP_TEXTS,
    MODERATION_ACTIONS,
    USERS,
    VOTES,
)
from store import numbering, records
from store.maintenance.records.accounts import FollowsRecord, GroupFollowsRecord, UserRecord
from store.maintenance.records.actions import ActionRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord, VotedOnRecord
from store.maintenance.records.places import GroupRecord
from store.maintenance.records.record import Record
from store.moderation_records import ModerationKind
from store.records import ContentState, is_pseudonym

# votes that do not count, as moderators have annulled them: 1 or -1, by the number of the article or comment, and voter
Annulled = Mapping[int, Mapping[str, int]]


def copy(connection: Connection, batch: Sequence[Record], annulled: Annulled) -> None:
    """Write the rows of some records of a dump. `annulled` are the votes on these that do not count."""
    articles = [record for record in batch if isinstance(record, ArticleRecord)]
    upsert(connection, ARTICLES, [article_row(each.number, each.fields) for each in articles], keep=KEPT_OF_ARTICLE)
    replace_groups(connection, {each.number: each.fields["groups"].split() for each in articles})
    replace_votes(connection, VOTES, articles, annulled)
    comments = [record for record in batch if isinstance(record, CommentRecord)]
    copy_comments(connection, comments, annulled)
    users = [record.fields for record in batch if isinstance(record, UserRecord)]
    users = [fields for fields in users if not is_pseudonym(fields["name"])]  # deleted users have no row
    upsert(connection, USERS, map(user_row, users))
    follows = [record for record in batch if isinstance(record, FollowsRecord)]
    pairs = [follow_row(each.follower, other, since) for each in follows for other, since in each.followees.items()]
    upsert(connection, FOLLOWS, pairs)
    group_follows = [record for record in batch if isinstance(record, GroupFollowsRecord)]
    pairs = [
        group_follow_row(each.follower, name, since) for each in group_follows for name, since in each.groups.items()
    ]
    upsert(connection, GROUP_FOLLOWS, pairs)
    groups = [record for record in batch if isinstance(record, GroupRecord)]
    upsert(connection, GROUP_TEXTS, [group_row(each.group, each.fields) for each in groups])
    actions = [record for record in batch if isinstance(record, ActionRecord)]
    upsert(connection, MODERATION_ACTIONS, [action_row(each.number, each.fields) for each in actions])
    remove_purged_edits(connection, actions)
    changed = Changed(
        articles={each.number for each in articles},
        users={each["name"].lower() for each in users},
        comments={each.number for each in comments},
    )
    derive(connection, changed)


def remove_purged_edits(connection: Connection, actions: Sequence[ActionRecord]) -> None:
    """
    Remove the edits of texts that were purged, which means replaced for good: only the database has edits, and the log
    may no longer have the entry of the purge.
    """
    subjects = [each.fields["subject"] for each in actions if each.fields["kind"] == ModerationKind.PURGE.value]
    remove_rows(connection, EDITS, [number for each in subjects if (number := records.article_number(each))])
    remove_rows(connection, COMMENT_EDITS, [number for each in subjects if (number := records.comment_number(each))])


def copy_comments(connection: Connection, comments: Sequence[CommentRecord], annulled: Annulled) -> None:
    """
    Write the rows of comments. Each comes after its parent, whose depth gives its own. Deleted comments keep no votes
    and no edits.
    """
    parents = {int(each.fields["parent"]) for each in comments if "parent" in each.fields}
    depths: dict[int, int] = {}
    for some in slices(parents):
        found = connection.execute(select(COMMENTS.c.number, COMMENTS.c.depth).where(COMMENTS.c.number.in_(some)))
        depths.update((number, depth) for number, depth in found)
    for each in comments:
        depths[each.number] = depths.get(int(each.fields["parent"]), 0) + 1 if "parent" in each.fields else 0
    upsert(
        connection,
        COMMENTS,
        [comment_row(each.number, each.fields, depths[each.number]) for each in comments],
        keep=KEPT_OF_COMMENT,
    )
    replace_votes(
        connection, COMMENT_VOTES, [comment for comment in comments if not is_deleted(comment.fields)], annulled
    )
    deleted = [comment.number for comment in comments if is_deleted(comment.fields)]
    for table in ABOUT_COMMENTS:  # the rows of the comments themselves stay
        remove_rows(connection, table, deleted)


def is_deleted(fields: dict[str, str]) -> bool:
    return fields.get("state") == ContentState.DELETED.value


def comment_row(number: int, fields: dict[str, str], depth: int) -> dict[str, Any]:
    return row_of(number, {"parent": "", **fields, "depth": str(depth)}) | {
        "poster": fields.get("poster"),
        "content": fields.get("content"),
        "edited_ms": int(fields["edited"]) if "edited" in fields else None,
        "imported_votes": int(fields.get("imported", 0)),
        "state": state(ContentState(fields.get("state", ContentState.VISIBLE.value))),
    }


def article_row(number: int, fields: dict[str, str]) -> dict[str, Any]:
    return {
        "number": number,
        "poster": fields["poster"],
        "title": fields["title"],
        "link": fields.get("link"),
        "content": fields.get("content"),
        "posted_ms": int(fields["time"]),
        "edited_ms": int(fields["edited"]) if "edited" in fields else None,
        "up": int(fields["up"]),
        "down": int(fields["down"]),
        "imported_votes": int(fields.get("imported", 0)),
        "archived": False,
        "state": state(ContentState(fields.get("state", ContentState.VISIBLE.value))),
        "locked": fields.get("locked") == "1",
    }


def replace_votes(connection: Connection, table: Table, subjects: Sequence[VotedOnRecord], annulled: Annulled) -> None:
    """
    Set the votes on some articles or comments (`subjects`). Rows with the same vote stay as they are, with the time
    when the vote was cast; those that are `annulled` do not count.

    After voting closes, the store forgets the voters of a subject, and its record has no `upvoters`. Then all rows
    stay, and the poster's vote is added if it is missing.
    """
    stored = stored_votes(connection, table, [each.number for each in subjects])
    withdrawn: list[tuple[int, str]] = []
    rows = []
    for each in subjects:
        number, poster, known = each.number, each.fields["poster"], stored.get(each.number, {})
        counted = {poster: 1, **dict.fromkeys(each.upvoters, 1), **dict.fromkeys(each.downvoters, -1)}
        uncounted = annulled.get(number, {})
        votes = {voter: (value, True) for voter, value in counted.items()}  # the value, and whether it counts
        votes |= {voter: (value, False) for voter, value in uncounted.items()}
        if not each.upvoters:  # then a row that is annulled no more counts again
            restored = {voter: row for voter, row in known.items() if not row.counts and voter not in uncounted}
            votes |= {voter: (row.value, True) for voter, row in restored.items()}
        cast = {poster: own_vote_cast(number, int(each.fields["time"]))}
        cast |= {voter: row.cast_ms for voter, row in known.items() if voter in votes and row.value == votes[voter][0]}
        rows += [
            vote_row(number, voter, value, cast.get(voter), counts)
            for voter, (value, counts) in votes.items()
            if voter not in known or (known[voter].value, known[voter].counts) != (value, counts)
        ]
        withdrawn += [(number, voter) for voter in known.keys() - votes.keys() if each.upvoters]
    upsert(connection, table, rows)
    for some in slices(withdrawn):
        connection.execute(delete(table).where(tuple_(table.c.number, table.c.voter).in_(some)))


def own_vote_cast(number: int, posted_ms: int) -> int | None:
    """
    When the poster of an article or a comment cast their own vote: when it was posted. None if that is unknown: for
    imported ones ("stories") and those of early versions, both of which the sequence in the number tells.
    """
    sequence = numbering.sequence_of(number)
    return posted_ms if sequence >= numbering.FIRST_STORY_SEQUENCE and not numbering.is_of_story(sequence) else None


def stored_votes(connection: Connection, table: Table, numbers: Sequence[int]) -> dict[int, dict[str, Row[Any]]]:
    """The rows of votes that the table has, by number and voter."""
    found: dict[int, dict[str, Row[Any]]] = {}
    for some in slices(numbers):
        for row in connection.execute(select(table).where(table.c.number.in_(some))):
            found.setdefault(row.number, {})[row.voter] = row
    return found
