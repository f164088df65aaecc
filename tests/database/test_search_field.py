"""
The field `search` finds what the mirror has indexed in the database, and shows the records that the store has now.

`mirrored` brings the database up to date with the log of the store, `rebuilt` makes its rows again. `on_both` runs a
test with SQLite and with PostgreSQL.

Codes such as S1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import json
from functools import partial
from secrets import token_hex
from threading import current_thread, main_thread

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from database import database as database_module
from engine import Endpoint, Options
from resolvers import search
from resolvers.context import Context
from schema.schema import SCHEMA
from server.app import CODES
from store.articles import Draft
from store.records import Vote
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.store.discussions import commented

pytestmark = pytest.mark.usefixtures("collected")  # garbage is collected after each test

SEARCH = """query($query: String!, $kinds: [SearchKind!], $group: String, $poster: String, $order: SearchOrder,
  $first: Int, $after: String, $last: Int, $before: String) {
  search(query: $query, kinds: $kinds, group: $group, poster: $poster, order: $order,
         first: $first, after: $after, last: $last, before: $before) {
    totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { ... on Article { id } ... on Comment { id } ... on User { id } }
    edges { cursor excerpt node { __typename
      ... on Article { title votes }
      ... on Comment { content votes article { id } }
      ... on User { username karma } } } } }"""


@pytest.fixture
async def ask(store, database, request):
    """`await ask(query, **variables)` gives the response, from `each_database` if the test uses it."""
    if "each_database" in request.fixturenames:
        database = request.getfixturevalue("each_database")
    endpoint = Endpoint(SCHEMA, lambda client: Context(store, client.token, database=database), CODES, Options())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(endpoint), base_url="http://upvote") as client:
        yield partial(_ask, client)


async def _ask(client, query, **variables):
    body = json.dumps({"query": SEARCH, "variables": {"query": query, **variables}})  # lone surrogates are escaped
    return (await client.post("/", content=body, headers={"Content-Type": "application/json"})).json()


@pytest.fixture
def find(ask):
    """`await find(query, **variables)` gives the field."""

    async def find(query, **variables):
        answer = await ask(query, **variables)
        assert "errors" not in answer
        return answer["data"]["search"]

    return find


@pytest.fixture
def found(find):
    """`await found(query, **variables)` gives the ids of a page."""

    async def found(query, **variables):
        return [node["id"] for node in (await find(query, **variables))["nodes"]]

    return found


async def post(store, poster, title, content="", groups=()):
    draft = Draft(title, "https://example.com/", content, tuple(groups))
    return (await store.articles.post(poster, draft, token_hex(8))).article


async def test_articles_and_users_are_found_with_excerpts(store, database, find, alice, bob):  # S1
    """In an excerpt, U+E000 and U+E001 stand before and after each match."""
    posted = await post(store, alice, title="Redis in Action", content="Lists, sets\nand more redis")
    await store.articles.vote(posted.number, bob, Vote.UP)
    await post(store, bob, title="About Alice")
    await mirrored(store, database)

    page = await find("redis")
    assert page["totalCount"] == 1
    assert page["nodes"] == [{"id": posted.id}]
    (edge,) = page["edges"]
    assert edge["excerpt"] == "\ue000Redis\ue001 in Action"
    assert edge["node"] == {"__typename": "Article", "title": "Redis in Action", "votes": 2}
    assert (await find('"and more" redis'))["edges"][0][
        "excerpt"
    ] == "Lists, sets \ue000and more\ue001 \ue000redis\ue001"

    users = await find("alice", kinds=["USER"])
    assert [edge["excerpt"] for edge in users["edges"]] == ["\ue000Alice\ue001"]
    assert [edge["node"] for edge in users["edges"]] == [{"__typename": "User", "username": "Alice", "karma": 1}]
    assert len((await find("alice"))["nodes"]) == 2
    assert (await find("alice", kinds=["COMMENT"]))["nodes"] == (await find("alice", kinds=[]))["nodes"] == []


async def test_comments_are_found_with_excerpts(store, database, find, found, alice, bob):  # S1
    posted = await post(store, alice, title="Redis in Action", groups=["books"])
    comment = await commented(store, posted.number, bob, text="Is there more on Redis?")
    await mirrored(store, database)

    (edge,) = (await find("on redis"))["edges"]
    assert edge["excerpt"] == "Is there more \ue000on\ue001 \ue000Redis\ue001?"
    node = {"content": "Is there more on Redis?", "votes": 1, "article": {"id": posted.id}}
    assert edge["node"] == {"__typename": "Comment", **node}
    assert set(await found("redis")) == {posted.id, comment.id}
    assert await found("redis", kinds=["COMMENT", "USER"]) == [comment.id]
    assert await found("redis", kinds=["ARTICLE"]) == await found("redis", poster="alice") == [posted.id]
    assert await found("redis", poster="bob", group="books") == [comment.id]
    first = await find("redis", order="NEWEST", first=1)
    assert [node["id"] for node in first["nodes"]] == [comment.id]
    assert await found("redis", order="NEWEST", after=first["pageInfo"]["endCursor"]) == [posted.id]


async def test_deleted_and_changed_comments_are_gone_at_once(store, database, found, alice):  # S1
    posted = await post(store, alice, title="a title", groups=["books"])
    other = await post(store, alice, title="another")
    comments = [await commented(store, posted.number, alice, text=f"redis {turn}") for turn in range(3)]
    away = await commented(store, other.number, alice, text="redis")
    stub = await commented(store, posted.number, alice, text="redis")
    await commented(store, posted.number, alice, parent=stub, text="an answer")
    await mirrored(store, database)

    await store.comments.delete(comments[0].number, alice)
    await store.comments.delete(stub.number, alice)
    await store.comments.edit(comments[1].number, alice, "valkey")
    await store.articles.delete(other.number, alice)
    assert away.article == other.number
    assert await found("redis", order="NEWEST") == await found("redis", group="books") == [comments[2].id]
    await store.articles.regroup(posted.number, alice, add=[], remove=["books"])
    assert await found("redis", group="books") == []
    await mirrored(store, database)
    assert await found("redis") == [comments[2].id]
    assert await found("valkey") == [comments[1].id]


async def test_deleted_article_is_gone_at_once(store, database, find, found, alice):  # S1
    posted = [await post(store, alice, title="redis") for _ in range(7)]
    await mirrored(store, database)
    for each in posted[2:5]:
        await store.articles.delete(each.number, alice)

    first = await find("redis", order="NEWEST", first=3)
    assert [node["id"] for node in first["nodes"]] == [posted[index].id for index in (6, 5, 1)]
    assert await found("redis", order="NEWEST", first=3, after=first["pageInfo"]["endCursor"]) == [posted[0].id]
    assert await found("redis", order="NEWEST", last=2) == [posted[1].id, posted[0].id]
    assert (await find("redis"))["totalCount"] == 4


@on_both
async def test_total_does_not_count_what_was_deleted(store, each_database, find, alice, bob):  # S1
    posted = [await post(store, poster, title="redis", groups=["books"]) for poster in (alice, bob)]
    away = await post(store, bob, title="another", groups=["books"])
    kept = [await commented(store, each.number, alice, text="redis") for each in (*posted, away)]
    await commented(store, away.number, alice, kept[2], "on redis, too")
    stub = await commented(store, posted[1].number, bob, text="redis")
    await commented(store, posted[1].number, bob, parent=stub, text="an answer")
    await mirrored(store, each_database)
    before = [(await find("redis", **of))["totalCount"] for of in ({}, {"group": "books"}, {"kinds": ["COMMENT"]})]
    await store.articles.delete(away.number, bob)
    await store.articles.delete(posted[0].number, alice)
    await store.comments.delete(stub.number, bob)

    expected = [posted[1].id, kept[1].id]
    for _ in range(2):  # before the mirror has the deletions, and after it
        for of in ({}, {"group": "books"}, {"kinds": ["COMMENT", "ARTICLE", "USER"]}):
            page = await find("redis", **of)
            assert page["totalCount"] == 2
            assert sorted(node["id"] for node in page["nodes"]) == expected
        assert (await find("redis", kinds=["COMMENT"]))["totalCount"] == 1
        assert (await find("redis", first=1))["pageInfo"]["hasNextPage"]
        await mirrored(store, each_database)
    assert before == [7, 7, 5]


@on_both
async def test_total_is_exact_while_people_delete(store, each_database, find, alice):  # S1
    """Every second article is deleted together with its comment; of the others only the comment is."""
    posted = [await post(store, alice, title="redis") for _ in range(60)]
    comments = [await commented(store, each.number, alice, text="redis") for each in posted]
    await mirrored(store, each_database)
    begun = done = 0  # deletions

    async def delete(place: int) -> None:
        nonlocal begun, done
        count = 1 + place % 2
        begun += count
        if count == 2:
            await store.articles.delete(posted[place].number, alice)
        else:
            await store.comments.delete(comments[place].number, alice)
        done += count

    async def search_and_mirror(deleting: asyncio.Future) -> None:
        while not deleting.done():
            most = 120 - done
            page = await find("redis", first=100)
            assert 120 - begun <= page["totalCount"] <= most
            assert len(page["nodes"]) <= most
            await mirrored(store, each_database)

    async def delete_some(places: range) -> None:
        for place in places:
            await delete(place)
            await asyncio.sleep(0.005)

    deleting = asyncio.gather(*(delete_some(range(first, 60, 3)) for first in range(3)))
    await asyncio.gather(deleting, *(search_and_mirror(deleting) for _ in range(3)))
    assert (await find("redis"))["totalCount"] == 30


async def test_edited_and_regrouped_articles_match_at_once(store, database, found, alice):
    posted = await post(store, alice, title="redis", groups=["show"])
    await mirrored(store, database)

    await store.articles.regroup(posted.number, alice, add=[], remove=["show"])
    assert await found("redis", group="show") == []
    assert await found("redis", group="all") == []
    await store.articles.edit(posted.number, alice, {"title": "valkey"})
    assert await found("redis") == []
    await mirrored(store, database)
    assert await found("Valkey") == [posted.id]


@pytest.mark.parametrize("order", ["RELEVANCE", "NEWEST", "VOTES"])
async def test_pages_go_forward_and_backward(store, database, find, clock, alice, order):
    for number in range(11):
        clock.advance(1)
        posted = await post(store, alice, title=f"redis {'and more ' * (number % 4)}")
        if number % 3:
            await store.articles.vote(posted.number, "bob", Vote.UP)
    await mirrored(store, database)
    whole = await find("redis", order=order, first=100)
    ids = [node["id"] for node in whole["nodes"]]
    assert len(ids) == whole["totalCount"] == 11

    forward, backward, after, before = [], [], None, None
    for place in range(4):
        page = await find("redis", order=order, first=3, after=after)
        forward += [node["id"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        assert (page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) == (place > 0, place < 3)
        page = await find("redis", order=order, last=3, before=before)
        backward = [node["id"] for node in page["nodes"]] + backward
        before = page["pageInfo"]["startCursor"]
        assert (page["pageInfo"]["hasPreviousPage"], page["pageInfo"]["hasNextPage"]) == (place < 3, place > 0)

    assert forward == backward == ids


async def test_match_of_the_cursor_is_before_or_after_the_page(store, database, find, alice):
    for _ in range(2):
        await post(store, alice, title="redis")
    await mirrored(store, database)
    ends = (await find("redis"))["pageInfo"]

    after = (await find("redis", first=1, after=ends["startCursor"]))["pageInfo"]
    before = (await find("redis", last=1, before=ends["endCursor"]))["pageInfo"]
    assert (after["hasPreviousPage"], after["hasNextPage"]) == (True, False)
    assert (before["hasPreviousPage"], before["hasNextPage"]) == (False, True)


async def test_rebuilt_database_finds_the_same(store, database, found, alice):
    posted = [await post(store, alice, title=f"redis {number}", groups=["show"]) for number in range(3)]
    await mirrored(store, database)
    before = await found("redis", group="show")
    await store.articles.delete(posted[1].number, alice)

    await rebuilt(store, database)

    assert await found("redis", group="show") == [id for id in before if id != posted[1].id]
    assert await found("alice") == ["user:alice"]


async def test_page_continues_at_the_match_of_its_cursor(store, database, find, found, alice):
    """Also if the relevance of all matches has changed meanwhile, or the match is gone."""
    for number in range(6):
        await post(store, alice, title=f"redis {'and more ' * number}")
    await mirrored(store, database)
    ids = await found("redis")
    cursor = (await find("redis", first=3))["pageInfo"]["endCursor"]

    for _ in range(30):
        await post(store, alice, title="something else")
    await mirrored(store, database)
    assert await found("redis", after=cursor) == ids[3:]
    await store.articles.delete(int(ids[2].partition(":")[2]), alice)
    await mirrored(store, database)
    assert await found("redis", after=cursor) == ids[3:]
    assert await found("redis", last=9, before=cursor) == ids[:2]


async def test_filters_are_names_in_any_case(store, database, found, alice, bob):
    shown = await post(store, alice, title="redis", groups=["show"])
    asked = await post(store, bob, title="redis", groups=["ask"])
    await mirrored(store, database)

    assert await found("redis", group="SHOW") == await found("redis", poster="ALICE") == [shown.id]
    assert await found("redis", group="ask", poster="bob") == [asked.id]
    assert await found("redis", group="show", poster="bob") == []
    assert await found("redis", group="?") == await found("redis", poster="?") == await found("redis", group="") == []


async def test_wrong_arguments_are_bad_input(store, database, ask, find, alice):
    await post(store, alice, title="redis")
    await mirrored(store, database)
    cursor = (await find("redis"))["pageInfo"]["endCursor"]

    wrong = [{"query": "x" * 501}, {"first": 101}, {"first": 1, "last": 1}, {"after": "?"}, {"before": cursor}]
    wrong += [{"query": "other", "after": cursor}, {"order": "VOTES", "after": cursor}, {"group": "a", "after": cursor}]
    for variables in wrong:
        answer = await ask(**({"query": "redis"} | variables))
        assert answer["data"] == {"search": None}, variables
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT", variables
    assert (await find("x" * 500))["nodes"] == []


@pytest.mark.parametrize("database", [None])
async def test_search_without_a_database_is_unavailable(ask):
    (error,) = (await ask("redis"))["errors"]

    assert error["extensions"]["code"] == "UNAVAILABLE"
    assert "UPVOTE_DATABASE_URL" in error["message"]


async def test_search_that_runs_into_its_deadline_is_executed_once(ask, database, monkeypatch):
    monkeypatch.setattr(database_module, "SEARCH_TIMEOUT", 0.2)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    executed = []

    def find(connection, wanted, deleted):
        executed.append(wanted)
        connection.exec_driver_sql(endless)

    monkeypatch.setattr(search.index, "find", find)
    for turn in range(1, 4):  # from the second on, the operation is compiled
        answer = await ask("redis")
        assert answer["data"] == {"search": None}
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
        assert len(executed) == turn
    monkeypatch.undo()

    assert (await ask("redis"))["data"]["search"]["totalCount"] == 0


async def test_excerpts_of_long_texts_are_made_in_a_thread(store, database, find, alice, monkeypatch):
    make, threads = search._excerpts, []
    monkeypatch.setattr(search, "_excerpts", lambda edges: threads.append(current_thread()) or make(edges))
    for _ in range(2):
        await post(store, alice, title="long", content=f"{'many words ' * 2_000}redis")
    await mirrored(store, database)

    page = await find("redis")
    assert [edge["excerpt"][-7:] for edge in page["edges"]] == ["\ue000redis\ue001"] * 2
    assert [thread is main_thread() for thread in threads] == [False]


async def test_long_texts_that_were_edited_are_compared_in_a_thread(store, database, find, alice, monkeypatch):
    compare, threads = search._is_match, []
    monkeypatch.setattr(search, "_is_match", lambda *given: threads.append(current_thread()) or compare(*given))
    posted = [await post(store, alice, title="redis", content="many words " * 2_000) for _ in range(3)]
    await mirrored(store, database)
    await find("redis")
    assert set(threads) == {main_thread()}

    threads.clear()
    for article in posted[:2]:
        await store.articles.edit(article.number, alice, {"title": "valkey"})
    assert [edge["node"]["title"] for edge in (await find("redis"))["edges"]] == ["redis"]
    assert main_thread() not in threads


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(), max_size=500), order=st.sampled_from(list(search.SearchOrder)))
async def test_no_text_causes_an_internal_error(ask, query, order):  # S2
    answer = await ask(query, order=order.name)

    assert "INTERNAL_SERVER_ERROR" not in [error["extensions"]["code"] for error in answer.get("errors", [])]
