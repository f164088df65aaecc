"""
Indexes of the replies to one comment or article. Up to `FEW` replies have an index in the order BEST only, and are
sorted when they are read in another order; more have one in each order. Threads and pages are the same for both, also
where replies become many, or few again. `article` is the number of an article of alice.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as C4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random

import pytest

from store import keys, threads
from store.listings import Window
from store.records import Vote
from store.scripts.registry import FILES
from store.threads import CommentOrder, ThreadWindow
from tests.soak.threads import FEW_REPLIES
from tests.store.discussions import commented, comments, expected, thread, walked
from tests.store.reading import read, verified

FEW = 16
OTHERS = ("votes", "time", "controversial")  # orders of which few replies have no index


def index(store, article: int, order: str) -> str:
    """The key of the index of the comments that answer an article directly."""
    return threads.REPLIES(store.site.partition_of_article(article), article, order)


def sizes(redis, store, article: int) -> dict[str, int]:
    """How many replies to an article are in each index."""
    return {order: redis.zcard(index(store, article, order)) for order in ("best", *OTHERS)}


async def siblings(store, article: int, order: CommentOrder, size: int, upwards: bool = False) -> list[int]:
    """All replies to an article, page by page."""
    shown, beyond = list[int](), None
    while True:
        window = Window(size, upwards, beyond)
        (page,) = await read(
            store, threads.siblings_page(store.site, article, parent=article, order=order, window=window)
        )
        found = [position.number for position in page.positions]
        shown = found + shown if upwards else shown + found
        if not found or not (page.above if upwards else page.total - page.above - len(found)):
            return shown
        beyond = page.positions[0 if upwards else -1]


def test_script_declaration_and_soak_have_the_same_limit_of_few_replies():
    assert f"local FEW_REPLIES = {FEW} " in FILES["few_replies"].read_text()
    assert f"more than {FEW} " in threads.REPLIES.holds
    assert FEW_REPLIES == FEW


async def check_all_orders(store, article: int) -> None:
    """A thread and the pages of replies have what the hashes of all comments say."""
    found = await comments(store, article)
    for order in CommentOrder:
        wanted = [number for number, _, _ in expected(found, order)]
        assert [place.number for place in await walked(store, article, order, 7)] == wanted
        assert await siblings(store, article, order, 5) == wanted
        assert await siblings(store, article, order, 5, upwards=True) == wanted


async def vote_at_random(store, chance: random.Random, made: list) -> None:
    vote = chance.choice((Vote.UP, Vote.DOWN))
    await store.comments.vote(chance.choice(made).number, f"voter-{chance.randrange(9)}", vote)


@pytest.mark.parametrize("seed", range(3))
async def test_orders_are_right_while_replies_become_many_and_few_again(store, article, redis, seed):  # C4
    chance, made, changes = random.Random(seed), list(), 0
    for _ in range(FEW - 1):
        made.append(await commented(store, article, "alice"))
    for _ in range(60):
        had_all, action = len(made) > FEW, chance.random()
        if action < 0.5:
            await vote_at_random(store, chance, made)
        elif action < (0.6 if had_all else 0.9):
            made.append(await commented(store, article, "alice"))
        else:
            await store.comments.delete(made.pop(chance.randrange(len(made))).number, "alice")
        has_all = len(made) > FEW
        changes += has_all != had_all
        assert sizes(redis, store, article) == {"best": len(made), **dict.fromkeys(OTHERS, len(made) * has_all)}
        await check_all_orders(store, article)
    assert changes >= 4
    assert await verified(store) == []


@pytest.mark.parametrize("order", [CommentOrder.BEST, CommentOrder.VOTES, CommentOrder.CONTROVERSIAL])
async def test_pinned_walk_goes_on_when_replies_become_many(store, article, order):  # C12
    chance = random.Random(1)
    made = [await commented(store, article, "alice") for _ in range(FEW)]
    for _ in range(20):
        await vote_at_random(store, chance, made)
    wanted = [number for number, _, _ in expected(await comments(store, article), order)]
    start = await threads.pin(store.site, article, order)
    for change in (lambda: vote_at_random(store, chance, made), lambda: commented(store, article, "bob")):
        for _ in range(5):
            await change()
        shown, beyond = list[int](), start
        while page := (await thread(store, article, order, ThreadWindow(5, beyond=beyond))).places:
            await vote_at_random(store, chance, made)
            shown, beyond = [*shown, *(place.number for place in page)], page[-1].position
        assert shown == wanted


async def test_walk_that_is_not_pinned_shows_no_reply_twice_when_replies_become_many(store, article):  # C12
    made = [await commented(store, article, "alice") for _ in range(FEW)]
    chance, shown, beyond = random.Random(2), list[int](), None
    while page := (await thread(store, article, window=ThreadWindow(4, beyond=beyond))).places:
        for _ in range(8):
            await vote_at_random(store, chance, made)
        if len(shown) < FEW:
            await commented(store, article, "bob")
        shown, beyond = [*shown, *(place.number for place in page)], page[-1].position
    assert len(shown) == len(set(shown)) > 4


async def test_indexes_that_few_replies_had_in_earlier_versions_are_not_read(store, article, redis):
    """These wrote all orders for each reply, so such a store has indexes that nothing updates any more."""
    made = [await commented(store, article, "alice") for _ in range(FEW)]
    for order in OTHERS:
        redis.zadd(index(store, article, order), {keys.member(each.number): place for place, each in enumerate(made)})
    await store.comments.vote(made[3].number, "bob", Vote.UP)
    await check_all_orders(store, article)
    assert await verified(store) == []

    await commented(store, article, "alice")
    assert sizes(redis, store, article) == dict.fromkeys(("best", *OTHERS), FEW + 1)
    await check_all_orders(store, article)


async def test_deletion_removes_an_index_that_few_replies_had_in_earlier_versions(store, article, redis):
    made = [await commented(store, article, "alice") for _ in range(2)]
    redis.zadd(index(store, article, "votes"), {keys.member(each.number): 1 for each in made})
    await store.comments.delete(made[0].number, "alice")

    assert sizes(redis, store, article) == {"best": 1, **dict.fromkeys(OTHERS, 0)}


@pytest.mark.parametrize("lost", ["time", "votes", "best"])
async def test_lost_index_of_many_replies_is_reported_and_repaired(store, article, redis, lost):
    made = [await commented(store, article, "alice") for _ in range(FEW + 3)]
    await store.comments.vote(made[0].number, "bob", Vote.UP)
    before = {order: redis.zrange(index(store, article, order), 0, -1, withscores=True) for order in ("best", *OTHERS)}
    redis.delete(index(store, article, lost))

    found = await verified(store)
    assert {each.where.split()[0] for each in found} == {index(store, article, lost)}
    assert await verified(store, repair=True)
    for order, members in before.items():
        assert redis.zrange(index(store, article, order), 0, -1, withscores=True) == members
    assert await verified(store) == []
    await check_all_orders(store, article)
