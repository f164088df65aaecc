"""
Pages of threads, compared with threads that are computed from all comments. A thread has the comments of an article in
pre-order: each is followed by its replies. A place is a comment in it. `article` is the number of an article of alice.

A walk is what a reader does who goes from page to page. A pinned walk keeps the order that the comments had when its
pin was made. A position says where a walk goes on: it has the levels of a place, from the outermost ancestor to the
comment; `moves`, the number of the last vote on a comment when the walk began; and in a pinned walk `newest`, the
highest number of a comment that is shown. A stub is a deleted comment that stays in the thread, as it has replies.

Codes such as C4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from collections import Counter

import pytest

from bench.conversations import with_chain
from store import keys, threads
from store.listings import Window
from store.records import Vote
from store.threads import CommentOrder, ThreadLevel, ThreadPosition, ThreadWindow
from tests.store import discussions
from tests.store.discussions import PEOPLE, commented, comments, expected, keep_levels, thread, walked
from tests.store.pinned_walks import Model, Walk, agrees, check_page, walk_while_changing
from tests.store.reading import post, read

ORDERS = list(CommentOrder)


async def discussion(store, article: int, seed: int, turns: int = 150) -> list:
    """Comment, vote, edit and delete at random, and return all comments of the article."""
    await discussions.discuss(store, article, random.Random(seed), turns, made=[])
    return await comments(store, article)


def rows(places) -> list[tuple[int, int, int]]:
    """Number, depth and hidden descendants of each place."""
    return [(place.number, place.depth, place.hidden) for place in places]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(3))
async def test_thread_is_in_pre_order_whatever_the_size_of_a_page(store, article, order, seed):  # C4
    found = await discussion(store, article, seed)
    wanted = expected(found, order)

    assert rows((await thread(store, article, order)).places) == wanted
    for size in (1, 3, 20):
        assert rows(await walked(store, article, order, size)) == wanted
        assert rows(await walked(store, article, order, size, upwards=True)) == wanted


@pytest.mark.parametrize("max_depth", [0, 1, 3])
@pytest.mark.parametrize("seed", range(2))
async def test_comments_below_the_greatest_depth_are_counted(store, article, max_depth, seed):  # C5
    found, order = await discussion(store, article, seed), CommentOrder.VOTES
    wanted = expected(found, order, max_depth=max_depth)

    assert any(hidden for _, _, hidden in wanted)
    assert rows(await walked(store, article, order, size=7, max_depth=max_depth)) == wanted
    assert rows(await walked(store, article, order, size=7, upwards=True, max_depth=max_depth)) == wanted


async def test_thread_under_a_comment_has_its_descendants(store, article):  # C4
    found = await discussion(store, article, seed=5)
    for each in found:
        for upwards in (False, True):
            places = await walked(
                store, article, CommentOrder.BEST, size=4, upwards=upwards, under=each.number, max_depth=2
            )
            assert rows(places) == expected(found, CommentOrder.BEST, under=each.number, max_depth=2)


async def test_thread_of_an_article_without_comments_is_empty(store, article):
    for upwards in (False, True):
        page = await thread(store, article, window=ThreadWindow(10, upwards))
        assert (page.places, page.has_before, page.has_after) == ((), False, False)


async def test_equal_votes_show_the_later_comment_first_and_oldest_the_earlier(store, article):  # C4
    first = await commented(store, article, "alice")
    second = await commented(store, article, "bob")  # at the same instant

    for order in ORDERS:
        shown = [place.number for place in (await thread(store, article, order)).places]
        assert shown == sorted([first.number, second.number], reverse=order is not CommentOrder.OLDEST)


@pytest.mark.parametrize("order", ORDERS)
async def test_siblings_are_pages_of_a_listing(store, article, order):
    made = [await commented(store, article, poster) for poster in PEOPLE * 3]
    for each in made[::2]:
        await store.comments.vote(each.number, "voter", Vote.DOWN)
    wanted = [number for number, _, _ in expected(await comments(store, article), order)]

    for upwards in (False, True):
        shown, beyond = [], None
        while True:
            window = Window(4, upwards, beyond)
            (page,) = await read(
                store, threads.siblings_page(store.site, article, parent=article, order=order, window=window)
            )
            found = [position.number for position in page.positions]
            shown = found + shown if upwards else shown + found
            assert page.total == len(made)
            assert page.above == wanted.index(found[0])
            if not (page.above if upwards else page.total - page.above - len(found)):
                break
            beyond = page.positions[0 if upwards else -1]
        assert shown == wanted


async def chain(store, article: int, length: int) -> list[int]:
    """The numbers of comments of which each answers the one before it. They are by PEOPLE in turn."""
    made = [await commented(store, article, PEOPLE[0])]
    for each in range(1, length):
        made.append(await commented(store, article, PEOPLE[each % len(PEOPLE)], parent=made[-1]))
    return [each.number for each in made]


async def test_chain_is_walked_in_both_directions(store, article):
    numbers = await chain(store, article, 300)

    for upwards in (False, True):
        assert [
            place.number for place in await walked(store, article, CommentOrder.BEST, size=37, upwards=upwards)
        ] == numbers


@pytest.mark.parametrize("seed", range(4))
async def test_chain_with_branches_is_walked_in_both_directions(store, article, seed):  # C4
    chance, made = random.Random(seed), []
    parents = with_chain(size=120, depth=70, chance=chance)  # of each comment the index in `made` of what it answers
    for parent in parents:
        made.append(await commented(store, article, "bob", None if parent is None else made[parent]))
    wanted = expected(await comments(store, article), CommentOrder.VOTES)

    for size in (1, 9, 100):
        for upwards in (False, True):
            assert rows(await walked(store, article, CommentOrder.VOTES, size, upwards)) == wanted


async def test_position_keeps_a_bounded_number_of_levels(store, article):
    numbers = await chain(store, article, 100)
    sibling = await commented(store, article, "bob")
    inner = (await store.comments.post(article, parent=numbers[49], poster="bob", content="below the 50th")).comment
    wanted = [number for number, _, _ in expected(await comments(store, article), CommentOrder.OLDEST)]
    assert wanted == [*numbers, inner.number, sibling.number]

    places = await walked(store, article, CommentOrder.OLDEST, size=11)
    assert max(len(place.position.levels) for place in places) == threads.OUTER_LEVELS + threads.INNER_LEVELS
    assert [place.number for place in places] == wanted
    assert [
        place.number for place in await walked(store, article, CommentOrder.OLDEST, size=11, upwards=True)
    ] == wanted


@pytest.mark.parametrize("order", [CommentOrder.BEST, CommentOrder.VOTES, CommentOrder.CONTROVERSIAL])
@pytest.mark.parametrize("upwards", [False, True])
async def test_walk_shows_no_comment_twice_while_votes_move_them(store, article, order, upwards):
    chance = random.Random(7)
    found = await discussion(store, article, seed=3)
    for turn in range(5):
        shown: list[int] = []
        beyond = None
        while True:
            page = await thread(store, article, order, ThreadWindow(3, upwards, beyond))
            numbers = [place.number for place in page.places]
            shown = numbers + shown if upwards else shown + numbers
            if not (page.has_before if upwards else page.has_after):
                break
            beyond = page.places[0 if upwards else -1].position
            for _ in range(6):
                some = chance.choice(found)
                vote = chance.choice((Vote.UP, Vote.DOWN))
                if some.poster:
                    await store.comments.vote(some.number, f"other-{turn}-{chance.randrange(40)}", vote)
        assert len(shown) == len(set(shown))


async def test_walk_goes_on_where_the_last_comment_was_deleted(store, article):
    made = [await commented(store, article, "alice") for _ in range(4)]
    page = await thread(store, article, CommentOrder.OLDEST, ThreadWindow(2))
    await store.comments.delete(made[1].number, "alice")

    for upwards, numbers in ((False, [made[2].number, made[3].number]), (True, [made[0].number])):
        window = ThreadWindow(5, upwards, page.places[1].position)
        after = await thread(store, article, CommentOrder.OLDEST, window)
        assert [place.number for place in after.places] == numbers
        assert (after.has_before, after.has_after) == (not upwards, upwards)


async def test_position_of_a_comment_that_is_gone_with_its_parents_goes_on(store, article):
    first = await commented(store, article, "alice")
    reply = await commented(store, article, "bob", first)
    last = await commented(store, article, "alice")
    page = await thread(store, article, CommentOrder.OLDEST)
    for each, who in ((reply, "bob"), (first, "alice")):
        await store.comments.delete(each.number, who)

    window = ThreadWindow(5, beyond=page.places[1].position)
    after = await thread(store, article, CommentOrder.OLDEST, window)
    assert [place.number for place in after.places] == [last.number]


async def test_ancestors_are_read_from_the_outermost(store, article):  # C3
    numbers = await chain(store, article, 5)

    (found,) = await read(store, threads.ancestors(store.site, numbers[-1]))
    assert found == tuple(numbers[:-1])


async def test_descendants_are_told_from_others(store, article):
    found = await discussion(store, article, 9)
    numbers = [each.number for each in found]
    for each in found:
        (are_under,) = await read(store, threads.are_under(store.site, each.number, numbers))
        below = {number for number, _, _ in expected(found, CommentOrder.OLDEST, each.number)}
        assert {number for number, is_under in are_under.items() if is_under} == below


@pytest.mark.one_server
async def test_cost_of_a_page_does_not_grow_with_the_thread(store, article, redis):  # C11
    """The number of commands that the script runs depends on the page alone."""

    async def commands(window: ThreadWindow) -> int:
        redis.config_resetstat()
        await thread(store, article, window=window)
        stats = redis.info("commandstats")
        return sum(each["calls"] for name, each in stats.items() if name.startswith(("cmdstat_z", "cmdstat_hget")))

    def fill(start: int, count: int) -> None:
        partition = store.site.partition_of_article(article)
        for order in ("best", "votes", "time", "controversial"):
            redis.zadd(
                threads.REPLIES(partition, article, order), {keys.member(start + each): each for each in range(count)}
            )

    fill(1, 200)
    before = await commands(ThreadWindow(100))
    fill(1_000, 50_000)
    member = keys.member(20_000)
    middle = ThreadPosition((ThreadLevel(0, threads.Position(19_000.0, member)),), moves=0)

    assert await commands(ThreadWindow(100)) <= before
    assert await commands(ThreadWindow(100, beyond=middle)) <= 2.2 * before  # it looks whether siblings were voted on
    assert await commands(ThreadWindow(100, upwards=True, beyond=middle)) <= 2.2 * before


async def test_walks_of_concurrent_readers_and_writers_agree_at_the_end(store, article):  # C3, C4
    made: list = []
    await asyncio.gather(
        *(discussions.discuss(store, article, random.Random(seed), turns=12, made=made) for seed in range(20)),
        *(walked_loosely(store, article) for _ in range(3)),
    )
    found = await comments(store, article)
    assert rows(await walked(store, article, CommentOrder.BEST, size=9)) == expected(found, CommentOrder.BEST)


async def walked_loosely(store, article: int) -> None:
    """Read pages while others write: no page has a comment twice."""
    beyond = None
    for _ in range(20):
        page = await thread(store, article, window=ThreadWindow(5, beyond=beyond))
        numbers = [place.number for place in page.places]
        assert len(numbers) == len(set(numbers))
        beyond = page.places[-1].position if page.places else None


@pytest.fixture
def counts() -> Counter[str]:
    """How often each hard case was reached: see `pinned_walks.count_reached`."""
    return Counter()


@pytest.mark.parametrize("order", ORDERS)
async def test_pinned_walk_meets_every_comment_exactly_once(store, article, order, counts, monkeypatch):  # C12
    """While others vote, post and delete, each page has what follows in the order of the pin."""
    for seed in range(6):
        outer, inner = (1, 2) if seed % 2 else (32, 32)
        keep_levels(monkeypatch, outer=outer, inner=inner)
        monkeypatch.setattr(threads, "SHARING_PERIOD", 0 if seed % 3 else 60_000)
        model = Model(store, article, random.Random(seed))
        await model.grow(25)
        await walk_while_changing(
            model,
            order,
            is_pinned=True,
            check=lambda walk, page, beyond, model=model: check_page(model, walk, page, beyond, counts),
        )
        assert await agrees(model)
        article = (await post(store, "alice")).number

    moves = order not in (CommentOrder.NEWEST, CommentOrder.OLDEST)
    reached = ["cursor deleted", "cursor a stub", "levels missing", "equal values", "posted after the walk began"]
    reached += ["cursor moved", "crossed the cursor", "posted after the pin"] if moves else []
    assert [case for case in reached if not counts[case]] == [], counts


async def pinned(store, article: int, order: CommentOrder = CommentOrder.VOTES) -> ThreadPosition:
    """Pin a thread, and return the position at which a walk through it begins."""
    start = await threads.pin(store.site, article, order)
    assert start
    return start


async def numbers_beyond(store, article: int, beyond, size: int = 100, upwards: bool = False) -> list[int]:
    """The numbers of the comments on the page that goes on from a position."""
    page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(size, upwards, beyond))
    assert page.is_pinned == (beyond.newest is not None)
    return [place.number for place in page.places]


async def vote_up(store, comment, count: int = 3) -> None:
    for _ in range(count):
        await store.comments.vote(comment.number, f"voter-{random.random()}", Vote.UP)


async def test_pinned_page_has_the_places_before_the_first_votes(store, article):  # C4
    first, second, third = [await commented(store, article, "alice") for _ in range(3)]
    await vote_up(store, second, 1)
    start = await pinned(store, article)  # has the order after this vote
    await vote_up(store, first)
    await vote_up(store, third, 2)
    wanted = [second.number, third.number, first.number]
    await vote_up(store, second, 5)

    assert await numbers_beyond(store, article, start) == wanted
    assert await numbers_beyond(store, article, start, upwards=True) == wanted
    page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(2, beyond=start))
    assert await numbers_beyond(store, article, page.places[-1].position) == wanted[2:]


async def test_comment_that_was_voted_on_and_deleted_is_not_in_a_pinned_page(store, article):  # C6
    first, second = [await commented(store, article, "alice") for _ in range(2)]
    start = await pinned(store, article)
    await vote_up(store, second)
    await store.comments.delete(second.number, "alice")

    assert await numbers_beyond(store, article, start) == [first.number]


async def test_walks_share_a_pin_but_each_has_the_comments_posted_before_it(store, article, monkeypatch):
    first = await commented(store, article, "alice")
    start = await pinned(store, article)
    second = await commented(store, article, "bob")
    await vote_up(store, first)
    await store.comments.vote(second.number, "erin", Vote.DOWN)
    another = await pinned(store, article)
    monkeypatch.setattr(threads, "SHARING_PERIOD", 0)
    later = await pinned(store, article)

    assert start.moves == another.moves < later.moves
    assert await numbers_beyond(store, article, start) == [first.number]
    assert await numbers_beyond(store, article, another) == [second.number, first.number]
    assert await numbers_beyond(store, article, later) == [first.number, second.number]


async def test_a_bounded_number_of_pins_lives(store, article, redis, monkeypatch):
    partition, some = store.site.partition_of_article(article), await commented(store, article, "alice")
    start = await pinned(store, article)
    assert (await pinned(store, article), len(store.site.thread_pin_expiries)) == (start, 1)
    assert 0 < redis.pttl(threads.pins(partition, article)) <= threads.PIN_LIFETIME

    monkeypatch.setattr(threads, "SHARING_PERIOD", 0)
    assert await pinned(store, article) == start  # nothing has moved
    await vote_up(store, some, 1)
    monkeypatch.setattr(threads, "MAX_PINS", 1)
    assert await threads.pin(store.site, article, CommentOrder.VOTES) is None
    store.site.clock.advance(threads.PIN_LIFETIME / 1000)
    assert (await pinned(store, article)).moves == start.moves + 1
    assert redis.zrange(threads.pins(partition, article), 0, -1) == [f"votes:{start.moves + 1}"]


@pytest.mark.one_server
async def test_store_that_takes_no_writes_refuses_pins(store, article, redis):
    some = await commented(store, article, "alice")
    redis.config_set("min-replicas-to-write", 1)
    try:
        assert await threads.pin(store.site, article, CommentOrder.VOTES) is None
        by_time = await pinned(store, article, CommentOrder.OLDEST)
    finally:
        redis.config_set("min-replicas-to-write", 0)

    assert await commented(store, article, "bob")
    page = await thread(store, article, CommentOrder.OLDEST, ThreadWindow(5, beyond=by_time))
    assert (page.is_pinned, [place.number for place in page.places]) == (True, [some.number])


async def test_missing_article_has_no_pin(store, redis):
    for order in (CommentOrder.BEST, CommentOrder.VOTES):
        assert await threads.pin(store.site, 1024, order) is None
    assert redis.dbsize() == len(redis.keys("store"))


async def test_walk_goes_on_unpinned_when_its_pin_has_expired(store, article, redis):  # C4
    first, second, third = [await commented(store, article, "alice") for _ in range(3)]
    start = await pinned(store, article)
    page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(1, beyond=start))
    assert [place.number for place in page.places] == [third.number]
    for _ in range(3):
        await store.comments.vote(third.number, f"voter-{random.random()}", Vote.DOWN)
    redis.delete(threads.pins(store.site.partition_of_article(article), article))

    after = await thread(store, article, CommentOrder.VOTES, ThreadWindow(5, beyond=page.places[0].position))
    assert (after.is_pinned, [place.number for place in after.places]) == (False, [second.number, first.number])
    assert all(place.position.newest is None for place in after.places)


async def test_votes_note_the_places_of_before_only_while_there_is_a_pin(store, article, redis):
    some = await commented(store, article, "alice")
    partition, before = store.site.partition_of_article(article), {*redis.scan_iter("pin*")}
    await vote_up(store, some)
    assert {*redis.scan_iter("pin*")} == before
    start = await pinned(store, article)
    await vote_up(store, some)

    kept = threads.pinned(partition, article, "votes", start.moves)
    assert {*redis.scan_iter("pin*")} - before == {threads.pins(partition, article), kept}
    assert redis.zrange(kept, 0, -1, withscores=True) == [(keys.member(some.number), 4.0)]
    assert threads.PIN_LIFETIME < redis.pttl(kept) <= threads.PLACE_LIFETIME


async def test_pinned_walk_upwards_leaves_out_later_replies_at_the_end_of_a_chain(store, article):
    numbers = await chain(store, article, 40)
    start = await pinned(store, article)
    last = numbers[-1]
    for each in range(30):
        posted = await store.comments.post(
            article, parent=last, poster=PEOPLE[each % len(PEOPLE)], content=f"text {each}"
        )
        last = posted.comment.number

    assert await numbers_beyond(store, article, start, upwards=True) == numbers
    assert await numbers_beyond(store, article, start, size=3, upwards=True) == numbers[-3:]


@pytest.mark.parametrize("is_pinned", [True, False])
@pytest.mark.parametrize("levels", [32, 1])
async def test_ancestors_that_are_gone_are_not_shown_upwards(store, article, is_pinned, levels, monkeypatch):  # C6
    keep_levels(monkeypatch, outer=levels, inner=levels)
    numbers = await chain(store, article, 6)
    beyond = (await pinned(store, article)) if is_pinned else ThreadPosition((), moves=0)
    page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(1, upwards=True, beyond=beyond))
    assert [place.number for place in page.places] == numbers[-1:]
    for each in (4, 3, 2, 5):  # the last one takes the stubs above it with it
        await store.comments.delete(numbers[each], PEOPLE[each % len(PEOPLE)])

    wanted = numbers[:2] if levels == 32 else numbers[:1]  # nothing says any more what was above it
    assert await numbers_beyond(store, article, page.places[0].position, upwards=True) == wanted
    for each in (0, 1):
        await store.comments.delete(numbers[each], PEOPLE[each])
    assert await numbers_beyond(store, article, page.places[0].position, upwards=True) == []


@pytest.mark.parametrize("upwards", [False, True])
async def test_unpinned_walk_passes_ancestors_that_its_position_lacks_where_they_were(
    store, article, upwards, monkeypatch
):  # C4
    keep_levels(monkeypatch, outer=1, inner=1)
    top = await commented(store, article, "alice")
    above, way, below = [await commented(store, article, name, top) for name in PEOPLE[:3]]
    inner = await commented(store, article, "dave", await commented(store, article, "dave", way))
    await vote_up(store, above, 4)
    await vote_up(store, way, 2)
    page = await thread(store, article, CommentOrder.VOTES)
    (at,) = [place for place in page.places if place.number == inner.number]
    shown = [place.number for place in page.places]
    assert shown.index(above.number) < shown.index(inner.number) < shown.index(below.number)
    for each in range(6):
        await store.comments.vote(way.number, f"mover-{each}", Vote.DOWN if upwards else Vote.UP)

    until = shown.index(inner.number)
    seen, beyond = shown[until:] if upwards else shown[: until + 1], at.position
    while True:
        page = await thread(store, article, CommentOrder.VOTES, ThreadWindow(1, upwards, beyond))
        if not page.places:
            break
        (place,) = page.places
        assert place.number not in seen
        seen.append(place.number)
        beyond = place.position
        await store.comments.vote(below.number, f"voter-{len(seen)}", Vote.UP)


@pytest.mark.parametrize("order", ORDERS)
async def test_unpinned_walk_shows_no_comment_twice(store, article, order, monkeypatch):  # C4
    """While others vote, post and delete, also below ancestors that a position does not keep."""

    def check(walk: Walk, page, beyond) -> None:
        assert len(walk.shown) == len(set(walk.shown))

    for seed in range(6):
        outer, inner = (1, 2) if seed % 2 else (32, 32)
        keep_levels(monkeypatch, outer=outer, inner=inner)
        model = Model(store, article, random.Random(seed))
        await model.grow(25)
        await walk_while_changing(model, order, is_pinned=False, check=check)
        assert await agrees(model)
        article = (await post(store, "alice")).number
