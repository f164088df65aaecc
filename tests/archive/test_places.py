"""
Listings of archived articles, which only the SQL database has, compared with those of a store that has the same
articles in Redis. To a listing the archive is one more partition: one more share of the articles.

`first` marks all parameters of a test but the first ones as slow: `make test` leaves them out.

Codes such as D3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import Connection, event

from archive import places, since
from database.order_index import counts
from store import feeds, keys, listings
from store.listings import Listing, Window
from store.numbering import HIGHEST_NUMBER
from store.ranking import standings
from store.ranking.formulas import DAY, Order
from store.records import Position
from tests.archive.filling import archive_all
from tests.examples import first
from tests.store.histories import PEOPLE, YEAR, history
from tests.store.reading import read
from tests.support.made_up_articles import CROWDS, made_up, write
from tests.typed import typed

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]
BY_KEY = re.compile(  # the steps of SQLite's plans that find rows by a key
    r"SEARCH (places|place_counts) USING PRIMARY KEY \(listing=\? AND (\(value,number\)[<>]\(\?,\?\)|value[=>]).*\)"
    r"|SEARCH places USING (COVERING )?INDEX places_by_number \(number=\?\)"
    r"|SEARCH listings USING INDEX listings_by_name \(name=\?\)"
)
LINK = "https://example.com/"
MADE_UP = [  # how many articles are voted on (a name of `CROWDS`), and how their numbers follow the time
    ("two values", "by time"),
    ("similar, below zero", "of early versions"),
    ("similar", "ahead of the clock"),
    ("many votes", "ahead of the clock"),
    ("unlike", "of early versions"),
    ("unlike", "by time"),
]


async def test_every_page_equals_that_of_a_partition(store, each_database, clock, monkeypatch):  # D3
    """Of every listing, from its ends and from positions that it has or not, in both directions."""
    divide_small_listings(monkeypatch)
    chance = random.Random(1)
    articles = await history(store, seed=chance.randrange(1_000), size=150)
    for start in range(0, len(articles), 40):
        await each_database.write(archive_all, store.site, articles[start : start + 40])
    for listing in every_listing(store, clock.now, chance):
        positions = await all_positions(store, listing)
        others = await all_positions(store, listing._replace(lowest="-inf", highest="+inf", since=None))
        for window in windows(positions, others, chance):
            (expected,) = await read(store, *listings.partition_pages(listing, window))
            found = await each_database.run(places.page, listing, window)
            assert typed(found) == typed(expected), (listing, window)


def divide_small_listings(monkeypatch) -> None:
    """Divide also a listing as small as those of a test into counted ranges, here of 8 places."""
    monkeypatch.setattr(counts, "COUNTED", 8)
    monkeypatch.setattr(counts, "MOST_COUNTED", 16)


def every_listing(store, now: int, chance: random.Random) -> list[Listing]:
    site, day = store.site, now // (DAY * 1000) * DAY * 1000
    found = [listings.timeline(site, name) for name in (*PEOPLE, "nobody")]
    found += [listings.by_link(site, LINK), listings.by_link(site, LINK, now - 3_600_000), listings.by_link(site, "x")]
    found += [listings.front_page(site, each) for each in (None, day, day - DAY * 1000)]
    for group in (None, "show", "nothing"):
        for order in Order:
            listing = listings.whole(site, order) if group is None else listings.group(site, group, order)
            found.append(listing)
            if order.decays:
                instants = (now - 3_600_000, now - YEAR // 2, now + YEAR, 0)
                found += [at_instant(listing, at) for at in instants]
        instants = (now - 600_000, now - chance.randrange(YEAR), 0, now + 1)
        found += [
            listings.posted_since(site, group, order, at) for order in (Order.VOTES, Order.TIME) for at in instants
        ]
    return found


def at_instant(listing: Listing, at: int) -> Listing:
    return listing._replace(decay=replace(listing.decay, at=at))


async def all_positions(store, listing: Listing) -> list[Position]:
    (whole,) = await read(store, *listings.partition_pages(listing, Window(1_000)))
    return list(whole.positions)


def windows(listed: list[Position], others: list[Position], chance: random.Random) -> list[Window]:
    """Pages from both ends and from some positions: of the listing, of other listings, and of no article."""
    beyond = [None, *chance.sample(listed, min(3, len(listed))), *others[:1], *others[-1:]]
    beyond += [Position(each.value + chance.choice([-0.5, 0.5]), each.member) for each in listed[:1]]
    beyond += [Position(each.value, keys.member(number)) for each in listed[-1:] for number in (1, HIGHEST_NUMBER)]
    return [Window(chance.choice([1, 5, 25, 100]), upwards, each) for each in beyond for upwards in (False, True)]


@pytest.mark.parametrize("made", first(MADE_UP, 2), ids=", ".join)
async def test_pages_of_many_articles_equal_those_of_a_partition(store, each_database, clock, made):
    """By GRAVITY at any instant, and by VOTES since one: more articles than are read at once."""
    crowd, numbers = made
    chance = random.Random(f"{crowd} {numbers}")
    articles = made_up(chance, 900, CROWDS[crowd], numbers=numbers, now=clock.now)
    await write(store, articles)
    await each_database.write(archive_all, store.site, articles)
    instants = [0, *(each.posted_at for each in chance.sample(articles, 2)), clock.now + YEAR]
    checked = [at_instant(listings.whole(store.site, Order.GRAVITY), at) for at in instants]
    checked += [listings.posted_since(store.site, group=None, order=Order.VOTES, at=at) for at in instants]
    for listing in checked:
        for window in windows(await all_positions(store, listing), [], chance):
            (expected,) = await read(store, *listings.partition_pages(listing, window))
            found = await each_database.run(places.page, listing, window)
            assert typed(found) == typed(expected), (listing, window)


async def test_ranks_equal_those_of_a_partition(store, each_database, clock, monkeypatch):
    divide_small_listings(monkeypatch)
    chance = random.Random(1)
    articles = await history(store, seed=chance.randrange(1_000), size=120)
    await each_database.write(archive_all, store.site, articles)
    for group in (None, "show", "nothing"):
        for order in Order:
            listing = listings.whole(store.site, order) if group is None else listings.group(store.site, group, order)
            positions = [
                standings.position(store.site.policy, order, each, clock.now) for each in chance.sample(articles, 8)
            ]
            positions.append(Position(positions[0].value + 0.5, positions[0].member))
            expected = standings.merge(listing, await read(store, *standings.ranks(listing, positions)))
            assert typed(await each_database.run(places.ranks, listing, positions)) == typed(expected)
            listed = await all_positions(store, listing)
            for rank in {0, len(listed) // 2, max(len(listed) - 1, 0), len(listed)}:
                assert await each_database.run(places.at_rank, listing, rank) == (
                    listed[rank] if rank < len(listed) else None
                )


async def test_feeds_equal_those_of_a_partition(store, each_database):
    chance = random.Random(1)
    articles = await history(store, seed=chance.randrange(1_000), size=120)
    await each_database.write(archive_all, store.site, articles)
    listed = await all_positions(store, listings.whole(store.site, Order.TIME))
    for _ in range(60):
        names = chance.sample(PEOPLE, chance.randrange(1, 6))
        beyond, floor = chance.choice([None, *listed]), chance.choice([None, *listed])
        window = Window(chance.choice([1, 2, 25]), chance.random() < 0.5, beyond)
        window = feeds.clamp_to_floor(window, floor)
        expected = feeds.merge(await read(store, *feeds.pulls(store.site, names, window, floor)), window)
        found = await each_database.run(places.feed_page, names, window, floor)
        assert typed(found) == typed(expected), (names, window, floor)


async def test_no_page_reads_or_sorts_a_whole_listing(store, database, clock, monkeypatch):
    """SQLite finds places by a part of the primary key, or by the number of an article, and reads them in order."""
    monkeypatch.setattr(counts, "MOST_COUNTED", 16)
    monkeypatch.setattr(since, "SORTED", 3)  # listings of more articles are not read whole
    monkeypatch.setattr(since, "SORTED_OF_CLASS", 3)
    articles = await history(store, seed=1, size=100)
    await database.write(archive_all, store.site, articles)
    chance, plans = random.Random(1), set[str]()
    without = {articles[0].number}
    for listing in every_listing(store, clock.now, chance):
        for window in windows(await all_positions(store, listing), [], chance):
            plans |= await database.run(plan_of, places.page, listing, window, without)
    position = Position(articles[9].posted_at, keys.member(articles[9].number))
    plans |= await database.run(plan_of, places.feed_page, PEOPLE, Window(3, beyond=position), None)  # no floor
    for order in (Order.TIME, Order.GRAVITY):
        plans |= await database.run(plan_of, places.ranks, listings.whole(store.site, order), [position])

    steps = {
        step for step in plans if "places" in step or "place_counts" in step or "listings" in step or "TEMP" in step
    }
    assert steps
    assert {step for step in steps if not BY_KEY.fullmatch(step)} == set()


def plan_of(connection: Connection, function: Callable[..., object], *arguments: object) -> set[str]:
    """The steps of SQLite's plans for all statements of a call."""
    statements = []

    def note(connection, cursor, statement, parameters, context, executemany):
        statements.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    function(connection, *arguments)
    event.remove(connection, "before_cursor_execute", note)
    return {
        row[3]  # id, parent, unused, text of the step
        for statement, parameters in statements
        for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
    }
