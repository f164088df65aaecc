"""
What the benchmarks of `bench/` compute from their samples. They measure the server beside others, its peers, and
compare the results with targets. tests/slow/test_bench_runs.py runs them.
"""

import asyncio
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from archive import maintenance
from bench import __main__ as bench
from bench import archive as bench_archive
from bench import archived, cluster, counts, filling, load, rounds, search, servers, store_memory, subscriptions
from bench import growth as growth_of
from bench.cluster import Cost, Memory
from bench.comparing import difference
from bench.counts import Figures
from bench.growth import Case, Size
from bench.growth import Figure as GrowthFigure
from bench.load import Job, Load, NoAnswers, is_complete
from bench.queries import FALLBACK, QUERIES
from bench.rounds import Sample
from bench.servers import Server
from bench.tables import ahead
from bench.targets import growth, judged, judgements
from caches import Pool
from database.database import Database
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
    """Its row measures what is executed by graphql-core, and not by a compiled plan."""
    operation = Operations(SCHEMA, Limits(), Pool(10_000_000)).find(FALLBACK, name=None)
    execution = Execution(SCHEMA)

    paths = {(await execution.execute(operation, {}, Context(store))).execution_path for _ in range(3)}
    assert "compiled" not in paths and "error" not in paths


@pytest.mark.parametrize("answer", [b"HTTP/1.1 503 Service Unavailable\r\n\r\n", b""])
async def test_refused_connection_of_a_subscriber_is_an_error(answer):
    """Nothing waits for its messages for ever."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(subscriptions.SubscriptionLost, match="503" if answer else "connection lost"):
            await subscriptions.connected(port, count=2)


async def test_server_that_closes_all_connections_is_an_error_of_the_load():
    """Its percentiles would be those of nothing."""
    async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(NoAnswers, match=f"all 2 connections to port {port} were closed before any answer"):
            await load.run(Job(port, [("{}", "a token")], connections=2, seconds=0.01))


def test_server_that_used_less_than_a_tick_of_cpu_is_measured(monkeypatch):
    """A round may be shorter than what the system counts."""
    served = Load(answers=100, failed=0, seconds=0.01, p50=1.0, p99=2.0)
    monkeypatch.setattr(rounds, "load", lambda server, requests, seconds: served)
    idle = cast(Server, SimpleNamespace(cpu=0.5, memory=1.0))
    found = rounds.sample(idle, [], 0.01)

    assert found.cpu == 1e6 / servers.TICKS / 100
    assert ahead([found], [found]) == (1, 1)


async def test_memory_with_an_archive_is_measured(monkeypatch, capsys):
    monkeypatch.setattr(store_memory, "FREEING_SECONDS", 0)
    await store_memory.main([40, 60], hot=20, comments_each=2, parent=None)

    *_, first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("| 40 | 40 | ")
    assert second.startswith("| 60 | 40 | ")


def test_searches_are_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(search, "SEARCHES", 5)
    search.run(ROOT / "server" / "sample.csv", f"sqlite:///{tmp_path}/upvote.db", comments=20)

    first, _, *table = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"[0-9]+ stories and 20 comments indexed in [0-9.]+ s of CPU time", first)
    head, searches = 2, 11
    assert len(table) == head + searches
    assert {line.count("|") for line in table} == {8}


def test_targets_are_computed_from_samples():
    def samples(rate: float) -> list[Sample]:
        return [Sample(rate, p50=1, p99=4, cpu=1e6 / rate, memory=50, failed=0)]

    page = {"upvote": samples(900), "strawberry": samples(100), "hand": samples(1_000)}
    run = {"page": page, "varied": {"upvote": samples(450)}}

    table, *missed = judged(run).split("\n\n")
    assert [line.split(" | ") for line in table.splitlines()[2:]] == [
        ["| `page`, times strawberry", "45", "9.00", "9.00", "MISSED |"],
        ["| `page`, times hand", "0.71", "0.90", "0.90", " |"],
        ["| `varied`, relative to `page`", "0.8", "0.50", "0.50", "MISSED |"],
        ["| `page`, p99 relative to p50", "at most 3", "4.00", "", "MISSED |"],
        ["| `varied`, p99 relative to p50", "at most 3", "4.00", "", "MISSED |"],
    ]
    assert missed == [
        "MISSED: `page`, times strawberry, required 45",
        "MISSED: `varied`, relative to `page`, required 0.8",
        "MISSED: `page`, p99 relative to p50, required at most 3",
        "MISSED: `varied`, p99 relative to p50, required at most 3",
    ]
    assert [each.is_missed_by_cpu for each in judgements(run)] == [True, False, True, False, False]


def sample_of(cpu: float) -> Sample:
    """A round of a server of which only the CPU time a response matters."""
    return Sample(rate=1, p50=1, p99=2, cpu=cpu, memory=50, failed=0)


@pytest.mark.parametrize(("ratio", "status"), [(44.0, 1), (46.0, 0)])
def test_run_that_misses_a_target_has_a_status(monkeypatch, capsys, ratio, status):
    samples = {"upvote": [sample_of(cpu=1)], "strawberry": [sample_of(cpu=ratio)]}
    monkeypatch.setattr(bench, "filled", lambda articles: nullcontext(({}, None, None)))
    monkeypatch.setattr(bench, "measure", lambda plan, queries, ground: [(QUERIES["page"], samples)])
    monkeypatch.setattr(bench.os, "sched_setaffinity", lambda process, cores: None)
    with pytest.raises(SystemExit) as ended:
        bench.main(["page", "--peers", "strawberry"])

    assert ended.value.code == status
    assert ("MISSED" in capsys.readouterr().out) == bool(status)


def figures(**bytecodes: int) -> Figures:
    """The bytecodes that Python 3.11 executes for a request, by the name of its query."""
    return Figures("3.11", bytecodes)


def test_counts_are_compared_with_the_figures():
    rest = {"evictions a page": 0.0, "executions an event": 2.0}
    committed = figures(page=100, feed=100)
    found = figures(page=110, feed=111)

    exceeded = [each.name for each in counts.compared(found, committed, rest) if each.is_exceeded]
    assert exceeded == ["feed", "executions an event"]
    assert counts.judged(found, committed, rest).split("\n\n")[1:] == [
        "EXCEEDED: feed is 111.0, at most 110.0",
        "EXCEEDED: executions an event is 2.0, at most 1.0",
    ]


def test_bytecodes_of_another_python_are_not_compared():
    found, rest = Figures("3.13", {"page": 500}), {"evictions a page": 1.0}

    assert [each.name for each in counts.compared(found, figures(page=100), rest) if each.is_exceeded] == [*rest]
    *_, note = counts.judged(found, figures(page=100), rest).split("\n\n")
    assert note == "bytecodes are not compared: the figures are of Python 3.11, not 3.13"


def test_bytecodes_of_a_thread_are_counted_and_calls_of_a_function():
    def called(times: int) -> int:
        return sum([each for each in range(times)])

    tracers = [counts.Tracer(called.__code__) for _ in range(3)]
    for tracer, times in zip(tracers, (5, 5, 10), strict=True):
        with tracer:
            called(times)

    first, same, more = tracers
    assert first.bytecodes == same.bytecodes < more.bytecodes
    assert [tracer.calls for tracer in tracers] == [1, 1, 1]


def test_sizes_are_compared_with_the_first():
    sizes = {count: {"page": {"upvote": [sample_of(cpu)]}} for count, cpu in ((1_000, 200), (9_000, 250))}

    assert growth(sizes).splitlines()[2:] == ["| `page` | upvote | 1.00 | 1.25 |"]


@pytest.mark.parametrize("partitions", [1, 8])
async def test_filled_store_is_as_commands_leave_it(store: Store):
    found: list[Finding] = []

    tokens = await filling.fill(store, 500)
    await verify(store.site, found.append)

    assert len(tokens) == len(filling.VIEWERS)
    assert found == []


def test_one_size_grows_at_a_time():
    assert growth_of.sizes(articles=[20, 1], partitions=[1, 8], comments=[5]) == [(20, 1, 5), (1, 1, 5), (20, 8, 5)]


def test_growth_plan_goes_on_from_the_measured_partitions():
    """Pages cost 10 more in the server, and 2 more in Valkey, for each partition; votes as in the largest store."""

    def case(partitions: int, workers: int, page: tuple[int, int], vote: int) -> tuple[Case, dict[str, GrowthFigure]]:
        figures = {"page": GrowthFigure(*page, answer=1), "vote": GrowthFigure(vote, 5, answer=1)}
        return Case(Size(1_000, partitions, 10), workers), figures

    found = dict([case(1, 2, (100, 20), 50), case(16, 2, (250, 50), 60), case(16, 1, (1, 1), 1)])
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in growth_of.plan(found).splitlines()[2:]]

    assert rows == [
        ["votes a second", "10,000", "60", "0.6", "5", "0.1"],
        ["pages a second, of 32 partitions", "10,000", "410", "4.1", "82", "0.8"],
        ["cores that are 50% busy", "", "", "9", "", "2"],
    ]


@pytest.mark.parametrize("partitions", [1, 8])
async def test_filled_archive_is_as_the_archiver_leaves_it(store: Store, tmp_path):
    found: list[Finding] = []
    url = f"sqlite:///{tmp_path}/upvote.db"

    await filling.fill(store, 300, before=1_200)
    await archived.archive(store, url, 1_200)
    await store.site.rankings.read(store.site.redis)
    database = Database(url)
    await database.open()
    tally = await maintenance.verify(store.site, database, found.append, repair=False)
    await verify(store.site, found.append, archived=tally)
    await database.close()

    assert sum(each.articles for each in tally.users.values()) == 1_200
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
    page_alone, vote, page = Cost(1, cpu=100, share=1), Cost(1, cpu=50, share=0.5), Cost(1, cpu=250, share=0.5)
    rows = cluster.large(page_alone, vote, page, Memory(user=1024, follow=0, article=1024, vote=1024))

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
