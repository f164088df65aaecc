"""
Makes the tables again: from the records of the store, and then from all entries that the log still has.

Rows of what the store does not have are removed. Kept is what only the database has: archived articles, votes whose
voters the store no longer has, when a vote was cast, and edits. Every step may be repeated. The positions, which say up
to where the database has read the log, are written last: a database without positions is not complete.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, insert, or_, select, tuple_, update

from database.changes import Changed, Changes, derive
from database.comment_changes import row_of, state
from database.database import Database
from database.leaving import replace_some
from database.order_index import writes as places
from database.positions import stored_positions
from database.rows import (
    KEPT_OF_ARTICLE,
    KEPT_OF_COMMENT,
    OF_A_COMMENT,
    OF_AN_ARTICLE,
    action_row,
    follow_row,
    group_follow_row,
    group_row,
    remove_articles,
    remove_comments,
    remove_rows,
    replace_groups,
    upsert,
    user_row,
    vote_row,
)
from database.statements import slices
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
    POSITIONS,
    USERS,
    VOTES,
)
from store import followed, keys, leaving, log, moving, numbering, records
from store.client import Command
from store.leases import Lease
from store.maintenance import dump
from store.maintenance.records.accounts import FollowsRecord, GroupFollowsRecord, UserRecord
from store.maintenance.records.actions import ActionRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord, VotedOnRecord
from store.maintenance.records.places import PlaceRecord
from store.maintenance.records.record import Record, Skipped
from store.maintenance.restore import ORIGIN_FIELD
from store.maintenance.scan import Progress
from store.moderation_records import ModerationKind
from store.records import ContentState, is_pseudonym
from store.site import Site

RECORDS_AT_ONCE = 500  # in a transaction
VOTERS_AT_ONCE = 50_000
ROWS_AT_ONCE = 1_000
ENTRIES_AT_ONCE = 1_000
ARCHIVED_FIELD = "archived"  # of the settings of a store that has archived articles


Annulled = Mapping[int, Mapping[str, int]]  # values of votes, by number and voter


class LogCutOff(Exception):
    """Entries that a rebuild had not read yet were removed from the log."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """`consumer` is the name of the log's consumer: the log keeps the entries that it has not read."""

    site: Site
    database: Database
    consumer: str
    lease: Lease
    progress: Progress
    skipped: Skipped

    async def run(self) -> None:
        """Make all tables again. Costs a dump of the store, and a lookup in the store for each row."""
        while True:
            try:
                await self._run()
                return
            except LogCutOff:
                continue

    async def _run(self) -> None:
        identity, ends = await log.identity(self.site), await log.newest(self.site)
        for p in range(self.site.partitions):
            await log.advance(self.site, self.consumer, p, log.START)
        origin = await self.site.redis.run(("HGET", keys.store(), ORIGIN_FIELD))
        await self.database.write(delete_positions, origin or "")
        await self._copy_records()
        await self._remove_others()
        for p, end in enumerate(ends):
            await self._replay(p, end)
        await self.database.write(set_positions, identity, ends)
        for p, end in enumerate(ends):
            await log.advance(self.site, self.consumer, p, end)

    async def _copy_records(self) -> None:
        batch: list[Record] = []
        voters = 0
        async for some in dump.records_of(self.site, self.progress, self.skipped):
            batch += some
            voters += sum(record.voters for record in some if isinstance(record, VotedOnRecord))
            if len(batch) >= RECORDS_AT_ONCE or voters >= VOTERS_AT_ONCE:
                await self._copy(batch)
                batch, voters = [], 0
        await self._copy(batch)

    async def _copy(self, batch: list[Record]) -> None:
        await self.lease.extend()
        numbers = [record.number for record in batch if isinstance(record, VotedOnRecord)]
        commands: list[Command] = [
            ("HGETALL", keys.annulled(self.site.home_of_article(number), number)) for number in numbers
        ]
        found = await self.site.redis.pipeline(commands) if commands else []
        annulled = {number: values_of(votes) for number, votes in zip(numbers, found, strict=True) if votes}
        await self.database.write(copy, batch, annulled)

    async def _remove_others(self) -> None:
        """Remove the rows of what the store does not have; also archived articles, if the store has no archive."""
        while not await self.site.redis.run(("HEXISTS", keys.store(), ARCHIVED_FIELD)):
            await self.lease.extend()
            if not await self.database.write(unarchive_some):
                break
        await self._remove_deleted()
        await self._replace_names()
        is_in_store = ARTICLES.c.archived.is_(False)
        await self._sweep(ARTICLES, self._article_lookup, remove_rows_of_articles, is_in_store)
        archived = select(ARTICLES.c.number).where(ARTICLES.c.archived.is_(True))
        await self._sweep(COMMENTS, self._comment_lookup, remove_rows_of_comments, COMMENTS.c.article.not_in(archived))
        await self.database.write(remove_comments_without_article)
        for table in OF_AN_ARTICLE[1:]:
            await self.database.write(remove_orphans, table, ARTICLES)
        for table in OF_A_COMMENT[1:]:
            await self.database.write(remove_orphans, table, COMMENTS)
        await self._sweep(USERS, self._user_lookup, remove_users)
        await self._sweep(FOLLOWS, self._follow_lookup, remove_follows)
        await self._sweep(GROUP_FOLLOWS, self._group_follow_lookup, remove_group_follows)
        await self._sweep(GROUP_TEXTS, self._group_lookup, remove_group_texts)
        await self._sweep(MODERATION_ACTIONS, self._action_lookup, remove_actions)

    async def _replace_names(self) -> None:
        """Replace the names of users who were deleted, whose deletion the log may no longer have."""
        after = ""
        while users := await self.database.run(users_after, after):
            after = max(users)
            for name, pseudonym in (await leaving.pseudonyms(self.site, users)).items():
                await self.lease.extend()
                while not await self.database.write(replace_some, users[name], pseudonym):
                    await self.lease.extend()

    async def _remove_deleted(self) -> None:
        """Remove articles that were archived, came back and were deleted: the log may no longer have their deletion."""
        for p in range(self.site.partitions):
            states = await moving.states_of(self.site, await moving.marked(self.site, p))
            deleted = {number for number, state in states.items() if not (state.article or state.may_be_archived)}
            if deleted:
                await self.lease.extend()
                await self.database.write(remove_with_comments, deleted)

    async def _sweep(
        self,
        table: Table,
        lookup: Callable[[Row[Any]], Command],
        remove: Callable[[Connection, list[Row[Any]]], None],
        *conditions: ColumnElement[bool],
    ) -> None:
        """Look up each row of a table in the store by the command of `lookup`, and remove those it does not have."""
        last: Row[Any] | None = None
        while rows := await self.database.run(next_rows, table, last, conditions):
            found = await self.site.redis.pipeline([lookup(row) for row in rows])
            await self.lease.extend()
            absent = [row for row, reply in zip(rows, found, strict=True) if reply in (0, None)]
            if absent:
                await self.database.write(remove, absent)
            last = rows[-1]

    def _article_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.article(self.site.home_of_article(row.number), row.number))

    def _comment_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.comment(self.site.home_of_article(row.number), row.number))

    def _user_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.user(self.site.home_of_user(row.username), row.username))

    def _follow_lookup(self, row: Row[Any]) -> Command:
        return ("ZSCORE", followed.following(self.site.home_of_user(row.follower), row.follower), row.followee)

    def _group_follow_lookup(self, row: Row[Any]) -> Command:
        p = self.site.home_of_user(row.follower)
        return ("ZSCORE", followed.followed_groups(p, row.follower), row.name)

    def _group_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.place(self.site.home_of_group(row.name), row.name))

    def _action_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.action(self.site.home_of_article(row.number), row.number))

    async def _replay(self, p: int, end: str) -> None:
        """Apply the entries that the log still has, up to a position."""
        after = log.START
        while is_after(end, after):
            entries = await log.read(self.site, p, after, ENTRIES_AT_ONCE)
            if after != log.START and not await log.has_all_after(self.site, p, after):
                raise LogCutOff
            entries = [entry for entry in entries if not is_after(entry.id, end)]
            if not entries:
                return
            await self.lease.extend()
            await self.database.write(replay, self.site, entries)
            after = entries[-1].id


def delete_positions(connection: Connection, origin: str) -> None:
    """
    Mark the tables as incomplete. If the store was restored from a backup of the log that the tables were made from,
    also remove what came after the backup. `origin` names the backup (see `restore.origin_of`); "" if there is none.
    """
    identity, positions = stored_positions(connection)
    if origin.startswith(f"{identity} ") and positions:
        _, taken_at, *ends = origin.split()
        delete_since(connection, int(taken_at), ends)
    connection.execute(delete(POSITIONS))


def delete_since(connection: Connection, taken_at: int, ends: Sequence[str]) -> None:
    """Remove the edits and the votes that came after a backup: a store restored from it does not have them."""
    for votes in (VOTES, COMMENT_VOTES):
        connection.execute(delete(votes).where(votes.c.cast_ms > taken_at))
    for edits in (EDITS, COMMENT_EDITS):
        for p, end in enumerate(ends):
            entries = connection.scalars(select(edits.c.entry).where(edits.c.partition == p))
            later = [id for id in entries if is_after(id, end)]
            for some in slices(later):
                connection.execute(delete(edits).where(edits.c.partition == p, edits.c.entry.in_(some)))


def is_after(id: str, other: str) -> bool:
    return log.sort_key(id) > log.sort_key(other)


def set_positions(connection: Connection, identity: str, ends: Sequence[str]) -> None:
    connection.execute(delete(POSITIONS))
    rows = [
        {"partition": p, "log": identity, "entry": end, "at_ms": log.sort_key(end)[0]} for p, end in enumerate(ends)
    ]
    connection.execute(insert(POSITIONS), rows)


def replay(connection: Connection, site: Site, entries: Sequence[log.Entry]) -> None:
    Changes().add(entries).write(connection, site)


def values_of(annulled: Mapping[str, str]) -> dict[str, int]:
    """The values of the votes on an article or a comment that do not count, by voter."""
    values = {voter: int(text.partition(" ")[0]) for voter, text in annulled.items()}
    return {voter: value for voter, value in values.items() if value}


def copy(connection: Connection, batch: Sequence[Record], annulled: Annulled) -> None:
    """Write the rows of some records of a dump. `annulled` are the votes on these that do not count."""
    articles = [record for record in batch if isinstance(record, ArticleRecord)]
    upsert(connection, ARTICLES, [article_row(each.number, each.fields) for each in articles], keep=KEPT_OF_ARTICLE)
    replace_groups(connection, {each.number: each.fields["groups"].split() for each in articles})
    replace_votes(connection, VOTES, articles, annulled)
    comments = [record for record in batch if isinstance(record, CommentRecord)]
    copy_comments(connection, comments, annulled)
    users = [record.fields for record in batch if isinstance(record, UserRecord)]
    users = [fields for fields in users if not is_pseudonym(fields["name"])]
    upsert(connection, USERS, map(user_row, users))
    follows = [record for record in batch if isinstance(record, FollowsRecord)]
    pairs = [follow_row(each.follower, other, since) for each in follows for other, since in each.followees.items()]
    upsert(connection, FOLLOWS, pairs)
    group_follows = [record for record in batch if isinstance(record, GroupFollowsRecord)]
    pairs = [
        group_follow_row(each.follower, name, since) for each in group_follows for name, since in each.groups.items()
    ]
    upsert(connection, GROUP_FOLLOWS, pairs)
    groups = [record for record in batch if isinstance(record, PlaceRecord)]
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
    """Remove the edits of texts that were purged: only the database has edits, and the log may no longer say so."""
    subjects = [each.fields["subject"] for each in actions if each.fields["kind"] == ModerationKind.PURGE.value]
    remove_rows(connection, EDITS, [number for each in subjects if (number := records.article_number(each))])
    remove_rows(connection, COMMENT_EDITS, [number for each in subjects if (number := records.comment_number(each))])


def copy_comments(connection: Connection, comments: Sequence[CommentRecord], annulled: Annulled) -> None:
    """Write the rows of comments, each after its parent. Deleted comments keep no votes and no edits."""
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
        KEPT_OF_COMMENT,
    )
    replace_votes(
        connection, COMMENT_VOTES, [comment for comment in comments if not is_deleted(comment.fields)], annulled
    )
    deleted = [comment.number for comment in comments if is_deleted(comment.fields)]
    for table in OF_A_COMMENT[1:]:
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
    when the vote was cast; those that are `annulled` do not count. If the store no longer has the voters of a subject,
    all its rows stay, and the poster's vote is added if it is missing.
    """
    stored = stored_votes(connection, table, [each.number for each in subjects])
    withdrawn: list[tuple[int, str]] = []
    rows = []
    for each in subjects:
        number, poster, known = each.number, each.fields["poster"], stored.get(each.number, {})
        counted = {poster: 1, **dict.fromkeys(each.upvoters, 1), **dict.fromkeys(each.downvoters, -1)}
        held = annulled.get(number, {})
        votes = {voter: (value, True) for voter, value in counted.items()}
        votes |= {voter: (value, False) for voter, value in held.items()}
        if not each.upvoters:  # only the database knows of these
            votes |= {voter: (row.value, True) for voter, row in known.items() if not row.counts and voter not in held}
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


def own_vote_cast(number: int, posted: int) -> int | None:
    """
    When the poster of an article or a comment voted on it: when it was posted. None if that is unknown, as for imported
    ones.
    """
    sequence = numbering.sequence_of(number)
    return posted if sequence >= numbering.FIRST_STORY_SEQUENCE and not numbering.is_of_story(sequence) else None


def stored_votes(connection: Connection, table: Table, numbers: Sequence[int]) -> dict[int, dict[str, Row[Any]]]:
    """The rows of votes that the table has, by number and voter."""
    found: dict[int, dict[str, Row[Any]]] = {}
    for some in slices(numbers):
        for row in connection.execute(select(table).where(table.c.number.in_(some))):
            found.setdefault(row.number, {})[row.voter] = row
    return found


def next_rows(
    connection: Connection, table: Table, last: Row[Any] | None, conditions: Sequence[ColumnElement[bool]]
) -> list[Row[Any]]:
    """The primary keys of the rows after `last` (None: from the start), in the order of the primary key."""
    key = list(table.primary_key)
    statement = select(*key).where(*conditions).order_by(*key).limit(ROWS_AT_ONCE)
    if last is not None:
        statement = statement.where(tuple_(*key) > tuple_(*last) if len(key) > 1 else key[0] > last[0])
    return list(connection.execute(statement))


def remove_rows_of_articles(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    found = [row.number for row in rows]
    in_store = select(ARTICLES.c.number).where(ARTICLES.c.number.in_(found), ARTICLES.c.archived.is_(False))
    remove_with_comments(connection, set(connection.scalars(in_store)))  # others were archived meanwhile


def remove_with_comments(connection: Connection, numbers: set[int]) -> None:
    comments = remove_articles(connection, numbers)
    derive(connection, Changed(removed=numbers, comments=comments))


def remove_rows_of_comments(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    found = [row.number for row in rows]
    archived = select(ARTICLES.c.number).where(ARTICLES.c.archived.is_(True))
    stays = COMMENTS.c.article.not_in(archived)  # others were archived meanwhile
    numbers = set(connection.scalars(select(COMMENTS.c.number).where(COMMENTS.c.number.in_(found), stays)))
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_comments_without_article(connection: Connection) -> None:
    """Remove the comments of articles that are not in the table of articles."""
    is_orphan = COMMENTS.c.article.not_in(select(ARTICLES.c.number))
    numbers = set(connection.scalars(select(COMMENTS.c.number).where(is_orphan)))
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_orphans(connection: Connection, table: Table, parents: Table) -> None:
    """Remove the rows of a table that belong to articles or comments which are not in `parents`."""
    connection.execute(delete(table).where(table.c.number.not_in(select(parents.c.number))))


def unarchive_some(connection: Connection) -> bool:
    """Mark some archived articles as not archived, and remove their places. False if there is none left."""
    is_archived = ARTICLES.c.archived.is_(True)
    numbers = connection.scalars(select(ARTICLES.c.number).where(is_archived).limit(RECORDS_AT_ONCE)).all()
    places.lock(connection)
    places.remove(connection, numbers)
    connection.execute(update(ARTICLES).where(ARTICLES.c.number.in_(numbers)).values(archived=False))
    return bool(numbers)


def users_after(connection: Connection, after: str) -> dict[str, str]:
    """The names of some users as written, by the names in lower case."""
    statement = select(USERS.c.username, USERS.c.name).where(USERS.c.username > after)
    rows = connection.execute(statement.order_by(USERS.c.username).limit(ROWS_AT_ONCE))
    return {row.username: row.name for row in rows}


def remove_users(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    names = [row.username for row in rows]
    connection.execute(delete(USERS).where(USERS.c.username.in_(names)))
    derive(connection, Changed(users=set(names)))


def remove_group_texts(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    connection.execute(delete(GROUP_TEXTS).where(GROUP_TEXTS.c.name.in_([row.name for row in rows])))


def remove_actions(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    remove_rows(connection, MODERATION_ACTIONS, [row.number for row in rows])


def remove_follows(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    pairs = [and_(FOLLOWS.c.follower == row.follower, FOLLOWS.c.followee == row.followee) for row in rows]
    for some in slices(pairs, 100):
        connection.execute(delete(FOLLOWS).where(or_(*some)))


def remove_group_follows(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    pairs = [and_(GROUP_FOLLOWS.c.follower == row.follower, GROUP_FOLLOWS.c.name == row.name) for row in rows]
    for some in slices(pairs, 100):
        connection.execute(delete(GROUP_FOLLOWS).where(or_(*some)))
