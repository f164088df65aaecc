"""
What entries of a log change in the tables: `Changes` gathers the entries of a batch and writes them, each row once. The
log of a partition, which is a share of the store, is a Redis stream: each change there appends an entry with the new
values, as text.

Entries have new values and not differences, so they may be applied again, in order, also to rows that are newer.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, update

from database import article_places, leaving, search
from database.comment_changes import CommentChanges
from database.order_index import writes as places
from database.rows import (
    KEPT_OF_ARTICLE,
    PROFILE,
    Held,
    Row,
    VoteColumns,
    Votes,
    action_row,
    comments_of,
    existing,
    follow_row,
    group_follow_row,
    group_row,
    hold_vote,
    integer,
    profile_row,
    remove_articles,
    remove_rows,
    replace_groups,
    update_rows,
    upsert,
    user_row,
    write_held,
    write_votes,
)
from database.statements import Statement, slices
from database.states import state
from database.tables import (
    ARTICLES,
    EDITS,
    FOLLOWS,
    GROUP_FOLLOWS,
    GROUP_TEXTS,
    MODERATION_ACTIONS,
    USERS,
    VOTES,
)
from store import followed
from store.log import Entry
from store.records import ContentState
from store.site import Site

TEXTS = ("title", "link", "content")


@dataclass(frozen=True, slots=True)
class Changed:
    """
    What has to be written again in the derived tables: those of the search, and `places`, the values of archived
    articles (which Redis no longer has) in listings. These are numbers of `articles` that are new, or whose title,
    link, content, poster, groups or state changed; names, in lower case, of `users` that are new or changed; numbers of
    articles that were `removed`; and numbers of `comments` that are new or deleted, or whose content, groups or
    article's state changed.
    """

    articles: set[int] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    comments: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Changes:
    """
    The changes of a batch of entries, gathered by what they change. `articles` are whole rows of new articles, by
    number; `columns` are new values of other articles. `users`, `profiles` and `seen`, up to where users have seen
    their feeds, are by username. `removed` are numbers of deleted articles; `purged` are those of articles whose text
    was replaced for good by "[purged]", also in their edits.

    `follows` and `group_follows` are by follower and followee (a group in the latter): since when (unix milliseconds),
    or None for a follow that has ended.
    """

    articles: dict[int, Row] = field(default_factory=dict)
    columns: defaultdict[int, Row] = field(default_factory=lambda: defaultdict(dict))
    groups: dict[int, list[str]] = field(default_factory=dict)
    votes: Votes = field(default_factory=lambda: defaultdict(dict))
    held: Held = field(default_factory=lambda: defaultdict(dict))  # votes that count no more, or again
    edits: defaultdict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    users: dict[str, Row] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    profiles: dict[str, Row] = field(default_factory=dict)
    follows: dict[tuple[str, str], int | None] = field(default_factory=dict)
    group_follows: dict[tuple[str, str], int | None] = field(default_factory=dict)
    group_texts: dict[str, Row] = field(default_factory=dict)
    actions: dict[int, Row] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    purged: set[int] = field(default_factory=set)
    recounted: set[int] = field(default_factory=set)  # numbers of archived articles whose counts have changed
    state_changed: set[int] = field(default_factory=set)  # numbers of articles that became visible or ceased to be
    comments: CommentChanges = field(default_factory=CommentChanges)
    left: dict[str, str] = field(default_factory=dict)  # pseudonyms of deleted users, by their names

    def add(self, entries: Iterable[Entry]) -> "Changes":
        """Gather entries, in their order. Kinds that change no table are skipped."""
        for entry in entries:
            if entry.subject.startswith("comment:"):
                self.comments.add(entry)
            elif gather := GATHERERS.get(entry.kind):
                gather(self, entry)
        return self

    def post(self, entry: Entry) -> None:
        """A new article, with the upvote of its poster if it was posted here, and those that an import names."""
        number, values = _number(entry), entry.values
        self.removed.discard(number)
        self.articles[number] = _row_of(number, values) | {
            "poster": entry.actor,
            "title": values["title"],
            "link": values["link"] or None,
            "content": values["content"] or None,
            "edited_ms": None,
            "state": state(ContentState.VISIBLE),
            "locked": False,
        }
        self.groups[number] = values["groups"].split()
        if entry.kind == "posted":
            self.votes[number][entry.actor] = VoteColumns(1, entry.at, counts=True)
        for voter in values.get("voters", "").split():
            self.votes[number][voter] = VoteColumns(1, cast_ms=None, counts=True)

    def vote(self, entry: Entry) -> None:
        number, value = _number(entry), int(entry.values["value"])
        self._row(number).update(up=integer(entry.values["up"]), down=integer(entry.values["down"]))
        counts = "annulled" not in entry.values
        self.votes[number][entry.actor] = VoteColumns(value, entry.at, counts) if value else None
        self.held[number].pop(entry.actor, None)

    def change_counts(self, entry: Entry) -> None:
        """Votes of a user that stop counting, or count again: each with the new counts of its article or comment."""
        voter, is_restored = entry.values["voter"], entry.kind == "votes_restored"
        for word in entry.values["votes"].split():
            # TYPE:NUMBER:VALUE:UP:DOWN; TYPE is `article`, `comment`, `archived` (an article) or `archived_comment`
            type, number, value, up, down = word.split(":")
            changes = self.comments if type in ("comment", "archived_comment") else self
            if type.startswith("archived"):
                changes.recounted.add(int(number))
            changes.hold(int(number), voter, int(value), counts=is_restored, up=integer(up), down=integer(down))

    def hold(self, number: int, voter: str, value: int, counts: bool, up: int, down: int) -> None:
        """Gather that a vote stops counting, or counts again, with the new counts of its article."""
        self._row(number).update(up=up, down=down)
        hold_vote(self.votes, self.held, number, voter, value, counts)

    def edit(self, entry: Entry) -> None:
        number, values = _number(entry), entry.values
        edited = integer(values["edited"])
        texts = {name: values[name] for name in TEXTS if name in values}
        self._row(number).update({name: text or None for name, text in texts.items()}, edited_ms=edited)
        row = {
            "partition": entry.partition,
            "entry": entry.id,
            "number": number,
            "editor": entry.actor,
            "edited_ms": edited,
        }
        self.edits[number].append(row | {name: texts.get(name) for name in TEXTS})

    def regroup(self, entry: Entry) -> None:
        self.groups[_number(entry)] = entry.values["groups"].split()

    def set_state(self, entry: Entry) -> None:
        number, values = _number(entry), entry.values
        self._row(number).update(state=state(ContentState(values["state"])), locked=values["locked"] == "1")
        self.state_changed.add(number)

    def remove(self, entry: Entry) -> None:
        number = _number(entry)
        self.removed.add(number)
        for gathered in (self.articles, self.columns, self.groups, self.votes, self.held, self.edits):
            gathered.pop(number, None)

    def purge(self, entry: Entry) -> None:
        """
        Replace a text that was purged, and its edits. The whole row is written: the article may not be in the table
        yet, and the entry of its posting is no longer in the log.
        """
        number, values = _number(entry), entry.values
        self.purged.add(number)
        for gathered in (self.columns, self.edits):
            gathered.pop(number, None)
        self.articles[number] = _row_of(number, values) | {
            "poster": values["poster"],
            "title": values["text"],
            "link": None,
            "content": None,
            "edited_ms": integer(values["edited"]) if values["edited"] else None,
            "state": state(ContentState.REMOVED),
            "locked": values["locked"] == "1",
        }
        self.groups[number] = values["groups"].split()
        if values["imported"] == "0":  # it was posted here, so its poster has voted for it
            self.votes[number].setdefault(values["poster"], VoteColumns(1, integer(values["time"]), counts=True))

    def register(self, entry: Entry) -> None:
        self.users[_username(entry)] = user_row(entry.values)

    def edit_profile(self, entry: Entry) -> None:
        self.profiles[_username(entry)] = profile_row(entry.values)

    def mark_seen(self, entry: Entry) -> None:
        self.seen[_username(entry)] = entry.values["seen"]

    def follow(self, entry: Entry) -> None:
        target = followed.OF_ENTRIES[entry.kind]  # users or groups
        since = integer(entry.values["since"]) if entry.kind == target.begun else None
        follows = self.follows if target is followed.USERS else self.group_follows
        follows[entry.actor, entry.values[target.field]] = since

    def delete_user(self, entry: Entry) -> None:
        self.left[entry.values["name"]] = entry.values["pseudonym"]

    def edit_group(self, entry: Entry) -> None:
        name = entry.subject.removeprefix("group:")
        self.group_texts[name] = group_row(name, entry.values)

    def moderate(self, entry: Entry) -> None:
        """What a moderator did. If the reason was replaced later (redacted), that entry has the whole action again."""
        number, values = int(entry.subject.removeprefix("action:")), entry.values
        known = {"at": values.get("at_ms", str(entry.at)), "moderator": values.get("moderator", entry.actor)}
        named = {"kind": values["action"], "subject": values["subject_id"]}
        self.actions[number] = action_row(number, values | known | named)

    def repair(self, entry: Entry) -> None:
        """The counts and groups of an article that `verify` has repaired. Karma is computed from them."""
        if not entry.subject.startswith("article:"):
            return
        number, values = _number(entry), entry.values
        row: Row = {name: integer(values[name]) for name in ("up", "down") if name in values}
        if row:
            self._row(number).update(row)
        if "groups" in values:
            self.groups[number] = values["groups"].split()
        for voter in values.get("upvoters", "").split():
            self.votes[number][voter] = VoteColumns(1, cast_ms=None, counts=True)

    def write(self, connection: Connection, site: Site) -> None:
        """Write all changes. Those of articles that are not in the table are skipped: these were deleted later."""
        gone = remove_articles(connection, self.removed)  # the comments of these articles
        remove_rows(connection, EDITS, self.purged)
        changed = {*self.columns, *self.groups, *self.votes, *self.held, *self.edits} - self.articles.keys()
        known = {*self.articles, *existing(connection, ARTICLES, changed)}
        upsert(connection, ARTICLES, self.articles.values(), keep=KEPT_OF_ARTICLE)
        update_rows(connection, ARTICLES, {number: row for number, row in self.columns.items() if number in known})
        replace_groups(connection, {number: names for number, names in self.groups.items() if number in known})
        write_votes(connection, VOTES, {number: votes for number, votes in self.votes.items() if number in known})
        write_held(connection, VOTES, {number: held for number, held in self.held.items() if number in known})
        upsert(connection, EDITS, [row for number, rows in self.edits.items() if number in known for row in rows])
        upsert(connection, USERS, self.users.values(), keep=("seen", *PROFILE))
        upsert(connection, GROUP_TEXTS, self.group_texts.values())
        upsert(connection, MODERATION_ACTIONS, self.actions.values())
        self._write_seen(connection)
        self._write_profiles(connection)
        self._write_follows(connection)
        if recounted := sorted(self.recounted & known):
            article_places.recount(connection, site, recounted)
        comments = self.comments.write(connection)
        # the search finds comments by the groups of their articles, and only those of visible articles
        relisted = comments_of(connection, self.groups.keys() - self.articles.keys() | self.state_changed)
        edited = {number for number, row in self.columns.items() if not row.keys().isdisjoint(TEXTS)}
        articles = known & {*self.articles, *self.groups, *edited, *self.state_changed}
        derive(connection, Changed(articles, {*self.users, *self.profiles}, self.removed, comments | gone | relisted))
        for name, pseudonym in self.left.items():
            leaving.replace(connection, name, pseudonym)

    def _row(self, number: int) -> Row:
        """The row of a new article, else the new values of columns."""
        return self.articles.get(number) or self.columns[number]

    def _write_seen(self, connection: Connection) -> None:
        if self.seen:
            connection.execute(SET_SEEN, [{"this": name, "mark": mark} for name, mark in self.seen.items()])

    def _write_profiles(self, connection: Connection) -> None:
        if self.profiles:
            rows = [{"this": name, **row} for name, row in self.profiles.items()]
            connection.execute(SET_PROFILE, rows)

    def _write_follows(self, connection: Connection) -> None:
        tables = (
            (FOLLOWS, follow_row, END_FOLLOW, self.follows),
            (GROUP_FOLLOWS, group_follow_row, END_GROUP_FOLLOW, self.group_follows),
        )
        for table, row, end, follows in tables:
            pairs = follows.items()
            upsert(connection, table, [row(*names, since) for names, since in pairs if since is not None])
            ended = [{"who": names[0], "whom": names[1]} for names, since in pairs if since is None]
            if ended:
                connection.execute(end, ended)


GATHERERS: Mapping[str, Callable[[Changes, Entry], None]] = {  # by the kind of the entry
    "posted": Changes.post,
    "imported": Changes.post,
    "voted": Changes.vote,
    "votes_annulled": Changes.change_counts,
    "votes_restored": Changes.change_counts,
    "edited": Changes.edit,
    "regrouped": Changes.regroup,
    "state_changed": Changes.set_state,
    "deleted": Changes.remove,
    "registered": Changes.register,
    "profile_edited": Changes.edit_profile,
    "followed": Changes.follow,
    "unfollowed": Changes.follow,
    "group_followed": Changes.follow,
    "group_unfollowed": Changes.follow,
    "seen": Changes.mark_seen,
    "user_deleted": Changes.delete_user,
    "group_edited": Changes.edit_group,
    "moderated": Changes.moderate,
    "redacted": Changes.moderate,
    "purged": Changes.purge,
    "repaired": Changes.repair,
}

PLACED = Statement("SELECT number FROM places WHERE number IN :numbers", "numbers")
END_FOLLOW = delete(FOLLOWS).where(FOLLOWS.c.follower == bindparam("who"), FOLLOWS.c.followee == bindparam("whom"))
END_GROUP_FOLLOW = delete(GROUP_FOLLOWS).where(
    GROUP_FOLLOWS.c.follower == bindparam("who"), GROUP_FOLLOWS.c.name == bindparam("whom")
)
SET_SEEN = update(USERS).where(USERS.c.username == bindparam("this")).values(seen=bindparam("mark"))
SET_PROFILE = (
    update(USERS).where(USERS.c.username == bindparam("this")).values({name: bindparam(name) for name in PROFILE})
)


def derive(connection: Connection, changed: Changed) -> None:
    """Bring the tables that are derived from others up to date, at the end of a transaction that changed these."""
    search.index(connection, changed.articles | changed.removed, changed.users, changed.comments)
    for some in slices(changed.removed):
        if placed := set(PLACED.run(connection, {"numbers": some}).scalars()):
            places.lock(connection)
            places.remove(connection, placed)


def _row_of(number: int, values: Mapping[str, str]) -> Row:
    """The columns of an article that do not depend on what becomes of its text."""
    return {
        "number": number,
        "posted_ms": integer(values["time"]),
        "up": integer(values["up"]),
        "down": integer(values["down"]),
        "imported_votes": integer(values.get("imported", "0")),
        "archived": False,
    }


def _number(entry: Entry) -> int:
    return int(entry.subject.removeprefix("article:"))


def _username(entry: Entry) -> str:
    return entry.subject.removeprefix("user:")
