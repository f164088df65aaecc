"""A small store, and cursors of its listings, for operations that tests execute in several ways and cancel."""

import asyncio
import gc

from caches import Pool
from engine import Limits
from engine.documents import Operations
from resolvers import pagination, threads
from resolvers.threads import Thread
from schema.schema import SCHEMA
from store import records
from store.records import Position, Vote
from store.store import Store
from store.threads import CommentOrder, ThreadLevel, ThreadPosition
from tests.conftest import registered
from tests.store.discussions import commented
from tests.store.reading import post

OPERATIONS = Operations(SCHEMA, Limits(), Pool(10_000_000))  # parses and validates documents
# ids of what `filled` makes, which follow from the clock of the tests
FIRST = "article:3011197992960749"
COMMENT = "comment:3011197995008749"  # the first of FIRST
# cursors that are well formed: no position needs to exist
VOTER = pagination.encode_cursor("voters:1773", ("alice",))
OLDER = pagination.encode_cursor("timeline:alice", (1_470_311_520_000.0, "2797"))
WHOLE = Thread(article=3011197992960749, order=CommentOrder.BEST, under=None, max_depth=10)
TOP_LEVEL = ThreadLevel(depth=0, position=Position(value=0.5, member="3011197992960749"))
THREAD = threads.encode_cursor(WHOLE, ThreadPosition(levels=(TOP_LEVEL,), moves=0))
CURSORS = [
    "odd",  # the only malformed one
    THREAD,
    VOTER,
    OLDER,
    pagination.encode_cursor("followers:alice", (1e12, "vera")),
    pagination.encode_cursor("groups", ("ask",)),
]


async def filled(store: Store) -> str:
    """Fill a small store. Return the token of a user who voted."""
    token = (await store.users.register("vera", "correct horse")).token
    for name in ("alice", "Bob"):
        await registered(store, name)
    for turn in range(12):
        groups = [["show", "ask"], ["show"], []][turn % 3]
        posted = await post(store, ["alice", "Bob"][turn % 2], f"title {turn}", groups)
        await store.articles.vote(posted.number, "vera", list(Vote)[turn % 3])
    await store.follows.follow("vera", "alice")
    await discuss(store)
    return token


async def discuss(store: Store) -> None:
    """Comments on the first article: a deleted one, and replies below each other."""
    article = records.article_number(FIRST)
    store.site.clock.advance(1)  # the number of a comment is made from its time, unless that was used before
    first = await commented(store, article, "alice", text="first")
    assert first.id == COMMENT
    second = await commented(store, article, "Bob", parent=first, text="second")
    third = await commented(store, article, "vera", parent=second, text="third")
    stub = await commented(store, article, "Bob", text="fourth")
    for each in range(3):
        await commented(store, article, "alice", parent=stub, text=f"reply {each}")
    await store.comments.delete(stub.number, "Bob")
    await store.comments.edit(third.number, "vera", "edited")
    await store.comments.vote(first.number, "vera", Vote.DOWN)
    await store.comments.vote(second.number, "vera", Vote.UP)


async def with_groups(store: Store) -> str:
    """Likewise, with ten more groups."""
    token = await filled(store)
    for number in range(5):
        await post(store, "alice", f"of group {number}", [f"g{number}", f"h{number}"])
    return token


async def finish_tasks() -> None:
    """Let all tasks finish and collect garbage, so that Python logs errors that were never retrieved."""
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()
