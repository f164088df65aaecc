"""Caches that share the bytes of one pool: eviction, memoised functions, and the figures of each cache."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caches import ENTRY_BYTES, FLOOR_SHARE, MAX_HITS, POOL, UNPROVEN, Pool, Usage, memo

# A `Usage` has bytes, entries and evictions, then hits and misses. The number that a cache is made with is the
# microseconds that one of its values takes to make: what takes longer is "dear", and kept longer.
ENTRY = 1_000  # bytes of an entry with its overhead
SIZE = ENTRY - ENTRY_BYTES
NOTHING = Usage(bytes=0, entries=0, evictions=0)


def room_for(count):
    """A pool for so many entries and a half, so that it frees no more than one for another one."""
    return Pool(count * ENTRY + ENTRY // 2)


def filled(cache, count, first=0):
    """Put so many entries, whose keys and values are numbers from `first` on, into a cache."""
    for number in range(first, first + count):
        cache.put(number, number, SIZE)
    return cache


def test_one_cache_may_use_what_others_do_not():
    pool = room_for(100)
    pool.cache("idle", microseconds=1)

    cache = filled(pool.cache("busy", microseconds=1), 100)

    assert pool.usages() == {"idle": NOTHING, "busy": Usage(100 * ENTRY, entries=100, evictions=0)}
    assert pool.size == 100 * ENTRY
    cache.put("one more", 1, SIZE)
    assert pool.usages()["busy"].evictions == 1


def test_entry_with_the_fewest_hits_is_evicted_first():
    pool = room_for(100)
    cache = filled(pool.cache("one", microseconds=1), 100)
    for number in {*range(100)} - {42}:
        cache.get(number)

    cache.put("one more", 1, SIZE)

    assert (cache.get(42), cache.get("one more"), len(cache.entries)) == (None, 1, 100)


def test_of_equal_entries_the_oldest_is_evicted():
    pool = room_for(100)
    cache = filled(pool.cache("one", microseconds=1), 103)

    assert [number for number in range(103) if number not in cache.entries] == [0, 1, 2]


def test_large_entries_are_worth_less():
    pool = room_for(100)
    cache = filled(pool.cache("one", microseconds=1), 90)
    cache.put("large", 1, 10 * ENTRY - ENTRY_BYTES)

    cache.put("one more", 1, SIZE)

    assert "large" not in cache.entries
    assert len(cache.entries) == 91


def test_entries_that_take_long_to_make_are_worth_more():
    pool = room_for(100)
    dear = filled(pool.cache("dear", microseconds=50), 50)
    cheap = filled(pool.cache("cheap", microseconds=1), 1_000)

    assert (len(dear.entries), len(cheap.entries)) == (50, 50)


def test_flood_of_dear_entries_does_not_evict_what_is_used():
    pool = room_for(100)
    used = filled(pool.cache("used", microseconds=1), 90)
    for number in range(90):
        used.get(number)

    flood = filled(pool.cache("flood", microseconds=10), 15)

    assert (len(used.entries), len(flood.entries)) == (90, 10)


def test_what_was_dear_and_popular_once_is_evicted_in_the_end():
    """Each eviction raises the priority of what comes later, and only so many hits count."""
    pool = room_for(100)
    dear = filled(pool.cache("dear", microseconds=3), 50)
    for number in range(50):
        for _ in range(1_000):
            dear.get(number)

    filled(pool.cache("cheap", microseconds=1), round(50 * (3 * MAX_HITS / UNPROVEN + 50)))

    assert len(dear.entries) == 100 // FLOOR_SHARE


def test_flood_of_one_cache_leaves_the_others_their_floor():
    pool = room_for(1_000)
    poor = filled(pool.cache("poor", microseconds=0.001), 500)
    few = filled(pool.cache("few", microseconds=0.001), 1_000 // FLOOR_SHARE)

    filled(pool.cache("flood", microseconds=1_000), 5_000)

    assert (len(poor.entries), len(few.entries)) == (1_000 // FLOOR_SHARE, 1_000 // FLOOR_SHARE)


def test_caches_of_one_name_have_one_floor():
    pool = room_for(1_000)
    both = [filled(pool.cache("poor", microseconds=0.001), 100) for _ in range(2)]

    filled(pool.cache("flood", microseconds=1_000), 5_000)

    assert sum(len(cache.entries) for cache in both) == 1_000 // FLOOR_SHARE
    assert pool.usages()["poor"].evictions == 200 - 1_000 // FLOOR_SHARE


def test_full_pool_frees_a_thousandth_at_once():
    pool = Pool(10_000 * ENTRY)
    cache = filled(pool.cache("one", microseconds=1), 10_000)

    sizes = []
    for number in range(10):
        cache.put(f"more {number}", 1, SIZE)
        sizes.append(pool.size // ENTRY)
    assert sizes == [9_990 + number for number in range(10)]


def test_growth_of_an_entry_evicts():
    pool = Pool(2 * ENTRY)
    cache = filled(pool.cache("one", microseconds=1), 2)

    cache.grow(1, "another value", more=ENTRY)
    assert len(cache.entries) == 2
    cache.grow(1, 1, more=1)

    assert pool.usages()["one"] == Usage(ENTRY, entries=1, evictions=1)
    assert cache.get(0) == 0  # the larger one was worth less


def test_second_value_of_a_key_replaces_the_first_and_keeps_its_hits():
    pool = room_for(2)
    cache = filled(pool.cache("one", microseconds=1), 2)

    cache.put(0, "another value", SIZE)
    cache.put(2, 2, SIZE)

    assert (cache.get(0), cache.get(1), cache.get(2)) == ("another value", None, 2)
    assert pool.usages()["one"] == Usage(2 * ENTRY, entries=2, evictions=1, hits=2, misses=1)


def test_smaller_pool_evicts_at_once():
    pool = room_for(10)
    cache = filled(pool.cache("one", microseconds=1), 10)

    pool.resize(4 * ENTRY + ENTRY // 2)

    assert (len(cache.entries), pool.size) == (4, 4 * ENTRY)


class Measured:
    """Something besides caches for which a pool reserves bytes, with the usage that it reports."""

    usage = Usage(bytes=300, entries=3, evictions=7)


def test_reserved_bytes_are_left():
    pool = room_for(10)
    cache = filled(pool.cache("one", microseconds=1), 10)

    pool.reserve("state", Measured(), 4 * ENTRY)
    filled(cache, 10, first=10)

    assert pool.usages() == {"one": Usage(6 * ENTRY, entries=6, evictions=14), "state": Measured.usage}


def test_entry_larger_than_the_pool_is_not_cached():
    pool, evicted = room_for(2), []
    cache = filled(pool.cache("one", microseconds=1, on_evict=lambda key, value: evicted.append((key, value))), 1)

    cache.put("large", 1, 3 * ENTRY)

    assert ([*cache.entries], evicted) == ([0], [("large", 1)])


def test_evicted_entries_are_told_and_discarded_ones_are_not():
    pool, evicted = room_for(2), []
    cache = filled(pool.cache("one", microseconds=1, on_evict=lambda key, value: evicted.append((key, value))), 2)

    cache.discard(0)
    filled(cache, 2, first=2)

    assert evicted == [(1, 1)]
    assert pool.usages()["one"].evictions == 1


def test_cache_that_is_dropped_leaves_the_pool():
    pool = room_for(10)
    cache = filled(pool.cache("one", microseconds=1), 10)

    del cache

    assert (pool.size, pool.usages()) == (0, {"one": NOTHING})


def test_values_that_are_discarded_or_replaced_are_not_held():
    """Their places in the heap are removed later: there are at most as many as entries, and some."""
    pool = room_for(1_000)
    cache = filled(pool.cache("one", microseconds=1), 10)
    for number in range(10_000):
        cache.put(number % 10, object(), SIZE)
        cache.discard(number % 7)

    assert len(cache._heap) <= 2 * len(cache.entries) + 100
    assert {id(entry.value) for _, rank, entry in cache._heap if rank != entry.rank and not entry.rank} <= {id(None)}


def test_many_hits_are_looked_at_in_steps():
    """An eviction among entries that were all hit since they came looks at some of them only."""
    pool = room_for(10_000)
    cache = filled(pool.cache("one", microseconds=1), 10_000)
    for number in range(10_000):
        cache.get(number)
    before = next(pool.ranks)

    cache.put("one more", 1, SIZE)

    assert pool.usages()["one"].evictions == 11  # a thousandth and one
    assert next(pool.ranks) - before < 4_000


def test_lookups_of_many_keys_count_each():
    pool = room_for(10)
    cache = filled(pool.cache("one", microseconds=1), 2)

    assert cache.get_all([0, 7, 1, 0]) == [0, None, 1, 0]
    assert pool.usages()["one"][3:] == (3, 1)
    cache.count_hits()
    assert [cache.entries[number].hits for number in (0, 1)] == [2, 1]


def test_entries_that_are_looked_up_together_outlive_others():
    """Their hits are counted before something is evicted."""
    pool = room_for(10)
    cache = filled(pool.cache("one", microseconds=1), 10)
    cache.get_all(range(5))

    filled(pool.cache("other", microseconds=1), 4)

    assert cache.entries.keys() >= {*range(5)}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["put", "get", "grow", "discard"]),
            st.integers(0, 1),
            st.integers(0, 9),
            st.integers(1, 900),
        )
    )
)
def test_sizes_are_exact_and_within_the_pool(steps):
    pool = room_for(4)
    caches = [pool.cache(name, microseconds) for name, microseconds in (("a", 1), ("b", 7))]
    for step, number, key, size in steps:
        cache = caches[number]
        match step:
            case "put":
                cache.put(key, key, size)
            case "get":
                assert cache.get(key) in (key, None)
            case "grow":
                cache.grow(key, key, size)
            case "discard":
                cache.discard(key)

        sizes = [sum(entry.size for entry in each.entries.values()) for each in caches]
        assert sizes == [pool.usages()[name].bytes for name in ("a", "b")]
        assert sum(sizes) == pool.size <= pool.capacity


def test_threads_may_share_a_pool():
    pool = room_for(50)
    caches = [pool.cache(str(number), number + 1) for number in range(4)]

    def use(seed):
        chance = random.Random(seed)
        for _ in range(3_000):
            cache, key = chance.choice(caches), chance.randrange(40)
            assert cache.get(key) in (None, key)
            chance.choice([cache.put, cache.grow])(key, key, chance.randrange(ENTRY))
            if not chance.randrange(10):
                cache.discard(key)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(use, range(4)))

    assert pool.size == sum(entry.size for cache in caches for entry in cache.entries.values()) <= pool.capacity
    assert pool.size == sum(usage.bytes for usage in pool.usages().values())


def test_memo_calls_once_for_each_arguments():
    calls = []

    @memo(entry_bytes=100)
    def pair(*arguments):
        calls.append(arguments)
        return None

    before = POOL.usages()["memos"]
    assert [pair(1), pair("a", 2), pair(1)] == [None] * 3
    assert calls == [(1,), ("a", 2)]
    assert POOL.usages()["memos"][3:] == (before.hits + 1, before.misses + 2)


def test_memo_keeps_only_what_is_allowed():
    calls = []

    @memo(entry_bytes=100, when=lambda text: len(text) < 3)
    def length(text):
        calls.append(text)
        return len(text)

    assert [length("ab"), length("abc"), length("ab"), length("abc")] == [2, 3, 2, 3]
    assert calls == ["ab", "abc", "abc"]


def test_memo_does_not_keep_exceptions():
    @memo(entry_bytes=100)
    def inverse(number):
        return 1 / number

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            inverse(0)
    assert inverse.__name__ == "inverse"
