"""
Threads: all comments of an article, each above its replies. The places of a whole thread are sorted, and a page is cut
out.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.

A level is a comment on the way to a place, with its value in the order of the thread when it was read. As tuples of
levels compare from the outermost one, a comment comes before its replies, and these before its next sibling.

A walk is the reading of a thread page by page. A pin has the values of all comments of an article at an instant, and a
pinned walk lists by these. A comment that was posted between the pin and the walk has the value of a new comment.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tests.soak import formulas
from tests.soak.archiving import LISTED_COMMENTS
from tests.soak.model import Model
from tests.soak.pages import (
    ListingEntry,
    Page,
    PageArguments,
    Position,
    RepliesListing,
    ThreadListing,
    cut,
    descending,
)
from tests.soak.records import Article, Comment, Move, Reading, User
from tests.soak.searches import ANYTHING, Anything, Between, doubt_flag

MOST_PLACES = 500  # of a page
USUAL_PLACES = 25  # of a page, by default
BY_TIME = ("NEWEST", "OLDEST")
FEW_REPLIES = 16  # up to so many to one comment have one index only, and not one for each order
PIN_LIFETIME, SHARING_PERIOD = 600_000, 60_000  # milliseconds; walks that begin within the latter share a pin
Values = Mapping[int, float]  # of comments, by number


class Level(NamedTuple):
    """The first of two siblings has the lower level: values and numbers are negative in orders that fall."""

    value: float
    number: int


class ThreadKey(NamedTuple):
    """
    The place in a thread after which a page begins. `moves` is the count of votes on comments of the partition when the
    walk began, or when its pin was made. `newest` is the highest number that a pinned walk shows; None without a pin.
    """

    levels: tuple[Level, ...]
    moves: int
    newest: int | None = None


class Place(NamedTuple):
    levels: tuple[Level, ...]
    comment: Comment


class ThreadEdge(NamedTuple):
    cursor: Position
    node: Comment
    hidden: int  # replies below that are too deep to be shown


class Threads:
    """Replies are cached until the model changes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._replies: dict[Any, list[Comment]] = {}
        self._version = -1
        # by article, then by order and moves: when the pin was made
        self._pins: dict[int, dict[tuple[str, int], int]] = defaultdict(dict)
        self._pinned: dict[tuple[int, str, int], Values] = {}  # by article, order and moves
        self._replaced: set[tuple[int, str, int]] = set()  # pins, named likewise, that this step replaces

    def replies(self, parent: Article | Comment) -> list[Comment]:
        """What answers an article or a comment, in the order of posting, with stubs and what was removed."""
        if self._version != self._model.version:
            self._version, self._replies = self._model.version, defaultdict(list)
            for comment in self._model.comments.values():
                self._replies[comment.parent or comment.article].append(comment)
        return self._replies.get(parent, [])

    def visible_descendants(self, comment: Comment) -> int:
        return sum(each.is_visible + self.visible_descendants(each) for each in self.replies(comment))

    def has_place(self, comment: Comment) -> bool:
        """Whether threads show it: it is visible, or has visible descendants."""
        return comment.is_visible or self.visible_descendants(comment) > 0

    def read(self, viewer: User | None, comment: Comment | None) -> Comment | Reading | None:
        """
        What a viewer, or a stranger, reads of a comment by its id: a `Reading` of one that is not visible, which its
        poster and moderators may read.
        """
        if comment is None:
            return None
        is_rightful = viewer is not None and (comment.poster is viewer or viewer.moderates(comment.article.groups))
        if is_rightful and not comment.is_stub and not comment.is_shown:
            self._model.reached.count("hidden comments read by id")
            return Reading(comment)
        return comment if self._model.may_read(viewer, comment.article) and self.has_place(comment) else None

    def siblings(self, parent: Article | Comment, order: str, paging: PageArguments, *, is_empty: bool) -> Page:
        """A page of the replies to one comment, or of the answers to an article. It counts stubs."""
        paging.check()
        listing, is_rising = RepliesListing("replies", parent.number, order), order == "OLDEST"
        placed = [] if is_empty else list(filter(self.has_place, self.replies(parent)))
        entries = [ListingEntry((self._value(each, order), each.number), each) for each in placed]
        entries.sort(key=lambda entry: entry.key, reverse=not is_rising)
        position = paging.position(listing)
        self._model.reached.count("pages of replies after a cursor", position is not None)
        self._model.reached.count("pages of many replies", len(placed) > FEW_REPLIES)
        return cut("Comment", listing, entries, paging, position, rising=is_rising)

    def of_user(self, user: User, paging: PageArguments) -> Page:
        paging.check()
        listing = ("comments", user.lower)
        own = [
            each
            for each in self._model.comments.values()
            if each.poster is user and each.is_shown and not user.has_left
        ]
        entries = descending([ListingEntry((each.posted_at, each.number), each) for each in own])
        found = cut("Comment", listing, entries, paging, paging.position(listing))
        if user in self._model.long_lists or self._model.is_leaving:
            # older ones come from the database, which may not know yet which of them are shown
            found.total = Between(0, len(self._model.comments) + len(self._model.orphans))
            doubt_flag(found, paging)
            self._model.reached.count("pages of users with older comments", len(own) > LISTED_COMMENTS)
        return found

    def page(
        self,
        article: Article,
        order: str,
        under: int | None,
        deepest: int,
        paging: PageArguments,
        pinned: bool = False,
    ) -> Page | Anything:
        """
        A page of the thread of an article, or below its comment `under`, `deepest` levels below the first one.

        After a cursor, the comments above the cursor keep the values that it has. Comments that have been on the other
        side of it since the walk began are left out. `ANYTHING` is any page: what the server lists is not known.
        """
        paging.check(MOST_PLACES)
        listing = ThreadListing("thread", article.number, order, under, deepest)
        position = paging.position(listing)
        root = article if under is None else self._model.comments.get(under)
        key = self._unless_expired(article, order, position.key) if position else self._begin(article, order, pinned)
        if isinstance(root, Comment) and (root.article is not article or not self.has_place(root)):
            root = None
        if root is None:
            return Page("Comment", edges=[], has_previous=False, has_next=False, total=0)
        if self._is_forgotten(article, order, key):
            self._model.reached.count("walks that what has left does not know")
            return ANYTHING
        values = self._pinned.get((article.number, order, key.moves)) if key.newest else None
        places = [
            place for place in self._places(root, order, deepest, key.levels, values)
            if key.newest is None or all(abs(level.number) <= key.newest for level in place.levels)
        ]  # fmt: skip
        chosen, has_previous, has_next = self._cut(places, key, order, paging)
        cursors = [Position(listing, key._replace(levels=place.levels)) for place in chosen]
        hidden = [self._hidden(place, deepest) for place in chosen]
        nodes = [place.comment for place in chosen]
        edges = [ThreadEdge(*each) for each in zip(cursors, nodes, hidden, strict=True)]
        self._count_cases(edges, order, under, key)
        has_left = article.number in self._model.archived and bool(edges)
        self._model.reached.count("thread pages of what has left", has_left)
        if values is not None:
            present = [place.comment for place in self._places(root, order, deepest, known=())]
            is_other = [each.comment for each in places] != present
            self._model.reached.count("pinned thread pages of an order of before", is_other and bool(key.levels))
        total = self._model.comment_count(article) if isinstance(root, Article) else self.visible_descendants(root)
        return Page("Comment", edges, has_previous, has_next, total, edges)

    def _is_forgotten(self, article: Article, order: str, key: ThreadKey) -> bool:
        """
        Whether the server may have forgotten the values with which a walk began, or those of a pin that its first page
        would share: they are lost when the conversation leaves Redis, and when it comes back. The walk then goes on by
        the present values; after a return, also with newer comments than the pin has. That is the same walk unless
        there were votes or comments since.
        """
        comments = [each for each in self._model.comments.values() if each.article is article]
        leaves = self._model.is_leaving and not any(map(self._model.has_voters, comments))
        has_begun = bool(key.levels) or key.newest is not None
        if order in BY_TIME or not has_begun or not (leaves or article.number in self._model.have_left):
            return False
        have_moved = any(move.number > key.moves for each in comments for move in each.moves)
        return have_moved or (key.newest is not None and any(each.number > key.newest for each in comments))

    def _begin(self, article: Article, order: str, pinned: bool) -> ThreadKey:
        """The key with which a walk begins. Walks that begin within a minute share a pin."""
        model, partition = self._model, self._model.partition(article)
        moves = model.moves[partition]
        if not pinned:
            return ThreadKey(levels=(), moves=moves)
        newest = max(number for number in model.numbers if model.partition_of(number) == partition)
        if order in BY_TIME:
            return ThreadKey(levels=(), moves=0, newest=newest)  # votes move nothing
        pins = self._pins[article.number]
        made_at = {of_moves: at for (of_order, of_moves), at in pins.items() if of_order == order}
        latest = max(made_at, key=lambda of_moves: made_at[of_moves], default=None)
        if latest is not None and made_at[latest] > model.now - SHARING_PERIOD:
            model.reached.count("shared pins of threads", latest != moves)
            return ThreadKey(levels=(), moves=latest, newest=newest)
        self._replaced |= {(article.number, *pin) for pin in self._overdue(article.number)}
        pins[order, moves] = model.now
        self._replaced.discard((article.number, order, moves))
        self._pinned.setdefault((article.number, order, moves), self._values_of(article, order))
        return ThreadKey(levels=(), moves=moves, newest=newest)

    def _overdue(self, article: int) -> list[tuple[str, int]]:
        return [pin for pin, at in self._pins[article].items() if at <= self._model.now - PIN_LIFETIME]

    def forget_replaced(self) -> None:
        """
        Forget the pins that the step before has replaced. During that step they could still be read: each of its reads
        comes before, beside or after the one that makes a new pin.
        """
        for article, *pin in self._replaced:
            self._pins[article].pop(tuple(pin), None)
        self._replaced.clear()

    def forget_expired(self, article: int, order: str) -> None:
        """Forget the pins of an order that an answer says are gone, where they are past their time."""
        for pin in self._overdue(article):
            if pin[0] == order:
                del self._pins[article][pin]

    def _values_of(self, article: Article, order: str) -> Values:
        of_article = [each for each in self._model.comments.values() if each.article is article]
        return {each.number: self._value(each, order) for each in of_article}

    def _unless_expired(self, article: Article, order: str, key: ThreadKey) -> ThreadKey:
        """The key; without its pin if that is gone. An expired pin is there until the article gets another one."""
        if key.newest is None or order in BY_TIME or (order, key.moves) in self._pins[article.number]:
            return key
        self._model.reached.count("expired pins of threads")
        return key._replace(newest=None)

    def _places(
        self,
        parent: Article | Comment,
        order: str,
        deepest: int,
        known: Sequence[Level],
        values: Values | None = None,
        above: tuple[Level, ...] = (),
    ) -> Iterator[Place]:
        """
        The places below a comment or an article, by the values of a pin if given. The comments of the levels `known`
        have the values of these.
        """
        replies = []
        self._model.reached.count("threads with many replies to one", len(self.replies(parent)) > FEW_REPLIES)
        for comment in filter(self.has_place, self.replies(parent)):
            level = self._level(comment, order, values)
            is_known = len(above) < len(known) and known[len(above)].number == level.number
            replies.append((known[len(above)] if is_known else level, comment))
        for level, comment in sorted(replies):
            levels = (*above, level)
            yield Place(levels, comment)
            if len(above) < deepest:
                yield from self._places(comment, order, deepest, known, values, levels)

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
        last = self._model.comments.get(abs(key.levels[-1].number))
        is_there = last is not None and self.has_place(last)
        if paging.last:
            return before[-size:], len(before) > size, is_there or bool(after)
        shown = after[:size]
        has_others = bool(before)
        if shown and key.newest is None:
            has_others = any(place.levels < shown[0].levels for place in places)
        return shown, is_there or has_others, len(after) > size

    def _stayed(self, place: Place, key: ThreadKey, order: str) -> bool:
        """Whether a place has stayed on the same side of a cursor since the walk began."""
        apart = next(((own, other) for own, other in zip(place.levels, key.levels, strict=False) if own != other), None)
        if apart is None or order in BY_TIME or key.newest is not None:
            return True
        level, of_cursor = apart
        comment = self._model.comments[abs(level.number)]
        bounds = [_bounds(self._model.policy, order, move) for move in comment.moves if move.number > key.moves]
        if level > of_cursor:
            has_crossed = any(Level(-high, level.number) < of_cursor for _, high in bounds)
        else:
            has_crossed = any(Level(-low, level.number) > of_cursor for low, _ in bounds)
        self._model.reached.count("thread pages without comments that crossed the cursor", has_crossed)
        return not has_crossed

    def _hidden(self, place: Place, deepest: int) -> int:
        return self.visible_descendants(place.comment) if len(place.levels) > deepest else 0

    def _level(self, comment: Comment, order: str, values: Values | None) -> Level:
        value = self._value(comment, order)
        if values is not None:
            new = formulas.value(self._model.policy, order, posted_at=0, up=1, down=0, now=0)
            value = values.get(comment.number, new)
        return Level(value, comment.number) if order == "OLDEST" else Level(-value, -comment.number)

    def _value(self, comment: Comment, order: str) -> float:
        formula = "TIME" if order in BY_TIME else order
        return formulas.value(
            self._model.policy, formula, comment.posted_at, len(comment.up), len(comment.down), self._model.now
        )

    def _count_cases(self, edges: Sequence[ThreadEdge], order: str, under: int | None, key: ThreadKey) -> None:
        reached = self._model.reached
        reached.count("thread pages after a cursor", bool(key.levels and edges))
        reached.count("pinned thread pages after a cursor", bool(key.newest and key.levels and edges))
        reached.count("thread pages under a comment", under is not None and bool(edges))
        reached.count("hidden replies", any(edge.hidden for edge in edges))
        is_gone = bool(key.levels) and abs(key.levels[-1].number) not in self._model.comments
        reached.count("cursors of deleted comments", is_gone)
        for one, other in pairwise([edge.node for edge in edges]):
            is_equal = one.parent is other.parent and self._value(one, order) == self._value(other, order)
            reached.count("equal values of comments", is_equal)
        reached.count("threads with removed comments", any(edge.node.state in ("PENDING", "REMOVED") for edge in edges))


def _bounds(policy: formulas.Policy, order: str, move: Move) -> tuple[float, float]:
    """The least and the greatest value that a comment may have had with these votes."""
    _, up_low, up_high, down_low, down_high = move
    match order:
        case "VOTES":
            return up_low - down_high, up_high - down_low
        case "BEST":
            return formulas.best(policy, up_low, down_high), formulas.best(policy, up_high, down_low)
    if up_low == up_high and down_low == down_high:
        exact = formulas.value(policy, order, posted_at=0, up=up_low, down=down_low, now=0)
        return exact, exact
    return 0, up_high + down_high  # of CONTROVERSIAL: no value is above the number of votes
