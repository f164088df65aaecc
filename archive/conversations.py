"""
The conversation of an archived article, computed from its comments alone: threads and pages of replies in every order,
what is above and below a comment, and all counts. It gives the same answers for an archived article, whose comments are
in the SQL database only, that `store/threads.py` gives for one in Redis.

A position is the sort key of a comment among its siblings, a level its depth and position; a `ThreadPosition` has the
levels down to a comment. All is computed from comments that the caller has read (`database/conversations.py`).
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from store import keys
from store.listings import Window
from store.ranking.formulas import best, controversial
from store.records import Comment, ContentState, PartitionPage, Position
from store.threads import (
    MAX_ANCESTORS,
    MAX_PLACES,
    CommentOrder,
    ThreadLevel,
    ThreadPage,
    ThreadPlace,
    ThreadPosition,
    ThreadWindow,
    kept_levels,
)

Siblings = list[tuple[float, int]]  # value and number, both negated in descending orders: the first is the least


@dataclass(frozen=True, slots=True)
class Conversation:
    """
    All comments of an article, also those that are not shown. `comments` has them by number, with how many replies each
    has; `below` has, by number, how many visible comments are below each. `replies` has the numbers of the replies that
    a thread shows, by the number of the comment or article that they answer. `best_z` is the constant of the order
    BEST.

    `_sorted` keeps the sorted replies by what they answer and the order; they are sorted when first asked for.
    """

    article: int
    comments: Mapping[int, Comment]
    below: Mapping[int, int]
    replies: Mapping[int, Sequence[int]]
    best_z: float
    _sorted: dict[tuple[int, CommentOrder], Siblings] = field(default_factory=dict)

    @property
    def comment_count(self) -> int:
        """The number of visible comments."""
        return sum(each.state is ContentState.VISIBLE for each in self.comments.values())

    @property
    def active_at(self) -> int | None:
        """When the newest visible comment was posted (unix milliseconds); None without one."""
        visible = (each.posted_at for each in self.comments.values() if each.state is ContentState.VISIBLE)
        return max(visible, default=None)

    def is_shown(self, number: int) -> bool:
        """Whether a thread has a place for a comment: it is visible, or above visible ones."""
        return number in self.comments and not self.comments[number].is_bare

    def ancestors(self, number: int) -> tuple[int, ...]:
        """As `threads.ancestors`: the `MAX_ANCESTORS` nearest comments above a comment, the outermost of them first."""
        return tuple(islice(self._above(number), MAX_ANCESTORS))[::-1]

    def descendant_counts(self, numbers: Iterable[int]) -> dict[int, int]:
        """The numbers of visible comments below some comments."""
        return {number: self.below.get(number, 0) for number in numbers}

    def is_under(self, above: int, number: int) -> bool:
        """Whether a comment is a descendant of another one."""
        return above in self._above(number)

    def pinned(self) -> ThreadPosition:
        """
        The position at which a pinned walk begins, from either end of a thread. A pinned walk shows the thread page by
        page in the order that it had at first. No comment moves here, so nothing has to be stored for it.
        """
        return ThreadPosition(levels=(), moves=0, newest=max(self.comments, default=0))

    def siblings_page(self, parent: int, order: CommentOrder, window: Window) -> PartitionPage:
        """As `threads.siblings_page`: the replies to a comment, or to the article if `parent` is its number."""
        siblings = self._siblings(parent, order)
        first, end = 0, len(siblings)
        if window.beyond:
            key = _key(order, window.beyond)
            first, end = (0, bisect_left(siblings, key)) if window.upwards else (bisect_right(siblings, key), end)
        first, end = (max(end - window.count, 0), end) if window.upwards else (first, min(first + window.count, end))
        positions = tuple(_position(order, each) for each in siblings[first:end])
        return PartitionPage(first, len(siblings), positions)

    def page(
        self, order: CommentOrder, window: ThreadWindow, *, under: int | None = None, max_depth: int = 10
    ) -> ThreadPage:
        """
        A page of the thread, or of the part below the comment `under`, down to `max_depth`. If comments are newer than
        the beginning of a pinned walk, it goes on unpinned; in the orders by time it stays pinned, and leaves them out.
        """
        beyond = window.beyond
        newest = beyond.newest if beyond else None
        by_time = order.stored_index == "time"
        is_pinned = newest is not None and (by_time or newest >= max(self.comments, default=0))
        root = self.article if under is None else under
        path, is_cut = self._path(order, root, beyond)
        newest_shown = newest if is_pinned else None
        walk = _Walk(self, order, root, max_depth, newest_shown, path, is_cut)
        count = min(window.count, MAX_PLACES)
        found = list(islice(walk.up() if window.upwards else walk.down(), count + 1))
        levels, has_more, has_others = found[:count], len(found) > count, walk.has_others(window)
        if window.upwards:
            levels.reverse()
        moves = beyond.moves if beyond else 0  # of a walk in Redis: passed on, as no comment moves here
        places = tuple(walk.places(levels, moves, newest_shown))
        has_before, has_after = (has_more, has_others) if window.upwards else (has_others, has_more)
        return ThreadPage(places, has_before, has_after, is_pinned)

    def _above(self, number: int) -> Iterator[int]:
        """The comments above a comment, the nearest first."""
        comment = self.comments.get(number)
        while comment and comment.parent is not None:
            yield comment.parent
            comment = self.comments.get(comment.parent)

    def _siblings(self, parent: int, order: CommentOrder) -> Siblings:
        """The replies to a comment, or to the article, in an order."""
        key = parent, order
        if key not in self._sorted:
            positions = (self._current(order, each) for each in self.replies.get(parent, ()))
            self._sorted[key] = sorted(_key(order, each) for each in positions)
        return self._sorted[key]

    def _current(self, order: CommentOrder, number: int) -> Position:
        """The current position of a comment among its siblings."""
        return Position(_value(order, self.comments[number], self.best_z), keys.member(number))

    def _path(
        self, order: CommentOrder, root: int, beyond: ThreadPosition | None
    ) -> tuple[Sequence[ThreadLevel], bool]:
        """
        The levels of a position from depth 0 on, also those that the position leaves out to be short. A level that was
        left out is found by the parents of the comment below it; if that comment is gone, the path ends above the gap,
        and the second value is True.
        """
        path: list[ThreadLevel] = []
        for level in beyond.levels if beyond else ():
            missing = level.depth - len(path)
            above = list(islice(self._above(level.position.number), missing))[::-1]
            if len(above) < missing:
                return path, True
            path += [ThreadLevel(len(path) + i, self._current(order, each)) for i, each in enumerate(above)]
            path.append(level)
        return path, False


@dataclass(frozen=True, slots=True)
class _Walk:
    """
    A walk through a thread in pre-order, below the comment or article `root` and down to `max_depth`. `path` has the
    levels of the place from which it goes on; empty, it begins at an end of the thread. `is_cut` says that the path
    ends above that place. Comments whose numbers are above `newest`, if it is given, are left out.
    """

    conversation: Conversation
    order: CommentOrder
    root: int
    max_depth: int
    newest: int | None
    path: Sequence[ThreadLevel]
    is_cut: bool

    def down(self) -> Iterator[ThreadLevel]:
        """The places that follow the path."""
        stack = [self._beside(level) for level in self.path]
        if not self.is_cut and len(self.path) <= self.max_depth:
            stack.append(self._replies(self.path[-1].position.number if self.path else self.root, len(self.path)))
        while stack:
            level = next(stack[-1], None)
            if level is None:
                stack.pop()
                continue
            yield level
            if level.depth < self.max_depth:
                stack.append(self._replies(level.position.number, level.depth + 1))

    def up(self) -> Iterator[ThreadLevel]:
        """The places that precede the path, the nearest first."""
        # Upwards a comment comes after its replies: each item of the stack has the siblings that are left, and their
        # owner, the comment that they answer, which comes when there are none.
        owners = [None, *self.path[:-1]]
        stack = [(self._beside(level, upwards=True), owner) for level, owner in zip(self.path, owners, strict=False)]
        if self.is_cut:
            yield from (level for level in self.path[-1:] if self._is_shown(level))
        elif not self.path:
            stack = [(self._replies(self.root, depth=0, upwards=True), None)]
        while stack:
            siblings, owner = stack[-1]
            level = next(siblings, None)
            if level is None:
                stack.pop()
                if owner and self._is_shown(owner):
                    yield owner
            elif level.depth < self.max_depth:
                stack.append((self._replies(level.position.number, level.depth + 1, upwards=True), level))
            else:
                yield level

    def has_others(self, window: ThreadWindow) -> bool:
        """Whether there are places on the side of the window's position that the page is not on."""
        if not window.beyond or not window.beyond.levels:
            return False
        is_there = self._is_shown(window.beyond.levels[-1])
        return is_there or next(self.down() if window.upwards else self.up(), None) is not None

    def places(self, levels: Sequence[ThreadLevel], moves: int, newest: int | None) -> Iterator[ThreadPlace]:
        """The places of a page, with their positions."""
        path = self._levels_above(levels[0]) if levels else []
        for level in levels:
            del path[level.depth :]
            path.append(level)
            number = level.position.number
            hidden = self.conversation.below.get(number, 0) if level.depth == self.max_depth else 0
            yield ThreadPlace(number, level.depth, hidden, ThreadPosition(kept_levels(path), moves, newest))

    def _levels_above(self, first: ThreadLevel) -> list[ThreadLevel]:
        """The levels above the first place of a page, with the positions of the path, or else their current ones."""
        known = {level.position.number: level for level in self.path}
        above = list(islice(self.conversation._above(first.position.number), first.depth))[::-1]
        return [
            known.get(number) or ThreadLevel(depth, self.conversation._current(self.order, number))
            for depth, number in enumerate(above)
        ]

    def _is_shown(self, level: ThreadLevel) -> bool:
        return self.conversation.is_shown(level.position.number)

    def _beside(self, level: ThreadLevel, *, upwards: bool = False) -> Iterator[ThreadLevel]:
        """The siblings that follow a level of the path, or, upwards, those that precede it, the nearest first."""
        parent = self.root if level.depth == 0 else self.path[level.depth - 1].position.number
        siblings, key = self.conversation._siblings(parent, self.order), _key(self.order, level.position)
        at = bisect_left(siblings, key) if upwards else bisect_right(siblings, key)
        ranks = range(at - 1, -1, -1) if upwards else range(at, len(siblings))
        return self._levels(siblings, ranks, level.depth, passed=level.position.number)

    def _replies(self, parent: int, depth: int, *, upwards: bool = False) -> Iterator[ThreadLevel]:
        """All replies to a comment, or, upwards, the last one first."""
        siblings = self.conversation._siblings(parent, self.order)
        ranks = range(len(siblings))
        return self._levels(siblings, reversed(ranks) if upwards else ranks, depth)

    def _levels(
        self, siblings: Siblings, ranks: Iterable[int], depth: int, passed: int | None = None
    ) -> Iterator[ThreadLevel]:
        """Siblings by their ranks, without the one that was `passed`, which may have another value now."""
        for rank in ranks:
            position = _position(self.order, siblings[rank])
            is_new = self.newest is not None and position.number > self.newest
            if position.number != passed and not is_new:
                yield ThreadLevel(depth, position)


def conversation(article: int, comments: Iterable[Comment], best_z: float) -> Conversation:
    """The conversation of an article. Of its comments neither the numbers of replies nor `is_bare` are needed."""
    rows = sorted(comments, key=lambda comment: comment.depth, reverse=True)
    replies, below, shown = Counter[int](), Counter[int](), defaultdict[int, list[int]](list)
    found = {}
    for each in rows:  # those below a comment before it
        is_visible = each.state is ContentState.VISIBLE
        is_bare = not is_visible and not below[each.number]
        found[each.number] = each._replace(reply_count=replies[each.number], is_bare=is_bare)
        if each.parent is not None:
            replies[each.parent] += is_visible
            below[each.parent] += below[each.number] + is_visible
        if not is_bare:
            shown[article if each.parent is None else each.parent].append(each.number)
    return Conversation(article, found, dict(below), dict(shown), best_z)


def _value(order: CommentOrder, comment: Comment, best_z: float) -> float:
    match order.stored_index:
        case "best":
            return best(comment.upvotes, comment.downvotes, best_z)
        case "votes":
            return float(comment.votes)
        case "controversial":
            return controversial(comment.upvotes, comment.downvotes)
    return float(comment.posted_at)


def _key(order: CommentOrder, position: Position) -> tuple[float, int]:
    """What siblings are sorted by: of equal values the later comment is first, in the ascending order the earlier."""
    return (position.value, position.number) if order.is_ascending else (-position.value, -position.number)


def _position(order: CommentOrder, key: tuple[float, int]) -> Position:
    value, number = key if order.is_ascending else (-key[0], -key[1])
    return Position(value, keys.member(number))
