"""
A conversation, which is an article with its comments, is computed from rows of the database once it is archived, and
answers what Redis answers for the same comments (D5).

A place is a comment in a thread, a position is where it stands there, by which a page goes on.

`mirrored` brings the database up to date with the log of the store. `on_both` runs a test with SQLite and with
PostgreSQL.

Codes such as D5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from archive.conversations import Conversation, conversation
from database import conversations
from store import keys, threads
from store.errors import Refusal
from store.listings import Window
from store.records import Comment, ContentState
from store.threads import CommentOrder, ThreadPage, ThreadPosition, ThreadWindow
from tests.conftest import registered
from tests.database.conftest import mirrored, on_both
from tests.store import discussions, reading
from tests.store.discussions import PEOPLE, UNLIMITED, commented, discuss, expected, keep_levels, thread
from tests.store.held import set_comment_state
from tests.store.reading import post, read

ORDERS = list(CommentOrder)
DEPTHS = (UNLIMITED, 0, 2)
Shown = tuple[list[Any], bool, bool, bool]  # places, has_before, has_after and is_pinned of a page


@pytest.fixture
async def article(store) -> int:
    for name in PEOPLE:
        await registered(store, name)
    return (await post(store, "alice")).number


async def of_rows(store, database, article: int) -> Conversation:
    """The conversation of an article, computed from its rows, which are in any order."""
    await mirrored(store, database)
    rows = await database.run(conversations.comments, article)
    return conversation(article, random.sample(rows, len(rows)), store.site.policy.best_z)


async def hide_and_delete(store, made: Sequence[Comment], chance: random.Random) -> None:
    """Bring some comments into any state, and delete some."""
    states = (ContentState.REMOVED, ContentState.PENDING, ContentState.REMOVED, ContentState.VISIBLE)
    for each in chance.sample(made, len(made) // 2):
        with suppress(Refusal):  # it was deleted before
            if chance.random() < 0.5:
                await set_comment_state(store, each.number, chance.choice(states))
            else:
                await store.comments.delete(each.number, each.poster)


def shown(page: ThreadPage) -> Shown:
    """A page without the number of the last vote, which a conversation does not have."""
    places = [place._replace(position=place.position._replace(moves=0)) for place in page.places]
    return places, page.has_before, page.has_after, page.is_pinned


def without_levels(page: Shown) -> Shown:
    """A page with number, depth and hidden descendants of each place, and without its position: it has the levels."""
    return [place[:3] for place in page[0]], *page[1:]


async def last_move(store, article: int) -> int:
    """The number of the last vote on a comment in the partition of an article, where these votes are counted."""
    return int(await store.site.redis.run(("GET", threads.moves(store.site.partition_of_article(article)))) or 0)


@on_both
@pytest.mark.parametrize("seed", range(4))
async def test_comments_and_counts_are_those_of_redis(store, each_database, article, seed):  # D5
    made, chance = [], random.Random(seed)
    await discuss(store, article, chance, turns=120, made=made)
    await hide_and_delete(store, made, chance)

    found = await of_rows(store, each_database, article)
    stored = {each.number: each for each in await discussions.comments(store, article)}
    assert found.comments == stored
    record = await reading.article(store, article)
    assert (found.comment_count, found.active_at) == (record.comment_count, record.active_at)
    for number in (*stored, article):
        counts, ancestors, under = await read(
            store,
            threads.descendant_counts(store.site, store.site.partition_of_article(article), [number]),
            threads.ancestors(store.site, number),
            threads.are_under(store.site, number, list(stored)),
        )
        assert found.below.get(number, 0) == counts[number]
        assert found.ancestors(number) == ancestors
        assert {each: int(found.is_under(number, each)) for each in stored} == under


@on_both
@pytest.mark.parametrize("seed", range(4))
async def test_pages_of_threads_are_those_of_redis(store, each_database, article, seed):  # D5
    """From any place, in both directions, also from places as they were before votes, removals and deletions."""
    made, chance, reached = [], random.Random(seed), Counter()
    await discuss(store, article, chance, turns=70, made=made)
    early = {order: (await thread(store, article, order)).places for order in ORDERS}
    await discuss(store, article, chance, turns=70, made=made)
    await hide_and_delete(store, made, chance)

    found, moves = await of_rows(store, each_database, article), await last_move(store, article)
    for order, upwards, depth in product(ORDERS, (False, True), DEPTHS):
        whole = found.page(order, ThreadWindow(500), max_depth=depth).places
        under = chance.choice([None, None, *found.comments])
        places = [*whole, *(place for place in early[order] if place.depth <= depth)]
        gone = [place for place in places if not found.is_shown(place.number)]
        for place in (*chance.sample(places, min(len(places), 12)), *gone[:4]):
            beyond = place.position._replace(moves=moves)
            window = ThreadWindow(chance.choice((1, 2, 7, 500)), upwards, chance.choice((None, beyond, beyond)))
            root = None if window.beyond else under
            page = shown(found.page(order, window, under=root, max_depth=depth))
            assert page == shown(await thread(store, article, order, window, root, depth))
            reached["gone"] += window.beyond is not None and not found.is_shown(place.number)
            reached["pages"] += len(page[0]) > 1
    assert reached["gone"] > 20 and reached["pages"] > 100


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_walks_below_a_comment_are_those_of_redis(store, each_database, article, seed):  # D5
    made, chance = [], random.Random(seed)
    await discuss(store, article, chance, turns=80, made=made)
    found = await of_rows(store, each_database, article)

    for number in found.comments:
        order, upwards, depth = chance.choice(ORDERS), chance.random() < 0.5, chance.choice(DEPTHS)
        places, beyond = [], None
        while True:
            window = ThreadWindow(3, upwards, beyond)
            page = found.page(order, window, under=number, max_depth=depth)
            places = [*page.places, *places] if upwards else [*places, *page.places]
            if not (page.has_before if upwards else page.has_after):
                break
            beyond = page.places[0 if upwards else -1].position
        walked = await discussions.walked(store, article, order, size=3, upwards=upwards, under=number, max_depth=depth)
        rows = [place[:3] for place in walked]
        assert [place[:3] for place in places] == rows


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_pinned_walks_are_those_of_redis(store, each_database, article, seed):  # C12 D5
    """
    A pinned walk shows the thread as it was at the first page. It may go on in Redis with the cursors of a
    conversation, and in a conversation with those of Redis.
    """
    made, chance = [], random.Random(seed)
    await discuss(store, article, chance, turns=60, made=made)
    late = await commented(store, article, "alice")
    found = await of_rows(store, each_database, article)

    for order, upwards in product(ORDERS, (False, True)):
        start = await threads.pin(store.site, article, order)
        beyond, own, count = start, found.pinned(), 0
        while beyond:
            page = await thread(store, article, order, ThreadWindow(4, upwards, beyond))
            for position in (beyond, own):
                pinned = found.page(order, ThreadWindow(4, upwards, position), max_depth=UNLIMITED)
                assert [place[:3] for place in pinned.places] == [place[:3] for place in page.places]
                assert (pinned.has_before, pinned.has_after, pinned.is_pinned) == shown(page)[1:]
            assert shown(found.page(order, ThreadWindow(4, upwards, beyond), max_depth=UNLIMITED)) == shown(page)
            edge = 0 if upwards else -1
            has_more = page.has_before if upwards else page.has_after
            beyond, own = (page.places[edge].position, pinned.places[edge].position) if has_more else (None, None)
            count += len(page.places)
        assert count == len(found.page(order, ThreadWindow(500), max_depth=UNLIMITED).places)
        before = ThreadPosition((), moves=0, newest=late.number - 1)
        pages = [await thread(store, article, order, ThreadWindow(500, upwards, before))]
        pages.append(found.page(order, ThreadWindow(500, upwards, before), max_depth=UNLIMITED))
        assert [each.is_pinned for each in pages] == [order.stored_index == "time"] * 2
        assert shown(pages[0]) == shown(pages[1])


@on_both
@pytest.mark.parametrize(("outer", "inner"), [(1, 1), (2, 3)])
async def test_positions_that_lack_levels_go_on_where_redis_does(
    store, each_database, article, outer, inner, monkeypatch
):  # D5
    """The position of a deep comment has only some of its ancestors, the levels, so that cursors stay short."""
    keep_levels(monkeypatch, outer=outer, inner=inner)
    chance, made = random.Random(inner), []
    for _ in range(60):
        made.append(await commented(store, article, "bob", chance.choice([*made[-1:] * 12, *made[-9:], None])))
    await discuss(store, article, chance, turns=60, made=made)
    places = [(order, place) for order in ORDERS for place in (await thread(store, article, order)).places]
    await hide_and_delete(store, made, chance)
    found, moves = await of_rows(store, each_database, article), await last_move(store, article)
    gaps = [(order, place) for order, place in places if len(place.position.levels) <= place.depth]

    assert len(gaps) > 150
    for order, place in chance.sample(gaps, 150):
        for upwards in (False, True):
            window = ThreadWindow(5, upwards, place.position._replace(moves=moves))
            page = found.page(order, window, max_depth=UNLIMITED)
            assert without_levels(shown(page)) == without_levels(shown(await thread(store, article, order, window)))


@on_both
@pytest.mark.parametrize("seed", range(2))
async def test_pages_of_replies_are_those_of_redis(store, each_database, article, seed):  # D5
    made, chance = [], random.Random(seed)
    await discuss(store, article, chance, turns=120, made=made)
    await hide_and_delete(store, made, chance)
    found = await of_rows(store, each_database, article)

    for parent, order, upwards in product((article, *found.replies), ORDERS, (False, True)):
        whole = found.siblings_page(parent, order, Window(500)).positions
        for beyond in (None, *chance.sample(whole, min(2, len(whole)))):
            for position in (beyond, beyond and beyond._replace(value=beyond.value + chance.choice((-1, 0.5, 1)))):
                window = Window(chance.choice((1, 3)), upwards, position)
                (page,) = await read(store, threads.siblings_page(store.site, article, parent, order, window))
                assert found.siblings_page(parent, order, window) == page


async def test_conversation_without_comments_is_empty(store, database, article):
    found = await of_rows(store, database, article)

    for upwards in (False, True):
        page = found.page(CommentOrder.BEST, ThreadWindow(10, upwards))
        assert shown(page) == ([], False, False, False) == shown(await thread(store, article, window=None))
    assert (found.comment_count, found.active_at) == (0, None)
    assert found.ancestors(keys.SLOTS) == ()


async def test_a_chain_of_ten_thousand_comments_is_walked_without_recursion():
    length = 10_000
    rows = [
        Comment(
            number=each, article=1, parent=each - 1 if each > 2 else None, depth=each - 2, poster="bob", content="text",
            posted_at=each, edited_at=None, upvotes=1, downvotes=0, imported_votes=0, reply_count=0,
            state=ContentState.VISIBLE,
        )
        for each in range(2, length + 2)
    ]  # fmt: skip
    found = conversation(1, rows, best_z=1.28)

    page = found.page(CommentOrder.BEST, ThreadWindow(3, upwards=True), max_depth=UNLIMITED)
    assert [place.number for place in page.places] == [length - 1, length, length + 1]
    page = found.page(
        CommentOrder.BEST, ThreadWindow(3, upwards=True, beyond=page.places[0].position), max_depth=UNLIMITED
    )
    assert [place[:3] for place in page.places] == expected(rows, CommentOrder.BEST)[-6:-3]
    assert found.below[2] == length - 1
    assert len(found.ancestors(length + 1)) == threads.MAX_ANCESTORS
