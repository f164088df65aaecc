"""
What the pool, which bounds all caches of a process together in bytes, evicts in recorded traces: counted without a
clock, and compared with least recently used (LRU).
"""

import pytest

from bench import caches as bench
from caches import MEGABYTE

ARTICLES = 3_000  # of the store whose traces are recorded


@pytest.fixture(scope="module")
def traces():
    return {name: each.trace for name, each in bench.record_all(ARTICLES).items()}


@pytest.mark.parametrize("name", bench.TRACES)
@pytest.mark.parametrize("part", bench.PARTS)
def test_pool_loses_less_than_lru(traces, name, part):
    """With room for a part of all that a trace accesses, in fewer evictions and less time to make entries again."""
    trace = traces[name]
    total = trace.bytes // part
    ours, lru = bench.replayed(trace, total), bench.replayed_by_lru(trace, total)

    assert 0 < ours.evictions < 0.95 * lru.evictions
    assert ours.milliseconds < lru.milliseconds


@pytest.mark.parametrize("name", ["cyclic", "uniform"])
def test_pages_of_the_bench_fit_into_the_default_pool(traces, name):
    trace = traces[name]

    assert bench.replayed(trace, 128 * MEGABYTE).evictions == 0
    assert bench.replayed(trace, trace.bytes * 2 // 3).evictions / bench.REQUESTS < 3
