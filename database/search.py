"""
Full-text search: the index of articles and users, and what is found in it. FTS5 on SQLite, `tsvector` on PostgreSQL.

The words are made by `database.words`, for both in the same way. The index is changed in the transaction that changes
the tables.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from database.words import Phrase, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

MAX_FOUND = 10_000  # matches of a search
MAX_RANKED = 500  # matches that are ordered by relevance; the others follow, the newest first
FIRST_USER = 2**53  # rows of users have ids from here; those of articles have their numbers, which are lower
IDS = range(2 * FIRST_USER)
BATCH = 500  # rows that are indexed at once
TITLE_WEIGHT = 10  # of a word in a title or a name; that of a word in content is 1
MAX_POSITION = 16_383  # that a `tsvector` can hold
SEPARATOR = "/"  # no word has it


class SearchKind(Enum):
    """What is searched."""

    ARTICLE = "article"
    COMMENT = "comment"
    USER = "user"


class SearchOrder(Enum):
    """The order of matches, highest first. Of equal ones users come first, then the articles with higher numbers."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    VOTES = "votes"


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for: all phrases. `group` and `poster` are names in lower case; with one only articles match."""

    phrases: tuple[Phrase, ...]
    kinds: frozenset[SearchKind] = frozenset(SearchKind)
    group: str | None = None
    poster: str | None = None
    order: SearchOrder = SearchOrder.RELEVANCE

    @property
    def tags(self) -> list[str]:
        return _tags(self.poster, [self.group] if self.group else [])

    @property
    def ids(self) -> range:
        """The ids that rows of these kinds can have."""
        has_users = SearchKind.USER in self.kinds and not self.tags
        first = IDS.start if SearchKind.ARTICLE in self.kinds else FIRST_USER
        return range(first, IDS.stop if has_users else FIRST_USER)


class Found(NamedTuple):
    """All matches as (value, id of the row), highest first, and the names of the users among them by id."""

    places: list[tuple[float, int]]
    usernames: dict[int, str]


class Document(NamedTuple):
    """A row of the index."""

    id: int
    title: Sequence[str]
    content: Sequence[str]
    tags: Sequence[str]


def index(connection: "Connection", numbers: Iterable[int] = (), usernames: Iterable[str] = ()) -> None:
    """
    Index these articles and users as they are in the tables now; what is not there is removed. May be repeated.

    Call it after the tables have changed, in the same transaction. Usernames may be in any case of letters.
    """
    waiting, names = iter(dict.fromkeys(numbers)), iter(dict.fromkeys(name.lower() for name in usernames))
    while batch := list(islice(waiting, BATCH)):
        _replace(connection, batch, _articles(connection, batch))
    while users := list(islice(names, BATCH)):
        _replace(connection, *_users(connection, users))


def rebuild(connection: "Connection") -> None:
    """Index all articles and users anew."""
    connection.exec_driver_sql("DELETE FROM search_index")
    index(connection, numbers=[number for (number,) in connection.exec_driver_sql("SELECT number FROM articles")])
    index(connection, usernames=[name for (name,) in connection.exec_driver_sql("SELECT username FROM users")])


def find(connection: "Connection", search: Search) -> Found:
    """
    The matches of a search, at most `MAX_FOUND`: users, and then the articles with the highest numbers.

    One statement, and one more if there are users among them; two to rank more than `MAX_RANKED`.
    """
    ids = search.ids
    if not search.phrases or not ids:
        return Found([], {})
    places: list[tuple[float, int]] = []
    for part in PARTS[search.order]:
        found = _matching(connection, search, part, ids)
        places += found
        if len(found) < part.limit:
            break
        ids = range(ids.start, found[-1][1])
    places.sort(reverse=True)
    users = [id for _, id in places if id >= FIRST_USER]
    names = "SELECT search_users.id, name FROM search_users JOIN users USING (username) WHERE search_users.id {among}"
    return Found(places, dict(_rows(connection, names, users)) if users else {})


class Part(NamedTuple):
    """Some of the matches of a search, with the highest ids."""

    limit: int
    is_ranked: bool = False


PARTS = {
    SearchOrder.RELEVANCE: [Part(MAX_RANKED, is_ranked=True), Part(MAX_FOUND - MAX_RANKED)],
    SearchOrder.NEWEST: [Part(MAX_FOUND)],
    SearchOrder.VOTES: [Part(MAX_FOUND)],
}
VALUES = {  # selects the value and the id of each match of {}
    SearchOrder.RELEVANCE: "{}",
    SearchOrder.NEWEST: f"""SELECT CASE WHEN id < {FIRST_USER}
        THEN (SELECT posted_ms FROM articles WHERE number = found.id)
        ELSE (SELECT joined_ms FROM search_users JOIN users USING (username) WHERE search_users.id = found.id) END, id
        FROM ({{}}) AS found""",
    SearchOrder.VOTES: f"""SELECT CASE WHEN id < {FIRST_USER}
        THEN (SELECT up - down FROM articles WHERE number = found.id)
        ELSE (SELECT CAST(coalesce(sum(up - down - 1), 0) AS BIGINT) FROM search_users JOIN users USING (username)
              JOIN articles ON poster = name WHERE search_users.id = found.id) END, id
        FROM ({{}}) AS found""",
}


class Sqlite:
    """An FTS5 table, whose tokenizer has nothing to do but to split the words at spaces."""

    among = "IN (SELECT value FROM json_each(?))"
    remove = "DELETE FROM search_index WHERE rowid {among}"
    put = "INSERT INTO search_index (rowid, title, content, tags) VALUES (?, ?, ?, ?)"
    add_user = "INSERT INTO search_users (username) VALUES (?) ON CONFLICT DO NOTHING"

    def keys(self, keys: Sequence[Any]) -> object:
        return json.dumps(keys)

    def row(self, document: Document) -> tuple[Any, ...]:
        id, title, content, tags = document
        return id, " ".join(title), " ".join(content), " ".join(tags)

    def matching(self, search: Search, part: Part, ids: range) -> tuple[str, tuple[Any, ...]]:
        """A statement for the relevance and the id of each match of a part, and its parameters."""
        relevance = f"-bm25(search_index, {TITLE_WEIGHT}, 1, 0)" if part.is_ranked else "0"
        wanted = " AND ".join(f'"{text}"' for text in (*map(" ".join, search.phrases), *search.tags))
        statement = f"""SELECT {relevance} AS relevance, rowid AS id FROM search_index
            WHERE search_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT {part.limit}"""
        return statement, (wanted, ids[0], ids[-1])


class Postgresql:
    """
    A table with a GIN index of `tsvector`. Phrases are compared with the text itself: a `tsvector` has at most 256
    places of a word.
    """

    among = "= ANY(%s)"
    remove = "DELETE FROM search_index WHERE id {among}"
    put = "INSERT INTO search_index (id, words, vector) VALUES (%s, %s, CAST(%s AS tsvector))"
    add_user = "INSERT INTO search_users (username) VALUES (%s) ON CONFLICT DO NOTHING"

    def keys(self, keys: Sequence[Any]) -> object:
        return keys

    def row(self, document: Document) -> tuple[Any, ...]:
        id, title, content, tags = document
        places = enumerate([*title, SEPARATOR, *content], 1)
        weights = ((word, place, "A" if place <= len(title) else "D") for place, word in places if word != SEPARATOR)
        positioned = [f"'{word}':{min(place, MAX_POSITION)}{weight}" for word, place, weight in weights]
        vector = " ".join([*positioned, *(f"'{tag}'" for tag in tags)])
        return id, f" {' '.join([*title, SEPARATOR, *content])} ", vector

    def matching(self, search: Search, part: Part, ids: range) -> tuple[str, tuple[Any, ...]]:
        """A statement for the relevance and the id of each match of a part, and its parameters."""
        each_word = " & ".join(f"'{word}'" for word in dict.fromkeys(chain(*search.phrases)))
        wanted = " & ".join([each_word, *(f"'{tag}'" for tag in search.tags)])
        phrases = [f" {' '.join(phrase)} " for phrase in search.phrases if len(phrase) > 1]
        rank = "ts_rank('{0.1, 0.1, 0.1, 1}', vector, CAST(%s AS tsquery), 1)" if part.is_ranked else "0"
        within = "" if ids == IDS else "AND id + 0 BETWEEN %s AND %s"  # not by the primary key, which is slower
        statement = f"""SELECT {rank} AS relevance, id FROM (SELECT id, vector FROM search_index
            WHERE vector @@ CAST(%s AS tsquery) {within} {"AND strpos(words, %s) > 0 " * len(phrases)}
            ORDER BY id DESC LIMIT {part.limit}) AS newest"""
        return statement, (*[each_word] * part.is_ranked, wanted, *([ids[0], ids[-1]] if within else []), *phrases)


DIALECTS: dict[str, Sqlite | Postgresql] = {"sqlite": Sqlite(), "postgresql": Postgresql()}


def _dialect(connection: "Connection") -> Sqlite | Postgresql:
    return DIALECTS[connection.dialect.name]


def _matching(connection: "Connection", search: Search, part: Part, ids: range) -> list[tuple[float, int]]:
    """The value and the id of each match of a part; those of relevance in the order of their ids."""
    statement, parameters = _dialect(connection).matching(search, part, ids)
    with connection.exec_driver_sql(VALUES[search.order].format(statement), parameters) as result:
        return list(result.cursor.fetchall())  # SQLAlchemy's own rows take as long as the statement


def _articles(connection: "Connection", numbers: Sequence[int]) -> list[Document]:
    groups: dict[int, list[str]] = {}
    for number, name in _rows(connection, "SELECT number, name FROM article_groups WHERE number {among}", numbers):
        groups.setdefault(number, []).append(name)
    articles = "SELECT number, title, content, poster FROM articles WHERE number {among}"
    return [
        Document(number, words(title), words(content or ""), _tags(poster, groups.get(number, ())))
        for number, title, content, poster in _rows(connection, articles, numbers)
    ]


def _users(connection: "Connection", usernames: Sequence[str]) -> tuple[list[int], list[Document]]:
    """The ids of the rows of users, and the documents of those who are in the table."""
    connection.exec_driver_sql(_dialect(connection).add_user, [(name,) for name in usernames])
    users = "SELECT search_users.id, name FROM search_users LEFT JOIN users USING (username) WHERE username {among}"
    rows = _rows(connection, users, usernames)
    return [id for id, _ in rows], [Document(id, words(name), [], ()) for id, name in rows if name is not None]


def _replace(connection: "Connection", ids: Sequence[int], documents: Sequence[Document]) -> None:
    dialect = _dialect(connection)
    connection.exec_driver_sql(dialect.remove.format(among=dialect.among), (dialect.keys(ids),))
    if documents:
        connection.exec_driver_sql(dialect.put, list(map(dialect.row, documents)))


def _rows(connection: "Connection", statement: str, keys: Sequence[Any]) -> Sequence[Any]:
    """The rows of a statement that has `{among}` in the place of the keys."""
    dialect = _dialect(connection)
    return connection.exec_driver_sql(statement.format(among=dialect.among), (dialect.keys(keys),)).fetchall()


def _tags(poster: str | None, groups: Iterable[str]) -> list[str]:
    """What an article is filtered by. No word of a text is equal to a tag."""
    return [*([f"p{SEPARATOR}{poster.lower()}"] if poster else []), *(f"g{SEPARATOR}{name}" for name in groups)]
