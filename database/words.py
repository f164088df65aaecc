"""
The words of the search: the phrases of a query, and excerpts of texts with the matches marked. `database.search` finds
the texts.

SQLite and PostgreSQL both get words that `store.words` makes, so that they find the same, in any script. A folded text
is one without case and accents, as words are.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, repeat
from typing import NamedTuple, TypeAlias

from database.inflections import forms
from store.words import FOLDED, WORD_LENGTH, composed, folded_words, symbols_as_letters, words

Phrase: TypeAlias = tuple[str, ...]  # words that follow one another; the last may end in `FORMS` or `PREFIX`, or both

FORMS = "~"  # after a word: it, or another form of it, matches. No word has this character
PREFIX = "*"  # after a word: any word that begins with it matches. No word has this character
PREFIX_LENGTH = 3  # characters that a prefix has at least
JS = "js"  # the end of names that are written with a dot and without: `node.js`, `nodejs`
QUERY_WORDS = 32  # of a query: the rest is ignored
PHRASE_WORDS = 16  # of a phrase: a longer one is cut into several
EXCERPT_LENGTH = 240  # characters, without the marks
LEAD = 60  # characters before the first match of an excerpt, at most
REACH = EXCERPT_LENGTH - 2 * LEAD  # characters from the first match: other matches within them are in the excerpt
MAX_MATCHES = 500  # of all phrases in the part of a text that an excerpt is taken from; each phrase has an equal share
MATCH_START, MATCH_END = "\ue000", "\ue001"
ELLIPSIS = "…"
NO_MARKS = {ord(MATCH_START): " ", ord(MATCH_END): " "}  # removes the characters of marks from a text
QUOTES = str.maketrans(dict.fromkeys("“”„‟«»\uff02", '"'))


def parse(query: str) -> tuple[Phrase, ...]:
    """
    The phrases of a query, each once: texts in quotation marks, and the other texts between spaces. There is no other
    syntax.

    Most texts without quotation marks are of one word; one like `self-hosted` is a phrase of two. The last word of each
    stands for its other forms, too, and a name that ends in `js` for its other writing. The last word of the query is a
    prefix, as it may not be written to its end, unless it is in quotation marks or short. A match has all phrases, so a
    phrase that is part of another one says nothing and is left out.
    """
    *parts, rest = query.translate(QUOTES).split('"')  # outside and inside of quotation marks, in turn
    if len(parts) % 2:  # the last quotation mark opens nothing
        rest = f"{parts.pop()} {rest}"
    texts: list[list[str]] = []
    for index, part in enumerate([*parts, rest]):
        texts += filter(None, [words(part)] if index % 2 else map(_with_forms, part.split()))
    if words(rest) and len(texts[-1][-1].removesuffix(FORMS)) >= PREFIX_LENGTH:
        texts[-1][-1] += PREFIX
    pieces = (piece for each in texts for piece in _pieces(each))
    phrases = list(dict.fromkeys(_shortened(dict.fromkeys(pieces))))
    for phrase in [*phrases]:
        if any(_is_part(phrase, other) for other in phrases):
            phrases.remove(phrase)
    return tuple(phrases)


def _with_forms(text: str) -> list[str]:
    """The words of a text without spaces. If these have other forms or another writing, the last one stands for all."""
    found = words(text)
    if found and (len(forms(found[-1])) > 1 or _other_writing(found)):
        found[-1] += FORMS
    return found


def _pieces(phrase: Sequence[str]) -> Iterator[Phrase]:
    for start in range(0, len(phrase), PHRASE_WORDS):
        yield tuple(phrase[start : start + PHRASE_WORDS])


def _shortened(phrases: Iterable[Phrase]) -> Iterator[Phrase]:
    """The first phrases, with `QUERY_WORDS` words together."""
    room = QUERY_WORDS
    for phrase in phrases:
        if not room:
            return
        yield phrase[:room]
        room -= min(room, len(phrase))


def _is_part(phrase: Phrase, other: Phrase) -> bool:
    """Whether each text that has the other phrase has this one."""
    if phrase == other:
        return False
    texts = [f" {' '.join(each)} " for each in alternatives(other)]
    return all(_is_in(phrase, text) for text in texts)


def alternatives(phrase: Phrase) -> list[Phrase]:
    """The phrases without `FORMS` that a phrase stands for: a match has one of them."""
    *first, last = phrase
    if FORMS not in last:
        return [phrase]
    word, _, prefix = last.partition(FORMS)
    others = [*((*first, form) for form in forms(word)[1:]), *_other_writing([*first, word])]
    return [(*first, word + prefix), *others]


def _other_writing(phrase: Sequence[str]) -> list[Phrase]:
    """Of `node js` it is `nodejs`, and the other way; a name has none if it does not end in `js`."""
    *first, last = phrase
    if last == JS and len(first) == 1:
        return [(first[0] + JS,)]
    name = last.removesuffix(JS)
    return [(name, JS)] if len(phrase) == 1 and name not in ("", last) else []


def _is_in(phrase: Phrase, text: str) -> bool:
    """Whether a phrase is in the words of a text, which stand between spaces."""
    return any(part_of_text(each) in text for each in alternatives(phrase))


def part_of_text(phrase: Phrase) -> str:
    """The text that is in the words of a text, joined by spaces, if a phrase is in it. The phrase has no `FORMS`."""
    return f" {' '.join(phrase)} ".removesuffix(f"{PREFIX} ")


def matches(phrases: Iterable[Phrase], texts: Iterable[str]) -> bool:
    """Whether each phrase is in one of the texts."""
    folded = [f" {' '.join(words(text))} " for text in texts]
    return all(any(_is_in(phrase, text) for text in folded) for phrase in phrases)


def excerpt(phrases: Sequence[Phrase], texts: Sequence[str]) -> str:
    """
    The passage of the texts with the most different phrases, the first of equal ones, with its matches between
    `MATCH_START` and `MATCH_END`. Each run of white space becomes one space. Without a match it is the beginning of the
    first text.
    """
    best = _passage(phrases, texts[0])
    for text in texts[1:]:
        if best.phrase_count == len(phrases):
            break
        best = max(best, _passage(phrases, text), key=lambda passage: passage.phrase_count)
    return best.marked(phrases)


class Match(NamedTuple):
    """A phrase in a text, from the offset `start` to `end`."""

    start: int
    end: int
    phrase: Phrase


class Passage(NamedTuple):
    """
    A part of a text, from the offset `start` to `end`, and how many different phrases were counted in it: it has at
    least so many.
    """

    text: str
    start: int
    end: int
    phrase_count: int

    def marked(self, phrases: Sequence[Phrase]) -> str:
        """The passage with its matches marked, and an ellipsis where the text goes on before or after it."""
        first = max(0, self.start - WORD_LENGTH)  # with the whole words at both ends
        found_matches = sorted(_find_matches(phrases, self.text[first : self.end + WORD_LENGTH]))
        pieces, done = [ELLIPSIS if self.start else ""], self.start
        for start, end in _joined((first + each.start, first + each.end) for each in found_matches):
            if start < self.end and end > self.start:
                start, end = max(start, self.start), min(end, self.end)
                pieces += [self.text[done:start], MATCH_START, self.text[start:end], MATCH_END]
                done = end
        pieces += [self.text[done : self.end], ELLIPSIS if self.end < len(self.text) else ""]
        return "".join(pieces)


def _passage(phrases: Sequence[Phrase], text: str) -> Passage:
    """The passage of a text with the most different phrases."""
    text = " ".join(composed(text.translate(NO_MARKS)).split())
    first, last = _densest_part(phrases, text)
    found_matches = sorted(_find_matches(phrases, text[first:last], MAX_MATCHES // max(1, len(phrases))))
    if not found_matches:
        start, end = _bounds(text, start=0, end=0)
        return Passage(text, start, end, phrase_count=0)
    index, phrase_count = _densest(found_matches)
    match = found_matches[index]
    return Passage(text, *_bounds(text, first + match.start, first + match.end), phrase_count)


def _densest_part(phrases: Sequence[Phrase], text: str) -> tuple[int, int]:
    """
    The bounds of the part of a text with the most different phrases; the first of equal ones, and all of a text if no
    part has any.

    A text is divided into steps of about `REACH` characters. A part has two neighbouring steps, which is about the
    length of an excerpt, so each step is in two parts.
    """
    text = symbols_as_letters(text)
    wanted = [[part_of_text(each) for each in alternatives(phrase)] for phrase in phrases]
    best, most = (0, len(text)), 0
    steps = list(_steps(text))
    for start, end in zip(steps, [*steps[2:], len(text)], strict=False):
        folded = f" {' '.join(folded_words(text[start:end]))} "
        phrase_count = sum(any(part in folded for part in parts) for parts in wanted)
        if phrase_count > most:
            best, most = (start, end), phrase_count
        if most == len(phrases):
            break
    return best


def _steps(text: str) -> Iterator[int]:
    """Offsets between words, about `REACH` characters apart, from the start of a text to its end."""
    offset = 0
    while offset < len(text):
        yield offset
        offset = min(offset + REACH, len(text))
        while offset < len(text) and not FOLDED[ord(text[offset])].startswith(" "):
            offset += 1
    yield len(text)


def _densest(matches: Sequence[Match]) -> tuple[int, int]:
    """The index of the match from which the most different phrases are within `REACH` characters, and their number."""
    best, most, last = 0, 1, 0
    counts: dict[Phrase, int] = {}
    for first, match in enumerate(matches):
        while last <= first or (last < len(matches) and matches[last].end <= match.start + REACH):
            counts[matches[last].phrase] = counts.get(matches[last].phrase, 0) + 1
            last += 1
        if len(counts) > most:
            best, most = first, len(counts)
        counts[match.phrase] -= 1
        if not counts[match.phrase]:
            del counts[match.phrase]
    return best, most


def _bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """
    The bounds of an excerpt around a match: up to `LEAD` characters before it, and `EXCERPT_LENGTH` in all, so that an
    excerpt near the end of a text begins earlier. Each bound moves to a space towards the match if one is near. A text
    that is hardly longer than an excerpt is shown whole.
    """
    if len(text) <= EXCERPT_LENGTH + LEAD:
        return 0, len(text)
    first = max(0, min(start - LEAD, len(text) - EXCERPT_LENGTH))
    last = max(end, first + EXCERPT_LENGTH)
    if first:
        first = min(start, text.find(" ", first, start) + 1 or first)
    if last < len(text):
        last = max(end, text.rfind(" ", last - LEAD, last + 1)) if " " in text[last - LEAD : last + 1] else last
    return first, last


def _find_matches(phrases: Sequence[Phrase], text: str, limit: int | None = None) -> Iterator[Match]:
    """The matches of each phrase in a text, the first ones up to a limit. Takes time in proportion to the text."""
    folded = symbols_as_letters(text).translate(FOLDED)
    spans = [match.span() for match in re.finditer(r"\S+", folded)]
    words = [folded[start : min(end, start + WORD_LENGTH)] for start, end in spans]
    joined = f" {' '.join(words)} "
    starts = list(accumulate((len(word) + 1 for word in words), initial=1))  # of the words in `joined`
    origins = _Origins(text)
    for phrase in phrases:
        for offset, length in islice(_places_of(phrase, joined), limit):
            first = bisect_left(starts, offset + 1)
            last = first + length - 1
            yield Match(origins.start(spans[first][0]), origins.end(spans[last][1]), phrase)


def _places_of(phrase: Phrase, text: str) -> Iterator[tuple[int, int]]:
    """The offset of each occurrence of an alternative of a phrase in the words of a text, and how many words it has."""
    for each in alternatives(phrase):
        yield from zip(_offsets_of(part_of_text(each), text), repeat(len(each)), strict=False)


def _offsets_of(part: str, text: str) -> Iterator[int]:
    """Where a part occurs in a text. Its last character may be the first of its next occurrence if both are spaces."""
    offset = text.find(part)
    while offset >= 0:
        yield offset
        offset = text.find(part, offset + len(part) - 1)


class _Origins:
    """Gives the offset in a text from an offset in its folded text, which may be longer or shorter."""

    def __init__(self, text: str) -> None:
        """The folded text of ASCII has the same offsets, so that there is nothing to keep."""
        lengths = () if text.isascii() else map(len, map(FOLDED.__getitem__, map(ord, text)))
        self._ends = list(accumulate(lengths))

    def start(self, offset: int) -> int:
        return bisect_right(self._ends, offset) if self._ends else offset

    def end(self, offset: int) -> int:
        """The end of the character before an offset, with the accents that follow it."""
        if not self._ends:
            return offset
        return bisect_right(self._ends, self._ends[bisect_left(self._ends, offset)])


def _joined(bounds: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The bounds of matches in their order; those that overlap or touch are one."""
    joined: list[tuple[int, int]] = []
    for start, end in bounds:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
