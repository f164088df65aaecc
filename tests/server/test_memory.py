"""The caches of a process stay within their budget, whatever clients send."""

import gc
import tracemalloc
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from hashlib import sha256
from itertools import count
from secrets import token_bytes
from typing import Any

import httpx
import pytest

from caches import FLOOR_SHARE, MEGABYTE, POOL, Cache
from engine import Client
from server.app import Application, create
from server.http.connections import ConnectionLimiter
from server.settings import Settings

MEGABYTES = 48  # of all caches
GROWTH = 1_000_000  # bytes, at most, between the two checkpoints
Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def app(redis_url: str) -> AsyncIterator[Application]:
    app = create(
        Settings(redis_url=redis_url, rate_limits="off", cache_mb=MEGABYTES, log_level="error"), ConnectionLimiter()
    )
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def ask(app: Application) -> AsyncIterator[Ask]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://upvote") as client:

        async def ask(request: dict[str, Any], token: str | None = None) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            return (await client.post("/graphql", json=request, headers=headers)).json()

        yield ask


def documents(numbers: Iterator[int]) -> dict[str, Any]:
    """Each document is sent twice, so that it is compiled."""
    number = next(numbers) // 2
    fields = " ".join(f"f{number}x{part}: articles(first: 1) {{ nodes {{ id title }} }}" for part in range(9))
    return {"query": f"{{ {fields} }}"}


def persisted(numbers: Iterator[int]) -> dict[str, Any]:
    """A document that is to be stored under its hash."""
    query = documents(numbers)["query"]
    digest = sha256(query.encode()).hexdigest()
    return {"query": query, "extensions": {"persistedQuery": {"version": 1, "sha256Hash": digest}}}


CASES = "query({variables}) {{ {fields} }}".format(
    variables=", ".join(f"$v{n}: Boolean = true" for n in range(12)),
    fields=" ".join(f"a{n}: articles(first: 1) @include(if: $v{n}) {{ nodes {{ id }} }}" for n in range(12)),
)


def cases(numbers: Iterator[int]) -> dict[str, Any]:
    """One document; each request includes other fields of it, and so gets a plan of its own."""
    number = next(numbers)
    return {"query": CASES, "variables": {f"v{bit}": bool(number >> bit & 1) for bit in range(12)}}


def names(numbers: Iterator[int]) -> dict[str, Any]:
    """Names of users and groups that there never were."""
    number = next(numbers)
    return {
        "query": "query($u: String!, $g: String!) { user(username: $u) { id } group(name: $g) { id } }",
        "variables": {"u": f"user{number}", "g": f"group{number}"},
    }


def cursors(numbers: Iterator[int]) -> dict[str, Any]:
    """Valid cursors of articles that there never were."""
    number = next(numbers)
    cursor = urlsafe_b64encode(f"time|{1_700_000_000_000 + number}|{10**15 + number}".encode()).decode()
    return {
        "query": "query($a: String) { articles(order: TIME, after: $a) { totalCount } }",
        "variables": {"a": cursor},
    }


CACHES = (  # the names of all caches
    "documents", "html", "memos", "names", "operations", "pages", "places", "records", "requests", "rows", "sitemaps",
    "templates", "texts", "voters", "votes",
)  # fmt: skip
REQUESTS = {each.__name__: each for each in (documents, persisted, cases, names, cursors)}


def unknown_token() -> str:
    """A token in the usual form, of no session."""
    return urlsafe_b64encode(token_bytes(34)).decode().rstrip("=")


@pytest.mark.parametrize("make", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.slow
async def test_caches_of_made_up_requests_stay_within_the_budget(app, ask, make):
    numbers = count()
    for turn in range(300):
        answer = await ask(make(numbers), unknown_token() if turn % 2 else None)
        assert "errors" not in answer, answer
        assert sum(usage.bytes for usage in POOL.usages().values()) == POOL.size <= POOL.total


@pytest.mark.slow
async def test_process_does_not_grow_once_its_caches_are_full(app, ask):
    """With a small pool, so that it is full after a few hundred requests."""
    POOL.resize(MEGABYTE)
    numbers, sizes = count(), []
    evicted = POOL.usages()["operations"].evictions
    tracemalloc.start()
    for _ in range(2):
        for _ in range(80):
            await ask(documents(numbers))
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()

    assert POOL.usages()["operations"].evictions > evicted + 20
    assert sizes[1] - sizes[0] < GROWTH


async def find_no_user(tokens):
    return dict.fromkeys(tokens)


async def test_buckets_of_tokens_and_addresses_stay_within_the_budget(redis_url):
    app = create(Settings(redis_url=redis_url, cache_mb=MEGABYTES), ConnectionLimiter())
    limiter = app.state.rate_limiter
    limiter.sessions.find = find_no_user
    for number in range(30_000):
        (await limiter.admit(Client(unknown_token(), f"10.0.{number >> 8}.{number & 255}"))).set(1)

    assert limiter.usage.evictions > 0
    assert limiter.usage.bytes <= POOL.total - POOL.capacity
    assert POOL.usages()["buckets"] == limiter.usage


async def test_flood_of_documents_leaves_the_other_caches_their_floor(app, ask, monkeypatch):
    held: list[tuple[str, int]] = []  # the name of each cache that evicted an entry, with the bytes that it had then
    evict = Cache.evict

    def recorded(cache):
        held.append((cache.name, cache.totals.bytes))
        evict(cache)

    numbers = count()
    for turn in range(200):
        await ask((names, cursors)[turn % 2](numbers))
    POOL.resize(2 * MEGABYTE)
    before, floor = POOL.usages(), POOL.capacity // FLOOR_SHARE
    monkeypatch.setattr(Cache, "evict", recorded)
    for _ in range(160):
        await ask(documents(numbers))

    after = POOL.usages()
    assert after["operations"].evictions > before["operations"].evictions + 20
    assert sum(usage.bytes > floor for usage in before.values()) >= 3
    evicting = {name for name, _ in held}
    assert evicting > {"operations"}
    assert min(size for _, size in held) > floor  # before it evicted; after that it may have less: entries may be large
    for name, usage in before.items():
        assert after[name].entries > 0 or not usage.entries
        assert after[name].bytes >= usage.bytes or name in evicting


async def test_metrics_show_the_size_of_each_cache(app, ask):
    await ask({"query": "{ articles { totalCount } }"})

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://upvote") as client:
        shown = (await client.get("/metrics")).text

    for name in CACHES:
        for kind in ("bytes", "entries", "evictions", "hits", "misses"):
            assert f'upvote_cache_{kind}{{cache="{name}"}}' in shown
    entries = POOL.usages()["operations"].entries  # of the tests before as well
    assert entries >= 1
    assert f'upvote_cache_entries{{cache="operations"}} {entries:.1f}' in shown
