"""
A model of a thread, the comments of an article in pre-order, while people vote, post, delete and moderate, and of what
pinned pages of it have.

A pinned walk goes through a thread page by page, with the comments in the order that they had when its pin was made. A
place is a comment in the thread. A position, the cursor of the next page, has levels: the places of a comment and of
those above it, among their siblings.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from store import threads
from store.ranking.formulas import best, controversial
from store.records import ContentState, Vote
from store.store import Store
from store.threads import CommentOrder, ThreadPage, ThreadPosition, ThreadWindow
from tests.store.discussions import BEST_Z, PEOPLE, UNLIMITED, comments, thread
from tests.store.held import set_comment_state

VOTERS = 30
VISIBLE, PENDING, REMOVED = ContentState.VISIBLE, ContentState.PENDING, ContentState.REMOVED
PageCheck = Callable[["Walk", ThreadPage, ThreadPosition | None], None]  # its arguments: walk, page and cursor


@dataclass
class Node:
    """
    A comment. `votes` has those of others than the poster. A stub is deleted or hidden. `exists` is false once the
    comment is removed from the store. `is_there` says whether the thread has a place for it: a stub has one only while
    something visible is below it.
    """

    number: int
    parent: int | None
    poster: str
    posted_at: int
    votes: dict[str, int] = field(default_factory=dict)
    is_stub: bool = False
    is_hidden: bool = False
    exists: bool = True
    is_there: bool = True

    def value(self, order: CommentOrder) -> float:
        up = 1 + sum(vote == 1 for vote in self.votes.values())
        down = sum(vote == -1 for vote in self.votes.values())
        match order:
            case CommentOrder.BEST:
                return best(up, down, BEST_Z)
            case CommentOrder.VOTES:
                return up - down
            case CommentOrder.CONTROVERSIAL:
                return controversial(up, down)
        return self.posted_at

    def value_when_posted(self, order: CommentOrder) -> float:
        return Node(number=0, parent=None, poster="", posted_at=self.posted_at).value(order)


@dataclass
class Model:
    """
    The thread of one article, in the store and in plain Python. A pin is known by its order and by `moves`, how many
    votes there were before it; `pins` has the values of all comments when it was made, by their numbers.
    """

    store: Store
    article: int
    chance: random.Random
    nodes: dict[int, Node] = field(default_factory=dict)
    pins: dict[tuple[CommentOrder, int], dict[int, float]] = field(default_factory=dict)

    def there(self) -> list[Node]:
        """The comments that have a place in the thread."""
        return [node for node in self.nodes.values() if node.is_there]

    async def post(self, parent: Node | None) -> Node:
        self.store.site.clock.advance(self.chance.choice((0, 0.001)))  # type: ignore[attr-defined]
        poster, above = self.chance.choice(PEOPLE), parent.number if parent else None
        content = f"text {self.chance.random()}"
        comment = (await self.store.comments.post(self.article, parent=above, poster=poster, content=content)).comment
        assert comment
        self.nodes[comment.number] = Node(comment.number, above, poster, comment.posted_at)
        return self.nodes[comment.number]

    async def vote(self, node: Node) -> None:
        voter, vote = f"voter-{self.chance.randrange(VOTERS)}", self.chance.choice((1, 1, -1, -1, 0))
        await self.store.comments.vote(node.number, voter, Vote(vote))
        node.votes[voter] = vote

    async def delete(self, node: Node) -> None:
        await self.store.comments.delete(node.number, node.poster)
        node.is_stub, node.is_hidden = True, False
        above: Node | None = node
        while above and above.is_stub and not above.is_hidden and not self._existing_replies(above.number):
            above.exists = False
            above = self.nodes.get(above.parent or 0)
        self._update_places(node)

    async def hide(self, node: Node) -> None:
        await set_comment_state(self.store, node.number, self.chance.choice((PENDING, REMOVED)))
        node.is_stub = node.is_hidden = True
        self._update_places(node)

    async def show(self, node: Node) -> None:
        await set_comment_state(self.store, node.number, VISIBLE)
        node.is_stub = node.is_hidden = False
        self._update_places(node)

    def _existing_replies(self, number: int) -> list[Node]:
        return [node for node in self.nodes.values() if node.parent == number and node.exists]

    def _update_places(self, node: Node) -> None:
        """Update `is_there` of a comment and of those above it."""
        above: Node | None = node
        while above:
            below = any(reply.is_there for reply in self._existing_replies(above.number))
            above.is_there = above.exists and (not above.is_stub or below)
            above = self.nodes.get(above.parent or 0)

    def replies(self, number: int | None) -> list[Node]:
        return [node for node in self.there() if node.parent == number]

    async def grow(self, turns: int) -> None:
        """Post, often below the newest comments, and vote."""
        for _ in range(turns):
            found = [node for node in self.there() if not node.is_stub]
            await self.post(self.chance.choice([None, None, *found[-3:], *found[-1:] * 3]))
            await self.vote(self.chance.choice([node for node in self.there() if not node.is_stub]))

    async def change(self, near: Node | None) -> None:
        """Vote, post, delete, hide or show again, often where a walk has come to."""
        found = [node for node in self.there() if not node.is_stub]
        is_near = near is not None and near.is_there and not near.is_stub and self.chance.random() < 0.4
        node = near if is_near and near else self.chance.choice(found)
        action = self.chance.random()
        hidden = [node for node in self.nodes.values() if node.is_hidden]
        if action < 0.6:
            await self.vote(node)
        elif action < 0.68 and len(found) > 12:
            await self.hide(node)
        elif action < 0.75 and hidden:
            await self.show(self.chance.choice(hidden))
        elif action < 0.87 or len(found) < 12:
            await self.post(self.chance.choice((None, node)))
        else:
            await self.delete(node)

    def visible_descendants(self, number: int) -> int:
        return sum((not node.is_stub) + self.visible_descendants(node.number) for node in self.replies(number))

    def order_at_pin(self, walk: "Walk") -> list[tuple[int, int]]:
        """Number and depth of all comments that there are or were, as they were ordered when the walk was pinned."""
        values = self.pins[walk.order, walk.start.moves]

        def key(node: Node) -> tuple[float, int]:
            value = values.get(node.number, node.value_when_posted(walk.order))
            return (value, node.number) if walk.order.is_ascending else (-value, -node.number)

        def below(parent: int | None, depth: int) -> Iterator[tuple[int, int]]:
            replies = [node for node in self.nodes.values() if node.parent == parent and node.number <= walk.newest]
            for node in sorted(replies, key=key):
                yield node.number, depth
                if depth < walk.max_depth:
                    yield from below(node.number, depth + 1)

        return list(below(walk.under, 0))


@dataclass
class Walk:
    """
    A reader who goes through a thread, or what is below the comment `under`, page by page. `start` is the position that
    the walk begins at, `beyond` the one that the next page goes on from, `shown` has the comments in the order of the
    thread.
    """

    order: CommentOrder
    upwards: bool
    size: int
    under: int | None
    max_depth: int
    newest: int  # the number of the newest comment when it began
    start: ThreadPosition
    beyond: ThreadPosition | None = None
    shown: list[int] = field(default_factory=list)
    is_done: bool = False

    def number(self, position: ThreadPosition | None) -> int | None:
        """The number of the comment at a position; None at the beginning."""
        return int(position.levels[-1].position.member) if position and position.levels else None

    async def next_page(self, model: Model) -> ThreadPage:
        window = ThreadWindow(self.size, self.upwards, self.beyond)
        page = await thread(model.store, model.article, self.order, window, self.under, self.max_depth)
        numbers = [place.number for place in page.places]
        self.shown = [*numbers, *self.shown] if self.upwards else [*self.shown, *numbers]
        self.is_done = not (page.has_before if self.upwards else page.has_after)
        if page.places:
            self.beyond = page.places[0 if self.upwards else -1].position
        return page


async def begin_walk(model: Model, order: CommentOrder, *, is_pinned: bool) -> Walk:
    """Begin a walk of random direction, size and depth, and note in the model the values that its pin keeps."""
    chance = model.chance
    under = chance.choice([None, None, *(node.number for node in model.there() if not node.parent)])
    start = await threads.pin(model.store.site, model.article, order) if is_pinned else None
    assert start or not is_pinned
    if start:
        values = {number: node.value(order) for number, node in model.nodes.items()}
        model.pins.setdefault((order, start.moves), values)
    size, max_depth = chance.choice((1, 1, 2, 5)), chance.choice((UNLIMITED, UNLIMITED, 0, 3))
    newest = max(model.nodes)
    return Walk(
        order,
        upwards=chance.random() < 0.5,
        size=size,
        under=under,
        max_depth=max_depth,
        newest=newest,
        start=start or ThreadPosition(levels=(), moves=0),
        beyond=start,
    )


def check_page(model: Model, walk: Walk, page: ThreadPage, beyond: ThreadPosition | None, counts: Counter[str]) -> None:
    """Compare a page of a pinned walk with the model."""
    cursor = walk.number(beyond)
    if beyond and is_lost(model, beyond):
        counts["lost"] += 1
        return
    ordered = model.order_at_pin(walk)
    at = next((i for i, (number, _) in enumerate(ordered) if number == cursor), len(ordered) if walk.upwards else -1)
    ahead, behind = (ordered[:at], ordered[at:]) if walk.upwards else (ordered[at + 1 :], ordered[: at + 1])
    there = [place for place in ahead if model.nodes[place[0]].is_there]
    wanted = there[-walk.size :] if walk.upwards else there[: walk.size]
    has_more, has_behind = len(there) > walk.size, any(model.nodes[number].is_there for number, _ in behind)

    assert page.is_pinned
    assert [(place.number, place.depth) for place in page.places] == wanted
    hidden = [model.visible_descendants(number) if depth == walk.max_depth else 0 for number, depth in wanted]
    assert [place.hidden for place in page.places] == hidden
    assert (page.has_before, page.has_after) == ((has_more, has_behind) if walk.upwards else (has_behind, has_more))
    count_reached(model, walk, beyond, cursor, counts)


def is_lost(model: Model, beyond: ThreadPosition) -> bool:
    """
    Whether nothing says any more where a position was. A cursor has the levels above it, from the article down, but not
    all of them in a deep thread: the place of the level below such a gap is known only while its comment exists.
    """
    for above, level in pairwise(beyond.levels):
        if level.depth > above.depth + 1:
            return not model.nodes[int(level.position.member)].exists
    return False


def count_reached(
    model: Model, walk: Walk, beyond: ThreadPosition | None, cursor: int | None, counts: Counter[str]
) -> None:
    """Count the hard cases that a page was in, so that a test can tell that it reaches them."""
    values = model.pins[walk.order, walk.start.moves]
    place = model.nodes[cursor] if cursor else None
    counts["pages"] += 1
    if not place:
        return
    then = values.get(place.number, place.value_when_posted(walk.order))
    counts["cursor deleted"] += not place.exists
    counts["cursor hidden"] += place.is_hidden and not place.is_there
    counts["cursor a stub"] += place.is_there and place.is_stub
    counts["cursor moved"] += place.value(walk.order) != then
    counts["levels missing"] += bool(beyond and len(beyond.levels) < beyond.levels[-1].depth + 1)
    for node in model.there():
        if node.parent == place.parent and node is not place:
            before = values.get(node.number, node.value_when_posted(walk.order))
            counts["crossed the cursor"] += (before > then) != (node.value(walk.order) > then)
            counts["equal values"] += before == then
            counts["posted after the pin"] += node.number not in values and node.number <= walk.newest
            counts["posted after the walk began"] += node.number > walk.newest


async def walk_while_changing(model: Model, order: CommentOrder, is_pinned: bool, check: PageCheck) -> None:
    """Three walks at a time, with changes between the pages. `check` gets each page and its cursor."""
    walks: list[Walk] = []
    for _ in range(3):
        walks.append(await begin_walk(model, order, is_pinned=is_pinned))
        for _ in range(6):
            await model.change(None)
    while walks:
        walk = model.chance.choice(walks)
        beyond = walk.beyond
        check(walk, await walk.next_page(model), beyond)
        if walk.is_done:
            walks.remove(walk)
        for _ in range(3):
            await model.change(model.nodes.get(walk.number(walk.beyond) or 0))


async def agrees(model: Model) -> bool:
    """Whether the store has the comments that the model has."""
    found = {comment.number for comment in await comments(model.store, model.article)}
    return found == {node.number for node in model.nodes.values() if node.exists}
