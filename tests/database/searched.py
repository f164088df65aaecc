"""What is searched in tests: rows with their places in the indexes, and any texts and queries."""

from collections.abc import Sequence

from hypothesis import strategies as st
from sqlalchemy import Connection, insert

from database import search, spelling
from database.search import Search
from database.tables import ARTICLE_GROUPS, ARTICLES, COMMENTS, USERS
from database.words import parse

# Columns of rows. Numbers of articles and comments are multiples of 1,024: their last ten bits are a slot, here 0.
ARTICLE = {"poster": "Alice", "content": None, "posted_ms": 0, "up": 1, "down": 0, "imported_votes": 0}
COMMENT = {"article": 1024, "depth": 0, "poster": "bob", "posted_ms": 0, "up": 1, "down": 0, "imported_votes": 0}
WORDS = ["Redis", "redis in action", "lists", "node.js", "Café", "日本語", "日", "서울에서", "👍", "in", "and", "a'b"]
ANY_TEXT = st.text(st.characters(), max_size=500) | st.text(
    st.sampled_from("ab日👍\"'*()^:-{}+|&!\\\x00\ud800 \ufdfa"), max_size=500
)
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
QUERIES = SENTENCES | SENTENCES.map('"{}"'.format) | st.tuples(SENTENCES, SENTENCES).map('{0[0]} "{0[1]}"'.format)


def write(connection: Connection, number: int, title: str, groups: Sequence[str] = ("show",), **values) -> None:
    """Add an article, and index it."""
    values = {**ARTICLE, "number": number, "title": title, "archived": False, **values}
    connection.execute(insert(ARTICLES).values(**values))
    for place, name in enumerate(groups):
        connection.execute(insert(ARTICLE_GROUPS).values(number=number, name=name, place=place))
    search.index(connection, [number])


def comment(connection: Connection, number: int, content: str | None, **values) -> None:
    """Add a comment, and index it."""
    values = {**COMMENT, "number": number, "content": content, "state": "VISIBLE", **values}
    connection.execute(insert(COMMENTS).values(**values))
    search.index(connection, comments=[number])


def register(connection: Connection, *names: str) -> None:
    """Add users, who joined one after the other, and index them."""
    for place, name in enumerate(names):
        connection.execute(insert(USERS).values(username=name.lower(), name=name, joined_ms=1000 + place))
    search.index(connection, usernames=names)


def printable(text: str) -> str:
    """What may be stored: no article has other characters."""
    return "".join(each for each in text if each != "\x00" and not 0xD800 <= ord(each) < 0xE000)


def proposed(connection: Connection, query: str, **search_for) -> str | None:
    """The spelling that is proposed for a query."""
    return spelling.suggestion(connection, query, Search(parse(query), **search_for), deleted=frozenset())


def counted_words(connection: Connection) -> dict[str, int]:
    """How many texts have each word."""
    return dict(connection.exec_driver_sql("SELECT word, texts FROM search_words").fetchall())
