"""The languages of a site: the built-in ones, and those for which the operator has a file."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache

from server.words.files import DEFAULT, Entries, built_in, built_in_entries
from server.words.words import Words

OFFER = "language-offer"  # the text that says, in its language, that the page is there in this language, too


class Languages:
    """
    The texts of each language, by its code. `site` is the language where an address names none; it is the first of
    `words`, as pages link to themselves in each language in this order. `offers` are the texts `OFFER` of the languages
    that have one.
    """

    def __init__(self, words: Mapping[str, Words], offers: Mapping[str, str], site: str) -> None:
        self.words, self.site, self._offers = words, site, offers

    def offers_beside(self, shown: str) -> str:
        """
        The sentences that the page is there in another language, too, each in its language and by its code: as JSON for
        the script of the page, which shows the one that its reader prefers. "" if there is no other language.
        """
        others = {code: text for code, text in self._offers.items() if code != shown}
        return json.dumps(others, ensure_ascii=False) if others else ""

    def source(self, file: str) -> bytes | None:
        """The contents of the file of texts with this name (`Words.file`), which the script of a page loads."""
        return next((words.source for words in self.words.values() if words.file == file), None)

    def named(self, code: str | None) -> Words:
        """The texts of a language, or of the site's own language where there is no such language."""
        return self.words.get(code or self.site) or self.words[self.site]


def languages(own: Mapping[str, Entries], site: str) -> Languages:
    """
    The languages of a site whose own language is `site`. `own` are the operator's texts by the names of their files,
    `words.ftl` for those of the site's language.

    Raises:
        KeyError: the language of the site has neither built-in texts nor a file.
    """
    codes = sorted({*built_in(), *(name.removesuffix(".ftl") for name in own if name != "words.ftl")})
    files = {code: [own.get(f"{code}.ftl", {}), own.get("words.ftl", {}) if code == site else {}] for code in codes}
    found = {code: _words(code, *given) for code, given in files.items()}
    offers = {code: words(OFFER) for code, words in found.items() if any(OFFER in each for each in _texts(code, files))}
    return Languages({site: found.pop(site), **found}, offers, site)


def _texts(code: str, files: Mapping[str, Sequence[Entries]]) -> list[Entries]:
    """The operator's texts of a language and its built-in ones, without those that it takes from `DEFAULT`."""
    return [*files[code], *([built_in_entries(code)] if code in built_in() else [])]


def _words(code: str, *own: Entries) -> Words:
    return Words(code, _merged(code, *own)) if any(own) else _built_in(code)


@lru_cache
def _built_in(code: str) -> Words:
    return Words(code, _merged(code))


def _merged(code: str, *own: Entries) -> Entries:
    """The texts of a language. What it lacks is taken from the language `DEFAULT`."""
    entries = dict(built_in_entries(DEFAULT))
    for more in (built_in_entries(code) if code in built_in() else {}, *own):
        entries |= more
    return entries
