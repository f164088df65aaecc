"""
Threads as clients read them: pages, cursors and arguments. A thread has all comments on an article in the order of
reading, down to a greatest depth: those below it are hidden, and counted.

Codes such as C4 name rows of docs/behaviours.md.
"""

import random

import pytest

from resolvers import threads
from resolvers.threads import Thread
from store import keys
from store import threads as store_threads
from store.records import Position, Vote
from store.threads import CommentOrder, ThreadLevel, ThreadPosition
from tests.conftest import registered
from tests.store import discussions
from tests.store.discussions import PEOPLE, commented, comments, expected
from tests.store.reading import post

THREAD = """query($id: ID!, $order: CommentOrder, $under: ID, $maxDepth: Int, $first: Int, $after: String,
    $last: Int, $before: String, $pinned: Boolean) { article(id: $id) {
  thread(order: $order, under: $under, maxDepth: $maxDepth, pinned: $pinned,
    first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id } edges { cursor hiddenReplyCount node { id depth state content poster { username } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
Row = tuple[int, int, int]  # of a comment: its number, its depth, and how many comments below it are hidden


@pytest.fixture
async def article(store) -> int:
    """The number of an article of alice, whom the other `PEOPLE` may answer."""
    for name in PEOPLE:
        await registered(store, name)
    return (await post(store, "alice")).number


async def page(ask, article: int, **variables) -> dict:
    answer = await ask(THREAD, stats=False, id=f"article:{article}", **variables)
    assert "errors" not in answer, answer
    return answer["data"]["article"]["thread"]


async def message(ask, article: int, **variables) -> str:
    """The message of the BAD_USER_INPUT that a thread answers with."""
    (error,) = (await ask(THREAD, stats=False, id=f"article:{article}", **variables))["errors"]
    assert (error["extensions"]["code"], error["path"]) == ("BAD_USER_INPUT", ["article", "thread"])
    return error["message"]


def rows(found: dict) -> list[Row]:
    """The rows of a connection of comments, whose `nodes` and `edges` must agree."""
    assert found["nodes"] == [{"id": edge["node"]["id"]} for edge in found["edges"]]
    return [
        (int(node["id"].removeprefix("comment:")), node["depth"], edge["hiddenReplyCount"])
        for edge in found["edges"]
        for node in (edge["node"],)
    ]


async def walked(ask, article: int, size: int, upwards: bool, **variables) -> list[Row]:
    """The rows of all pages of a thread; the flags and cursors of each page are checked."""
    shown: list[Row] = []
    cursor, is_first = None, True
    while True:
        around = {"last": size, "before": cursor} if upwards else {"first": size, "after": cursor}
        found = await page(ask, article, **around, **variables)
        info, read = found["pageInfo"], rows(found)
        shown = [*read, *shown] if upwards else [*shown, *read]
        assert len(read) <= size
        assert info["hasNextPage" if upwards else "hasPreviousPage"] == (not is_first)
        if not info["hasPreviousPage" if upwards else "hasNextPage"]:
            return shown
        assert len(read) == size
        assert info["startCursor"] == found["edges"][0]["cursor"]
        assert info["endCursor"] == found["edges"][-1]["cursor"]
        cursor, is_first = info["startCursor" if upwards else "endCursor"], False


@pytest.mark.many_partitions
@pytest.mark.parametrize("seed", range(2))
async def test_pages_make_the_thread_of_a_plain_model_whatever_their_size(store, ask, article, seed):  # C4, C5, C6
    """Random discussions with deleted comments, by every order, in whole and below comments, of any greatest depth."""
    chance = random.Random(seed)
    await discussions.discuss(store, article, chance, turns=90)
    found = await comments(store, article)
    assert any(each.poster is None for each in found)
    depths = {each.number: each.depth for each in found}

    for order in CommentOrder:
        for under in (None, *chance.sample(sorted(depths), 3)):
            max_depth = chance.choice((0, 1, 2, 5, 2**31 - 1))
            begin = 0 if under is None else depths[under] + 1
            wanted = [
                (number, begin + depth, hidden) for number, depth, hidden in expected(found, order, under, max_depth)
            ]
            size, upwards = chance.choice((1, 2, 5, 30, 500)), chance.random() < 0.5
            arguments = {"order": order.name, "maxDepth": max_depth, "under": under and f"comment:{under}"}
            assert await walked(ask, article, size, upwards, **arguments) == wanted
            total = discussions.descendants(found, under) if under else sum(each.poster is not None for each in found)
            assert (await page(ask, article, first=1, **arguments))["totalCount"] == total


async def test_thread_is_by_best_and_ten_levels_deep_by_default(store, ask, article):  # C5
    chain = [await commented(store, article, "bob")]
    for _ in range(13):
        chain.append(await commented(store, article, "carol", chain[-1]))
    worse = await commented(store, article, "dave")
    await store.comments.vote(worse.number, "erin", Vote.DOWN)
    wanted = [(each.number, each.depth, 3 if each.depth == 10 else 0) for each in chain[:11]]

    for arguments in ({}, {"order": None, "maxDepth": None, "under": None}, {"order": "BEST", "maxDepth": 10}):
        found = await page(ask, article, **arguments)
        assert rows(found) == [*wanted, (worse.number, 0, 0)]
        assert found["totalCount"] == 15
    below = await page(ask, article, under=f"comment:{chain[10].number}")
    assert rows(below) == [(each.number, each.depth, 0) for each in chain[11:]]


async def test_stub_in_a_thread_has_neither_content_nor_poster(store, ask, article):  # C6
    top = await commented(store, article, "bob", text="to be deleted")
    await commented(store, article, "carol", top)
    await store.comments.delete(top.number, "bob")

    found = await page(ask, article)
    assert found["totalCount"] == 1
    assert found["edges"][0]["node"] == {
        "id": f"comment:{top.number}",
        "depth": 0,
        "state": "DELETED",
        "content": None,
        "poster": None,
    }


@pytest.mark.many_partitions
async def test_thread_below_a_comment_of_another_article_is_empty(store, ask, article):
    other = (await post(store, "alice")).number  # in the same partition, and of the same slot
    third = (await post(store, "bob")).number
    for each in (other, third):
        await commented(store, each, "carol", await commented(store, each, "bob"))
    numbers = [(await comments(store, each))[0].number for each in (other, third)]
    top = await commented(store, article, "bob")
    reply = await commented(store, article, "carol", top)
    for each in (reply, top):
        await store.comments.delete(each.number, each.poster)

    for number in (*numbers, top.number, article, 5):
        found = await page(ask, article, under=f"comment:{number}")
        assert (found["edges"], found["totalCount"]) == ([], 0)
        assert not found["pageInfo"]["hasNextPage"] and not found["pageInfo"]["hasPreviousPage"]


async def test_wrong_arguments_of_a_thread_are_refused(ask, article):
    assert await message(ask, article, under="odd") == "a comment's id looks like comment:1541, not odd"
    assert await message(ask, article, under=f"article:{article}") == (
        f"a comment's id looks like comment:1541, not article:{article}"
    )
    assert await message(ask, article, maxDepth=-1) == "maxDepth is at least 0, not -1"


async def test_cursor_of_another_thread_is_refused(store, ask, article):
    other = (await post(store, "alice")).number
    tops = [await commented(store, each, "bob") for each in (article, other)]
    for top in tops:
        for _ in range(2):
            await commented(store, top.article, "carol", top)
    cursor = (await page(ask, article, first=2))["pageInfo"]["endCursor"]
    assert len((await page(ask, article, first=5, after=cursor))["edges"]) == 1

    for changed in ({"order": "VOTES"}, {"under": f"comment:{tops[0].number}"}, {"maxDepth": 11}):
        assert await message(ask, article, after=cursor, **changed) == "this cursor belongs to another listing"
    assert await message(ask, other, after=cursor) == "this cursor belongs to another listing"
    (error,) = (await ask(f'{{ articles(after: "{cursor}") {{ totalCount }} }}'))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"


@pytest.mark.parametrize("seed", range(2))
async def test_forged_positions_of_a_thread_are_refused_or_give_a_page(store, ask, article, seed):
    """The positions name comments that exist, at depths where they are not, with values that they never had."""
    chance = random.Random(seed)
    other = (await post(store, "alice")).number
    for each in (article, other):
        await discussions.discuss(store, each, chance, turns=30)
    numbers = [each.number for some in (article, other) for each in await comments(store, some)]
    for _ in range(40):
        under = chance.choice((None, None, *numbers))
        thread = Thread(article, chance.choice(list(CommentOrder)), under, chance.choice((0, 3, 2**31 - 1)))
        depths = sorted(chance.sample(range(chance.choice((3, 2**32))), chance.randint(1, 3)))
        values = (0.0, -1e308, 1e308, 5e-324, 1e12, chance.random())
        positions = [Position(chance.choice(values), keys.member(chance.choice((*numbers, article)))) for _ in depths]
        levels = map(ThreadLevel, depths, positions)
        moves, newest = chance.choice(((0, None), (2**53 - 1, 2**53 - 1), (0, 1)))
        cursor = threads.encode_cursor(thread, ThreadPosition(tuple(levels), moves, newest))
        around = {"last": 3, "before": cursor} if chance.random() < 0.5 else {"first": 3, "after": cursor}
        about = {"order": thread.order.name, "maxDepth": thread.max_depth, "under": under and f"comment:{under}"}
        answer = await ask(THREAD, stats=False, id=f"article:{article}", **around, **about)
        codes = {error["extensions"]["code"] for error in answer.get("errors", ())}
        assert codes <= {"BAD_USER_INPUT"}, (thread, depths, positions, around)


async def test_walk_through_a_thread_goes_on_after_votes_and_deletions(store, ask, article):
    made = [await commented(store, article, PEOPLE[turn % 5]) for turn in range(9)]
    first = await page(ask, article, first=3, order="VOTES")
    shown = rows(first)
    await store.comments.vote(made[0].number, "voter", Vote.UP)  # it was on a later page, and is above the cursor now
    await store.comments.delete(shown[-1][0], made[6].poster)  # that of the cursor
    rest = await page(ask, article, first=9, after=first["pageInfo"]["endCursor"], order="VOTES")

    numbers = [number for number, _, _ in (*shown, *rows(rest))]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) == {each.number for each in made} - {made[0].number}


async def test_threads_of_several_articles_are_read_together(store, ask, article):
    other = (await post(store, "alice")).number
    for each in (article, other):
        await commented(store, each, "bob")
    answer = await ask("{ articles { nodes { id thread { totalCount nodes { article { id } } } } } }")

    for node in answer["data"]["articles"]["nodes"]:
        assert node["thread"] == {"totalCount": 1, "nodes": [{"article": {"id": node["id"]}}]}


@pytest.mark.parametrize("upwards", [False, True])
@pytest.mark.parametrize("order", [CommentOrder.BEST, CommentOrder.OLDEST])
async def test_pinned_walk_has_every_comment_once_under_many_votes(store, ask, article, order, upwards):  # C4
    chance = random.Random(1)
    made = [await commented(store, article, "alice")]
    for _ in range(30):
        made.append(await commented(store, article, chance.choice(PEOPLE), chance.choice((None, *made))))
        await store.comments.vote(chance.choice(made).number, f"voter-{chance.random()}", Vote.UP)
    wanted = [number for number, _, _ in expected(await comments(store, article), order, max_depth=10)]
    size, shown, cursor = ("last" if upwards else "first"), [], {"pinned": True}
    while cursor is not None:
        found = await page(ask, article, order=order.name, **{size: 3}, **cursor)
        numbers, info = [number for number, _, _ in rows(found)], found["pageInfo"]
        shown = [*numbers, *shown] if upwards else [*shown, *numbers]
        name, end, more = (
            ("before", "startCursor", "hasPreviousPage") if upwards else ("after", "endCursor", "hasNextPage")
        )
        cursor = {name: info[end]} if info[more] else None
        for _ in range(20):
            await store.comments.vote(chance.choice(made).number, f"voter-{chance.random()}", Vote.UP)
        await commented(store, article, "alice", chance.choice((None, *made)))

    assert shown == wanted


async def test_walk_whose_pin_is_gone_goes_on_and_names_the_thread(store, ask, article, redis, monkeypatch):
    made = [await commented(store, article, name) for name in PEOPLE]
    arguments = {"id": f"article:{article}", "first": 2, "order": "VOTES"}
    first = await ask(THREAD, **arguments, pinned=True)
    assert "expiredPins" not in first["extensions"]
    cursor = first["data"]["article"]["thread"]["pageInfo"]["endCursor"]
    redis.delete(*redis.keys("pins:*"))  # a pin is the copy of an order, from which later pages are read

    second = await ask(THREAD, **arguments, after=cursor)
    assert second["extensions"]["expiredPins"] == [f"thread:{article}:votes"]
    assert [number for number, *_ in rows(second["data"]["article"]["thread"])] == [made[2].number, made[1].number]
    third = await ask(THREAD, **arguments, after=second["data"]["article"]["thread"]["pageInfo"]["endCursor"])
    assert "expiredPins" not in third["extensions"]

    monkeypatch.setattr(store_threads, "MAX_PINS", 0)
    refused = await ask(THREAD, **arguments, pinned=True)
    assert refused["extensions"]["expiredPins"] == [f"thread:{article}:votes"]
    assert rows(refused["data"]["article"]["thread"]) == rows(first["data"]["article"]["thread"])
