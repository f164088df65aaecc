"""
A warning comes before the memory of the store is full, and a full store can be read.

Codes such as D6 name rows of docs/behaviours.md.
"""

import logging
from io import BytesIO
from math import inf
from zipfile import ZipFile

import httpx
import pytest

from server.observability.memory import HIGH, StoreMemory, limit_of
from store import memory
from store.memory import HOUR, WEEK_HOURS, MemoryUse
from tests.server.conftest import REGISTER, serving
from tests.servers import Server, running

NOW = 1_000 * HOUR  # unix milliseconds, in the hour 1,000 of 1970
LONG = "x" * 30_000
POST = """mutation($content: String!) {
  post(input: {title: "a title", content: $content, groups: ["show"]}) { article { id } userErrors { code } } }"""
COMMENT = """mutation($id: ID!) { comment(input: {articleId: $id, content: "a comment"}) { userErrors { code } } }"""
THREAD = """query($id: ID!) { article(id: $id) {
  thread(order: BEST, pinned: true, first: 5) { nodes { content } pageInfo { hasNextPage } } } }"""
DELETE = """mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { userErrors { code } } }"""
READS = """{ viewer { username } articles(first: 5, pinned: true) { nodes { title viewerVote } } }"""


def codes(answer):
    return [error["extensions"]["code"] for error in answer.get("errors", ())]


def test_full_store_is_read_and_gets_free_by_deletions(tmp_path):  # D6
    server = Server(tmp_path / "valkey")
    with running(server), serving(tmp_path / "data", redis_url=server.url, rate_limits="off") as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        first = [live.ask(POST, token, content=f"{n} {LONG}")["data"]["post"]["article"]["id"] for n in range(30)]
        assert live.ask(COMMENT, token, id=first[0])["data"]["comment"]["userErrors"] == []
        with server.client() as client:
            limit = client.info("memory")["used_memory"] + 1_000_000
            client.config_set("maxmemory", limit)
        written = 0
        while not codes(refused := live.ask(POST, token, content=f"more {written} {LONG}")):
            written += 1
            assert refused["data"]["post"]["userErrors"] == []
        with server.client() as client:  # smaller writes are refused as well, whatever buffers are freed meanwhile
            limit = client.info("memory")["used_memory"] - 50_000
            client.config_set("maxmemory", limit)
        read = live.ask(READS, token)
        ready = httpx.get(f"{live.url}/readyz").json()
        metrics = live.metrics()
        with server.client() as client:
            client.config_set("maxmemory", limit // 2)
            thread = live.ask(THREAD, token, id=first[0])
            exported = httpx.post(f"{live.url}/export", headers={"Authorization": f"Bearer {token}"})
            pins = list(client.scan_iter("pins:*"))
            client.config_set("maxmemory", limit)
        deleted = [live.ask(DELETE, token, id=id) for id in first]
        again = live.ask(POST, token, content="short")
        with server.client() as client:
            client.config_set("maxmemory", 0)

    assert 3 < written < 100
    assert (codes(refused), "out of memory" in refused["errors"][0]["message"]) == (["UNAVAILABLE"], True)
    assert codes(thread) == []
    assert [node["content"] for node in thread["data"]["article"]["thread"]["nodes"]] == ["a comment"]
    with ZipFile(BytesIO(exported.content)) as archive:
        assert archive.read("articles.jsonl").count(b"\n") == 30 + written
    assert pins == []
    assert codes(read) == [] and len(read["data"]["articles"]["nodes"]) == 5
    assert (ready["status"], ready["writes"]) == ("ok", "refused")
    assert ready["memory"]["limit"] == metrics["upvote_store_memory_limit_bytes"] == limit
    assert ready["memory"]["used"] > HIGH * limit
    assert deleted == [{"data": {"deleteArticle": {"userErrors": []}}}] * 30
    assert codes(again) == [] and again["data"]["post"]["userErrors"] == []


async def test_warning_is_logged_once_an_hour_from_eighty_percent_on(store, redis, clock, caplog):
    watched = StoreMemory(store.site, "redis://")
    used = redis.info("memory")["used_memory"]
    try:
        for maxmemory in (2 * used, int(1.1 * used)):
            redis.config_set("maxmemory", maxmemory)
            await watched.look()
            await watched.look()
        before = len(caplog.records)
        clock.advance(3_600)
        await watched.look()
        await StoreMemory(store.site, "redis://").look()
    finally:
        redis.config_set("maxmemory", 0)

    assert (before, len(caplog.records)) == (1, 2)
    assert all(record.levelno == logging.WARNING for record in caplog.records)
    assert f"of {int(1.1 * used)} bytes" in caplog.messages[0]


async def test_warning_is_logged_once_if_the_store_is_full(store, redis, clock, caplog):
    redis.config_set("maxmemory", 1)
    try:
        await StoreMemory(store.site, "redis://").look()
        await StoreMemory(store.site, "redis://").look()
    finally:
        redis.config_set("maxmemory", 0)

    assert len(caplog.messages) == 1 and "is full on" in caplog.messages[0]


async def test_samples_older_than_a_week_are_removed(store, clock):
    hour = store.site.clock() // HOUR
    for _ in range(WEEK_HOURS + 20):
        await memory.note(store.site, MemoryUse(used=7, limit=10), is_high=False)
        clock.advance(3_600)

    found = await memory.samples(store.site)
    assert set(found.values()) == {7}
    assert (min(found), len(found)) == (hour + 19, WEEK_HOURS + 1)


@pytest.mark.parametrize(
    ("samples", "hours"),  # the bytes in use by hour, and the hours after `NOW` until 500 are in use
    [
        ({}, inf),
        ({976: 100, 1_000: 340}, 16),  # 10 bytes an hour, 160 are left
        ({976: 340, 1_000: 100}, inf),  # it shrinks
        ({977: 100, 1_000: 330}, inf),  # less than a day
        ({1: 0, 990: 330, 1_000: 340}, inf),  # what is older than a week does not count
        ({976: 340, 1_000: 340}, inf),
    ],
)
def test_day_on_which_memory_is_full_follows_the_pace_of_the_week(samples, hours):
    assert memory.full_at(MemoryUse(used=340, limit=500), samples, NOW) == NOW + hours * HOUR


def test_full_memory_is_full_now():
    assert memory.full_at(MemoryUse(used=500, limit=500), {}, NOW) == NOW


def test_limit_is_maxmemory_or_that_of_cgroup_or_machine():
    info = "process_id:7\r\nused_memory:100\r\nmem_not_counted_for_evict:9\r\nused_memory_rss:150\r\n"
    machine = info + "maxmemory:0\r\ntotal_system_memory:1000\r\n"

    assert memory.use_of(info + "maxmemory:200\r\n") == (91, 200)
    assert memory.use_of(machine) == (150, 1000)
    assert memory.use_of(machine, {7: 400}.get) == (150, 400)


def test_limit_of_a_cgroup_is_the_smallest_above_a_process(tmp_path):
    processes, cgroups = tmp_path / "proc", tmp_path / "cgroup"
    (processes / "7").mkdir(parents=True)
    (cgroups / "system" / "valkey").mkdir(parents=True)
    (processes / "7" / "cgroup").write_text("0::/system/valkey\n")
    (cgroups / "system" / "memory.max").write_text("4096\n")
    (cgroups / "system" / "valkey" / "memory.max").write_text("max\n")
    (processes / "8").mkdir()
    (processes / "8" / "cgroup").write_text("5:cpu,cpuacct:/\n4:memory:/valkey\n0::/\n")
    (cgroups / "memory" / "valkey").mkdir(parents=True)
    (cgroups / "memory" / "valkey" / "memory.limit_in_bytes").write_text("8192\n")

    assert [limit_of(process, processes, cgroups) for process in (7, 8, 9)] == [4096, 8192, None]
