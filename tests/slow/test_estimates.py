"""
Estimated sizes of cache entries, by which the memory of all caches is bounded, compared with what `tracemalloc`
measures: an estimate is never too small, and at most some times too large.
"""

import gc
import tracemalloc
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from graphql import Node, Token

from caches import POOL, Pool
from engine.compiler.completion import TemplateCache
from engine.compiler.execution import Execution
from engine.compiler.plan import Budget, Field, Level, NotCompilable, Outcomes, Plan
from engine.documents import Operations
from engine.limits.documents import Limits
from engine.negotiation import accepted
from engine.requests import RequestCache, parse_body
from resolvers import pagination
from resolvers.arguments import PageArguments
from resolvers.pagination import encode_cursor
from schema.scalars import write_instant
from schema.schema import SCHEMA
from server import trusted
from store import keys, listings, records
from store.queries import VOTER_VOTES, VoteCache
from store.records import Position
from store.sessions import parse_token

PAGE = """query Q%d($n: Int) { articles(first: $n) { totalCount edges { cursor node { id title link votes
  poster { username karma } groups { name } } } pageInfo { endCursor hasNextPage } } }"""
# documents by what is special in them; %d is replaced by a number, so that each is another one
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
    """What was measured: see `tracing`."""

    bytes = 0  # that were allocated and are still in use


@contextmanager
def tracing() -> Iterator[Traced]:
    """Measure the memory that is allocated while the context is open; known after its end."""
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
        self.pool = Pool(100_000_000)
        self.operations = Operations(SCHEMA, Limits(), self.pool)
        self.execution = Execution(SCHEMA, TemplateCache(self.pool), self.operations.add_size)

    async def compile(self, text: str) -> None:
        operation = self.operations.find(text, name=None)
        for _ in range(3):
            with pytest.raises((NotCompilable, AttributeError)):  # it is compiled, and then fails without a context
                await self.execution._plans.setdefault(operation, self.execution._new_plan_cache(operation)).data(
                    operation, {}, None, Budget(1_000_000), Outcomes()
                )


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("is_compiled", [False, True], ids=["parsed", "compiled"])
async def test_operations_take_at_most_their_estimated_size(document, is_compiled):
    compiler = Compiler()

    async def add(number: int) -> None:
        text = document.replace("%d", str(number))
        await compiler.compile(text) if is_compiled else compiler.operations.find(text, name=None)

    for number in range(3):
        await add(number)
    before = compiler.pool.size
    with tracing() as traced:
        for number in range(100, 130):
            await add(number)

    assert traced.bytes - FIRST_USE < compiler.pool.size - before < 2.5 * traced.bytes


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
    pool = Pool(100_000_000)
    requests = RequestCache(parse_body, pool)
    requests.request(body % 1)
    before = pool.size

    with tracing() as traced:
        for number in range(100, 200):
            requests.request(body % number)

    assert traced.bytes < pool.size - before < 2.5 * traced.bytes


async def test_evicted_operation_is_freed_with_its_plans_without_the_collector():
    compiler = Compiler()
    before = parts_in_memory()
    await compiler.compile(PAGE.replace("%d", "1"))
    gc.collect()
    kept = parts_in_memory() - before

    gc.disable()  # reference counts alone must free it
    try:
        compiler.operations.cache.clear()
        assert kept > 50
        assert parts_in_memory() == before
    finally:
        gc.enable()


def parts_in_memory() -> int:
    """How many nodes, tokens, levels and fields of plans there are."""
    return sum(isinstance(each, (Node, Token, Level, Field, Plan)) for each in gc.get_objects())


def test_entries_take_at_most_their_estimated_size():
    pool, numbers = Pool(100_000_000), list(range(10_000, 20_000))
    cache = pool.cache("one", microseconds=0.1)

    with tracing() as traced:
        for key in numbers:
            cache.put(key, None, size=0)

    assert traced.bytes < pool.size < 1.5 * traced.bytes


# functions that remember their results, and the arguments of the n-th call
CALLS = {
    "user": (records.user, lambda n: (f"name-of-20-characters-{n}",)),
    "session": (parse_token, lambda n: (urlsafe_b64encode(n.to_bytes(34)).decode().rstrip("="),)),
    "instant": (write_instant, lambda n: (1_700_000_000_000 + n,)),
    "cursor": (
        encode_cursor,
        lambda n: (f"group:a-long-name-of-a-group-{n}:score", (1_700_000_000.5 + n, f"{n:016d}")),
    ),
    "cursor of a pinned page": (
        encode_cursor,
        lambda n: ("time", (float(n), f"{n:016d}", 1_700_000_000_000, "pinned")),
    ),
    "window": (
        pagination.window,
        lambda n: (
            "score",
            PageArguments(25, encode_cursor("score", (n + 0.5, f"{n:016d}"))),
            pagination.ARTICLE_CURSOR,
        ),
    ),
    "timeline": (listings._user_listing, lambda n: ("timeline", keys.timeline, 0, f"name-of-20-characters-{n}")),
    "index": (listings._index_listing, lambda n: (16, f"group-{n}", "score")),
    "range": (
        listings._range,
        lambda n: (keys.index(0, "score"), "-inf", "+inf", "down", 25, 0, Position(n + 0.5, f"{n:016d}")),
    ),
    "accepted": (accepted, lambda n: (b"application/json;q=0.9, text/html;q=0.8, */*;q=0.%d" % n,)),
    "address": (trusted._address, lambda n: (f"2001:db8::{n:x}",)),
}


@pytest.mark.parametrize(("function", "arguments"), CALLS.values(), ids=CALLS)
def test_memos_take_at_most_their_estimated_size(function, arguments):
    function(*arguments(1))
    before = POOL.usages()["memos"]

    with tracing() as traced:
        for number in range(10_000, 12_000):
            function(*arguments(number))

    after = POOL.usages()["memos"]
    assert after.entries >= before.entries + 2_000
    assert traced.bytes < after.bytes - before.bytes < 3.5 * traced.bytes


@pytest.mark.parametrize(("voters", "articles"), [(1, 4_000), (400, 10), (20, 200)])
def test_cached_votes_take_at_most_their_estimated_size(voters, articles):
    pool = Pool(100_000_000)
    cache = VoteCache(pool)

    with tracing() as traced:
        for voter in range(voters):
            for first in range(0, articles, 10):
                numbers = [10**15 + first + each for each in range(10)]
                names = ("voted", "downvoted", "annulled", f"voter-{voter}")
                command = ("EVALSHA", VOTER_VOTES.digest, 3, *names, *map(str, numbers))
                assert cache.add(command, [1] * 10)

    assert traced.bytes < pool.size < 5 * traced.bytes
