"""Forms of English words: a word of a query also finds those that differ from it in -s, -ed or -ing only."""

from collections.abc import Iterator
from functools import lru_cache

from snowballstemmer import stemmer

SHORTEST = 3  # letters of a word that has other forms
CACHED_WORDS = 10_000  # whose forms are kept in memory
VOWELS = frozenset("aeiouy")
TAKE_ES = ("s", "x", "z", "ch", "sh", "o")  # ends of words that take -es instead of -s
UNDOUBLED = VOWELS | {"w", "x"}  # last letters that are not doubled before -ed and -ing


@lru_cache(CACHED_WORDS)
def forms(word: str) -> tuple[str, ...]:
    """
    The word first, and then its other forms: they have the same stem by Snowball's English stemmer (Porter2), which
    tells `news` from `new`. A word that is short, or not made of the letters a to z, has no other forms.
    """
    if len(word) < SHORTEST or not (word.isascii() and word.isalpha()):
        return (word,)
    english = stemmer("english")  # it has a state, and words are read in several threads
    stem = english.stemWord(word)
    made = {form for base in _bases(word) for form in _inflected(base) if len(form) >= SHORTEST}
    return word, *sorted(form for form in made - {word} if english.stemWord(form) == stem)


def _bases(word: str) -> Iterator[str]:
    """The words that may give a word by adding -s, -ed or -ing, and the word itself."""
    yield word
    for ending in ("s", "es", "ed", "ing"):
        if word.endswith(ending):
            base = word.removesuffix(ending)
            yield base
            if ending != "s":
                yield f"{base}e"
            if base[-2:-1] == base[-1:] and ending in ("ed", "ing"):
                yield base[:-1]
    if word.endswith(("ies", "ied")):
        yield f"{word[:-3]}y"


def _inflected(base: str) -> Iterator[str]:
    """The forms of a verb or a noun."""
    yield base
    yield f"{base}es" if base.endswith(TAKE_ES) else f"{base}s"
    if base.endswith("e"):
        yield from (f"{base}d", f"{base[:-1]}ing")
    else:
        yield from (f"{base}ed", f"{base}ing")
    if base.endswith("y"):
        yield from (f"{base[:-1]}ies", f"{base[:-1]}ied")
    elif base[-2:-1] in VOWELS and base[-1:] not in UNDOUBLED:  # `stop` makes `stopped`
        yield from (f"{base}{base[-1]}ed", f"{base}{base[-1]}ing")
