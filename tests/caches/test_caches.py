from hypothesis import given
from hypothesis import strategies as st

from caches import ENTRY_BYTES, MEMOS, SHARES, CacheBudget, SizedCache


def test_least_recently_used_entry_is_evicted():
    cache = SizedCache(10 + 2 * ENTRY_BYTES)
    cache.put("a", 1, 5)
    cache.put("b", 2, 5)
    cache.get("a")

    cache.put("c", 3, 1)

    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert cache.usage == (6 + 2 * ENTRY_BYTES, 2, 1)


def test_growth_of_an_entry_evicts_others():
    cache = SizedCache(10 + 2 * ENTRY_BYTES)
    cache.put("a", 1, 5)
    cache.put("b", 2, 5)

    cache.grow("b", 2, 1)
    cache.grow("b", "another value", 100)

    assert (cache.get("a"), cache.get("b")) == (None, 2)
    assert cache.usage == (6 + ENTRY_BYTES, 1, 1)


def test_second_value_of_a_key_replaces_the_first():
    cache = SizedCache(1_000)
    cache.put("a", 1, 5)

    cache.put("a", 2, 7)

    assert cache.get("a") == 2
    assert cache.usage == (7 + ENTRY_BYTES, 1, 0)


def test_smaller_capacity_evicts_at_once():
    cache = SizedCache(1_000)
    cache.put("a", 1, 5)
    cache.put("b", 2, 5)

    cache.resize(5 + ENTRY_BYTES)

    assert (cache.get("a"), cache.get("b")) == (None, 2)


def test_shares_and_memos_add_up_to_the_budget():
    budget = CacheBudget(64)

    shares = sum(budget.share(name) for name in SHARES)
    assert 0.99 * budget.total < shares + sum(memo.max_bytes for memo in MEMOS.values()) <= budget.total


def test_entry_larger_than_the_cache_is_not_cached():
    cache = SizedCache(10 + ENTRY_BYTES)
    cache.put("b", 2, 5)

    cache.put("a", 1, 11)

    assert (len(cache), cache.get("b")) == (1, 2)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 20))))
def test_sizes_never_exceed_the_capacity(puts):
    capacity = 30 + 3 * ENTRY_BYTES
    cache, sizes = SizedCache(capacity), {}
    for key, size in puts:
        sizes[key] = size + ENTRY_BYTES
        cache.put(key, key, size)

        assert cache.usage.bytes == sum(size for key, size in sizes.items() if key in cache) <= capacity
