"""
Cursors of threads, which are all comments on an article in the order of reading, and the cache of their pages.

L3 is a row of `docs/behaviours.md`, which a test proves.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from resolvers import threads
from resolvers.arguments import BadInput
from resolvers.context import Context
from resolvers.threads import Thread
from store import keys
from store.records import Position, Vote
from store.threads import CommentOrder, ThreadLevel, ThreadPosition
from tests.store.discussions import commented
from tests.store.reading import post

WHOLE = Thread(1541, CommentOrder.BEST, under=None, max_depth=10)


def level(depth: int, number: int = 1541 + keys.SLOTS, value: float = 0.25) -> ThreadLevel:
    """Where a cursor stands at a depth: at a comment, by default one of the slot of article 1541, with a value."""
    return ThreadLevel(depth, Position(value, keys.member(number)))


def test_cursor_of_a_thread_is_decoded_to_what_was_encoded():
    below = Thread(article=1541, order=CommentOrder.OLDEST, under=1541 + 7 * keys.SLOTS, max_depth=2**31 - 1)
    for thread, levels in ((WHOLE, (level(0), level(1))), (below, tuple(level(depth) for depth in range(100, 164)))):
        position = ThreadPosition(levels, moves=12, newest=1541 if thread == below else None)
        cursor = threads.encode_cursor(thread, position)
        assert threads.decode_cursor(thread, cursor) == position
        assert len(cursor) <= threads.MAX_CURSOR


@pytest.mark.parametrize(
    "levels",
    [
        (),
        (level(0), level(0)),
        (level(1), level(0)),
        (level(11),),
        (level(0, number=1542),),
        (level(0, value=float("nan")),),
        (level(0, value=float("inf")),),
        tuple(level(depth) for depth in range(65)),
    ],
    ids=["none", "twice", "backwards", "too deep", "other slot", "nan", "inf", "too many"],
)
def test_cursor_with_an_impossible_position_of_a_thread_is_refused(levels):  # L3
    thread = WHOLE._replace(max_depth=100) if len(levels) > 2 else WHOLE
    with pytest.raises(BadInput, match="not a valid cursor"):
        threads.decode_cursor(thread, threads.encode_cursor(thread, ThreadPosition(levels, moves=0)))


def test_other_texts_are_no_cursor_of_a_thread():
    valid = threads.encode_cursor(WHOLE, ThreadPosition((level(0),), moves=0))
    changed = urlsafe_b64encode(b"\x02" + urlsafe_b64decode(valid + "==")[1:]).decode()
    for text in ("", "?", "AQ", valid[:-4], valid + "AAAA", changed, "A" * 2_000, "\u00e4"):
        with pytest.raises(BadInput, match="not a valid cursor"):
            threads.decode_cursor(WHOLE, text)


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_page_is_cached_while_its_comments_and_its_article_are_equal(store, alice, bob):
    article = (await post(store, alice, "an article that no other test has")).number
    comment = await commented(store, article, bob)

    async def page(**arguments: object) -> threads.ThreadConnection:
        context = Context(store)
        articles = await context.reads.articles([article])
        (connection,) = await threads.thread(articles, context, order=CommentOrder.OLDEST, **arguments)
        return connection

    first, second, third = await page(first=1), await page(first=1), await page(first=1)
    assert (first.is_cacheable, second.is_cacheable) == (False, True)
    assert second is third
    assert (await page(first=1, max_depth=3)) is not second
    await store.comments.edit(comment.number, bob, "edited")
    assert [each.content for each in (await page(first=1)).nodes] == ["edited"]
    await store.comments.vote(comment.number, "vera", Vote.UP)
    assert [each.votes for each in (await page(first=1)).nodes] == [2]
    await commented(store, article, alice)
    after = await page(first=1)
    assert (after.article.comment_count, after.page_info.has_next_page) == (2, True)
