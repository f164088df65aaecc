"""
Suggests another query for a search that finds nothing: each word is replaced by the nearest one of the vocabulary, the
words that texts and names have. Near is few edits: letters that are replaced, added, left out or swapped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import nsmallest
from itertools import groupby
from math import log
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from database import search as index
from database import vocabulary
from database.inflections import forms
from database.search import Search
from database.words import PREFIX_LENGTH, QUERY_WORDS, parse
from store.words import FOLDED, LETTERS, WORD_LENGTH, composed, symbols_as_letters, words

if TYPE_CHECKING:
    from sqlalchemy import Connection

SHORTEST = 3  # letters of a word that may be misspelled; one of several without a space, as in `node.js`, may have 2
LONG = 5  # letters of a word in which two edits are looked for, and one if it is the beginning of a longer word
MUCH_COMMONER = 10  # a word may be misspelled if another one, an edit away, is in 10 times as many texts
TRIED = 8  # words in the place of one, and corrected queries that are searched for
SPACED = re.compile(r"\s+|\S+")  # the runs of spaces and of other characters in a text
SYMBOLS = {ord(letter): chr(symbol) for symbol, letter in LETTERS.items()}  # undoes `symbols_as_letters`


class Correction(NamedTuple):
    """
    A text, or a piece of one, with its words as they are or replaced. The best of several is the least tuple: that with
    the fewest edits; of equal ones that with the fewest new words; then that with the commonest words.
    """

    edits: int
    new_words: int  # that differ from those they replace in more than the order and the repetition of letters
    rarity: float  # the sum of -log(texts that have the word) over the words
    text: str

    def followed_by(self, other: "Correction") -> "Correction":
        rarity, text = self.rarity + other.rarity, self.text + other.text
        return Correction(self.edits + other.edits, self.new_words + other.new_words, rarity, text)


def suggestion(connection: "Connection", query: str, search: Search, deleted: frozenset[int]) -> str | None:
    """
    The query with words replaced by others of the vocabulary, so that it finds something: of the `TRIED` nearest ones
    the first that does; None if none does. Each word that no text has is replaced, by a near word or else by a longer
    one that begins almost so. A word that is much rarer than one an edit away may be replaced, too: others have
    misspelled it as well.

    A short word or one with a digit stays as it is. A query with quotation marks or of many words has no suggestion.
    Costs some lookups and two reads of a part of the vocabulary for each other word, two more for each that no text
    has and that has no near one, and at most `TRIED` searches.
    """
    if '"' in query or len(words(query)) > QUERY_WORDS:
        return None
    for corrected in _corrected(connection, symbols_as_letters(composed(query)).rstrip()):
        proposed = corrected.translate(SYMBOLS)
        found = index.find(connection, replace(search, phrases=parse(proposed)), deleted)
        if found.places:
            return proposed
    return None


def _corrected(connection: "Connection", text: str) -> list[str]:
    """The best corrections of a text that differ from it, the best first; none if a word has no replacement."""
    best = [_unchanged("")]
    for choices in _choices(connection, text):
        longer = (each.followed_by(choice) for each in best for choice in choices)
        best = nsmallest(TRIED + 1, longer)  # one more, as the text itself may be among them
        if not best:
            break
    return [each.text for each in best if each.text != text][:TRIED]


def _choices(connection: "Connection", text: str) -> Iterator[list[Correction]]:
    """
    The choices for each piece of a text, whose pieces together are the text: words, and what is between them. The last
    word may be the beginning of a longer one that the user is writing.
    """
    end = 0
    for spaced in SPACED.findall(text):
        pieces = ["".join(each) for _, each in groupby(spaced, key=_is_between_words)]
        shortest = SHORTEST if len([*filter(words, pieces)]) == 1 else vocabulary.SHORTEST
        for piece in pieces:
            end += len(piece)
            word, *others = words(piece) or [""]
            if others or len(word) < shortest or not word.isalpha():
                yield [_unchanged(piece)]
            else:
                yield _corrections(connection, piece, word, is_last=not words(text[end:]))


def _corrections(connection: "Connection", piece: str, word: str, is_last: bool) -> list[Correction]:
    """The choices for a piece with one word: the piece as it is, if any text has the word, and words in its place."""
    texts = sum(vocabulary.count_of(connection, form) for form in forms(word))
    if is_last and len(word) >= PREFIX_LENGTH:
        texts = max(texts, vocabulary.count_of_beginning(connection, word))
    itself = [_unchanged(piece, rarity=-log(texts))] if texts else []
    return itself + _replacements(connection, word, texts)


def _unchanged(text: str, rarity: float = 0) -> Correction:
    return Correction(edits=0, new_words=0, rarity=rarity, text=text)


def _is_between_words(character: str) -> bool:
    return FOLDED[ord(character)].isspace()


def _replacements(connection: "Connection", word: str, texts: int) -> list[Correction]:
    """
    The nearest words of the vocabulary. `texts` is how many texts have the word itself; if any, a near word has to be
    much commoner.
    """
    allowed = 2 if len(word) >= LONG and not texts else 1
    lengths = range(max(vocabulary.SHORTEST, len(word) - allowed), len(word) + allowed + 1)
    counts = _vocabulary(connection, word, lengths, MUCH_COMMONER * texts)
    nearest = _nearest(word, counts, {each: each for each in counts}, allowed)
    if nearest or texts or len(word) < LONG:
        return nearest
    longer = _vocabulary(connection, word, range(lengths.stop, WORD_LENGTH + 1), least=0)
    return _nearest(word, longer, {each: each[: len(word)] for each in longer}, allowed=1)


def _nearest(word: str, counts: Mapping[str, int], compared: Mapping[str, str], allowed: int) -> list[Correction]:
    """
    The best of the words whose text in `compared` is at most `allowed` edits from a word. `counts` has how many texts
    have each.
    """
    near = extract(word, compared, scorer=OSA.distance, score_cutoff=allowed, limit=None)
    corrections = (
        Correction(int(edits), set(text) != set(word), -log(counts[each]), each) for text, edits, each in near
    )
    return nsmallest(TRIED, corrections)


def _vocabulary(connection: "Connection", word: str, lengths: range, least: int) -> dict[str, int]:
    """
    Candidates for a correction: words of these lengths that begin with one of the first two letters of `word`, with how
    many texts have each, at least `least`.
    """
    found: dict[str, int] = {}
    for letter in dict.fromkeys(word[:2]):
        found |= vocabulary.beginning_with(connection, letter, lengths, least)
    return found
