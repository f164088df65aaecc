"""
Words of texts and of queries, as the search indexes hold them, and excerpts with the matches marked.

Both databases get words that are made here, so that they find the same, in any script.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple, TypeAlias

Phrase: TypeAlias = tuple[str, ...]  # words that follow one another

WORD_LENGTH = 100  # characters: only these are compared of a longer word
EXCERPT_LENGTH = 240  # characters, without the marks
LEAD = 60  # characters before the first match of an excerpt, at most
REACH = EXCERPT_LENGTH - 2 * LEAD  # from the start of the first match to the end of the last that is surely in it
MAX_MATCHES = 5_000  # of all phrases in one text, among which an excerpt is chosen; each phrase has an equal part
MATCH_START, MATCH_END = "\ue000", "\ue001"
ELLIPSIS = "…"
NO_MARKS = {ord(MATCH_START): " ", ord(MATCH_END): " "}  # an excerpt has no others than its own
QUOTES = str.maketrans(dict.fromkeys("“”„‟«»\uff02", '"'))
ZERO_WIDTH_SPACE = "\u200b"
MAX_FOLDED = 20_000  # characters whose folded text is kept
ACCENTS = [  # combining marks, which are left out of words: of Latin, Greek, Cyrillic, Hebrew and Arabic
    *(range(0x0300, 0x0370), range(0x0483, 0x0488), range(0x0591, 0x05C8), range(0x0610, 0x061B)),
    *(range(0x064B, 0x0660), range(0x0670, 0x0671), range(0x06D6, 0x06EE), range(0x1AB0, 0x1B00)),
    *(range(0x1DC0, 0x1E00), range(0x20D0, 0x2100), range(0xFE00, 0xFE10), range(0xFE20, 0xFE30)),
]
UNSPACED = [  # scripts without spaces between words, and Korean, whose particles follow without a space
    *(range(0x0E00, 0x0F00), range(0x1000, 0x10A0), range(0x1100, 0x1200), range(0x1780, 0x1800)),
    *(range(0x2E80, 0x2FE0), range(0x3005, 0x3008), range(0x3040, 0x3100), range(0x31F0, 0x3200)),
    *(range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xAC00, 0xD7B0), range(0xF900, 0xFB00)),
    *(range(0xFF66, 0xFFA0), range(0x1B000, 0x1B170), range(0x20000, 0x32000)),
]


def words(text: str) -> list[str]:
    """
    The words of a text: runs of letters and digits, without case and accents.

    Of scripts that put no spaces between words each character is a word, and so is a symbol such as an emoji.
    """
    return [word[:WORD_LENGTH] for word in _composed(text).translate(FOLDED).split()]


def parse(query: str) -> tuple[Phrase, ...]:
    """
    The phrases of a query, each once: texts in quotation marks, and the other texts between spaces.

    Most of the latter are of one word. One like `node.js` is a phrase of two. There is no other syntax.
    """
    *pairs, rest = query.translate(QUOTES).split('"')
    if len(pairs) % 2:  # the last quotation mark opens nothing
        rest = f"{pairs.pop()} {rest}"
    parts = [[part] if place % 2 else part.split() for place, part in enumerate([*pairs, rest])]
    phrases = (tuple(words(each)) for part in parts for each in part)
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))


def matches(phrases: Iterable[Phrase], texts: Iterable[str]) -> bool:
    """Whether each phrase is in one of the texts."""
    folded = [f" {' '.join(words(text))} " for text in texts]
    return all(any(f" {' '.join(phrase)} " in text for text in folded) for phrase in phrases)


def excerpt(phrases: Sequence[Phrase], texts: Sequence[str]) -> str:
    """
    The passage of the texts with the most different phrases, the first of equal ones, with its matches between
    `MATCH_START` and `MATCH_END`. Blanks become spaces. Without a match the beginning of the first text.
    """
    best = _passage(phrases, texts[0])
    for text in texts[1:]:
        if best.phrases == len(phrases):
            break
        best = max(best, _passage(phrases, text), key=lambda passage: passage.phrases)
    return best.marked(phrases)


class Match(NamedTuple):
    """The place of a phrase in a text."""

    start: int
    end: int
    phrase: Phrase


class Passage(NamedTuple):
    """A part of a text. `phrases` is the number of different ones that it is known to have."""

    text: str
    start: int
    end: int
    phrases: int

    def marked(self, phrases: Sequence[Phrase]) -> str:
        first = max(0, self.start - WORD_LENGTH)  # with the whole words at both ends
        found = sorted(_matches(phrases, self.text[first : self.end + WORD_LENGTH]))
        pieces, place = [ELLIPSIS if self.start else ""], self.start
        for start, end in _joined((first + each.start, first + each.end) for each in found):
            if start < self.end and end > self.start:
                start, end = max(start, self.start), min(end, self.end)
                pieces += [self.text[place:start], MATCH_START, self.text[start:end], MATCH_END]
                place = end
        pieces += [self.text[place : self.end], ELLIPSIS if self.end < len(self.text) else ""]
        return "".join(pieces)


def _passage(phrases: Sequence[Phrase], text: str) -> Passage:
    """The passage of a text with the most different phrases."""
    text = " ".join(_composed(text.translate(NO_MARKS)).split())
    found = sorted(_matches(phrases, text, MAX_MATCHES // max(1, len(phrases))))
    if not found:
        return Passage(text, *_bounds(text, 0, 0), 0)
    first, number = _densest(found)
    return Passage(text, *_bounds(text, found[first].start, found[first].end), number)


def _densest(found: Sequence[Match]) -> tuple[int, int]:
    """The index of the match from which the most different phrases are within `REACH` characters, and their number."""
    best, most, last = 0, 1, 0
    counts: dict[Phrase, int] = {}
    for first, match in enumerate(found):
        while last <= first or (last < len(found) and found[last].end <= match.start + REACH):
            counts[found[last].phrase] = counts.get(found[last].phrase, 0) + 1
            last += 1
        if len(counts) > most:
            best, most = first, len(counts)
        counts[match.phrase] -= 1
        if not counts[match.phrase]:
            del counts[match.phrase]
    return best, most


def _bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """The bounds of an excerpt around a match, at spaces if there are any near."""
    if len(text) <= EXCERPT_LENGTH + LEAD:
        return 0, len(text)
    first = max(0, min(start - LEAD, len(text) - EXCERPT_LENGTH))
    last = max(end, first + EXCERPT_LENGTH)
    if first:
        first = min(start, text.find(" ", first, start) + 1 or first)
    if last < len(text):
        last = max(end, text.rfind(" ", last - LEAD, last + 1)) if " " in text[last - LEAD : last + 1] else last
    return first, last


def _matches(phrases: Sequence[Phrase], text: str, limit: int | None = None) -> Iterator[Match]:
    """The places of each phrase in a text, the first ones up to a limit. Takes time in proportion to the text."""
    folded = text.translate(FOLDED)
    spans = [match.span() for match in re.finditer(r"\S+", folded)]
    words = [folded[start : min(end, start + WORD_LENGTH)] for start, end in spans]
    joined = f" {' '.join(words)} "
    starts = list(accumulate((len(word) + 1 for word in words), initial=1))
    origins = _Origins(text)
    for phrase in phrases:
        for place in islice(_places(f" {' '.join(phrase)} ", joined), limit):
            first = bisect_left(starts, place + 1)
            last = first + len(phrase) - 1
            yield Match(origins.start(spans[first][0]), origins.end(spans[last][1]), phrase)


def _places(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part) - 1)


class _Origins:
    """Finds the places in a text that places in its folded text come from."""

    def __init__(self, text: str) -> None:
        """The folded text of ASCII has the same places."""
        lengths = () if text.isascii() else map(len, map(FOLDED.__getitem__, map(ord, text)))
        self._ends = list(accumulate(lengths))

    def start(self, place: int) -> int:
        return bisect_right(self._ends, place) if self._ends else place

    def end(self, place: int) -> int:
        """The end of the character before a place, with the accents that follow it."""
        if not self._ends:
            return place
        return bisect_right(self._ends, self._ends[bisect_left(self._ends, place)])


def _joined(bounds: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The bounds of matches in their order; those that overlap or touch are one."""
    joined: list[tuple[int, int]] = []
    for start, end in bounds:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


class FoldedCharacters(dict[int, str]):
    """
    What each character becomes: a letter without case and accents, a space, nothing, or a word between spaces.

    Each character is folded alone, so that the words of a part of a text are those of the text.
    """

    def __missing__(self, code: int) -> str:
        folded = _folded(chr(code))
        if len(self) < MAX_FOLDED:
            self[code] = folded
        return folded


def _folded(character: str) -> str:
    category = unicodedata.category(character)
    if category == "So":
        return f" {character} "
    if category == "Cf":
        return " " if character == ZERO_WIDTH_SPACE else ""
    decomposed = unicodedata.normalize("NFKD", character.casefold())
    plain = "".join(each for each in decomposed if not _is_in(ACCENTS, each))
    return "".join(map(_separated, unicodedata.normalize("NFC", plain.casefold())))


def _separated(character: str) -> str:
    if unicodedata.category(character)[0] not in "LMN":
        return " "
    return f" {character} " if _is_in(UNSPACED, character) else character


def _is_in(ranges: Iterable[range], character: str) -> bool:
    return any(ord(character) in each for each in ranges)


FOLDED = FoldedCharacters()
