"""
The caches of a connection, of hashes as records and of votes, stay consistent when the pool evicts from them: it bounds
the bytes of all caches of a process together. The step "flood" fills the pool, so that it evicts.
"""

from hypothesis import given
from hypothesis import strategies as st

from caches import Pool
from store import keys
from store.client.tracking_cache import HashCache
from store.queries import VOTER_VOTES, VoteCache
from store.records import VOTES_BY_VALUE

NUMBERS, VOTERS = st.integers(10**15, 10**15 + 5), st.sampled_from(["ann", "ben", "cid", "dot"])


def key(number):
    return keys.article(0, number)


def decoded(number, fields):
    return number, fields["title"]


@given(st.lists(st.tuples(st.sampled_from(["add", "find", "discard", "flood"]), NUMBERS, st.integers(0, 9))))
def test_hashes_are_found_as_they_were_added_last_or_not_at_all(steps):
    pool = Pool(12_000)  # bytes
    cache, flood, added = HashCache(pool, max_hashes=3), pool.cache("flood", microseconds=1_000), {}
    for step, number, title in steps:
        match step:
            case "add":
                if key(number) not in cache._places:  # readers share a record that is cached
                    added[number] = str(title)
                cache.add(key(number), {"title": str(title)})
            case "find":
                assert cache.find([number], key, decoded) in ([None], [(number, added.get(number))])
            case "discard":
                cache.discard(key(number))
                assert cache.find([number], key, decoded) == [None]
            case "flood":
                flood.put(title, title, size=5_000)

        assert len(cache) <= 3
        assert cache._places.keys() <= cache._cache.entries.keys()
        assert sum(map(len, cache._records.values())) == len(cache._places)
        assert pool.size <= pool.capacity


@given(st.lists(st.tuples(st.sampled_from(["add", "find", "discard", "flood"]), NUMBERS, VOTERS, st.integers(-1, 1))))
def test_votes_are_found_as_they_were_added_last_or_not_at_all(steps):
    pool = Pool(9_000)  # bytes
    cache, flood, added = VoteCache(pool), pool.cache("flood", microseconds=1_000), {}
    for step, number, voter, value in steps:
        match step:
            case "add":
                added[number, voter] = VOTES_BY_VALUE[value]
                read = ("EVALSHA", VOTER_VOTES.digest, 3, *["a key"] * 3, voter, str(number))
                assert cache.add(read, [value])
            case "find":
                assert cache.find([number], voter) in ([None], [added.get((number, voter))])
            case "discard":
                cache.discard(keys.voted(0, number))
                assert cache.find([number], voter) == [None]
            case "flood":
                flood.put(number, voter, size=2_000)

        pairs = {(number, voter) for number, voters in cache._voters.items() for voter in voters}
        assert pairs == {(number, voter) for voter, each in cache._votes.entries.items() for number in each.value}
        assert all(cache._voters.values())
        assert pool.size <= pool.capacity
