"""What the bench computes from its samples. tests/slow/test_bench_runs.py runs it."""

import re
from pathlib import Path

import pytest

from bench import archive as bench_archive
from bench import cluster, filling, hot, search
from bench.cluster import Cost, Memory
from bench.comparing import difference
from bench.load import is_complete
from bench.queries import FALLBACK
from bench.rounds import Sample
from bench.targets import growth, judged
from caches import SizedCache
from engine import Limits
from engine.compiler.execution import Execution
from engine.documents import Operations
from resolvers.context import Context
from schema.schema import SCHEMA
from store.maintenance.verify import Finding, verify
from store.ranking.formulas import Order
from store.store import Store

ARCHIVE_ROWS = [*(order.name for order in Order), "timeline", "rank by GRAVITY"]
ROOT = Path(__file__).parents[2]
PLAN = (ROOT / "docs" / "cluster.md").read_text()


@pytest.mark.parametrize("partitions", [1])
async def test_fallback_query_is_not_compiled(store: Store):
    """Its row measures the fallback to graphql-core."""
    operation = Operations(SCHEMA, Limits(), SizedCache(10_000_000)).find(FALLBACK, None)
    execution = Execution(SCHEMA)

    paths = {(await execution.execute(operation, {}, Context(store))).execution_path for _ in range(3)}
    assert "compiled" not in paths and "error" not in paths


async def test_memory_with_an_archive_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(hot, "FREEING_SECONDS", 0)
    await hot.main([40, 60], 20, None)

    *_, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("| 40 | 40 | ")
    assert second.startswith("| 60 | 40 | ")


def test_searches_are_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(search, "SEARCHES", 5)
    search.run(ROOT / "server" / "sample.csv", f"sqlite:///{tmp_path}/upvote.db", comments=20)

    first, _, *table = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"[0-9]+ stories and 20 comments indexed in [0-9.]+ s of CPU time", first)
    assert len(table) == 2 + 11
    assert {line.count("|") for line in table} == {8}


def test_targets_are_computed_from_samples():
    def samples(rate: float) -> list[Sample]:
        return [Sample(rate, 1, 4, 1e6 / rate, 50, 0)]

    page = {"upvote": samples(900), "strawberry": samples(100), "hand": samples(1_000)}
    run = {"page": page, "varied": {"upvote": samples(450)}}

    assert [line.split(" | ") for line in judged(run).splitlines()[2:]] == [
        ["| `page`, times strawberry", "45", "9.00", "9.00 |"],
        ["| `page`, times hand", "0.71", "0.90", "0.90 |"],
        ["| `varied`, relative to `page`", "0.8", "0.50", "0.50 |"],
        ["| `page`, p99 relative to p50", "at most 3", "4.00", " |"],
        ["| `varied`, p99 relative to p50", "at most 3", "4.00", " |"],
    ]


def test_sizes_are_compared_with_the_first():
    sizes = {
        count: {"page": {"upvote": [Sample(100, 1, 2, cpu, 50, 0)]}} for count, cpu in ((1_000, 200), (9_000, 250))
    }

    assert growth(sizes).splitlines()[2:] == ["| `page` | upvote | 1.00 | 1.25 |"]


@pytest.mark.parametrize("partitions", [1])
async def test_filled_store_is_as_commands_leave_it(store: Store):
    found: list[Finding] = []

    tokens = await filling.fill(store, 500)
    await verify(store.site, found.append)

    assert len(tokens) == len(filling.VIEWERS)
    assert found == []


def test_difference_is_named_by_its_path():
    assert difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == ".a[1].b is 3, not 2"
    assert difference({"a": 1}, {"a": 1.0}) is None


def test_answer_is_complete_with_its_last_byte():
    sized = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"

    assert [is_complete(answer) for answer in (sized, sized[:-1], chunked, chunked[:-1])] == [True, False, True, False]


def test_large_site_is_the_sum_of_single_costs():
    """With 1 KiB for everything, memory determines the primaries; a page reads each of their partitions."""
    rows = cluster.large(Cost(1, 100, 1), Cost(1, 50, 0.5), Cost(1, 250, 0.5), Memory(1024, 0, 1024, 1024))

    assert [row[-1] for row in rows[:3]] == ["95 GiB", "348 GiB", "5,768 GiB"]
    assert [row[0] for row in rows[3:5]] == ["votes a second", "pages a second, of 256 partitions"]
    assert [row[2:] for row in rows[3:5]] == [["50 µs", "0.5 cores"], ["2650 µs", "26.5 cores"]]
    assert rows[5][-1] == "195, and as many replicas"


@pytest.mark.one_server
def test_plan_for_a_large_site_has_the_measured_memory_of_a_vote(redis):
    """Of articles with more voters than Valkey stores in one listpack, as in the plan, and with fewer."""
    row = r"votes of the last week, with their voters \| ([0-9,]+) \| (\d+) B \| (\d+) GiB"
    count, each, gib = (int(found.replace(",", "")) for found in re.search(row, PLAN).groups())
    packed, least, most = map(int, re.search(r"takes (\d+) B for each\s.*\s.* takes (\d+) to (\d+) B", PLAN).groups())

    assert count == 7 * 86_400 * cluster.LARGE_VOTES
    assert gib == round(count * each / 2**30)
    assert cluster.of_a_vote(redis, 128) == pytest.approx(packed, abs=1)
    assert least <= each <= most
    for voters in (129, 500, cluster.LARGE_VOTERS, 1_500, 2_000, 10_000):
        assert least * 0.85 < cluster.of_a_vote(redis, voters) < most * 1.15  # it also depends on Valkey's hash seed
    assert redis.dbsize() == 0


def test_pages_of_the_archive_are_measured(monkeypatch, capsys):
    monkeypatch.setattr(bench_archive, "ROUNDS", 1)
    monkeypatch.setattr(bench_archive, "USERS", 50)
    bench_archive.main(1_000)

    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [row[0] for row in rows if row[0] in ARCHIVE_ROWS] == ARCHIVE_ROWS
    assert all(int(cell.replace(",", "")) > 0 for row in rows if row[0] in ARCHIVE_ROWS for cell in row[1:])
