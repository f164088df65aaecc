"""What a search that finds nothing may have meant: the nearest words of those that articles and names have."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from database import search as index
from database.search import FIRST_USER, Search
from database.words import parse
from store.words import WORD_LENGTH, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHORTEST = 3  # letters of a word that may be spelled wrongly
LONG = 5  # letters of a word in which two edits are looked for, and one if it is the beginning of a longer word
MAX_WORDS = 200_000  # that a word is compared with
NEWEST = 5_000  # articles, and as many users, whose words are read on PostgreSQL: it keeps no list of all words
WORD = re.compile(r"\S+")
NEWEST_ROWS = f"(SELECT vector FROM search_index WHERE id {{}} {FIRST_USER} ORDER BY id DESC LIMIT {NEWEST})"
VOCABULARY = {  # words that begin with a letter, by their length, and how many articles and users have each
    "sqlite": f"""SELECT term, doc FROM search_vocabulary WHERE term >= ? AND term < ?
        AND length(term) BETWEEN ? AND ? LIMIT {MAX_WORDS}""",
    "postgresql": f"""SELECT word, ndoc FROM ts_stat('{NEWEST_ROWS.format("<")} UNION ALL {NEWEST_ROWS.format(">=")}')
        WHERE word >= %s COLLATE "C" AND word < %s COLLATE "C" AND length(word) BETWEEN %s AND %s LIMIT {MAX_WORDS}""",
}


def suggestion(connection: "Connection", query: str, search: Search, deleted: frozenset[int]) -> str | None:
    """
    The query with each word that no text has replaced by the nearest word of the vocabulary, or else by a longer one
    that begins almost so; None if that finds nothing either.

    A short word and one with a digit is left as it is, and a query with quotation marks has none. Costs a search for
    each other word, one or two reads of a part of the vocabulary for each that no text has, and a search for the new
    query.
    """
    if '"' in query:
        return None
    proposed = WORD.sub(lambda word: _corrected(connection, word[0]), query)
    if proposed == query:
        return None
    found = index.find(connection, replace(search, phrases=parse(proposed)), deleted)
    return proposed if found.places else None


def _corrected(connection: "Connection", text: str) -> str:
    """A word of a query, or the nearest word of the vocabulary if no text has it."""
    found = words(text)
    if len(found) != 1 or len(word := found[0]) < SHORTEST or not word.isalpha():
        return text
    if _is_known(connection, word):
        return text
    allowed = 2 if len(word) >= LONG else 1
    counts = dict(_vocabulary(connection, word, len(word) - allowed, len(word) + allowed))
    if nearest := _nearest(word, counts, {each: each for each in counts}, allowed):
        return nearest
    if len(word) < LONG:
        return text
    longer = dict(_vocabulary(connection, word, len(word) + allowed + 1, WORD_LENGTH))
    return _nearest(word, longer, {each: each[: len(word)] for each in longer}, 1) or text


def _nearest(word: str, counts: Mapping[str, int], compared: Mapping[str, str], allowed: int) -> str | None:
    """The word whose compared text is at most `allowed` edits from a word; of equal ones that which most texts have."""
    near = extract(word, compared, scorer=OSA.distance, score_cutoff=allowed, limit=None)
    _, _, nearest = min(near, key=lambda each: (each[1], -counts[each[2]]), default=(None, None, None))
    return nearest


def _is_known(connection: "Connection", word: str) -> bool:
    """Whether anything has the word, another form of it, or one that begins with it."""
    return bool(index.find(connection, Search(parse(word))).places)


def _vocabulary(connection: "Connection", word: str, shortest: int, longest: int) -> Iterator[tuple[str, int]]:
    """The words of these lengths that an edit or two may lead to, if one of the first two letters stays."""
    statement = VOCABULARY[connection.dialect.name]
    for letter in dict.fromkeys(word[:2]):
        bounds = (letter, chr(ord(letter) + 1), shortest, longest)
        with connection.exec_driver_sql(statement, bounds) as result:
            yield from result.cursor.fetchall()
