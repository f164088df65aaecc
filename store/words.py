"""Words of texts without case and accents, in any script: search indexes hold them, and rules compare them."""

import re
import unicodedata
from collections.abc import Iterable

WORD_LENGTH = 100  # characters: only these are compared of a longer word
ZERO_WIDTH_SPACE = "\u200b"
MAX_FOLDED = 20_000  # characters whose folded text (without case and accents) is kept
ACCENTS = [  # combining marks, which are left out of words: of Latin, Greek, Cyrillic, Hebrew and Arabic
    range(0x0300, 0x0370), range(0x0483, 0x0488), range(0x0591, 0x05C8), range(0x0610, 0x061B),
    range(0x064B, 0x0660), range(0x0670, 0x0671), range(0x06D6, 0x06EE), range(0x1AB0, 0x1B00),
    range(0x1DC0, 0x1E00), range(0x20D0, 0x2100), range(0xFE00, 0xFE10), range(0xFE20, 0xFE30),
]  # fmt: skip
UNSPACED = [  # scripts without spaces between words, and Korean, whose particles follow without a space
    range(0x0E00, 0x0F00), range(0x1000, 0x10A0), range(0x1100, 0x1200), range(0x1780, 0x1800),
    range(0x2E80, 0x2FE0), range(0x3005, 0x3008), range(0x3040, 0x3100), range(0x31F0, 0x3200),
    range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xAC00, 0xD7B0), range(0xF900, 0xFB00),
    range(0xFF66, 0xFFA0), range(0x1B000, 0x1B170), range(0x20000, 0x32000),
]  # fmt: skip

# the symbols in names such as `c++`, `c#` and `.net`
NAMES = re.compile(r"(?<=[^\W_])(?:\+\+|#)(?![\w+#])|(?<![\w.])\.(?=net(?!\w))", re.IGNORECASE)
LETTERS = str.maketrans({"+": "\u1429", "#": "\u2d4c", ".": "\ua4f8"})  # that look like these symbols


def words(text: str) -> list[str]:
    """
    The words of a text: runs of letters and digits, without case and accents; also `c++`, `c#` and `.net`.

    Of scripts that put no spaces between words each character is a word, and so is a symbol such as an emoji.
    """
    return folded_words(composed(text))


def folded_words(text: str) -> list[str]:
    """The words of a text that is composed."""
    return [word[:WORD_LENGTH] for word in symbols_as_letters(text).translate(FOLDED).split()]


def symbols_as_letters(text: str) -> str:
    """The text, as long as before, with letters in the place of the symbols in names such as `c++`: these are words."""
    return NAMES.sub(lambda name: name[0].translate(LETTERS), text)


def composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


class FoldedCharacters(dict[int, str]):
    """
    What each character becomes: a letter without case and accents, a space, nothing, or a word between spaces.

    Each character is folded alone, so that a part of what `symbols_as_letters` gives has the words that it has in
    the whole text.
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
