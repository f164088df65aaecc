"""What a search that finds nothing may have meant: the nearest words of those that texts and names have."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from database import search as index
from database import vocabulary
from database.inflections import forms
from database.search import Search
from database.words import QUERY_WORDS, parse
from store.words import FOLDED, LETTERS, WORD_LENGTH, composed, with_names, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHORTEST = 3  # letters of a word that may be misspelled; one of several without a space, as in `node.js`, may have 2
LONG = 5  # letters of a word in which two edits are looked for, and one if it is the beginning of a longer word
MUCH_COMMONER = 1_000  # times as many texts have a word: one that is an edit away from it is thought to be misspelled
WITHOUT_SPACE = re.compile(r"\S+")
SYMBOLS = {ord(letter): chr(symbol) for symbol, letter in LETTERS.items()}


def suggestion(connection: "Connection", query: str, search: Search, deleted: frozenset[int]) -> str | None:
    """
    The query with each word that no text has replaced by the nearest word of the vocabulary, or else by a longer one
    that begins almost so; None if that finds nothing either. A word that is much rarer than one an edit away is
    replaced, too: others have misspelled it as well.

    A short word and one with a digit is left as it is, and a query with quotation marks or of many words has none.
    Costs some lookups and two reads of a part of the vocabulary for each other word, two more for each that no text
    has, and a search for the new query.
    """
    if '"' in query or len(words(query)) > QUERY_WORDS:
        return None
    text = with_names(composed(query)).rstrip()
    corrected = WITHOUT_SPACE.sub(lambda found: _corrected(connection, found[0], found.end() == len(text)), text)
    if corrected == text:
        return None
    proposed = corrected.translate(SYMBOLS)
    found = index.find(connection, replace(search, phrases=parse(proposed)), deleted)
    return proposed if found.places else None


def _corrected(connection: "Connection", text: str, is_last: bool) -> str:
    """A text without spaces of a query, with its words corrected. The last word of a query may be a beginning."""
    parts = ["".join(each) for _, each in groupby(text, key=_is_between_words)]
    places = [place for place, part in enumerate(parts) if words(part)]
    shortest = SHORTEST if len(places) == 1 else vocabulary.SHORTEST
    for place in places:
        word, *others = words(parts[place])
        if not others and len(word) >= shortest and word.isalpha():
            may_begin = is_last and place == places[-1] and len(word) >= SHORTEST
            parts[place] = _better(connection, word, may_begin) or parts[place]
    return "".join(parts)


def _is_between_words(character: str) -> bool:
    return FOLDED[ord(character)].isspace()


def _better(connection: "Connection", word: str, may_begin: bool) -> str | None:
    """The nearest word of the vocabulary; None if the word is there and none is much commoner, or if one begins so."""
    if may_begin and vocabulary.has_beginning(connection, word):
        return None
    texts = sum(vocabulary.count_of(connection, form) for form in forms(word))
    allowed = 2 if len(word) >= LONG and not texts else 1
    lengths = range(max(vocabulary.SHORTEST, len(word) - allowed), len(word) + allowed + 1)
    counts = _vocabulary(connection, word, lengths, MUCH_COMMONER * texts)
    nearest = _nearest(word, counts, {each: each for each in counts}, allowed)
    if nearest or texts or len(word) < LONG:
        return nearest
    longer = _vocabulary(connection, word, range(lengths.stop, WORD_LENGTH + 1), 0)
    return _nearest(word, longer, {each: each[: len(word)] for each in longer}, 1)


def _nearest(word: str, counts: Mapping[str, int], compared: Mapping[str, str], allowed: int) -> str | None:
    """The word whose compared text is at most `allowed` edits from a word; of equal ones that which most texts have."""
    near = extract(word, compared, scorer=OSA.distance, score_cutoff=allowed, limit=None)
    _, _, nearest = min(near, key=lambda each: (each[1], -counts[each[2]]), default=(None, None, None))
    return nearest


def _vocabulary(connection: "Connection", word: str, lengths: range, least: int) -> dict[str, int]:
    """The words of these lengths that an edit or two may lead to, if one of the first two letters stays."""
    found: dict[str, int] = {}
    for letter in dict.fromkeys(word[:2]):
        found |= vocabulary.beginning_with(connection, letter, lengths, least)
    return found
