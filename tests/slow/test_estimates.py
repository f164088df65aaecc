"""Estimated sizes of cache entries, compared with the memory that `tracemalloc` measures."""

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from graphql import Node, Token

from caches import SizedCache
from engine.compiler.completion import TemplateCache
from engine.compiler.execution import Execution
from engine.compiler.plan import Budget, Field, Level, NotCompilable, Outcomes, Plan
from engine.documents import Operations
from engine.limits.documents import Limits
from engine.requests import RequestCache, parse_body
from schema.schema import SCHEMA

PAGE = """query Q%d($n: Int) { articles(first: $n) { totalCount edges { cursor node { id title link votes
  poster { username karma } groups { name } } } pageInfo { endCursor hasNextPage } } }"""
DOCUMENTS = {
    "a page": PAGE,
    "one field": "{ a%d: articles(first: 1) { totalCount } }",
    "equal fields": "{ x%d: articles(first: 1) { nodes { " + "title votes id link " * 35 + "} } }",
    "many objects": "query Q%d { "
    + " ".join(f"b{n}: articles(first: 1) {{ nodes {{ id poster {{ username }} }} }}" for n in range(20))
    + "}",
    "many arguments": "{ y%d: articles(first: 1, order: TIME, pinned: false) { nodes { id } } "
    + " ".join(f'a{n}: group(name: "show") {{ articles(last: {n}) {{ totalCount }} }}' for n in range(15))
    + "}",
}


FIRST_USE = 200_000  # bytes that the interpreter allocates at the first use of something


class Traced:
    bytes = 0


@contextmanager
def tracing() -> Iterator[Traced]:
    traced = Traced()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    yield traced
    gc.collect()
    traced.bytes = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()


class Compiler:
    """Parses and compiles operations, and counts their sizes in a cache. Nothing is executed."""

    def __init__(self) -> None:
        self.cache: SizedCache = SizedCache(100_000_000)
        self.operations = Operations(SCHEMA, Limits(), self.cache)
        self.execution = Execution(SCHEMA, TemplateCache(), self.operations.add_size)

    async def compile(self, text: str) -> None:
        operation = self.operations.find(text, None)
        for _ in range(3):
            with pytest.raises((NotCompilable, AttributeError)):
                await self.execution._plans.setdefault(operation, self.execution._new_plan_cache(operation)).data(
                    operation, {}, None, Budget(1_000_000), Outcomes()
                )


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["parsed", "compiled"])
async def test_operations_take_at_most_their_estimated_size(document, is_compiled):
    compiler = Compiler()

    async def add(number: int) -> None:
        text = document.replace("%d", str(number))
        await compiler.compile(text) if is_compiled else compiler.operations.find(text, None)

    for number in range(3):
        await add(number)
    before = compiler.cache.usage.bytes
    with tracing() as traced:
        for number in range(100, 130):
            await add(number)

    assert traced.bytes - FIRST_USE < compiler.cache.usage.bytes - before < 2.5 * traced.bytes


@pytest.mark.parametrize(
    "body",
    [
        b'{"query": "{ a%d: me { id } }"}',
        b'{"query": "{ a }", "operationName": "x%d", "variables": {"first": 5, "after": "MTIz", "tags": ["a", "b"]}}',
        b'{"query": "\xc3\xa9 \xf0\x9f\x98\x80 %d' + b"a" * 1_000 + b'"}',
        b'{"query": "%d", "variables": {"a": [' + b"[]," * 1_000 + b"[]]}}",
        b'{"query": "%d", "variables": {"a": [' + b"1.5," * 1_000 + b"1]}}",
    ],
    ids=["a short one", "with variables", "not ASCII", "empty lists", "numbers"],
)
def test_requests_take_at_most_their_estimated_size(body):
    cache = SizedCache(100_000_000)
    requests = RequestCache(parse_body, cache)
    requests.request(body % 1)
    before = cache.usage.bytes

    with tracing() as traced:
        for number in range(100, 200):
            requests.request(body % number)

    assert traced.bytes < cache.usage.bytes - before < 2.5 * traced.bytes


async def test_evicted_operation_is_freed_with_its_plans_without_the_collector():
    compiler = Compiler()
    before = parts_in_memory()
    await compiler.compile(PAGE.replace("%d", "1"))
    gc.collect()
    kept = parts_in_memory() - before

    gc.disable()  # reference counts alone must free it
    try:
        compiler.cache.clear()
        assert kept > 50
        assert parts_in_memory() == before
    finally:
        gc.enable()


def parts_in_memory() -> int:
    """How many nodes, tokens, levels and fields of plans there are."""
    return sum(isinstance(each, (Node, Token, Level, Field, Plan)) for each in gc.get_objects())
