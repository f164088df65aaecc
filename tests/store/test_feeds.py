"""
Pages of feeds, which merge the timelines of the users whom the viewer follows, against a model that sorts everything:
many followees, deep pages of few, equal times, and feeds down to any mark, the position up to which the viewer has seen
the feed.

A store is split into partitions by user: the partition of a user has all that the user owns. `examples` is
how many examples Hypothesis tries: fewer in `make test`.

Codes such as F4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from resolvers.dataloader import Reads
from resolvers.feeds import posters_of
from store import followed, keys
from store.listings import Window
from store.records import Position
from store.store import Store
from tests.conftest import client
from tests.examples import examples

pytestmark = pytest.mark.many_partitions

VIEWER = "viewer"


def timelines(most_people, most_articles):
    """The times at which each of some users posted: few, so that many are equal."""
    return st.lists(st.lists(st.integers(1, 40), max_size=most_articles), min_size=1, max_size=most_people)


@pytest.mark.parametrize("partitions", [1, 8])
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    posted=st.one_of(timelines(most_people=3, most_articles=12), timelines(most_people=40, most_articles=4)),
    size=st.integers(1, 8),
    floor=st.none() | st.integers(0, 100),
    seed=st.integers(0, 2**16),
)
@example(posted=[[5], [1, 2, 3]], size=1, floor=None, seed=0)  # no article of the first user is below the first page
@example(posted=[[30, 31]] * 30, size=7, floor=None, seed=0)
def test_every_page_equals_all_timelines_merged(
    running_valkey, monkeypatch, partitions, posted, size, floor, seed
):  # F4, L8
    monkeypatch.setattr("store.feeds.TIMELINES_PER_CALL", random.Random(seed).choice([3, 100]))
    with client(running_valkey) as redis:
        redis.flushall()
    asyncio.run(_check(running_valkey, partitions, posted, size, floor))


async def _check(url, partitions, posted, size, floor):
    store = await Store.open(url, policy=None, partitions=partitions)
    try:
        feed = await _filled(store, posted)
        mark = feed[floor % len(feed)] if feed and floor is not None else None  # without one, the whole feed is read
        await _check_walks(store, feed, size, mark)
        await _check_positions(store, feed, size, mark)
    finally:
        await store.close()


async def _filled(store, posted):
    """Write timelines without articles, and return all positions, newest first."""
    numbers, commands, feed = count(1), [], []
    for each, times in enumerate(posted):
        name = f"user-{each}" if each else VIEWER
        partition = store.site.partition_of_user(name)
        for time in times:
            feed.append(position := Position(float(time), keys.member(next(numbers))))
            commands.append(("ZADD", keys.timeline(partition, name), time, position.member))
        if times:
            commands.append(("ZADD", keys.newest_posts(partition), max(times), name))
        if each:
            commands.append(("ZADD", followed.following(store.site.partition_of_user(VIEWER), VIEWER), 1, name))
    await store.site.redis.pipeline(commands)
    return sorted(feed, reverse=True)


async def _check_walks(store, feed, size, mark):
    """All pages, downwards and upwards."""
    for upwards in (False, True):
        walked, position = [], None
        while True:
            page, behind = await _page(store, Window(size, upwards, position), mark)
            assert behind is bool(walked)
            walked += page
            if len(page) < size:
                break
            position = page[-1]
        shown = [each for each in feed if mark is None or each > mark]
        assert walked == (shown[::-1] if upwards else shown)


async def _check_positions(store, feed, size, mark):
    """Pages from every position, also below the mark, and from positions without an article."""
    between = [Position(each.value + 0.5, each.member) for each in feed]
    ends = [Position(0.0, keys.member(0)), Position(99.0, keys.member(0))]
    shown = [each for each in feed if mark is None or each > mark]
    for position in [*feed[:20], *feed[-20:], *between[:5], *between[-5:], *ends]:
        below = [each for each in shown if each < position]
        above = [each for each in shown if each > position]
        is_shown = position in shown
        assert await _page(store, Window(size, upwards=False, beyond=position), mark) == (
            below[:size],
            bool(above or is_shown),
        )
        assert await _page(store, Window(size, upwards=True, beyond=position), mark) == (
            above[::-1][:size],
            bool(below or is_shown),
        )


async def _page(store, window, mark):
    """A page of the feed, and whether there are articles on the side that the page comes from."""
    reads = Reads(store, login=None)
    last_posts, hides_articles = await posters_of(reads, VIEWER, mark)
    assert not hides_articles
    merged = await reads.pull(last_posts, window, mark)  # the timelines of these posters
    return list(merged.positions), merged.behind
