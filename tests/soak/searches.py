"""
Search, as docs/search.md describes it: all words and phrases of a query have to be in a text. The server searches in
its SQL database, the mirror, which follows what is written to Redis and may be behind.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. It splits texts into words by simpler rules than the server, as the soak writes no others. Of the
order by relevance the model knows what is found, but not in which order.
"""

import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, cast

from snowballstemmer import stemmer

from tests.soak.input_checks import GROUP, USERNAME, BadInput
from tests.soak.model import Mirror, Model
from tests.soak.pages import ListingEntry, Page, PageArguments, Position, cut, descending
from tests.soak.records import Article, Comment, User
from tests.soak.words import words

LONGEST_QUERY = 500  # characters
SHORTEST_PREFIX = 3  # characters
KINDS: dict[str, type] = {"ARTICLE": Article, "COMMENT": Comment, "USER": User}
USUAL_SIZE = 25  # matches of a page, by default

# words that follow each other; one that ends with ~ finds its other forms, too, and one with * what begins like it
Phrase = tuple[str, ...]
Match = Article | Comment | User


class Unordered(list[Any]):
    """Items of which an answer has `count` different ones, in any order."""

    def __init__(self, items: Sequence[Any], count: "int | Between") -> None:
        super().__init__(items)
        self.count_shown = count


@dataclass(frozen=True)
class Between:
    """Equal to each number from `low` to `high`; from 0 to 1, also to both booleans."""

    low: int
    high: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and self.low <= other <= self.high


class AnyText:
    """Equal to any non-empty text, for texts that the contract does not define."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and bool(other)

    def __repr__(self) -> str:
        return "<any text>"


class Anything:
    """Equal to all but null, for what the model does not have."""

    def __eq__(self, other: object) -> bool:
        return other is not None

    def __repr__(self) -> str:
        return "<anything>"


class AnyTextOrNull(AnyText):
    """Equal to null, too."""

    def __eq__(self, other: object) -> bool:
        return other is None or super().__eq__(other)


ANY_TEXT, ANY_TEXT_OR_NULL, ANYTHING = AnyText(), AnyTextOrNull(), Anything()
ANY_FLAG = Between(0, 1)


@dataclass(frozen=True)
class Excerpt:
    """
    Equal to each passage of one of the texts in which something is marked, and only words of the query are; also to
    `name`, that of a user who is found by the display name alone. U+E000 and U+E001 mark begin and end of a word.
    """

    texts: tuple[str, ...]
    words: frozenset[str]
    name: str | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str) or other == self.name:
            return isinstance(other, str)
        passage = re.sub("[\ue000\ue001]", "", other).strip("…")
        marked = re.findall("\ue000(.*?)\ue001", other)
        is_there = any(passage in " ".join(text.split()) for text in self.texts)
        return is_there and bool(marked) and all(self._is_wanted(word) for each in marked for word in words(each))

    def _is_wanted(self, word: str) -> bool:
        return any(_fits(word, wanted) for wanted in self.words)


@dataclass(frozen=True)
class Suggestion:
    """
    The spelling that a search proposes: equal to null, and to each other query that finds something, also if only the
    database finds it, which is behind.
    """

    model: Model
    wanted: "Search"

    def __eq__(self, other: object) -> bool:
        if other is None:
            return True
        proposed = self.wanted._replace(phrases=phrases(str(other)))
        before = [each for each in self.model.indexed.values() if is_match(each, proposed)]
        self.model.reached.count("spellings proposed")
        return proposed != self.wanted and bool(before or matches(self.model, proposed))


class SearchEdge(NamedTuple):
    cursor: Any
    node: Match
    excerpt: Excerpt


class Search(NamedTuple):
    """The arguments of a search. `group` and `poster` are in lower case."""

    phrases: tuple[Phrase, ...]
    kinds: tuple[str, ...]
    group: str | None
    poster: str | None
    order: str

    @property
    def listing(self) -> tuple[Any, ...]:
        return ("search", *self)


def doubt_flag(found: Page, paging: PageArguments) -> None:
    """
    Let either value be right for the flag on the side from which the reader comes, `hasPreviousPage` or `hasNextPage`,
    where it is false by the model.
    """
    if paging.last is None:
        found.has_previous = found.has_previous or ANY_FLAG
    else:
        found.has_next = found.has_next or ANY_FLAG


def search(query: str, kinds: Sequence[str] | None, group: str | None, poster: str | None, order: str | None) -> Search:
    """Raises BadInput if the query is too long."""
    if len(query) > LONGEST_QUERY:
        raise BadInput
    if group is not None:
        group = group.lower() if GROUP.fullmatch(group) else "-"
    if poster is not None:
        poster = poster.lower() if USERNAME.fullmatch(poster) else "-"
    chosen = tuple(sorted(set(KINDS if kinds is None else kinds)))
    return Search(phrases(query), chosen, group, poster, order or "RELEVANCE")


def phrases(query: str) -> tuple[Phrase, ...]:
    """
    The phrases of a query: texts in quotation marks, and others between spaces. The last word of one without quotation
    marks finds its other forms, too: `vote~`.
    """
    parts = query.split('"')  # every second one stood in quotation marks
    if len(parts) % 2 == 0:  # the last quotation mark opens nothing
        parts[-2:] = [" ".join(parts[-2:])]
    texts = [text for index, part in enumerate(parts) for text in ([words(part)] if index % 2 else _apart(part))]
    found = [phrase for phrase in texts if phrase]
    if words(parts[-1]) and len(found[-1][-1].removesuffix("~")) >= SHORTEST_PREFIX:
        found[-1][-1] += "*"  # the last word, if it is not in quotation marks, is a prefix
    return tuple(dict.fromkeys(map(tuple, found)))


def _apart(text: str) -> list[Phrase]:
    found = filter(None, map(words, text.split()))
    return [[*each[:-1], f"{each[-1]}~"] if _has_forms(each[-1]) else each for each in found]


def _has_forms(word: str) -> bool:
    return len(word) > 2 and word.isascii() and word.isalpha()


def written(phrases: Sequence[Phrase]) -> str:
    """A query that has these phrases."""
    texts = [".".join(phrase) if phrase[-1][-1] in "~*" else f'"{" ".join(phrase)}"' for phrase in phrases]
    return " ".join(text.rstrip("~*") for text in texts)


def snapshot(model: Model) -> dict[Match, Match]:
    """What is searched, as it is now: a copy of each article, comment and user."""
    subjects: list[Match] = [*model.articles.values(), *model.comments.values(), *model.users.values()]
    copies = {each: copy(each) for each in subjects}
    for copied in copies.values():
        if isinstance(copied, Article):
            copied.groups = set(copied.groups)
        elif isinstance(copied, Comment):
            copied.article = cast(Article, copies[copied.article])
    return copies


def matches(model: Model, wanted: Search) -> list[Match]:
    subjects: list[Match] = [*model.articles.values(), *model.comments.values(), *model.users.values()]
    return [each for each in subjects if type(each).__name__.upper() in wanted.kinds and is_match(each, wanted)]


def is_match(subject: Match, wanted: Search) -> bool:
    """Whether a subject is found. Comments are in the groups of their articles; users are in none."""
    if isinstance(subject, User) and (wanted.group is not None or wanted.poster is not None):
        return False
    if not isinstance(subject, User):
        article = subject if isinstance(subject, Article) else subject.article
        is_shown = subject.is_visible if isinstance(subject, Article) else subject.is_shown
        if not is_shown or subject.poster is None or wanted.poster not in (None, subject.poster.lower):
            return False
        if wanted.group is not None and wanted.group not in article.groups:
            return False
    found = [words(text) for text in texts(subject)]
    return bool(wanted.phrases) and all(any(_has(each, phrase) for each in found) for phrase in wanted.phrases)


def texts(subject: Match) -> tuple[str, ...]:
    if isinstance(subject, User):
        return (f"{subject.name} {subject.profile.get('displayName') or ''}",)
    if isinstance(subject, Article):
        return subject.title, subject.content or ""
    return (subject.content or "",)


def page(model: Model, wanted: Search, paging: PageArguments) -> Page:
    result = _page(model, wanted, paging)
    result.suggestion = Suggestion(model, wanted) if result.total == 0 else None
    return result


def _page(model: Model, wanted: Search, paging: PageArguments) -> Page:
    paging.check()
    position = paging.position(wanted.listing)
    found = matches(model, wanted)
    if model.mirror is Mirror.BEHIND:
        return _page_of_before(model, wanted, found, paging, position)
    model.reached.count("searches that find something", bool(found))
    model.reached.count("searches that find several kinds", len({type(each) for each in found}) > 1)
    if wanted.order == "RELEVANCE" or sum(isinstance(each, User) for each in found) > 1:
        return _unordered_page(wanted, found, paging, position)
    entries = descending([ListingEntry(_key(model, each, wanted.order), each) for each in found])
    # the last part of a key is what was found
    is_there = position is not None and any(each.node is position.key[-1] for each in entries)
    if position is not None and is_there:  # it goes on where the match of the cursor is now
        position = position._replace(key=_key(model, position.key[-1], wanted.order))
    model.reached.count("pages of searches after a cursor", position is not None)
    model.reached.count("cursors of what is found no more", position is not None and not is_there)
    result = cut("Search", wanted.listing, entries, paging, position)
    edges = [SearchEdge(edge.cursor, edge.node, _excerpt(edge.node, wanted)) for edge in result.edges]
    result.edges = result.ends = edges
    return result


def _unordered_page(wanted: Search, found: Sequence[Match], paging: PageArguments, position: Position | None) -> Page:
    """A page in an order that is not modelled: by relevance, or of several users, who have equal places."""
    size = paging.first or paging.last or USUAL_SIZE
    has_more = len(found) > size
    edges = [SearchEdge(ANY_TEXT, each, _excerpt(each, wanted)) for each in found]
    if position is not None:  # of a page when fewer users were found: any part of what is found now
        return _any_page(edges, Between(0, min(size, len(found))), len(found), found)
    unordered = Unordered(edges, min(size, len(found)))
    ends = [SearchEdge(ANY_TEXT, found[0], _excerpt(found[0], wanted))] if found else []
    return Page("Search", unordered, has_more and bool(paging.last), has_more and not paging.last, len(found), ends)


def _page_of_before(
    model: Model, wanted: Search, found: Sequence[Match], paging: PageArguments, position: Position | None
) -> Page:
    """
    A page while the database is behind: what it had that exists and still matches. The total may count what was changed
    so that it does not match any more.
    """
    known = [each for each in found if each in model.indexed and is_match(model.indexed[each], wanted)]
    counted = [each for each, before in model.indexed.items() if is_match(before, wanted) and _is_there(model, each)]
    model.reached.count("searches of what the database has not", len(known) < len(found))
    size, is_whole = paging.first or paging.last or USUAL_SIZE, position is None
    edges = [SearchEdge(ANY_TEXT, each, _excerpt(each, wanted)) for each in known]
    shown = Between(min(size, len(known)) if is_whole else 0, min(size, len(known)))
    return _any_page(edges, shown, Between(len(known), len(counted)), [*model.users.values()])


def _any_page(edges: Sequence[SearchEdge], shown: Between, total: int | Between, some: Sequence[Match]) -> Page:
    """A page of so many of some edges as `shown` allows, with any flags, and with any cursors of its ends, or none."""
    ends = [SearchEdge(ANY_TEXT_OR_NULL, each, Excerpt((), frozenset())) for each in some[:1]]
    return Page("Search", Unordered(edges, shown), ANY_FLAG, ANY_FLAG, total, ends)


def _is_there(model: Model, subject: Match) -> bool:
    if isinstance(subject, User):
        return True
    kept = model.articles if isinstance(subject, Article) else model.comments
    return subject.number in kept and subject.poster is not None


def _key(model: Model, subject: Match, order: str) -> tuple[Any, ...]:
    """The sort key of a match: by value; of equal ones users come first, then those with higher numbers."""
    if isinstance(subject, User):
        return (subject.joined_at if order == "NEWEST" else model.karma(subject), 1, 0, subject)
    return (subject.posted_at if order == "NEWEST" else subject.votes, 0, subject.number, subject)


def _excerpt(subject: Match, wanted: Search) -> Excerpt:
    name = subject.name if isinstance(subject, User) else None
    return Excerpt(texts(subject), frozenset(word for phrase in wanted.phrases for word in phrase), name)


def _has(text: Sequence[str], phrase: Phrase) -> bool:
    starts = range(len(text) - len(phrase) + 1)
    return any(all(map(_fits, text[start:], phrase)) for start in starts)


def _fits(word: str, wanted: str) -> bool:
    plain = wanted.rstrip("~*")
    if wanted.endswith("*") and word.startswith(plain):
        return True
    return word == plain or ("~" in wanted and _are_forms(word, plain))


@lru_cache(10_000)
def _are_forms(word: str, other: str) -> bool:
    """Whether two English words differ in -s, -ed and -ing only."""
    if not (_has_forms(word) and _has_forms(other)):
        return False
    stem = stemmer("english").stemWord
    return bool(_bases(word) & _bases(other)) and stem(word) == stem(other)


def _bases(word: str) -> set[str]:
    shortened = [word.removesuffix(ending) for ending in ("s", "es", "ed", "ing") if word.endswith(ending)]
    doubled = [each[:-1] for each in shortened if each[-2:-1] == each[-1:]]
    with_y = [f"{word[:-3]}y"] if word.endswith(("ies", "ied")) else []
    return {word, *shortened, *(f"{each}e" for each in shortened), *doubled, *with_y}
