from hypothesis import given
from hypothesis import strategies as st

from server.wire.recent import Recent


def test_oldest_makes_room_for_the_newest():
    recent = Recent(10)
    recent.put("a", 1, 5)
    recent.put("b", 2, 5)
    recent.get("a")

    recent.put("c", 3, 1)

    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (1, None, 3)


def test_what_is_larger_than_the_cache_is_not_kept():
    recent = Recent(10)

    recent.put("a", 1, 11)

    assert len(recent) == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 20))))
def test_sizes_never_exceed_the_capacity(puts):
    recent, sizes = Recent(30), {}
    for key, size in puts:
        if recent.get(key) is None:
            sizes[key] = size
        recent.put(key, key, size)

        assert sum(size for key, size in sizes.items() if recent.get(key) is not None) <= 30
