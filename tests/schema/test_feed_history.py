"""
Feeds after random histories, compared with a model: equal lists, no article repeated or lost.

Codes such as F4 name rows of docs/behaviours.md.
"""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolvers import feeds, pagination
from resolvers.context import Context
from store.errors import SelfFollow
from store.records import Feed
from store.store import Store
from tests.conftest import Clock, client, registered
from tests.examples import examples
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

PEOPLE = ["Ann", "ben", "cat", "dan", "eve"]
READERS = PEOPLE[:2]

people = st.sampled_from(PEOPLE)
actions = st.one_of(  # the arguments `kind`, `one` and `other` of `_act`
    st.tuples(st.just("post"), people, st.sampled_from([0, 0, 1, 250, 999, -1, -400])),
    st.tuples(st.just("follow"), st.sampled_from(READERS), people),
    st.tuples(st.just("unfollow"), st.sampled_from(READERS), people),
    st.tuples(st.just("delete"), st.integers(0, 50), st.none()),
    st.tuples(st.just("mark"), st.sampled_from(READERS), st.integers(0, 50)),
    st.tuples(st.just("read"), st.integers(1, 9), st.integers(1, 9)),
)


class Model:
    """All articles as (time, number, poster), all follows, and the marks up to which feeds were seen."""

    def __init__(self) -> None:
        self.posted: list[tuple[int, int, str]] = []
        self.following = {reader: {reader} for reader in READERS}
        self.marks: dict[str, tuple[int, int]] = {}

    def feed(self, reader: str, unseen_only: bool = False) -> list[tuple[int, int]]:
        shown = [(time, number) for time, number, poster in self.posted if poster in self.following[reader]]
        if unseen_only and reader in self.marks:
            shown = [place for place in shown if place > self.marks[reader]]
        return sorted(shown, reverse=True)


@pytest.mark.parametrize("partitions", [1, 8])
@pytest.mark.parametrize("bound", [2, 250])  # of how much one call reads: so small that it takes several, or not
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=st.lists(actions, min_size=5, max_size=60))
def test_feed_is_the_merge_of_the_timelines_at_every_instant(
    running_valkey, monkeypatch, partitions, bound, history
):  # F4, F6, F8, F9, F10
    for limit in ("TIMELINES_PER_CALL", "NAMES_PER_CALL", "MAX_RECENT_POSTERS"):
        monkeypatch.setattr(f"store.feeds.{limit}", bound)
    with client(running_valkey) as redis:
        redis.flushall()
    asyncio.run(_check_history(running_valkey, partitions, history))


async def _check_history(url, partitions, history):
    clock = Clock()
    store = await Store.open(url, policy=None, partitions=partitions, clock=clock)
    try:
        for name in PEOPLE:
            await registered(store, name)
        model = Model()
        for action in history:
            await _act(store, clock, model, *action)
        await _act(store, clock, model, "read", 3, 4)
    finally:
        await store.close()


async def _act(store, clock, model, kind, one, other):
    """
    Do the same in the store and in the model. `one` and `other` are, by kind: a poster and milliseconds since the last
    post; a follower and a followee; the index of an article; a reader and the index of an article; two sizes of pages.
    """
    match kind:
        case "post":
            clock.now += other
            posted = await post(store, one)
            model.posted.append((posted.posted_at, posted.number, one))
        case "follow" | "unfollow":
            try:
                await getattr(store.follows, kind)(one, other)
            except SelfFollow:
                assert one == other
                return
            (model.following[one].add if kind == "follow" else model.following[one].discard)(other)
        case "delete" if model.posted:
            _, number, poster = model.posted.pop(one % len(model.posted))
            await store.articles.delete(number, poster)
        case "mark" if model.feed(one):
            shown = (await _page(store, one, size=100, cursor=None)).edges
            edge = shown[other % len(shown)]
            place = (edge.node.posted_at, edge.node.number)
            await store.follows.mark_seen(one, _place(one, edge.cursor))
            model.marks[one] = max(model.marks.get(one, place), place)
        case "read":
            for reader in READERS:
                walks = [_walk(store, reader, size, up, unseen) for size, up, unseen in _paging(one, other)]
                for walked, unseen in await asyncio.gather(*walks):
                    assert walked == model.feed(reader, unseen)
                await _check_counts(store, model, reader)


def _paging(one, other):
    """Page size, whether upwards, and whether unseen articles only."""
    return [(one, False, False), (other, False, False), (one, True, False), (other, False, True), (one, True, True)]


async def _check_counts(store, model, reader):
    context = Context(store)
    (unseen,) = await feeds.unseen_count([Feed(reader)], context)
    assert unseen == len(model.feed(reader, unseen_only=True))
    connection = await _page(store, reader, size=1, cursor=None)
    assert await connection.total.count(context) == len(model.feed(reader))


async def _walk(store, reader, size, up, unseen):
    """The whole feed page by page, downwards or upwards. Checks the flags of each page."""
    walked, cursor, count = [], None, None
    while True:
        connection = await _page(store, reader, size, cursor, up, unseen)
        page = [(edge.node.posted_at, edge.node.number) for edge in connection.edges]
        info = connection.page_info
        more, behind = (
            (info.has_previous_page, info.has_next_page) if up else (info.has_next_page, info.has_previous_page)
        )
        assert behind is (count is not None)
        walked = page + walked if up else walked + page
        count = len(walked)
        if not more:
            return walked, unseen
        assert len(page) == size
        cursor = info.start_cursor if up else info.end_cursor


async def _page(store, reader, size, cursor, up=False, unseen=False):
    paging = {"last": size, "before": cursor} if up else {"first": size, "after": cursor}
    (connection,) = await feeds.articles([Feed(reader)], Context(store), unseen_only=unseen, **paging)
    return connection


def _place(reader, cursor):
    return pagination.marked_position(f"feed:{reader.lower()}", cursor)
