"""
Threads in the model: the places of a whole thread are sorted by the levels above them, and the page is cut out.

A level is a comment on the way to a place, with its value when it was read. As tuples of levels compare from the
outermost one, a comment comes before its replies, and these before its next sibling.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tests.soak import formulas
from tests.soak.model import Model
from tests.soak.pages import Entry, Page, PageArguments, Position, cut, descending
from tests.soak.records import Article, Comment, Move, User

MOST_PLACES = 500  # of a page
USUAL_PLACES = 25
BY_TIME = ("NEWEST", "OLDEST")


class Level(NamedTuple):
    """The first of two siblings has the lower level: values and numbers are negative in orders that fall."""

    value: float
    number: int


class ThreadKey(NamedTuple):
    """A place of a thread. `moves` counts the votes on comments of the partition when the walk began."""

    levels: tuple[Level, ...]
    moves: int


class Place(NamedTuple):
    levels: tuple[Level, ...]
    comment: Comment


class ThreadEdge(NamedTuple):
    cursor: Position
    node: Comment
    hidden: int


class Threads:
    """Replies are cached until the model changes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._replies: dict[Any, list[Comment]] = {}
        self._version = -1

    def replies(self, parent: Article | Comment) -> list[Comment]:
        """What answers an article or a comment, in the order of posting, with stubs."""
        if self._version != self._model.version:
            self._version, self._replies = self._model.version, defaultdict(list)
            for comment in self._model.comments.values():
                self._replies[comment.parent or comment.article].append(comment)
        return self._replies.get(parent, [])

    def visible_descendants(self, comment: Comment) -> int:
        return sum((not each.is_stub) + self.visible_descendants(each) for each in self.replies(comment))

    def siblings(self, parent: Article | Comment, order: str, paging: PageArguments) -> Page:
        """A page of the replies to one comment, or of the answers to an article. It counts stubs."""
        paging.check()
        listing, is_rising = ("replies", parent.number, order), order == "OLDEST"
        entries = [Entry((self._value(each, order), each.number), each) for each in self.replies(parent)]
        entries.sort(key=lambda entry: entry.key, reverse=not is_rising)
        position = paging.position(listing)
        self._model.reached.count("pages of replies after a cursor", position is not None)
        return cut("Comment", listing, entries, paging, position, rising=is_rising)

    def of_user(self, user: User, paging: PageArguments) -> Page:
        paging.check()
        listing = ("comments", user.lower)
        own = [each for each in self._model.comments.values() if each.poster is user]
        entries = descending([Entry((each.posted_at, each.number), each) for each in own])
        return cut("Comment", listing, entries, paging, paging.position(listing))

    def page(self, article: Article, order: str, under: int | None, deepest: int, paging: PageArguments) -> Page:
        """
        A page of the thread of an article, or below its comment `under`, `deepest` levels below the first one.

        After a cursor, the comments above the cursor keep the values that it has. Comments that have been on the other
        side of it since the walk began are left out.
        """
        paging.check(MOST_PLACES)
        listing = ("thread", article.number, order, under, deepest)
        position = paging.position(listing)
        root = article if under is None else self._model.comments.get(under)
        if root is None or (isinstance(root, Comment) and root.article is not article):
            return Page("Comment", [], False, False, 0)
        begin = ThreadKey((), self._model.moves[self._model.partition(article)])
        key: ThreadKey = position.key if position else begin
        places = list(self._places(root, order, deepest, key.levels))
        chosen, has_previous, has_next = self._cut(places, key, order, paging)
        cursors = [Position(listing, ThreadKey(place.levels, key.moves)) for place in chosen]
        hidden = [self._hidden(place, deepest) for place in chosen]
        nodes = [place.comment for place in chosen]
        edges = [ThreadEdge(*each) for each in zip(cursors, nodes, hidden, strict=True)]
        self._count_cases(edges, order, under, key)
        total = self._model.comment_count(article) if isinstance(root, Article) else self.visible_descendants(root)
        return Page("Comment", edges, has_previous, has_next, total, edges)

    def _places(
        self,
        parent: Article | Comment,
        order: str,
        deepest: int,
        known: Sequence[Level],
        above: tuple[Level, ...] = (),
    ) -> Iterator[Place]:
        """The places below a comment or an article. The comments of the levels `known` have the values of these."""
        replies = []
        for comment in self.replies(parent):
            level = self._level(comment, order)
            is_known = len(above) < len(known) and known[len(above)].number == level.number
            replies.append((known[len(above)] if is_known else level, comment))
        for level, comment in sorted(replies):
            levels = (*above, level)
            yield Place(levels, comment)
            if len(above) < deepest:
                yield from self._places(comment, order, deepest, known, levels)

    def _cut(
        self, places: Sequence[Place], key: ThreadKey, order: str, paging: PageArguments
    ) -> tuple[Sequence[Place], bool, bool]:
        """The places of a page, and whether there are others before and after them."""
        size = paging.first or paging.last or USUAL_PLACES
        if not key.levels:
            shown = places[-size:] if paging.last else places[:size]
            has_more = len(places) > size
            return shown, has_more and bool(paging.last), has_more and not paging.last
        before = [place for place in places if place.levels < key.levels and self._stayed(place, key, order)]
        after = [place for place in places if place.levels > key.levels and self._stayed(place, key, order)]
        is_there = abs(key.levels[-1].number) in self._model.comments
        if paging.last:
            return before[-size:], len(before) > size, is_there or bool(after)
        shown = after[:size]
        first = shown[0].levels if shown else key.levels
        has_previous = is_there or (any(place.levels < first for place in places) if shown else bool(before))
        return shown, has_previous, len(after) > size

    def _stayed(self, place: Place, key: ThreadKey, order: str) -> bool:
        """Whether a place has been on one side of a cursor since the walk began."""
        apart = next(((own, other) for own, other in zip(place.levels, key.levels, strict=False) if own != other), None)
        if apart is None or order in BY_TIME:
            return True
        level, at = apart
        comment = self._model.comments[abs(level.number)]
        bounds = [_bounds(self._model.policy, order, move) for move in comment.moves if move.number > key.moves]
        if level > at:
            passed = any(Level(-high, level.number) < at for _, high in bounds)
        else:
            passed = any(Level(-low, level.number) > at for low, _ in bounds)
        self._model.reached.count("thread pages without comments that crossed the cursor", passed)
        return not passed

    def _hidden(self, place: Place, deepest: int) -> int:
        return self.visible_descendants(place.comment) if len(place.levels) > deepest else 0

    def _level(self, comment: Comment, order: str) -> Level:
        value = self._value(comment, order)
        return Level(value, comment.number) if order == "OLDEST" else Level(-value, -comment.number)

    def _value(self, comment: Comment, order: str) -> float:
        formula = "TIME" if order in BY_TIME else order
        return formulas.value(
            self._model.policy, formula, comment.posted_at, len(comment.up), len(comment.down), self._model.now
        )

    def _count_cases(self, edges: Sequence[ThreadEdge], order: str, under: int | None, key: ThreadKey) -> None:
        reached = self._model.reached
        reached.count("thread pages after a cursor", bool(key.levels and edges))
        reached.count("thread pages under a comment", under is not None and bool(edges))
        reached.count("hidden replies", any(edge.hidden for edge in edges))
        is_gone = bool(key.levels) and abs(key.levels[-1].number) not in self._model.comments
        reached.count("cursors of deleted comments", is_gone)
        for one, other in pairwise([edge.node for edge in edges]):
            is_equal = one.parent is other.parent and self._value(one, order) == self._value(other, order)
            reached.count("equal values of comments", is_equal)


def _bounds(policy: formulas.Policy, order: str, move: Move) -> tuple[float, float]:
    """The least and the greatest value that a comment may have had with these votes."""
    _, up_low, up_high, down_low, down_high = move
    match order:
        case "VOTES":
            return up_low - down_high, up_high - down_low
        case "BEST":
            return formulas.best(policy, up_low, down_high), formulas.best(policy, up_high, down_low)
    if up_low == up_high and down_low == down_high:
        exact = formulas.value(policy, order, 0, up_low, down_low, 0)
        return exact, exact
    return 0, up_high + down_high
