"""The argument `since` of `articles`: only those posted at an instant or later, such as the top of a day or a year."""

import pytest

from caches import Pool
from engine.documents import Operations
from schema.scalars import write_instant
from schema.schema import SCHEMA
from server.limits import document_limits
from server.settings import Settings
from store.maintenance import reindex
from store.ranking.formulas import Order
from store.records import Vote
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

PAGE = """query($order: ArticleOrder, $group: String, $since: DateTime, $first: Int, $after: String, $last: Int,
  $before: String, $page: Int, $pinned: Boolean) {
  articles(order: $order, group: $group, since: $since, first: $first, after: $after, last: $last, before: $before,
    page: $page, pinned: $pinned) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
DAY = 86_400  # seconds


async def read_page(ask, since: int | None, order: str = "VOTES", **variables):
    """The ids on a page, the number of all articles, and `pageInfo`. `since` is in unix milliseconds."""
    answer = await ask(PAGE, order=order, since=None if since is None else write_instant(since), **variables)
    assert "errors" not in answer
    page = answer["data"]["articles"]
    info = page["pageInfo"]
    return [node["id"] for node in page["nodes"]], page["totalCount"], info


async def refused(ask, query: str = PAGE, **variables) -> str:
    (error,) = (await ask(query, **variables))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    return error["message"]


@pytest.fixture
async def posted(store, alice, bob, clock) -> list[tuple[str, int]]:
    """
    The id of each article and when it was posted, in unix milliseconds: one a day. The first has the most votes, and
    the last two have equal votes.
    """
    found = []
    for turn in range(5):
        article = await post(store, (alice, bob)[turn % 2], groups=["show"] if turn % 2 else [])
        for voter in range(max(3 - turn, 0)):
            await store.articles.vote(article.number, f"voter-{voter}", Vote.UP)
        found.append((article.id, article.posted_at))
        clock.advance(DAY)
    return found


async def test_only_articles_posted_at_the_instant_or_later_are_listed(ask, posted):
    ids, times = [id for id, _ in posted], [time for _, time in posted]
    by_votes = [*ids[:3], ids[4], ids[3]]

    assert (await read_page(ask, None))[0] == by_votes
    for since, expected in (
        (0, by_votes),
        (-DAY * 1000, by_votes),
        (times[0], by_votes),
        (times[0] + 1, by_votes[1:]),
        (times[2], by_votes[2:]),
        (times[4], [ids[4]]),
        (times[4] + 1, []),
        (times[4] + 1000 * DAY * 1000, []),
    ):
        assert (await read_page(ask, since))[:2] == (expected, len(expected))
        assert (await read_page(ask, since, "TIME"))[0] == [id for id in reversed(ids) if id in expected]
        shown = [id for id in expected if id in (ids[1], ids[3])]
        assert (await read_page(ask, since, group="Show"))[:2] == (shown, len(shown))


async def test_vote_moves_an_article_at_once(ask, store, posted):
    number = int(posted[3][0].split(":")[1])
    for voter in range(9):
        await store.articles.vote(number, f"voter-{voter}", Vote.UP)

    assert (await read_page(ask, posted[2][1]))[0] == [posted[3][0], posted[2][0], posted[4][0]]


@pytest.mark.parametrize("order", ["VOTES", "TIME"])
async def test_pages_go_forward_and_backward(ask, posted, order):
    since = posted[1][1]
    whole, total, _ = await read_page(ask, since, order)
    first, _, info = await read_page(ask, since, order, first=3)
    rest, _, end = await read_page(ask, since, order, first=3, after=info["endCursor"])
    back, _, middle = await read_page(ask, since, order, last=2, before=end["endCursor"])
    last, _, bottom = await read_page(ask, since, order, last=3)

    assert (total, first + rest) == (4, whole)
    assert (info["hasPreviousPage"], info["hasNextPage"], end["hasPreviousPage"], end["hasNextPage"]) == (
        False,
        True,
        True,
        False,
    )
    assert (back, middle["hasPreviousPage"], middle["hasNextPage"]) == (whole[1:3], True, True)
    assert (last, bottom["hasPreviousPage"], bottom["hasNextPage"]) == (whole[1:], True, False)
    assert [(await read_page(ask, since, order, first=2, page=number))[0] for number in (1, 2, 3)] == [
        whole[:2],
        whole[2:],
        [],
    ]


async def test_cursor_of_another_instant_is_refused(ask, posted):
    since = posted[1][1]
    (_, _, info), (_, _, whole) = await read_page(ask, since, first=1), await read_page(ask, None, first=1)
    message = "this cursor belongs to another listing"

    for other, cursor in (
        (since + 1, info["endCursor"]),
        (None, info["endCursor"]),
        (since, whole["endCursor"]),
    ):
        written = None if other is None else write_instant(other)
        assert await refused(ask, order="VOTES", since=written, after=cursor) == message
    assert await refused(ask, order="TIME", since=write_instant(since), after=info["endCursor"]) == message


async def test_pinned_page_since_an_instant_does_not_change(ask, store, posted):
    since = posted[1][1]
    whole, _, _ = await read_page(ask, since)
    first, total, info = await read_page(ask, since, first=2, pinned=True)
    for voter in range(20):
        await store.articles.vote(int(whole[-1].split(":")[1]), f"voter-{voter}", Vote.UP)

    rest, _, _ = await read_page(ask, since, after=info["endCursor"])
    assert (first + rest, total) == (whole, 4)
    assert (await read_page(ask, since))[0] == [whole[-1], *whole[:-1]]


async def test_groups_are_listed_since_an_instant(ask, posted):
    query = """query($since: DateTime) { group(name: "show") { articles(order: VOTES, since: $since) { nodes { id } } }
      groups { nodes { articles(order: VOTES, since: $since) { totalCount } } } }"""
    data = (await ask(query, since=write_instant(posted[2][1])))["data"]

    assert data["group"]["articles"]["nodes"] == [{"id": posted[3][0]}]
    assert data["groups"]["nodes"] == [{"articles": {"totalCount": 1}}]


async def test_orders_that_cannot_be_listed_since_an_instant_are_refused(ask, store, posted):
    message = "{} does not take since; orders that take it here are {}"
    since = write_instant(posted[2][1])
    for order in set(Order) - {Order.TIME, Order.VOTES}:
        assert await refused(ask, order=order.name, since=since) == message.format(order.name, "TIME, VOTES")
    unordered = f'{{ articles(since: "{since}") {{ totalCount }} }}'
    assert await refused(ask, unordered) == message.format("SCORE", "TIME, VOTES")
    await reindex.reindex(store.site, [Order.TIME, Order.VOTES], progress=lambda count: None)
    assert await refused(ask, order="VOTES", since=since) == message.format("VOTES", "TIME")
    await reindex.reindex(store.site, [Order.SCORE], progress=lambda count: None)
    assert await refused(ask, order="SCORE", since=since) == message.format("SCORE", "none")


async def test_text_that_is_no_instant_is_refused(ask, posted):
    for text in ("yesterday", "2016-08-04", "2016-08-04T11:52:00", "", 1_470_311_520):
        (error,) = (await ask(PAGE, order="VOTES", since=text))["errors"]
        assert "DateTime" in error["message"]
    page = await ask(PAGE, order="VOTES", since="9999-12-31T23:59:59-23:59")
    assert page["data"]["articles"]["totalCount"] == 0


async def test_page_since_an_instant_costs_three_round_trips(ask, posted):
    query = f"""{{ articles(order: VOTES, since: "{write_instant(posted[0][1])}") {{
      nodes {{ title poster {{ username karma }} }} }} }}"""
    await ask(query)
    assert (await ask(query))["extensions"]["stats"]["roundTrips"] <= 3


def test_since_costs_as_much_as_a_page():
    operations = Operations(SCHEMA, document_limits(Settings()), Pool(1_000_000))

    def cost(argument: str, **variables: object) -> int:
        declared = "($s: DateTime)" if "$" in argument else ""
        text = f"query{declared} {{ articles(first: 1, order: VOTES, {argument}) {{ totalCount }} }}"
        return operations.find(text, name=None).cost.points(variables)

    assert cost("since: null") == cost("since: $s") == cost("since: $s", s=None) == 1
    assert cost('since: "2016-08-04T11:52:00Z"') == cost("since: $s", s="2016-08-04T11:52:00Z") == 1 + 25
