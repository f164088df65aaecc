"""
Words, phrases and domains of links that texts are searched for, in time in proportion to the text: no text and no list
makes a search slow. There are no patterns.

Words are compared as a search compares them, without case, accents and width. Domains are compared as browsers read
them: with their escapes and in the form of `xn--`, each with all below it. Of references and escapes of Markdown, such
as `&#46;`, the characters that it shows are compared.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote

from ada_url import idna

from store.validation import IGNORABLE
from store.words import words

MOST_WORDS = 16  # of a phrase
MOST_LABELS = 10  # of a domain that is searched for
MOST_CHARACTERS = 253  # of a domain
MOST_LISTS = 16  # that are kept in the form in which they are compared
DOTS = str.maketrans("。", ".")  # the other forms of dots are gone after normalisation
IGNORED = re.compile(f"[{IGNORABLE}]")
HOST = re.compile(r"[\w.-]+")
LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
LINK = re.compile(r"://|www\.|\]\(\s*<?//|\]:\s*<?//")  # also of Markdown without a scheme
ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")  # of Markdown, before punctuation


def phrase(text: str) -> tuple[str, ...]:
    """
    The words of a phrase.

    Raises:
        ValueError: it has none, or too many.
    """
    found = tuple(words(text))
    if not found:
        raise ValueError("has no letter, digit or symbol")
    if len(found) > MOST_WORDS:
        raise ValueError(f"has {len(found)} words, but at most {MOST_WORDS} are allowed")
    return found


def domain(text: str) -> str:
    """
    A domain as it is compared.

    Raises:
        ValueError: it is none, such as an address with a path.
    """
    found = _ascii(text.strip().lower())
    labels = found.split(".")
    if not 2 <= len(labels) <= MOST_LABELS or not all(map(LABEL.fullmatch, labels)):
        raise ValueError("is no domain, which looks like example.com")
    return found


def has_phrase(listed: Sequence[str], text: str) -> bool:
    """Whether one of the phrases is in a text."""
    by_length = _by_length(tuple(listed))
    found = words(_shown(text)) if by_length else []
    for length, wanted in by_length.items():
        if not wanted.isdisjoint(zip(*(found[start:] for start in range(length)), strict=False)):
            return True
    return False


def has_domain(listed: Sequence[str], text: str) -> bool:
    """Whether one of the domains, or one below it, is in a text, in a link or by itself."""
    wanted = _domains(tuple(listed))
    return bool(wanted) and any(not wanted.isdisjoint(_named(host)) for host in _hosts(text))


def has_link(text: str) -> bool:
    """Whether a text has what is a link on the site or in a browser."""
    return any(LINK.search(each.lower()) for each in (text, _shown(text)))


@lru_cache(MOST_LISTS)
def _by_length(listed: tuple[str, ...]) -> dict[int, set[tuple[str, ...]]]:
    """Phrases by the number of their words."""
    found: dict[int, set[tuple[str, ...]]] = {}
    for each in map(phrase, listed):
        found.setdefault(len(each), set()).add(each)
    return found


@lru_cache(MOST_LISTS)
def _domains(listed: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(domain, listed))


def _shown(text: str) -> str:
    """A text with the character that Markdown shows in place of each reference (`&#46;`) and escape (`\\.`)."""
    return ESCAPE.sub("", html.unescape(text))


def _hosts(text: str) -> list[str]:
    """What may be the name of a host in a text: everything with a dot in it."""
    plain = IGNORED.sub("", unicodedata.normalize("NFKC", unquote(_shown(text)))).translate(DOTS).lower()
    return [_ascii(host.strip(".-")) for host in HOST.findall(plain) if "." in host]


def _named(host: str) -> list[str]:
    """A host and the domains that it is below, as far as they can be searched for."""
    labels = host.rsplit(".", MOST_LABELS)[-MOST_LABELS:]
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _ascii(host: str) -> str:
    """A host in the form of `xn--`; as it is if it has none."""
    if host.isascii() or len(host) > MOST_CHARACTERS:
        return host
    try:
        return idna.encode(host).decode("ascii") or host
    except ValueError:
        return host
