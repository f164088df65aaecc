"""
Errors in nested fields: each has its own path, and no task or log line is left.

The fixture `token` is a session token of the user vera; `uncached` is a store without a cache, so that each read takes
a round trip, during which another field may fail.
"""

import asyncio
import re
import warnings

import pytest

from engine.compiler.execution import Execution
from resolvers.context import Context
from schema.schema import SCHEMA
from store.store import Store
from tests.conftest import registered
from tests.servers import PATIENCE
from tests.store.reading import post
from tests.support.executions import OPERATIONS, finish_tasks, with_groups

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

OTHER_LISTING = ("BAD_USER_INPUT", "this cursor belongs to another listing")
PAGES = '{ edges { node { articles(first: 0) { totalCount } } } nodes { articles(after: "odd") { totalCount } } }'
DOCUMENTS = {
    "beside pending fields": """{ groups { nodes { articles(first: 0) { totalCount } } edges { node { articles {
      totalCount } } } } feed { articles { totalCount nodes { groups { articles { totalCount } } } } } }""",
    "at every parent": '{ articles { nodes { voters(after: "odd") { totalCount } } } }',
    "in two branches": "{ groups " + PAGES + " articles { nodes { groups { articles(first: 0) { totalCount } } } } }",
    "at several depths": """{ articles { nodes { poster { articles(last: 0) { totalCount } } voters(after: "odd") {
      nodes { followers(first: 101) { totalCount } } } } edges { node { standing(group: "") { rank } } } }
      viewer { following { nodes { articles(before: "x") { nodes { poster { karma } } } karma joinedAt } } } }""",
    "below a mutation": """mutation { vote(input: {articleId: "article:3011197992960749"}) { article { groups {
      articles(first: 0) {
      totalCount } } poster { karma articles { totalCount } } } query { groups { nodes { articles(page: 0) {
      totalCount } } } feed { articles { nodes { voters(last: 1000) { totalCount } } } } } } }""",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
async def test_nested_errors_give_a_response_and_no_log_line(uncached, text, caplog):
    token = await with_groups(uncached)
    operation, execution = OPERATIONS.find(text, name=None), Execution(SCHEMA)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(6):
            async with asyncio.timeout(PATIENCE):
                result, _ = await execution.execute(operation, {}, Context(uncached, token))
            assert result.errors
            await finish_tasks()

    assert [str(warning.message) for warning in warned] == []
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
@pytest.mark.slow
async def test_cancelled_execution_leaves_no_task_and_no_log_line(uncached, text, caplog):
    token = await with_groups(uncached)
    operation, execution = OPERATIONS.find(text, name=None), Execution(SCHEMA)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for ticks in range(40):  # turns of the event loop, after which the execution is cancelled
            task = asyncio.create_task(execution.execute(operation, {}, Context(uncached, token)))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await finish_tasks()

    assert [str(warning.message) for warning in warned] == []
    assert [record.getMessage() for record in caplog.records] == []


async def test_cursor_of_one_parent_is_an_error_for_other_parents(store, ask, token):
    await with_listings(store, token)
    (cursor,) = await cursors(ask, token, '{ user(username: "alice") { articles(first: 1) { edges { cursor } } } }')
    query = """query($after: String) { nodes(ids: ["user:alice", "user:Bob", "user:alice"]) {
      id ... on User { articles(first: 1, after: $after) { totalCount } } } }"""

    for _ in range(3):
        answer = await ask(query, token, after=cursor)
        page = {"id": "user:alice", "articles": {"totalCount": 2}}
        assert answer["data"] == {"nodes": [page, None, page]}
        assert errors_of(answer) == [(["nodes", 1, "articles"], *OTHER_LISTING)]


async def test_nullable_field_of_another_parent_is_null(store, ask, token):
    await with_listings(store, token)
    every = "{ articles { nodes { id voters { totalCount } } } }"
    ids = [node["id"] for node in (await ask(every, token))["data"]["articles"]["nodes"]]
    (cursor,) = await cursors(
        ask, token, f'{{ article(id: "{ids[1]}") {{ voters(first: 1) {{ edges {{ cursor }} }} }} }}'
    )
    query = """query($after: String) { articles { nodes { voters(after: $after) { totalCount } } } }"""

    for _ in range(3):
        answer = await ask(query, token, after=cursor)
        nodes = answer["data"]["articles"]["nodes"]
        assert [node["voters"] and node["voters"]["totalCount"] for node in nodes] == [None, 1, None, None]
        paths = [["articles", "nodes", place, "voters"] for place in (0, 2, 3)]
        assert errors_of(answer) == [(path, *OTHER_LISTING) for path in paths]


@pytest.mark.parametrize("field", ["followers", "following"])
async def test_cursor_of_followers_belongs_to_one_user(store, ask, token, field):
    await with_listings(store, token)
    (cursor,) = await cursors(
        ask, token, f'{{ user(username: "vera") {{ {field}(first: 1) {{ edges {{ cursor }} }} }} }}'
    )
    query = f"""query($after: String) {{ nodes(ids: ["user:alice", "user:vera"]) {{
      ... on User {{ {field}(after: $after) {{ nodes {{ id }} }} }} }} }}"""

    for _ in range(3):
        answer = await ask(query, token, after=cursor)
        assert answer["data"] == {"nodes": [None, {field: {"nodes": []}}]}
        assert [path for path, *_ in errors_of(answer)] == [["nodes", 0, field]]


async def test_pinned_cursor_of_one_group_is_an_error_for_other_groups(store, ask, token):
    await with_listings(store, token)
    first = '{ group(name: "ask") { articles(first: 1, pinned: true) { edges { cursor } } } }'
    (cursor,) = await cursors(ask, token, first)
    query = """query($after: String) { nodes(ids: ["group:ask", "group:show"]) {
      ... on Group { articles(first: 5, after: $after) { totalCount nodes { title } } } } }"""

    for _ in range(3):
        answer = await ask(query, token, after=cursor)
        assert answer["data"]["nodes"][0]["articles"]["totalCount"] == 2
        assert answer["data"]["nodes"][1] is None
        assert [path for path, *_ in errors_of(answer)] == [["nodes", 1, "articles"]]


async def with_listings(store: Store, token: str) -> None:
    """Two users with two articles each, in one or two groups; vera follows one of them and is followed by the other."""
    for name in ("alice", "Bob"):
        await registered(store, name)
        for number in range(2):
            await post(store, name, f"{number} by {name}", ["ask", "show"] if number else [name.lower()])
    await store.follows.follow("vera", "alice")
    await store.follows.follow("Bob", "vera")


async def cursors(ask, token, query) -> list[str]:
    """All cursors of a response."""
    return re.findall(r"'cursor': '([^']*)'", str((await ask(query, token))["data"]))


def errors_of(answer) -> list[tuple[list[object], str, str]]:
    """Path, code and message of each error of a response, sorted by path."""
    errors = sorted(answer["errors"], key=lambda error: str(error["path"]))
    return [(error["path"], error["extensions"]["code"], error["message"]) for error in errors]
