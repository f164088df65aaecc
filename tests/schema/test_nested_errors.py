"""Errors in nested fields: an answer comes at once, says what is wrong at its own path, and leaves nothing behind."""

import asyncio
import gc
import warnings

import pytest

from resolvers.context import Context
from schema.contract import SCHEMA
from server.wire.execution import Execution
from store.stores import Store
from tests.conftest import Clock
from tests.schema.test_compiled import OPERATIONS, filled
from tests.servers import PATIENCE
from tests.store.reading import post

PAGES = '{ edges { node { articles(first: 0) { totalCount } } } nodes { articles(after: "odd") { totalCount } } }'
DOCUMENTS = {
    "beside what waits": """{ groups { nodes { articles(first: 0) { totalCount } } edges { node { articles {
      totalCount } } } } feed { articles { totalCount nodes { groups { articles { totalCount } } } } } }""",
    "at every parent": '{ articles { nodes { voters(after: "odd") { totalCount } } } }',
    "in two branches": "{ groups " + PAGES + " articles { nodes { groups { articles(first: 0) { totalCount } } } } }",
    "at several depths": """{ articles { nodes { poster { articles(last: 0) { totalCount } } voters(after: "odd") {
      nodes { followers(first: 101) { totalCount } } } } edges { node { standing(group: "") { rank } } } }
      viewer { following { nodes { articles(before: "x") { nodes { poster { karma } } } karma joinedAt } } } }""",
    "below a mutation": """mutation { vote(input: {articleId: "article:1773"}) { article { groups { articles(first: 0) {
      totalCount } } poster { karma articles { totalCount } } } query { groups { nodes { articles(page: 0) {
      totalCount } } } feed { articles { nodes { voters(last: 1000) { totalCount } } } } } } }""",
}


@pytest.fixture
async def uncached(redis_url, partitions):
    """A store of several groups that keeps nothing in memory, so that each read takes its time."""
    store = await Store.open(redis_url, partitions=partitions, clock=Clock(), cached=0)
    yield store
    await store.close()


async def with_groups(store: Store) -> str:
    token = await filled(store)
    for number in range(5):
        await post(store, "alice", f"of group {number}", [f"g{number}", f"h{number}"])
    return token


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
async def test_answer_comes_and_nothing_is_logged(uncached, text, caplog):
    token = await with_groups(uncached)
    operation, execution = OPERATIONS.find(text, None), Execution(SCHEMA)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for _ in range(6):
            async with asyncio.timeout(PATIENCE):
                result, _ = await execution.execute(operation, {}, Context(uncached, token))
            assert result.errors
            await settled()

    assert [str(warning.message) for warning in warned] == []
    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
async def test_cancelled_execution_leaves_nothing_behind(uncached, text, caplog):
    token = await with_groups(uncached)
    operation, execution = OPERATIONS.find(text, None), Execution(SCHEMA)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for ticks in range(40):
            task = asyncio.create_task(execution.execute(operation, {}, Context(uncached, token)))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await settled()

    assert [str(warning.message) for warning in warned] == []
    assert [record.getMessage() for record in caplog.records] == []


async def settled() -> None:
    """Let what was left behind come to its end, and be collected: then Python says what it has to say of it."""
    for _ in range(20):
        await asyncio.sleep(0)
    gc.collect()
