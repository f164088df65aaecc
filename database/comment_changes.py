"""
What entries of the log about comments change in the tables: the part of `database.changes` that gathers and writes
them. The log is a Redis stream of all changes of the store. An entry is one change; its `values` are the new values, as
text.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from database import conversations
from database.rows import (
    ABOUT_COMMENTS,
    KEPT_OF_COMMENT,
    Held,
    Row,
    VoteColumns,
    Votes,
    existing,
    hold_vote,
    integer,
    remove_comments,
    remove_rows,
    update_rows,
    upsert,
    write_held,
    write_votes,
)
from database.states import state
from database.tables import ARTICLES, COMMENT_EDITS, COMMENT_VOTES, COMMENTS
from store.log import Entry
from store.records import ContentState


@dataclass(slots=True)
class CommentChanges:
    """
    The changes of comments in a batch of entries, by the number of the comment.

    `rows` are whole rows of new comments, and of stubs: deleted comments that still have replies. `columns` are new
    values of other comments. `held` are votes that stop counting, or count again. The rest are sets of numbers:
    `removed` of all deleted comments, `stubs` of those that keep a row, `state_changed` of those whose state changed,
    `purged` of those whose text was replaced for good by "[purged]", also in their edits, and `recounted` of archived
    comments, which Redis no longer has, whose counts changed.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    columns: defaultdict[int, Row] = field(default_factory=lambda: defaultdict(dict))
    votes: Votes = field(default_factory=lambda: defaultdict(dict))
    held: Held = field(default_factory=lambda: defaultdict(dict))
    edits: defaultdict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    removed: set[int] = field(default_factory=set)
    stubs: set[int] = field(default_factory=set)
    state_changed: set[int] = field(default_factory=set)
    purged: set[int] = field(default_factory=set)
    recounted: set[int] = field(default_factory=set)

    def add(self, entry: Entry) -> None:
        """Gather an entry about a comment. Kinds that change no table are skipped."""
        if gather := GATHERERS.get(entry.kind):
            gather(self, entry, int(entry.subject.removeprefix("comment:")))

    def post(self, entry: Entry, number: int) -> None:
        """A new comment, with the upvote of its poster if it was posted here, and those that an import names."""
        values = entry.values
        self.rows[number] = row_of(number, values)
        if values.get("state") == "deleted":  # imported without a text, below which there are other comments
            return
        self.rows[number] |= {
            "poster": entry.actor,
            "content": values["content"],
            "imported_votes": integer(values.get("imported", "0")),
            "state": state(ContentState.VISIBLE),
        }
        if entry.kind == "commented":
            self.votes[number][entry.actor] = VoteColumns(1, entry.at, counts=True)
        for voter in values.get("voters", "").split():
            self.votes[number][voter] = VoteColumns(1, cast_ms=None, counts=True)

    def vote(self, entry: Entry, number: int) -> None:
        value = int(entry.values["value"])
        self._row(number).update(up=integer(entry.values["up"]), down=integer(entry.values["down"]))
        counts = "annulled" not in entry.values
        self.votes[number][entry.actor] = VoteColumns(value, entry.at, counts) if value else None
        self.held[number].pop(entry.actor, None)

    def hold(self, number: int, voter: str, value: int, counts: bool, up: int, down: int) -> None:
        """
        Gather that a vote stops counting, or counts again. If the vote itself is not in this batch, only its column
        `counts` is written.
        """
        self._row(number).update(up=up, down=down)
        hold_vote(self.votes, self.held, number, voter, value, counts)

    def edit(self, entry: Entry, number: int) -> None:
        content, edited = entry.values["content"], integer(entry.values["edited"])
        self._row(number).update(content=content, edited_ms=edited)
        row = {"partition": entry.partition, "entry": entry.id, "number": number, "editor": entry.actor}
        self.edits[number].append(row | {"edited_ms": edited, "content": content})

    def set_state(self, entry: Entry, number: int) -> None:
        self._row(number).update(state=state(ContentState(entry.values["state"])))
        self.state_changed.add(number)

    def delete(self, entry: Entry, number: int) -> None:
        """Remove a comment and those deleted ones above it that have no replies left, or leave one without a text."""
        values = entry.values
        for each in (number, *map(int, values["removed"].split())):
            self.removed.add(each)
            self.stubs.discard(each)
            for gathered in (self.rows, self.columns, self.votes, self.held, self.edits):
                gathered.pop(each, None)
        if values["stub"]:
            self.stubs.add(number)
            self.rows[number] = row_of(number, values)

    def purge(self, entry: Entry, number: int) -> None:
        """
        Replace a text that was purged, and its edits. The whole row is written: the comment may not be in the table
        yet, and the entry of its posting is no longer in the log.
        """
        values = entry.values
        self.purged.add(number)
        for gathered in (self.columns, self.edits):
            gathered.pop(number, None)
        self.rows[number] = row_of(number, values) | {
            "poster": values["poster"],
            "content": values["text"],
            "edited_ms": integer(values["edited"]) if values["edited"] else None,
            "imported_votes": integer(values["imported"]),
            "state": state(ContentState.REMOVED),
        }
        if values["imported"] == "0":  # it was posted here, so its poster has voted for it
            self.votes[number].setdefault(values["poster"], VoteColumns(1, integer(values["time"]), counts=True))

    def repair(self, entry: Entry, number: int) -> None:
        row: Row = {name: integer(entry.values[name]) for name in ("up", "down") if name in entry.values}
        if row:
            self._row(number).update(row)
        for voter in entry.values.get("upvoters", "").split():
            self.votes[number][voter] = VoteColumns(1, cast_ms=None, counts=True)

    def write(self, connection: Connection) -> set[int]:
        """
        Write all changes, after those of articles. Skipped are changes of comments that are not in the table, and new
        comments whose articles are not: these were deleted later. Returns the numbers of the comments that are new
        or deleted, or whose content or state changed.
        """
        remove_comments(connection, self.removed - self.stubs)
        for table in ABOUT_COMMENTS:
            remove_rows(connection, table, self.stubs)
        remove_rows(connection, COMMENT_EDITS, self.purged)
        articles = existing(connection, ARTICLES, {row["article"] for row in self.rows.values()})
        rows = {number: row for number, row in self.rows.items() if row["article"] in articles}
        changed = {*self.columns, *self.votes, *self.held, *self.edits} - self.rows.keys()
        known = {*rows, *existing(connection, COMMENTS, changed)}
        upsert(connection, COMMENTS, rows.values(), keep=KEPT_OF_COMMENT)
        update_rows(connection, COMMENTS, {number: row for number, row in self.columns.items() if number in known})
        votes = {number: of_number for number, of_number in self.votes.items() if number in known}
        write_votes(connection, COMMENT_VOTES, votes)
        write_held(connection, COMMENT_VOTES, {number: held for number, held in self.held.items() if number in known})
        edits = [row for number, of_number in self.edits.items() if number in known for row in of_number]
        upsert(connection, COMMENT_EDITS, edits)
        conversations.renew(connection, sorted(self.recounted))
        return {*rows, *self.removed, *(known & {*self.edits, *self.state_changed})}

    def _row(self, number: int) -> Row:
        """The row of a new comment, else the new values of columns."""
        return self.rows.get(number) or self.columns[number]


GATHERERS: Mapping[str, Callable[[CommentChanges, Entry, int], None]] = {  # by the kind of the entry
    "commented": CommentChanges.post,
    "comment_imported": CommentChanges.post,
    "comment_voted": CommentChanges.vote,
    "comment_edited": CommentChanges.edit,
    "comment_state_changed": CommentChanges.set_state,
    "comment_deleted": CommentChanges.delete,
    "purged": CommentChanges.purge,
    "repaired": CommentChanges.repair,
}


def row_of(number: int, values: Mapping[str, str]) -> Row:
    """The row of a comment without text and poster, as a deletion leaves it."""
    return {
        "number": number,
        "article": int(values["article"]),
        "parent": int(values["parent"]) if values["parent"] else None,
        "depth": integer(values["depth"]),
        "poster": None,
        "content": None,
        "posted_ms": integer(values["time"]),
        "edited_ms": None,
        "up": integer(values["up"]),
        "down": integer(values["down"]),
        "imported_votes": 0,
        "state": state(ContentState.DELETED),
    }
