"""
Pages of comments: the answers to an article, the replies to a comment, and the comments of a user.

Codes such as C4 name rows of docs/behaviours.md.
"""

import random

import pytest

from store import keys
from store.records import Vote
from store.threads import CommentOrder
from tests.conftest import registered
from tests.store import discussions
from tests.store.discussions import PEOPLE, commented, comments, expected
from tests.store.reading import post

PAGE = """(first: $first, after: $after, last: $last, before: $before ORDER) {
  totalCount edges { cursor node { id state } } nodes { id }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }"""
VARIABLES = "$id: ID!, $first: Int, $after: String, $last: Int, $before: String"
ORDERED = f"query({VARIABLES}, $order: CommentOrder) {{ node(id: $id) {{ "
ANSWERS = f"{ORDERED} ... on Article {{ page: comments{PAGE} }} }} }}".replace("ORDER", ", order: $order")
REPLIES = f"{ORDERED} ... on Comment {{ page: replies{PAGE} }} }} }}".replace("ORDER", ", order: $order")
OF_USER = f"query({VARIABLES}) {{ node(id: $id) {{ ... on User {{ page: comments{PAGE} }} }} }}".replace("ORDER", "")


@pytest.fixture
async def article(store) -> int:
    for name in PEOPLE:
        await registered(store, name)
    return (await post(store, "alice")).number


async def page(ask, query: str, **variables) -> dict:
    answer = await ask(query, stats=False, **variables)
    assert "errors" not in answer, answer
    return answer["data"]["node"]["page"]


async def walked(ask, query: str, size: int, upwards: bool = False, **variables) -> list[int]:
    """All comments of a connection, page by page. The flags of each page, its cursors and its total are checked."""
    shown: list[int] = []
    cursor, is_first = None, True
    while True:
        around = {"last": size, "before": cursor} if upwards else {"first": size, "after": cursor}
        found = await page(ask, query, **around, **variables)
        numbers = [int(edge["node"]["id"].removeprefix("comment:")) for edge in found["edges"]]
        shown = [*numbers, *shown] if upwards else [*shown, *numbers]
        info = found["pageInfo"]
        assert found["nodes"] == [{"id": f"comment:{number}"} for number in numbers]
        assert len(numbers) <= size
        assert info["hasNextPage" if upwards else "hasPreviousPage"] == (not is_first)
        if numbers:
            assert info["startCursor"] == found["edges"][0]["cursor"]
            assert info["endCursor"] == found["edges"][-1]["cursor"]
        if not info["hasPreviousPage" if upwards else "hasNextPage"]:
            assert found["totalCount"] == len(shown)
            return shown
        cursor, is_first = info["startCursor" if upwards else "endCursor"], False


@pytest.mark.parametrize("order", CommentOrder)
async def test_pages_of_siblings_make_the_same_list_whatever_their_size(store, ask, article, order):  # C4
    await discussions.discuss(store, article, random.Random(order.value), turns=60)
    found = await comments(store, article)
    # by the number of a comment, or None for the article itself: the id of the node, and the numbers of its answers
    parents = {None: f"article:{article}", **{each.number: f"comment:{each.number}" for each in found}}
    wanted = {
        parent: [number for number, depth, _ in expected(found, order, parent) if depth == 0] for parent in parents
    }
    fewest, *_, several, most = sorted(set(parents) - {None}, key=lambda parent: len(wanted[parent]))
    assert len(wanted[None]) > 2 and len(wanted[several]) > 1

    for parent in (None, fewest, several, most):
        query, id = REPLIES if parent else ANSWERS, parents[parent]
        for size in (1, 3, 100):
            for upwards in (False, True):
                assert await walked(ask, query, size, upwards, id=id, order=order.name) == wanted[parent]


async def test_order_of_siblings_is_best_by_default(store, ask, article):
    low, high = [await commented(store, article, name) for name in ("bob", "carol")]
    await store.comments.vote(low.number, "dave", Vote.UP)
    for order in (None, "BEST"):
        assert await walked(ask, ANSWERS, 5, id=f"article:{article}", order=order) == [low.number, high.number]


@pytest.mark.many_partitions
async def test_comments_of_a_user_are_the_newest_first(store, ask, article, clock):
    other = (await post(store, "erin")).number
    own = []
    for turn in range(7):
        clock.advance(turn % 2)
        own.append(await commented(store, (article, other)[turn % 2], "bob"))
        await commented(store, article, "carol", own[-1] if turn % 2 == 0 else None)
    wanted = [each.number for each in sorted(own, key=lambda each: (each.posted_at, each.number), reverse=True)]

    for size in (1, 3, 10):
        for upwards in (False, True):
            assert await walked(ask, OF_USER, size, upwards, id="user:bob") == wanted
    await store.comments.delete(own[0].number, "bob")  # which leaves a stub, as it has a reply
    wanted.remove(own[0].number)
    assert await walked(ask, OF_USER, 4, id="user:bob") == wanted
    await store.articles.delete(other, "erin")
    remaining = [each.number for each in own if each.article == article and each.number in wanted]
    assert await walked(ask, OF_USER, 4, id="user:bob") == remaining[::-1]


async def test_comments_without_their_article_are_not_shown_in_the_list_of_their_poster(store, ask, article):
    await commented(store, article, "bob")
    await store.site.redis.run(("DEL", keys.article(store.site.partition_of_article(article), article)))

    found = await page(ask, OF_USER, id="user:bob", first=5)
    assert found["edges"] == []
    assert found["pageInfo"]["endCursor"] is not None  # a client may go on after it


@pytest.mark.parametrize("query", [ANSWERS, REPLIES])
async def test_cursor_of_other_siblings_is_refused(store, ask, article, query):
    top = await commented(store, article, "bob")
    for _ in range(2):
        await commented(store, article, "carol", top)
    other = OF_USER if query is REPLIES else REPLIES
    id = "user:carol" if query is REPLIES else f"comment:{top.number}"
    cursor = (await page(ask, other, id=id, first=1))["pageInfo"]["endCursor"]
    right = f"comment:{top.number}" if query is REPLIES else f"article:{article}"

    (error,) = (await ask(query, id=right, after=cursor))["errors"]
    assert error["message"] == "this cursor belongs to another listing"
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    cursor = (await page(ask, query, id=right, first=1))["pageInfo"]["endCursor"]
    (error,) = (await ask(query, id=right, after=cursor, order="VOTES"))["errors"]
    assert error["message"] == "this cursor belongs to another listing"
