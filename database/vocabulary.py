"""
The words of the search indexes, and how many texts and names have each. This table, `search_words`, is changed with the
indexes, in the same transaction. So it has no words that occur only in removed or deleted texts, or in texts that wait
for a moderator.

Words of one letter, such as the characters of Chinese, are left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHORTEST = 2  # letters
MOST_READ = 50_000  # words of one first letter: those that most texts have
CREATE = {
    "sqlite": [
        "CREATE TABLE IF NOT EXISTS search_words (word TEXT PRIMARY KEY, texts INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE VIRTUAL TABLE IF NOT EXISTS search_vocabulary USING fts5vocab(search_index, 'row')",
        "CREATE VIRTUAL TABLE IF NOT EXISTS search_comment_vocabulary USING fts5vocab(search_comments, 'row')",
    ],
    "postgresql": [
        'CREATE TABLE IF NOT EXISTS search_words (word TEXT COLLATE "C" PRIMARY KEY, texts BIGINT NOT NULL)'
    ],
}
COUNT = {  # tags have a slash, words have none
    "sqlite": f"""INSERT INTO search_words SELECT term, sum(doc) FROM
        (SELECT term, doc FROM search_vocabulary UNION ALL SELECT term, doc FROM search_comment_vocabulary)
        WHERE length(term) >= {SHORTEST} AND instr(term, '/') = 0 GROUP BY term""",
    "postgresql": f"""INSERT INTO search_words SELECT lexeme, count(*) FROM
        (SELECT vector FROM search_index UNION ALL SELECT vector FROM search_comments) AS texts, unnest(vector)
        WHERE length(lexeme) >= {SHORTEST} AND strpos(lexeme, '/') = 0 GROUP BY lexeme""",
}
ADD = "ON CONFLICT (word) DO UPDATE SET texts = search_words.texts + excluded.texts"
CHANGE = {
    "sqlite": f"INSERT INTO search_words (word, texts) VALUES (?, ?) {ADD}",
    "postgresql": f"""INSERT INTO search_words (word, texts)
        SELECT * FROM unnest(CAST(%s AS TEXT[]), CAST(%s AS BIGINT[])) {ADD}""",
}
REMOVE = {
    "sqlite": "DELETE FROM search_words WHERE word = ? AND texts <= 0",
    "postgresql": "DELETE FROM search_words WHERE word = ANY(%s) AND texts <= 0",
}
TEXTS = "SELECT texts FROM search_words WHERE word = ?"
TEXTS_OF_BEGINNING = "SELECT sum(texts) FROM search_words WHERE word >= ? AND word < ?"
READ = f"""SELECT word, texts FROM search_words WHERE word >= ? AND word < ?
    AND length(word) >= ? AND length(word) < ? AND texts >= ? ORDER BY texts DESC, word LIMIT {MOST_READ}"""


def create(connection: "Connection") -> None:
    for statement in CREATE[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def count_again(connection: "Connection") -> None:
    """Make the table from the indexes."""
    connection.exec_driver_sql("DELETE FROM search_words")
    connection.exec_driver_sql(COUNT[connection.dialect.name])


def change(connection: "Connection", removed: Iterable[Sequence[str]], added: Iterable[Sequence[str]]) -> None:
    """
    Count the words of texts that were added to an index, and no longer count the words of texts that were removed. Each
    text is given as its words.
    """
    counts = Counter[str]()
    for words in added:
        counts.update({*words})
    for words in removed:
        counts.subtract({*words})
    changed = {word: count for word, count in sorted(counts.items()) if count and len(word) >= SHORTEST}
    if not changed:
        return
    name, fewer = connection.dialect.name, [word for word, count in changed.items() if count < 0]
    if name == "sqlite":
        connection.exec_driver_sql(CHANGE[name], [*changed.items()])
        if fewer:
            connection.exec_driver_sql(REMOVE[name], [(word,) for word in fewer])
    else:
        connection.exec_driver_sql(CHANGE[name], ([*changed], [*changed.values()]))
        if fewer:
            connection.exec_driver_sql(REMOVE[name], (fewer,))


def count_of(connection: "Connection", word: str) -> int:
    """How many texts have a word."""
    return connection.exec_driver_sql(_for_driver(connection, TEXTS), (word,)).scalar() or 0


def count_of_beginning(connection: "Connection", letters: str) -> int:
    """The sum, over all words that begin with these letters, of how many texts have the word."""
    bounds = letters, _after(letters)
    return int(connection.exec_driver_sql(_for_driver(connection, TEXTS_OF_BEGINNING), bounds).scalar() or 0)


def beginning_with(connection: "Connection", letter: str, lengths: range, least: int) -> dict[str, int]:
    """
    The words of these lengths that begin with a letter and that at least `least` texts have, each with how many have
    it: the `MOST_READ` commonest.
    """
    bounds = (letter, _after(letter), lengths.start, lengths.stop, least)
    with connection.exec_driver_sql(_for_driver(connection, READ), bounds) as result:
        return dict(result.cursor.fetchall())


def _after(letters: str) -> str:
    """The first text after all that begin with these letters."""
    return letters[:-1] + chr(ord(letters[-1]) + 1)


def _for_driver(connection: "Connection", statement: str) -> str:
    return statement if connection.dialect.name == "sqlite" else statement.replace("?", "%s")
