from base64 import urlsafe_b64encode

from store.records import Vote
from tests.store.reading import post

PAGE = """query($order: ArticleOrder, $first: Int, $after: String, $last: Int, $before: String) {
  articles(order: $order, first: $first, after: $after, last: $last, before: $before) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


async def asked(ask, **variables):
    answer = await ask(PAGE, **variables)
    assert "errors" not in answer
    page = answer["data"]["articles"]
    return [node["id"] for node in page["nodes"]], page["pageInfo"]


async def test_pages_of_gravity_fit_together_as_time_goes_by(store, ask, alice, bob, clock):  # issue 8
    posted = []
    for turn in range(6):
        posted.append(await post(store, alice))
        for voter in range(9 - turn):
            await store.articles.vote(posted[-1].number, f"voter-{voter}", Vote.UP)
        clock.advance(3600)
    whole, _ = await asked(ask, order="GRAVITY")

    first, info = await asked(ask, order="GRAVITY", first=2)
    clock.advance(7 * 86_400)
    second, middle = await asked(ask, order="GRAVITY", first=2, after=info["endCursor"])
    clock.advance(7 * 86_400)
    third, end = await asked(ask, order="GRAVITY", first=2, after=middle["endCursor"])
    back, _ = await asked(ask, order="GRAVITY", last=2, before=middle["startCursor"])

    assert whole != (await asked(ask, order="GRAVITY"))[0]
    assert first + second + third == whole
    assert back == first
    assert (info["hasPreviousPage"], middle["hasPreviousPage"], middle["hasNextPage"]) == (False, True, True)
    assert end["hasNextPage"] is False


async def test_standing_says_where_and_why(ask, store, alice, bob, clock):
    low = await post(store, alice, groups=["show"])
    clock.advance(1000)
    high = await post(store, bob)
    query = """query($id: ID!) { article(id: $id) { standing { order rank value votesToNextRank terms { name value } }
      show: standing(order: VOTES, group: "Show") { rank votesToNextRank } ask: standing(group: "ask") { rank } } }"""

    lower = (await ask(query, id=low.id))["data"]["article"]
    higher = (await ask(query, id=high.id))["data"]["article"]
    posted_at = low.posted_at / 1000
    terms = [{"name": "posting time", "value": posted_at}, {"name": "votes", "value": 432}]
    assert lower == {
        "standing": {"order": "SCORE", "rank": 2, "value": posted_at + 432, "votesToNextRank": 3, "terms": terms},
        "show": {"rank": 1, "votesToNextRank": None},
        "ask": None,
    }
    assert (higher["standing"]["rank"], higher["standing"]["votesToNextRank"]) == (1, None)


async def test_cursor_of_no_instant_is_refused(ask):
    for instant in ("soon", "-1", str(2**60), "1|2"):
        cursor = urlsafe_b64encode(f"gravity|1.0|0000000000001773|{instant}".encode()).decode().rstrip("=")
        answer = await ask(PAGE, order="GRAVITY", after=cursor)
        assert answer["errors"][0]["message"] == "this is no cursor"
