"""
Comments of one article as the store has them, and the thread that they should make: all comments in pre-order, each
followed by its replies. A place is a comment in a thread, with its depth and its position, by which a page goes on.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from functools import cmp_to_key

import pytest

from caches import POOL
from store import keys, queries, threads
from store.errors import Refusal
from store.ranking.formulas import best, controversial
from store.records import Comment, ContentState, Vote
from store.store import Store
from store.threads import CommentOrder, ThreadPage, ThreadPlace, ThreadWindow
from tests.store.reading import read

PEOPLE = ("alice", "bob", "carol", "dave", "erin")
UNLIMITED = 1_000_000  # a greatest depth that no comment has
BEST_Z = 1.281551565545  # confidence of the order BEST in standard deviations, the default of `Policy`


async def commented(store: Store, article: int, poster: str, parent: Comment | None = None, text: str = "") -> Comment:
    """Post a comment on an article, or a reply to another comment, and return it. Without a text it gets a new one."""
    above, content = parent.number if parent else None, text or f"text {random.random()}"
    comment = (await store.comments.post(article, parent=above, poster=poster, content=content)).comment
    assert comment
    return comment


async def comments(store: Store, article: int) -> list[Comment]:
    """All comments of an article as their hashes are, in the order of their numbers."""
    partition = store.site.partition_of_article(article)
    members = await store.site.redis.run(("ZRANGE", keys.tree(partition, article), 0, -1))
    numbers = sorted(int(member.split()[1]) for member in members)  # a member is `PATH NUMBER`
    found = await read(store, *(queries.hash_of(store.site, queries.COMMENTS, number) for number in numbers))
    return [comment for number, fields in zip(numbers, found, strict=True) if (comment := decoded(number, fields))]


def decoded(number: int, fields: dict[str, str]) -> Comment | None:
    """The comment that the fields of its hash are; None if there is none."""
    return queries.COMMENTS.decode(number, fields)


async def comment(store: Store, number: int) -> Comment | None:
    (fields,) = await read(store, queries.hash_of(store.site, queries.COMMENTS, number))
    return decoded(number, fields)


async def thread(
    store: Store,
    article: int,
    order: CommentOrder = CommentOrder.BEST,
    window: ThreadWindow | None = None,
    under: int | None = None,
    max_depth: int = UNLIMITED,
) -> ThreadPage:
    """A page of the thread of an article, or of what is below the comment `under`; without a window the first one."""
    window = window or ThreadWindow(threads.MAX_PLACES)
    (page,) = await read(store, threads.page(store.site, article, order, window, under=under, max_depth=max_depth))
    return page


async def walked(
    store: Store,
    article: int,
    order: CommentOrder,
    size: int,
    upwards: bool = False,
    under: int | None = None,
    max_depth: int = UNLIMITED,
) -> list[ThreadPlace]:
    """All places of a thread, page by page; `has_before` and `has_after` of each page are checked."""
    places: list[ThreadPlace] = []
    page = await thread(store, article, order, ThreadWindow(size, upwards), under, max_depth)
    assert not (page.has_after if upwards else page.has_before)
    while True:
        assert len(page.places) <= size
        places = [*page.places, *places] if upwards else [*places, *page.places]
        if not (page.has_before if upwards else page.has_after):
            return places
        beyond = (page.places[0] if upwards else page.places[-1]).position
        page = await thread(store, article, order, ThreadWindow(size, upwards, beyond), under, max_depth)
        assert page.places and (page.has_after if upwards else page.has_before)


def expected(
    found: Sequence[Comment], order: CommentOrder, under: int | None = None, max_depth: int = UNLIMITED
) -> list[tuple[int, int, int]]:
    """The thread that comments make: number, depth and hidden descendants of each place."""
    replies = defaultdict(list)
    for each in found:
        replies[each.parent].append(each)
    for siblings in replies.values():
        siblings.sort(key=cmp_to_key(lambda a, b: -1 if _key(order, a) > _key(order, b) else 1))
    places = []
    stack = [(each, 0) for each in reversed(replies[under])]
    while stack:
        each, depth = stack.pop()
        hidden = descendants(found, each.number) if depth == max_depth else 0
        places.append((each.number, depth, hidden))
        if depth < max_depth:
            stack += [(reply, depth + 1) for reply in reversed(replies[each.number])]
    return places


def descendants(found: Sequence[Comment], number: int) -> int:
    """How many visible comments are below a comment."""
    below, count = {number}, 0
    for each in found:  # parents have lower numbers
        if each.parent in below:
            below.add(each.number)
            count += each.state is ContentState.VISIBLE
    return count


def _key(order: CommentOrder, each: Comment) -> tuple[float, int]:
    """What siblings are sorted by: the greatest is shown first."""
    match order:
        case CommentOrder.BEST:
            return best(each.upvotes, each.downvotes, BEST_Z), each.number
        case CommentOrder.VOTES:
            return each.votes, each.number
        case CommentOrder.CONTROVERSIAL:
            return controversial(each.upvotes, each.downvotes), each.number
        case CommentOrder.NEWEST:
            return each.posted_at, each.number
    return -each.posted_at, -each.number


async def discuss(
    store: Store, article: int, chance: random.Random, turns: int, made: list[Comment] | None = None
) -> None:
    """
    Comment, vote, edit and delete at random, once each turn. `made` are the comments of calls before, to which the new
    ones are appended; some may be deleted.
    """
    made = [] if made is None else made
    for _ in range(turns):
        store.site.clock.advance(chance.choice((0, 0.001, 1)))  # type: ignore[attr-defined]
        who, some = chance.choice(PEOPLE), chance.choice(made) if made else None
        action = chance.random()
        try:
            if action < 0.5 or some is None:
                parent = chance.choice([None, *made[-3:], some])
                made.append(await commented(store, article, who, parent))
            elif action < 0.85:
                voter = chance.choice((who, f"voter-{chance.randrange(6)}"))
                await store.comments.vote(some.number, voter, chance.choice(list(Vote)))
            elif action < 0.9:
                await store.comments.edit(some.number, some.poster or "", "another text")
            else:
                await store.comments.delete(some.number, some.poster or "")
        except Refusal:
            pass  # the comment was deleted, or it is the poster who votes


def keep_levels(monkeypatch: pytest.MonkeyPatch, *, outer: int, inner: int) -> None:
    """Let positions in threads keep only so many ancestors of a comment: the outermost ones, and the innermost ones."""
    monkeypatch.setattr(threads, "PARTITION_PAGES", POOL.cache("places", 1))  # other tests have equal replies
    monkeypatch.setattr(threads, "OUTER_LEVELS", outer)
    monkeypatch.setattr(threads, "INNER_LEVELS", inner)


async def died(*arguments: object) -> None:
    """Takes the place of the function that removes comments, as if the process died before it."""


async def numbers_by(store: Store, username: str) -> list[int]:
    """The numbers in a user's list of comments, newest first."""
    partition = store.site.partition_of_user(username)
    return [
        int(member)
        for member in await store.site.redis.run(("ZRANGE", keys.comments(partition, username), 0, -1, "REV"))
    ]
