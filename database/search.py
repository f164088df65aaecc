"""
Full-text search: an index of articles and users, and one of comments, and what is found in them. FTS5 on SQLite,
`tsvector` on PostgreSQL.

The words are made by `database.words`, for both in the same way. The indexes are changed in the transaction that
changes the tables. Comments have their own, as many of them would slow down the search of articles.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from database import vocabulary
from database.words import PREFIX, Phrase, alternatives, part_of_text
from store.keys import SLOTS
from store.words import words

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")

MAX_FOUND = 10_000  # matches of a search
MAX_RANKED = 500  # articles and users, and as many comments, ordered by relevance; the others follow, newest first
FIRST_USER = 2**53  # rows of users have ids from here; those of articles have their numbers, which are lower
IDS = range(2 * FIRST_USER)  # of all rows
INDEX, COMMENT_INDEX = "search_index", "search_comments"
BATCH = 500  # rows that are indexed at once
TITLE_WEIGHT = 10  # of a word in a title or a name; that of a word in content is 1
MAX_POSITION = 16_383  # that a `tsvector` can hold
SEPARATOR = "/"  # between title and content, and in tags; no word has it
# The relevance of a text that is four years older counts half. This is that time as a difference of numbers of articles
# and comments: a number is 2 x the posting time in milliseconds x SLOTS, and some more.
HALVED_AFTER = 4 * 365 * 86_400_000 * 2 * SLOTS


class SearchKind(Enum):
    """What is searched."""

    ARTICLE = "article"
    COMMENT = "comment"
    USER = "user"


class SearchOrder(Enum):
    """The order of matches, highest first. Of equal ones users come first, then those with higher numbers."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    VOTES = "votes"


@dataclass(frozen=True, slots=True)
class Search:
    """
    What is searched for: all phrases. `group` and `poster` are names in lower case; with one no users match. Comments
    are in the groups of their articles.
    """

    phrases: tuple[Phrase, ...]
    kinds: frozenset[SearchKind] = frozenset(SearchKind)
    group: str | None = None
    poster: str | None = None
    order: SearchOrder = SearchOrder.RELEVANCE

    @property
    def tags(self) -> list[str]:
        """The tags of which a match has all."""
        return _tags(self.poster, [self.group] if self.group else [])

    @property
    def ids(self) -> range:
        """The ids that rows of articles and users can have, of these kinds."""
        has_users = SearchKind.USER in self.kinds and not self.tags
        first = IDS.start if SearchKind.ARTICLE in self.kinds else FIRST_USER
        return range(first, IDS.stop if has_users else FIRST_USER)


class Found(NamedTuple):
    """
    The matches of a search. `places` are pairs, the highest first: the value by which the search is ordered, and an id.
    The id is the number of an article or a comment, or that of a user's row. `usernames` has the names of these users
    by id, `comments` the ids of the comments.
    """

    places: list[tuple[float, int]]
    usernames: dict[int, str]
    comments: frozenset[int]


class Document(NamedTuple):
    """A row of an index: its id, and the words of its parts. `tags` are words by which matches are filtered."""

    id: int
    title: Sequence[str]
    content: Sequence[str]
    tags: Sequence[str]


def index(
    connection: "Connection", numbers: Iterable[int] = (), usernames: Iterable[str] = (), comments: Iterable[int] = ()
) -> None:
    """
    Index these articles, users and comments as they are in the tables now; what is not there is removed. May be
    repeated.

    Call it after the tables have changed, in the same transaction. Usernames may be in any case of letters.
    """
    for articles in _batches(numbers):
        _replace(connection, INDEX, articles, _articles(connection, articles))
    for users in _batches(name.lower() for name in usernames):
        _replace(connection, INDEX, *_users(connection, users))
    for some in _batches(comments):
        _replace(connection, COMMENT_INDEX, some, _comments(connection, some))


def forget_removed(connection: "Connection") -> None:
    """
    Delete the words of removed rows, which FTS5 keeps until it merges parts of an index. On SQLite it takes about as
    long as to write both indexes again; elsewhere nothing is to be done.
    """
    if connection.dialect.name == "sqlite":
        for name in (INDEX, COMMENT_INDEX):
            connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('optimize')")


def find(connection: "Connection", search: Search, deleted: frozenset[int] = frozenset()) -> Found:
    """
    The first matches of a search in its order, at most `MAX_FOUND`. They are chosen among the `MAX_FOUND` users and
    articles that match and have the highest ids, and as many comments. `deleted` has numbers of articles and comments
    that the tables may still have: these, and the comments of these articles, are no matches.

    A statement for comments and one for the others, on SQLite two each if there are more than `MAX_RANKED` to be
    ranked, and one for the names of users. If anything was deleted, one more finds the articles of doubtful comments,
    and others find matches in the place of deleted ones.
    """
    if not search.phrases:
        return Found([], {}, frozenset())
    has_comments = SearchKind.COMMENT in search.kinds
    of_comments = _find(connection, search, COMMENT_INDEX, IDS, deleted) if has_comments else []
    places = of_comments + (_find(connection, search, INDEX, search.ids, deleted) if search.ids else [])
    if search.order is SearchOrder.RELEVANCE:
        places = _aged(places)
    places.sort(reverse=True)
    del places[MAX_FOUND:]
    comments = frozenset(number for _, number in of_comments)
    users = [id for _, id in places if id >= FIRST_USER]
    names = "SELECT search_users.id, name FROM search_users JOIN users USING (username) WHERE search_users.id {among}"
    return Found(places, dict(_rows(connection, names, users)) if users else {}, comments)


class SearchPart(NamedTuple):
    """
    A part of the matches of a search: those with the highest ids, at most `limit`. The first `ranked` of them have a
    relevance, that of the others is 0.
    """

    limit: int
    ranked: int = 0


POSTED = "SELECT posted_ms FROM {} WHERE number = found.id"
VOTES = "SELECT up - down FROM {} WHERE number = found.id"
JOINED = "SELECT joined_ms FROM search_users JOIN users USING (username) WHERE search_users.id = found.id"
KARMA = """SELECT CAST((SELECT coalesce(sum(up - down - 1), 0) FROM articles WHERE poster = name AND state <> 'REMOVED')
    + (SELECT coalesce(sum(up - down - 1), 0) FROM comments WHERE poster = name AND state <> 'REMOVED') AS BIGINT)
    FROM search_users JOIN users USING (username) WHERE search_users.id = found.id"""
VALUES = {  # by index and order: reads the value and the id of each match; `{}` stands for the statement of `matching`
    (INDEX, SearchOrder.RELEVANCE): "{}",
    (INDEX, SearchOrder.NEWEST): f"""SELECT
        CASE WHEN id < {FIRST_USER} THEN ({POSTED.format("articles")}) ELSE ({JOINED}) END, id FROM ({{}}) AS found""",
    (INDEX, SearchOrder.VOTES): f"""SELECT
        CASE WHEN id < {FIRST_USER} THEN ({VOTES.format("articles")}) ELSE ({KARMA}) END, id FROM ({{}}) AS found""",
    (COMMENT_INDEX, SearchOrder.RELEVANCE): "{}",
    (COMMENT_INDEX, SearchOrder.NEWEST): f"SELECT ({POSTED.format('comments')}), id FROM ({{}}) AS found",
    (COMMENT_INDEX, SearchOrder.VOTES): f"SELECT ({VOTES.format('comments')}), id FROM ({{}}) AS found",
}


class Sqlite:
    """
    The statements for SQLite: FTS5 tables, whose tokenizer has nothing to do but to split the words at spaces. A word
    gets a weight by its column.
    """

    among = "IN (SELECT value FROM json_each(?))"  # the condition that a column has one of the `keys`
    read = "SELECT title || ' ' || content FROM {table} WHERE rowid {among}"
    remove = "DELETE FROM {table} WHERE rowid {among}"
    put = "INSERT INTO {table} (rowid, title, content, tags) VALUES (?, ?, ?, ?)"
    add_user = "INSERT INTO search_users (username) VALUES (?) ON CONFLICT DO NOTHING"

    def keys(self, keys: Sequence[Any]) -> object:
        return json.dumps(keys)

    def row(self, document: Document) -> tuple[Any, ...]:
        """The parameters of `put`."""
        id, title, content, tags = document
        return id, " ".join(title), " ".join(content), " ".join(tags)

    def parts_by_relevance(self) -> list[SearchPart]:
        return [SearchPart(MAX_RANKED, ranked=MAX_RANKED), SearchPart(MAX_FOUND - MAX_RANKED)]

    def matching(self, table: str, search: Search, part: SearchPart, ids: range) -> tuple[str, tuple[Any, ...]]:
        """A statement for the relevance and the id of each match of a part, and its parameters."""
        relevance = f"-bm25({table}, {TITLE_WEIGHT}, 1, 0)" if part.ranked else "0"
        wanted = " AND ".join([*map(self._phrase, search.phrases), *(f'"{tag}"' for tag in search.tags)])
        statement = f"""SELECT {relevance} AS relevance, rowid AS id FROM {table}
            WHERE {table} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT {part.limit}"""
        return statement, (wanted, ids[0], ids[-1])

    def _phrase(self, phrase: Phrase) -> str:
        return f"({' OR '.join(map(self._alternative, alternatives(phrase)))})"

    def _alternative(self, phrase: Phrase) -> str:
        text = " ".join(phrase)
        return f'"{text.removesuffix(PREFIX)}" *' if text.endswith(PREFIX) else f'"{text}"'


HAS_PHRASE = "strpos(words, %s) > 0"  # of PostgreSQL


class Postgresql:
    """
    The statements for PostgreSQL: tables with a GIN index of `tsvector`. Phrases are compared with the text itself, as
    a `tsvector` has at most 256 places of a word.
    """

    among = "= ANY(%s)"  # the condition that a column has one of the `keys`
    read = "SELECT words FROM {table} WHERE id {among}"
    remove = "DELETE FROM {table} WHERE id {among}"
    put = "INSERT INTO {table} (id, words, vector) VALUES (%s, %s, CAST(%s AS tsvector))"
    add_user = "INSERT INTO search_users (username) VALUES (%s) ON CONFLICT DO NOTHING"

    def keys(self, keys: Sequence[Any]) -> object:
        return keys

    def row(self, document: Document) -> tuple[Any, ...]:
        """The parameters of `put`. Words of the title are marked A and those of the content D, for `ts_rank`."""
        id, title, content, tags = document
        places = enumerate([*title, SEPARATOR, *content], 1)
        weights = ((word, place, "A" if place <= len(title) else "D") for place, word in places if word != SEPARATOR)
        positioned = [f"'{word}':{min(place, MAX_POSITION)}{weight}" for word, place, weight in weights]
        vector = " ".join([*positioned, *(f"'{tag}'" for tag in tags)])
        return id, f" {' '.join([*title, SEPARATOR, *content])} ", vector

    def parts_by_relevance(self) -> list[SearchPart]:
        """One part: two statements would take twice as long."""
        return [SearchPart(MAX_FOUND, ranked=MAX_RANKED)]

    def matching(self, table: str, search: Search, part: SearchPart, ids: range) -> tuple[str, tuple[Any, ...]]:
        """A statement for the relevance and the id of each match of a part, and its parameters."""
        each_word = " & ".join(dict.fromkeys(map(self._phrase, search.phrases)))
        wanted = " & ".join([each_word, *(f"'{tag}'" for tag in search.tags)])
        # each phrase of several words as its alternatives: single words are found by `wanted` alone
        several = [each for each in map(alternatives, search.phrases) if max(map(len, each)) > 1]
        phrases = [[*map(part_of_text, each)] for each in several]
        phrase_conditions = "".join(f" AND ({' OR '.join([HAS_PHRASE] * len(each))})" for each in phrases)
        relevance, columns = "0", "id"
        if part.ranked:
            # the weights of words marked D, C, B and A; 1: long texts count less
            rank = "ts_rank('{0.1, 0.1, 0.1, 1}', vector, CAST(%s AS tsquery), 1)"
            relevance = f"CASE WHEN place <= {part.ranked} THEN {rank} ELSE 0 END"
            columns = "id, vector, row_number() OVER (ORDER BY id DESC) AS place"
        within = "" if ids == IDS else "AND id + 0 BETWEEN %s AND %s"  # not by the primary key, which is slower
        statement = f"""SELECT {relevance} AS relevance, id FROM (SELECT {columns} FROM {table}
            WHERE vector @@ CAST(%s AS tsquery) {within}{phrase_conditions}
            ORDER BY id DESC LIMIT {part.limit}) AS newest"""
        bounds = [ids[0], ids[-1]] if within else []
        return statement, (*([each_word] if part.ranked else ()), wanted, *bounds, *chain.from_iterable(phrases))

    def _phrase(self, phrase: Phrase) -> str:
        return f"({' | '.join(' & '.join(map(self._word, each)) for each in alternatives(phrase))})"

    def _word(self, word: str) -> str:
        return f"'{word.removesuffix(PREFIX)}':*" if word.endswith(PREFIX) else f"'{word}'"


DIALECTS: dict[str, Sqlite | Postgresql] = {"sqlite": Sqlite(), "postgresql": Postgresql()}


def _aged(places: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """
    Places by relevance, with the value of each article and comment divided by 1 + its age in units of four years. The
    age is how much older it is than the newest one, by its number, which contains its time. Users have no age.
    """
    newest = max((id for _, id in places if id < FIRST_USER), default=0)
    return [(value if id >= FIRST_USER else value / (1 + (newest - id) / HALVED_AFTER), id) for value, id in places]


def _dialect(connection: "Connection") -> Sqlite | Postgresql:
    return DIALECTS[connection.dialect.name]


def _find(
    connection: "Connection", search: Search, table: str, ids: range, deleted: frozenset[int]
) -> list[tuple[float, int]]:
    """The values and the ids of the matches in an index: of those in the range `ids`, the ones with the highest ids."""
    places: list[tuple[float, int]] = []
    whole = SearchPart(MAX_FOUND)
    parts = _dialect(connection).parts_by_relevance() if search.order is SearchOrder.RELEVANCE else []
    for part in chain(parts, repeat(whole)):  # `whole` again and again, to replace matches that were deleted
        found = _matching(connection, search, table, part, ids)
        places += _without(connection, table, found, deleted) if deleted else found
        if len(found) < part.limit or len(places) >= MAX_FOUND:
            break
        ids = range(ids.start, found[-1][1])
    return places[:MAX_FOUND]


def _without(
    connection: "Connection", table: str, places: list[tuple[float, int]], deleted: frozenset[int]
) -> list[tuple[float, int]]:
    """The matches in an index without those that were deleted, and without the comments of articles that were."""
    found = [place for place in places if place[1] not in deleted]
    if table == INDEX:
        return found
    # Modulo SLOTS, the numbers of a comment and its article are equal: only comments for which this fits are doubtful.
    slots = {number % SLOTS for number in deleted}
    doubtful = [number for _, number in found if number % SLOTS in slots]
    of_comments = "SELECT number, article FROM comments WHERE number {among}"
    rows = _rows(connection, of_comments, doubtful) if doubtful else []
    gone = set(doubtful) - {number for number, article in rows if article not in deleted}
    return [place for place in found if place[1] not in gone] if gone else found


def _matching(
    connection: "Connection", search: Search, table: str, part: SearchPart, ids: range
) -> list[tuple[float, int]]:
    """The value, in the order of the search, and the id of each match of a part; by RELEVANCE the highest ids first."""
    statement, parameters = _dialect(connection).matching(table, search, part, ids)
    with connection.exec_driver_sql(VALUES[table, search.order].format(statement), parameters) as result:
        return list(result.cursor.fetchall())  # SQLAlchemy's own rows take as long as the statement


def _articles(connection: "Connection", numbers: Sequence[int]) -> list[Document]:
    """The documents of visible articles. Others have none."""
    groups: dict[int, list[str]] = {}
    for number, name in _rows(connection, "SELECT number, name FROM article_groups WHERE number {among}", numbers):
        groups.setdefault(number, []).append(name)
    articles = "SELECT number, title, content, poster FROM articles WHERE number {among} AND state = 'VISIBLE'"
    return [
        Document(number, words(title), words(content or ""), _tags(poster, groups.get(number, ())))
        for number, title, content, poster in _rows(connection, articles, numbers)
    ]


def _comments(connection: "Connection", numbers: Sequence[int]) -> list[Document]:
    """The documents of visible comments of visible articles. Comments are in the groups of their articles."""
    groups: dict[int, list[str]] = {}
    of_articles = """SELECT comments.number, name FROM comments JOIN article_groups ON article_groups.number = article
        WHERE comments.number {among}"""
    for number, name in _rows(connection, of_articles, numbers):
        groups.setdefault(number, []).append(name)
    comments = """SELECT number, content, poster FROM comments WHERE number {among} AND state = 'VISIBLE'
        AND NOT EXISTS (SELECT 1 FROM articles WHERE number = comments.article AND state <> 'VISIBLE')"""
    return [
        Document(number, title=[], content=words(content), tags=_tags(poster, groups.get(number, ())))
        for number, content, poster in _rows(connection, comments, numbers)
    ]


def _users(connection: "Connection", usernames: Sequence[str]) -> tuple[list[int], list[Document]]:
    """The ids of the rows of users, and the documents of those who are in the table."""
    connection.exec_driver_sql(_dialect(connection).add_user, [(name,) for name in usernames])
    users = """SELECT search_users.id, name, display_name FROM search_users LEFT JOIN users USING (username)
        WHERE username {among}"""
    rows = _rows(connection, users, usernames)
    documents = [
        Document(id, words(f"{name} {display_name or ''}"), content=[], tags=())
        for id, name, display_name in rows
        if name is not None
    ]
    return [id for id, *_ in rows], documents


def _replace(connection: "Connection", table: str, ids: Sequence[int], documents: Sequence[Document]) -> None:
    """Let the rows of an index with these ids be these documents, and count their words in the vocabulary."""
    dialect = _dialect(connection)
    keys = (dialect.keys(ids),)
    before = connection.exec_driver_sql(dialect.read.format(table=table, among=dialect.among), keys).scalars().all()
    connection.exec_driver_sql(dialect.remove.format(table=table, among=dialect.among), keys)
    if documents:
        connection.exec_driver_sql(dialect.put.format(table=table), list(map(dialect.row, documents)))
    removed = [text.split() for text in before]
    vocabulary.change(connection, removed, [[*each.title, *each.content] for each in documents])


def _rows(connection: "Connection", statement: str, keys: Sequence[Any]) -> Sequence[Any]:
    """The rows of a statement that has `{among}` in the place of the keys."""
    dialect = _dialect(connection)
    return connection.exec_driver_sql(statement.format(among=dialect.among), (dialect.keys(keys),)).fetchall()


def _batches(keys: Iterable[T]) -> Iterator[list[T]]:
    """The keys, each once."""
    waiting = iter(dict.fromkeys(keys))
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _tags(poster: str | None, groups: Iterable[str]) -> list[str]:
    """What articles and comments are filtered by. No word of a text is equal to a tag."""
    return [*([f"p{SEPARATOR}{poster.lower()}"] if poster else []), *(f"g{SEPARATOR}{name}" for name in groups)]
