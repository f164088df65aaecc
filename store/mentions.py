"""
Mentions in a text: `@name`, in any case of letters. E-mail addresses, links and Markdown code have none. The time to
find them grows with the length of the text, whatever it is.
"""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from store import keys
from store.client import Argument
from store.validation import USERNAME

# lines of Markdown: what opens and closes a block of code, also in a list or a quote; code by its indentation; an item
FENCE = re.compile(r"[\s>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ >]++)?(`{3,}+(?!.*`)|~{3,}+)")
CLOSING_FENCE = re.compile(r"[\s>]*+(`{3,}+|~{3,}+)\s*+")
INDENTED = re.compile(r" {4}| {0,3}\t")
LIST_ITEM = re.compile(r"[ >]*(?:[-*+]|[0-9]{1,9}[.)])(?:\s|$)")
BLANK = re.compile(r"[\s>]*")
BACKTICKS = re.compile(r"`+")
BRACKET = re.compile(r"[][]")
MAX_BACKSLASHES = 100  # that are counted before a backtick
TARGET = re.compile(  # of a link, after its text: a label, or a destination and a title
    r"""\[ [^][]{0,1000} \]
    |   \( \s*+ (?: < [^<>\n]{0,2000} > | (?: [^\s()] | \( [^\s()]{0,2000} \) ){0,2000}+ )
        (?: \s++ (?: "[^"]{0,2000}" | '[^']{0,2000}' | \( [^()]{0,2000} \) ) )? \s*+ \)""",
    re.VERBOSE,
)
URL = re.compile(r"(?:://|\bwww\.)[^\s<>]*")
TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")  # also links such as <mailto:alice@example.com>
NAME = re.compile(r"@([A-Za-z0-9_-]+)")
BEFORE = frozenset("@/.+-=&#%\\")  # characters before an @ that is part of an address or a path, or escaped


def arguments(text: str, limit: int) -> list[Argument]:
    """Arguments of scripts that notify: the limit, then of each user whom a text mentions name and slot (0 to 1023)."""
    return [limit, *(part for name in find(text, limit) for part in (name, keys.slot(name)))]


def find(text: str, limit: int) -> list[str]:
    """The first `limit` names that a text mentions, in lower case, each once. Not all need be names of users."""
    if "@" not in text:
        return []
    prose = "\n\n".join(_without_links(_without_spans(block)) for block in _blocks(text))
    return list(dict.fromkeys(_names(prose)))[:limit]


def _blocks(text: str) -> Iterator[str]:
    """The parts of a text between blank lines, without fenced and indented code."""
    block: list[str] = []
    fence, is_after_blank, is_in_list = "", True, False
    for line in text.splitlines():
        if fence:
            closing = CLOSING_FENCE.fullmatch(line)
            fence = "" if closing and closing[1].startswith(fence) else fence
            continue
        if opening := FENCE.match(line):
            fence = opening[1]
            continue
        is_blank = BLANK.fullmatch(line) is not None
        if not is_blank and is_after_blank and not is_in_list and INDENTED.match(line):
            continue
        if is_blank and block:
            yield "\n".join(block)
            block = []
        if not is_blank:
            block.append(line)
            is_in_list = bool(LIST_ITEM.match(line)) or (is_in_list and line[0] in " \t")
        is_after_blank = is_blank
    yield "\n".join(block)


def _without_spans(block: str) -> str:
    """A block without code spans: each is between two runs of backticks of the same length."""
    runs = list(BACKTICKS.finditer(block))
    next_run: dict[int, int] = {}  # by length, of the runs behind the one that is looked at
    closed_by = [-1] * len(runs)  # the place of the run that ends the span of each; -1: it begins none
    for place in range(len(runs) - 1, -1, -1):
        start, end = runs[place].span()
        opening = end - start - _is_escaped(block, start)  # the length without a first backtick that is escaped
        closed_by[place] = next_run.get(opening, -1)
        next_run[end - start] = place
    parts, kept, place = [], 0, 0
    while place < len(runs):
        if closed_by[place] > 0:
            parts += [block[kept : runs[place].start()], " "]
            place = closed_by[place]
            kept = runs[place].end()
        place += 1
    return "".join([*parts, block[kept:]])


def _is_escaped(block: str, place: int) -> bool:
    before = block[max(place - MAX_BACKSLASHES, 0) : place]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _without_links(block: str) -> str:
    """A block without Markdown links, URLs and HTML tags."""
    opened: list[int] = []  # where brackets begin
    parts, kept = [], 0
    for bracket in BRACKET.finditer(block):
        if bracket[0] == "[":
            opened.append(bracket.start())
        elif opened and (start := opened.pop()) >= kept and (target := TARGET.match(block, bracket.end())):
            parts += [block[kept:start], " "]
            kept = target.end()
    return TAG.sub(" ", URL.sub(" ", "".join([*parts, block[kept:]])))


def _names(prose: str) -> Iterator[str]:
    for match in NAME.finditer(prose):
        start, end, name = match.start(), match.end(), match[1]
        while start and prose[start - 1] in "_*":  # marks of emphasis
            start -= 1
        underscores = prose.count("_", start, match.start())  # of emphasis, as in _@alice_
        while underscores and name.endswith("_"):
            name, underscores = name[:-1], underscores - 1
        before, after = prose[start - 1 : start], prose[end : end + 1]
        is_part = before in BEFORE or after == "@" or _is_of_word(before) or _is_of_word(after)
        if not is_part and USERNAME.fullmatch(name):
            yield name.lower()


def _is_of_word(character: str) -> bool:
    """Whether a character beside a name is part of the same word. Chinese and Japanese have no spaces between words."""
    return character.isalnum() and east_asian_width(character) not in ("W", "F")
