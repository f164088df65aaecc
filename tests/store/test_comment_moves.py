"""
Votes move comments within their threads. The last of these moves are kept for a day, in one hash for the comments of an
article, so that the next page of a thread leaves out what has moved past its beginning. `article` is the number of an
article of alice.

Codes such as C4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from store import keys, threads
from store.records import Comment, Vote
from store.threads import CommentOrder, ThreadPosition, ThreadWindow
from tests.store.discussions import commented, thread

DAY = 24 * 60 * 60 * 1000  # milliseconds


def moved(store, article: int) -> str:
    """The key of the moves of an article's comments."""
    return threads.moved(store.site.partition_of_article(article), article)


def comment_key(store, comment: Comment) -> str:
    return keys.comment(store.site.partition_of_article(comment.number), comment.number)


async def by_votes(store, article: int, beyond: ThreadPosition | None = None, size: int = 9) -> list:
    """The places of a page in the order of votes."""
    page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(size, beyond=beyond))
    return list(page.places)


async def test_moves_are_kept_for_a_day_after_the_last_vote_in_the_thread(store, article, redis):
    first, second = [await commented(store, article, name) for name in ("alice", "bob")]
    assert not redis.exists(moved(store, article))
    await store.comments.vote(first.number, "carol", Vote.UP)
    redis.pexpire(moved(store, article), 1_000)
    await store.comments.vote(second.number, "carol", Vote.DOWN)
    await store.comments.vote(second.number, "dave", Vote.DOWN)

    # of each move its number, and the least and most upvotes and downvotes before it
    assert redis.hgetall(moved(store, article)) == {
        str(first.number): "1 1 1 0 0",
        str(second.number): "2 1 1 0 0,3 1 1 1 1",
    }
    assert DAY - 10_000 < redis.pttl(moved(store, article)) <= DAY
    assert not redis.hexists(comment_key(store, first), "moves")


async def test_deleted_comment_has_no_moves(store, article, redis):
    comment = await commented(store, article, "alice")
    await store.comments.vote(comment.number, "bob", Vote.UP)
    await store.comments.delete(comment.number, "alice")

    assert not redis.exists(moved(store, article))


async def test_next_vote_takes_over_the_moves_that_an_earlier_version_has_written(store, article, redis):  # C4
    """An earlier version had the moves of a comment in its hash, in the field `moves`."""
    first, second, third = [await commented(store, article, name) for name in ("alice", "bob", "carol")]
    (shown,) = await by_votes(store, article, size=1)
    assert shown.number == third.number
    for name in ("dave", "erin"):
        await store.comments.vote(third.number, name, Vote.DOWN)
    moves = redis.hget(moved(store, article), str(third.number))
    redis.hset(comment_key(store, third), "moves", moves)
    redis.delete(moved(store, article))

    await store.comments.vote(third.number, "frank", Vote.DOWN)
    assert redis.hget(moved(store, article), str(third.number)).startswith(moves + ",")
    assert not redis.hexists(comment_key(store, third), "moves")
    assert [place.number for place in await by_votes(store, article, shown.position)] == [second.number, first.number]
