"""
What entries of a log change in the tables: `Changes` gathers the entries of a batch and writes them, each row once.

All values of entries are absolute, so entries may be applied again, in order, also to rows that are newer.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Connection, Insert, Table, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from database import archive, search
from database.tables import ARTICLE_GROUPS, ARTICLES, EDITS, FOLLOWS, PLACES, USERS, VOTES
from store.log import Entry

T = TypeVar("T")
Row = dict[str, Any]

TEXTS = ("title", "link", "content")
LISTED_AT_ONCE = 500  # numbers in a statement
OF_AN_ARTICLE = (ARTICLES, ARTICLE_GROUPS, VOTES, EDITS)


@dataclass(frozen=True, slots=True)
class Changed:
    """
    What tables that are derived from these have to follow: numbers of articles that are new, or whose title, link,
    content, poster or groups changed; folded names of users that are new or changed; numbers of deleted articles.
    """

    articles: set[int]
    users: set[str]
    removed: set[int]


@dataclass(slots=True)
class Changes:
    """
    The changes of a batch. `articles` are whole rows of new articles, `columns` new values of others, by number.

    `votes` has the value of each vote and when it was cast, `follows` since when; both have None for what ended.
    """

    articles: dict[int, Row] = field(default_factory=dict)
    columns: defaultdict[int, Row] = field(default_factory=lambda: defaultdict(dict))
    groups: dict[int, list[str]] = field(default_factory=dict)
    votes: defaultdict[int, dict[str, tuple[int, int | None] | None]] = field(default_factory=lambda: defaultdict(dict))
    edits: defaultdict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    users: dict[str, Row] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    follows: dict[tuple[str, str], int | None] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)

    def add(self, entries: Iterable[Entry]) -> "Changes":
        """Gather entries, in their order. Kinds that change no table are skipped."""
        for entry in entries:
            if reader := READERS.get(entry.kind):
                reader(self, entry)
        return self

    def post(self, entry: Entry) -> None:
        number, values = _number(entry), entry.values
        self.removed.discard(number)
        self.articles[number] = {
            "number": number,
            "poster": entry.actor,
            "title": values["title"],
            "link": values["link"] or None,
            "content": values["content"] or None,
            "posted_ms": _integer(values["time"]),
            "edited_ms": None,
            "up": _integer(values["up"]),
            "down": _integer(values["down"]),
            "imported_votes": _integer(values.get("imported", "0")),
            "archived": False,
        }
        self.groups[number] = values["groups"].split()
        if entry.kind == "posted":
            self.votes[number][entry.actor] = (1, entry.at)
        for voter in values.get("voters", "").split():
            self.votes[number][voter] = (1, None)

    def vote(self, entry: Entry) -> None:
        number, value = _number(entry), int(entry.values["value"])
        self._row(number).update(up=_integer(entry.values["up"]), down=_integer(entry.values["down"]))
        self.votes[number][entry.actor] = (value, entry.at) if value else None

    def edit(self, entry: Entry) -> None:
        number, values = _number(entry), entry.values
        edited = _integer(values["edited"])
        texts = {name: values[name] for name in TEXTS if name in values}
        self._row(number).update({name: text or None for name, text in texts.items()}, edited_ms=edited)
        row = {"partition": entry.p, "entry": entry.id, "number": number, "editor": entry.actor, "edited_ms": edited}
        self.edits[number].append(row | {name: texts.get(name) for name in TEXTS})

    def regroup(self, entry: Entry) -> None:
        self.groups[_number(entry)] = entry.values["groups"].split()

    def remove(self, entry: Entry) -> None:
        number = _number(entry)
        self.removed.add(number)
        for gathered in (self.articles, self.columns, self.groups, self.votes, self.edits):
            gathered.pop(number, None)

    def register(self, entry: Entry) -> None:
        self.users[_username(entry)] = user_row(entry.values["name"], _integer(entry.values["joined"]))

    def mark_seen(self, entry: Entry) -> None:
        self.seen[_username(entry)] = entry.values["seen"]

    def follow(self, entry: Entry) -> None:
        since = _integer(entry.values["since"]) if entry.kind == "followed" else None
        self.follows[entry.actor, entry.values["followee"]] = since

    def repair(self, entry: Entry) -> None:
        """The counts and groups of an article that `verify` has repaired. Karma is computed from them."""
        if not entry.subject.startswith("article:"):
            return
        number, values = _number(entry), entry.values
        row: Row = {name: _integer(values[name]) for name in ("up", "down") if name in values}
        if row:
            self._row(number).update(row)
        if "groups" in values:
            self.groups[number] = values["groups"].split()
        for voter in values.get("upvoters", "").split():
            self.votes[number][voter] = (1, None)

    def write(self, connection: Connection) -> None:
        """Write all of it. Changes of articles that are not in the table are skipped: these were deleted later."""
        remove_articles(connection, self.removed)
        known = self._known(connection)
        upsert(connection, ARTICLES, self.articles.values(), keep=("archived",))
        self._write_columns(connection, known)
        replace_groups(connection, {number: names for number, names in self.groups.items() if number in known})
        self._write_votes(connection, known)
        upsert(connection, EDITS, [row for number, rows in self.edits.items() if number in known for row in rows])
        upsert(connection, USERS, self.users.values(), keep=("seen",))
        self._write_seen(connection)
        self._write_follows(connection)
        edited = {number for number, row in self.columns.items() if not row.keys().isdisjoint(TEXTS)}
        changed = Changed(known & {*self.articles, *self.groups, *edited}, set(self.users), self.removed)
        derive(connection, changed)

    def _row(self, number: int) -> Row:
        """The row of a new article, else the new values of columns."""
        return self.articles.get(number) or self.columns[number]

    def _known(self, connection: Connection) -> set[int]:
        """Of the articles with changes those that are in the table, or will be."""
        changed = {*self.columns, *self.groups, *self.votes, *self.edits} - self.articles.keys()
        known = set(self.articles)
        for some in slices(changed):
            known.update(connection.scalars(EXISTING, {"numbers": some}))
        return known

    def _write_columns(self, connection: Connection, known: Collection[int]) -> None:
        rows: dict[frozenset[str], list[Row]] = defaultdict(list)
        for number, row in self.columns.items():
            if number in known:
                rows[frozenset(row)].append({"this": number, **row})
        for columns, some in rows.items():
            connection.execute(_update(columns), some)

    def _write_votes(self, connection: Connection, known: Collection[int]) -> None:
        written, ended = [], []
        for number in self.votes.keys() & known:
            for voter, vote in self.votes[number].items():
                if vote:
                    written.append(vote_row(number, voter, *vote))
                else:
                    ended.append({"this": number, "voter_name": voter})
        upsert(connection, VOTES, written)
        if ended:
            connection.execute(END_VOTE, ended)

    def _write_seen(self, connection: Connection) -> None:
        if self.seen:
            connection.execute(SET_SEEN, [{"this": name, "mark": mark} for name, mark in self.seen.items()])

    def _write_follows(self, connection: Connection) -> None:
        pairs = self.follows.items()
        upsert(connection, FOLLOWS, [follow_row(*names, since) for names, since in pairs if since is not None])
        ended = [{"who": names[0], "whom": names[1]} for names, since in pairs if since is None]
        if ended:
            connection.execute(END_FOLLOW, ended)


READERS: Mapping[str, Callable[[Changes, Entry], None]] = {
    "posted": Changes.post,
    "imported": Changes.post,
    "voted": Changes.vote,
    "edited": Changes.edit,
    "regrouped": Changes.regroup,
    "deleted": Changes.remove,
    "registered": Changes.register,
    "followed": Changes.follow,
    "unfollowed": Changes.follow,
    "seen": Changes.mark_seen,
    "repaired": Changes.repair,
}

EXISTING = select(ARTICLES.c.number).where(ARTICLES.c.number.in_(bindparam("numbers", expanding=True)))
PLACED = select(PLACES.c.number).where(PLACES.c.number.in_(bindparam("numbers", expanding=True)))
END_VOTE = delete(VOTES).where(VOTES.c.number == bindparam("this"), VOTES.c.voter == bindparam("voter_name"))
END_FOLLOW = delete(FOLLOWS).where(FOLLOWS.c.follower == bindparam("who"), FOLLOWS.c.followee == bindparam("whom"))
SET_SEEN = update(USERS).where(USERS.c.username == bindparam("this")).values(seen=bindparam("mark"))


def derive(connection: Connection, changed: Changed) -> None:
    """Bring the tables that are derived from others up to date, at the end of a transaction that changed these."""
    search.index(connection, changed.articles | changed.removed, changed.users)
    for some in slices(changed.removed):
        if placed := set(connection.scalars(PLACED, {"numbers": some})):
            archive.unarchive(connection, placed)


def user_row(name: str, joined: int, seen: str | None = None) -> Row:
    return {"username": name.lower(), "name": name, "joined_ms": joined, "seen": seen}


def vote_row(number: int, voter: str, value: int, cast: int | None = None) -> Row:
    return {"number": number, "voter": voter, "value": value, "cast_ms": cast, "counts": True}


def follow_row(follower: str, followee: str, since: int) -> Row:
    return {"follower": follower, "followee": followee, "since_ms": since}


def upsert(connection: Connection, table: Table, rows: Iterable[Row], keep: tuple[str, ...] = ()) -> None:
    """Insert rows, or replace those that exist, but for the columns to keep."""
    if listed := list(rows):
        connection.execute(_upsert(table, connection.dialect.name, keep), listed)


def replace_groups(connection: Connection, groups: Mapping[int, Sequence[str]]) -> None:
    """Set the groups of articles."""
    remove_rows(connection, ARTICLE_GROUPS, groups)
    rows = [
        {"number": number, "name": name, "place": place}
        for number, names in groups.items()
        for place, name in enumerate(names)
    ]
    upsert(connection, ARTICLE_GROUPS, rows)


def remove_articles(connection: Connection, numbers: Collection[int]) -> None:
    """Remove all rows of articles."""
    for table in OF_AN_ARTICLE:
        remove_rows(connection, table, numbers)


def remove_rows(connection: Connection, table: Table, numbers: Collection[int]) -> None:
    """Remove the rows of a table that are about some articles."""
    for some in slices(numbers):
        connection.execute(_delete(table), {"numbers": some})


def slices(values: Collection[T], size: int = LISTED_AT_ONCE) -> list[list[T]]:
    """The values in lists that are short enough for one statement."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]


@lru_cache
def _upsert(table: Table, dialect: str, keep: tuple[str, ...]) -> Insert:
    insert: Any = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in (*key, *keep)]
    statement: Insert = insert.on_conflict_do_update(
        index_elements=key, set_={name: insert.excluded[name] for name in others}
    )
    return statement


@lru_cache
def _delete(table: Table) -> Any:
    return delete(table).where(table.c.number.in_(bindparam("numbers", expanding=True)))


@lru_cache
def _update(columns: frozenset[str]) -> Any:
    values: Row = {name: bindparam(name) for name in columns}
    return update(ARTICLES).where(ARTICLES.c.number == bindparam("this")).values(values)


def _number(entry: Entry) -> int:
    return int(entry.subject.removeprefix("article:"))


def _username(entry: Entry) -> str:
    return entry.subject.removeprefix("user:")


def _integer(text: str) -> int:
    """A number as Lua may write it: an integer, or a float without a fraction."""
    return int(text) if text.lstrip("-").isdigit() else int(float(text))
