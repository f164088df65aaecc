"""
Pages of articles by each order, and cursors of orders whose values decay with time. A store maintains the indexes of
some orders: `reindex` chooses which.
"""

from base64 import urlsafe_b64encode

import pytest

from resolvers import subscriptions
from resolvers.arguments import BadInput
from resolvers.context import Context
from store.maintenance import reindex
from store.ranking.formulas import Order
from store.records import Vote
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

VOTE_SCORE = 432  # seconds by which a vote moves an article ahead in the order SCORE, unless a group has its own weight
PAGE = """query($order: ArticleOrder, $first: Int, $after: String, $last: Int, $before: String) {
  articles(order: $order, first: $first, after: $after, last: $last, before: $before) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


async def read_page(ask, **variables):
    """The ids of the articles of a page, in order, and its `pageInfo`."""
    answer = await ask(PAGE, **variables)
    assert "errors" not in answer
    page = answer["data"]["articles"]
    return [node["id"] for node in page["nodes"]], page["pageInfo"]


async def test_pages_by_gravity_are_consistent_over_time(store, ask, alice, bob, clock):
    posted = []
    for turn in range(6):
        posted.append(await post(store, alice))
        for voter in range(9 - turn):
            await store.articles.vote(posted[-1].number, f"voter-{voter}", Vote.UP)
        clock.advance(3600)
    whole, _ = await read_page(ask, order="GRAVITY")

    first, info = await read_page(ask, order="GRAVITY", first=2)
    clock.advance(7 * 86_400)
    second, middle = await read_page(ask, order="GRAVITY", first=2, after=info["endCursor"])
    clock.advance(7 * 86_400)
    third, end = await read_page(ask, order="GRAVITY", first=2, after=middle["endCursor"])
    back, _ = await read_page(ask, order="GRAVITY", last=2, before=middle["startCursor"])

    assert whole != (await read_page(ask, order="GRAVITY"))[0]
    assert first + second + third == whole
    assert back == first
    assert (info["hasPreviousPage"], middle["hasPreviousPage"], middle["hasNextPage"]) == (False, True, True)
    assert end["hasNextPage"] is False


async def test_standing_has_the_rank_and_its_terms(ask, store, alice, bob, clock):
    low = await post(store, alice, groups=["show"])
    clock.advance(1000)
    high = await post(store, bob)
    query = """query($id: ID!) { article(id: $id) { standing { order rank value votesToNextRank terms { name value } }
      show: standing(order: VOTES, group: "Show") { rank votesToNextRank } ask: standing(group: "ask") { rank } } }"""

    lower = (await ask(query, id=low.id))["data"]["article"]
    higher = (await ask(query, id=high.id))["data"]["article"]
    posted_at = low.posted_at / 1000
    terms = [{"name": "posting time", "value": posted_at}, {"name": "votes", "value": VOTE_SCORE}]
    assert lower == {
        "standing": {
            "order": "SCORE",
            "rank": 2,
            "value": posted_at + VOTE_SCORE,
            "votesToNextRank": 3,
            "terms": terms,
        },
        "show": {"rank": 1, "votesToNextRank": None},
        "ask": None,
    }
    assert (higher["standing"]["rank"], higher["standing"]["votesToNextRank"]) == (1, None)


async def test_gravity_cursor_without_an_instant_is_refused(ask):
    for instant in ("soon", "-1", str(2**60), "1|2"):
        cursor = urlsafe_b64encode(f"gravity|1.0|3011197992960749|{instant}".encode()).decode().rstrip("=")
        answer = await ask(PAGE, order="GRAVITY", after=cursor)
        assert answer["errors"][0]["message"] == "this is not a valid cursor"


async def test_order_that_is_not_maintained_is_refused(ask, store, alice):
    article = await post(store, alice, groups=["show"])
    await reindex.reindex(store.site, [Order.TIME, Order.GRAVITY], progress=lambda count: None)
    message = "SCORE is not maintained here; valid orders are TIME, GRAVITY"
    queries = [
        "{ articles { totalCount } }",
        "{ articles(order: SCORE, pinned: true) { totalCount } }",
        '{ articles(order: SCORE, group: "show") { totalCount } }',
        '{ group(name: "show") { articles(order: SCORE) { totalCount } } }',
        f'{{ article(id: "{article.id}") {{ standing {{ rank }} }} }}',
    ]
    for query in queries:
        (error,) = (await ask(query))["errors"]
        assert (error["message"], error["extensions"]["code"]) == (message, "BAD_USER_INPUT")
    with pytest.raises(BadInput, match=message):
        await anext(subscriptions.ranking_changed(Context(store), Order.SCORE))

    shown = '{ articles(order: %s, group: "show") { nodes { standing(order: GRAVITY) { rank } } } }'
    for order in ("TIME", "GRAVITY"):
        nodes = (await ask(shown % order))["data"]["articles"]["nodes"]
        assert nodes == [{"standing": {"rank": 1}}]


async def test_standing_in_a_group_uses_the_weights_of_the_group(ask, store, alice, bob, clock):
    article = await post(store, alice, groups=["show"])
    await store.articles.vote(article.number, bob, Vote.UP)
    weights = {"vote_score": 100.0, "gravity_age": 1.0}
    await reindex.set_weights(store.site, "show", weights, progress=lambda count: None)
    clock.advance(3600)
    query = """query($id: ID!, $group: String, $order: ArticleOrder) {
      article(id: $id) { score standing(order: $order, group: $group) { rank value terms { value } } } }"""

    posted_at = article.posted_at / 1000
    for order, group, value in (
        ("SCORE", None, posted_at + 2 * VOTE_SCORE),
        ("SCORE", "show", posted_at + 2 * 100),
        ("GRAVITY", None, 1 / 3**1.8),
        ("GRAVITY", "show", 1 / 3),
    ):
        found = (await ask(query, id=article.id, group=group, order=order))["data"]["article"]
        assert found["score"] == posted_at + 2 * VOTE_SCORE
        assert (found["standing"]["rank"], found["standing"]["value"]) == (1, pytest.approx(value))
        assert sum(term["value"] for term in found["standing"]["terms"]) == pytest.approx(value, rel=0, abs=1e-6)
