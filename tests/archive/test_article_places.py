"""
Articles that enter and leave the archive: their places in the SQL database.

A place is a row that puts an article into a listing, such as the site by SCORE: the listing, the value of the article
there, and its number. `place_counts` has how many places are in each range of a large listing.
"""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from sqlalchemy import event, text

from archive import places
from database import article_places
from database.order_index import counts, reads
from store import keys, listings
from store.listings import Window
from store.ranking.formulas import Order
from store.records import ArchivedAlone
from tests.archive.filling import archive_all, write_rows
from tests.store.histories import PEOPLE, history
from tests.store.reading import page
from tests.typed import typed

pytestmark = pytest.mark.parametrize("partitions", [1], indirect=True)
TABLES = ("listings", "places", "place_counts")  # all that `archive` writes beside the row of the article


@pytest.fixture
def small_ranges(monkeypatch):
    """Divide listings into ranges of few places."""
    monkeypatch.setattr(counts, "COUNTED", 4)
    monkeypatch.setattr(counts, "MOST_COUNTED", 8)


async def test_articles_enter_and_leave_in_any_order(store, each_database, small_ranges):
    """Counts and sizes are those of the places after every step, and at the end nothing is left."""
    chance = random.Random(1)
    articles = await history(store, seed=1, size=120)
    await each_database.write(write_rows, articles)
    archived = set()
    for _ in range(30):
        some = chance.sample(articles, chance.randrange(1, 30))
        if chance.random() < 0.6:
            await each_database.write(article_places.archive, store.site, some)
            archived |= set(some)
        else:
            await each_database.write(article_places.unarchive, [each.number for each in some])
            archived -= set(some)
        await each_database.run(check_counts)
        numbers = sorted(each.number for each in archived)
        assert await each_database.run(article_places.numbers, 0, 1_000) == numbers
        assert await each_database.run(article_places.check, store.site, numbers) == []

    await each_database.write(article_places.unarchive, [each.number for each in articles])
    assert await each_database.run(lambda connection: [count(connection, table) for table in TABLES]) == [0, 0, 0]


async def test_articles_archived_again_have_the_places_of_their_new_counts(store, each_database, small_ranges):
    """What stays is not written again, and what is left is what an archive that is made anew has."""
    chance = random.Random(3)
    articles = {each.number: each for each in await history(store, seed=3, size=80)}
    await each_database.write(write_rows, [*articles.values()])
    await each_database.write(article_places.archive, store.site, [*articles.values()])
    for _ in range(20):
        some = [_changed(articles[number], chance) for number in chance.sample(sorted(articles), 25)]
        articles |= {each.number: each for each in some}
        await each_database.write(article_places.archive, store.site, some)
        await each_database.run(check_counts)

    found = await each_database.run(all_places)
    await each_database.write(article_places.unarchive, [*articles])
    await each_database.write(article_places.archive, store.site, [*articles.values()])
    assert found == await each_database.run(all_places)


async def test_only_places_that_change_are_written(store, each_database):
    articles = await history(store, seed=5, size=20)
    await each_database.write(write_rows, articles)
    await each_database.write(article_places.archive, store.site, articles)

    assert await each_database.write(written_rows, store.site, articles) == 0
    voted = articles[0]._replace(upvotes=articles[0].upvotes + 1)
    assert 0 < await each_database.write(written_rows, store.site, [voted]) < 2 * len(Order) * (1 + len(voted.groups))


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_all_indexes_are_counted_together(store, each_database, small_ranges, monkeypatch):
    """
    Counts of places are written for all listings at once, not one by one: annulled votes change the places of their
    articles in more than a hundred.
    """
    articles = await history(store, seed=8, size=120)
    await each_database.write(write_rows, articles)
    await each_database.write(article_places.archive, store.site, articles)
    monkeypatch.setattr(counts, "MOST_COUNTED", 1_000)  # none is divided
    voted = [each._replace(upvotes=each.upvotes + 3) for each in articles]

    assert await each_database.run(count, "(SELECT DISTINCT listing FROM place_counts) AS divided") > 20
    assert await each_database.write(statements, store.site, voted) < 20
    await each_database.run(check_counts)


async def test_records_are_those_of_the_store(store, each_database):
    articles = await history(store, seed=2, size=40)
    await each_database.write(write_rows, articles)
    await each_database.write(article_places.archive, store.site, articles[:20])
    numbers = [each.number for each in articles]

    found = await each_database.run(article_places.records, numbers)
    archived = [ArchivedAlone(*each) for each in articles[:20]]
    assert typed(found) == typed([*archived, *[None] * (len(articles) - 20)])
    assert await each_database.run(article_places.records, []) == []
    assert await each_database.run(article_places.numbers, sorted(numbers[:20])[4], 3) == sorted(numbers[:20])[5:8]


async def test_articles_left_out_count_nowhere(store, each_database, clock, small_ranges):
    """Answers with `without` are those of an archive that does not have these articles."""
    chance = random.Random(4)
    articles = await history(store, seed=4, size=100)
    await each_database.write(archive_all, store.site, articles)
    hidden = {each.number for each in chance.sample(articles, 30)}
    calls = list(calls_of(store, articles, chance))
    found = [await each_database.run(call, *arguments, hidden) for call, *arguments in calls]

    await each_database.write(article_places.unarchive, hidden)
    assert found == [await each_database.run(call, *arguments) for call, *arguments in calls]


def calls_of(store, articles, chance):
    """Calls of all functions that read places: each function with its arguments, but for connection and `without`."""
    now = store.site.clock()
    for order in Order:
        shown = [listings.whole(store.site, order), listings.group(store.site, "show", order)]
        if order in (Order.VOTES, Order.TIME):
            shown.append(listings.posted_since(store.site, group=None, order=order, at=now - 3_600_000))
        for listing in shown:
            for each in chance.sample(articles, 4):
                position = store.site.policy.value_at(order, each, now), keys.member(each.number)
                beyond = reads.position(position[0], each.number)
                yield places.page, listing, Window(5, chance.random() < 0.5, beyond)
                yield places.at_rank, listing, chance.randrange(60)
                if not listing.since:
                    yield places.ranks, listing, [beyond]
            yield places.page, listing, Window(9)
            yield places.page, listing, Window(9, upwards=True)
            yield places.page, listing, Window(3, skip=5)
            yield places.total, listing
    for names in (PEOPLE, PEOPLE[:2]):
        for each in chance.sample(articles, 4):
            beyond = reads.position(each.posted_at, each.number)
            floor = None
            yield places.feed_page, names, Window(4, chance.random() < 0.5, beyond), floor
        yield places.newest_of, names[0]


async def test_greatest_values(store, each_database):
    articles = await history(store, seed=5, size=50)
    await each_database.write(archive_all, store.site, articles)
    site, orders = store.site, [order for order in Order if order is not Order.GRAVITY]
    listed = [listings.timeline(site, name) for name in PEOPLE] + [listings.front_page(site, day=None)]
    listed += [listings.whole(site, order) for order in orders]
    for group in ("show", "ask"):
        listed += [listings.group(site, group, order) for order in orders]
    highest = [(await page(store, each)).positions[0].value for each in listed]

    names = [*(each.name for each in listed), "gravity", "group:nothing:score", "timeline:nobody"]
    votes = float(max(article.votes for article in articles))  # in place of gravity, which decays
    assert typed(await each_database.run(places.greatest, names)) == typed([*highest, votes, None, None])


async def test_weights_of_a_listing_change_when_it_is_computed_again(store, each_database, small_ranges):
    """Until then it has the old weights, also for articles that enter or leave it."""
    articles = await history(store, seed=6, size=60)
    await each_database.write(write_rows, articles)
    await each_database.write(article_places.archive, store.site, articles[:40])
    site = replace(
        store.site,
        policy=replace(store.site.policy, good_votes=3, vote_score=1000.0),
        rankings=replace(store.site.rankings, weights={"show": {"hot_seconds": 7.0}}),
    )
    stale = await each_database.run(article_places.stale, site)
    assert stale == ["good", "group:ask:score", "group:show:hot", "group:show:score", "score"]

    await each_database.write(article_places.archive, site, articles[40:])
    await each_database.write(article_places.unarchive, [each.number for each in articles[:10]])
    assert await each_database.run(article_places.stale, site) == stale
    for name in stale:
        await each_database.write(article_places.recompute, site, name)

    assert await each_database.run(article_places.stale, site) == []
    await each_database.run(check_counts)
    found = await each_database.run(contents)
    await each_database.write(article_places.unarchive, [each.number for each in articles])
    await each_database.write(article_places.archive, site, articles[10:])
    assert await each_database.run(contents) == found


async def test_damaged_places_are_found_and_written_again(store, each_database):
    articles = await history(store, seed=7, size=30)
    await each_database.write(archive_all, store.site, articles)
    numbers = [each.number for each in articles]
    changes = [
        f"UPDATE places SET value = value + 1 WHERE number = {numbers[0]} AND extra IS NULL",
        f"DELETE FROM places WHERE number = {numbers[1]} AND listing = (SELECT min(listing) FROM places)",
    ]
    for change in changes:
        await each_database.write(lambda connection, change=change: connection.execute(text(change)))

    assert await each_database.run(article_places.check, store.site, numbers) == numbers[:2]


def _changed(article, chance):
    """An article with other counts, and sometimes in other groups."""
    groups = tuple(chance.sample(("show", "ask", "news"), 2)) if chance.random() < 0.2 else article.groups
    up, down = max(1, article.upvotes + chance.randrange(-3, 9)), max(0, article.downvotes + chance.randrange(-3, 9))
    return article._replace(upvotes=up, downvotes=down, groups=groups)


def all_places(connection):
    """The places of each listing, by its name and class of votes."""
    rows = connection.execute(
        text(
            "SELECT name, votes_class, size, value, number, extra FROM places "
            "JOIN listings ON id = listing ORDER BY name, votes_class, value, number"
        )
    )
    return [tuple(row) for row in rows]


def written_rows(connection, site, articles):
    """How many places are written as articles are archived again."""
    before = _changes(connection)
    article_places.archive(connection, site, articles)
    return _changes(connection) - before


def statements(connection, site, articles):
    """How many statements it takes to archive articles again."""
    sent = []
    event.listen(connection, "before_cursor_execute", lambda _, cursor, statement, *rest: sent.append(statement))
    article_places.archive(connection, site, articles)
    return len(sent)


def _changes(connection):
    """How many rows of `places` this transaction has written so far; in SQLite of all tables."""
    is_sqlite = connection.dialect.name == "sqlite"
    counted = (
        "pg_stat_get_xact_tuples_updated('places'::regclass) + pg_stat_get_xact_tuples_inserted('places'::regclass)"
    )
    return connection.execute(text(f"SELECT {'total_changes()' if is_sqlite else counted}")).scalar_one()


def check_counts(connection):
    """Compare sizes and counts with the places."""
    sizes = dict(list(connection.execute(text("SELECT id, size FROM listings"))))
    counted = text("SELECT listing, count(*) FROM places GROUP BY listing")
    assert sizes == dict(list(connection.execute(counted)))
    for listing, size in sizes.items():
        ranges = text("SELECT value, number, size FROM place_counts WHERE listing = :id ORDER BY value, number")
        ends = [(row[0], row[1], row[2]) for row in connection.execute(ranges, {"id": listing})]
        found = text("SELECT value, number FROM places WHERE listing = :id ORDER BY value, number")
        own = [(row[0], row[1]) for row in connection.execute(found, {"id": listing})]
        if not ends:
            assert size <= counts.MOST_COUNTED
            continue
        assert ends[0][:2] == reads.LOWEST
        lows = [end[:2] for end in ends] + [reads.HIGHEST]
        for (low, high), (*_, counted_places) in zip(pairwise(lows), ends, strict=True):
            assert counted_places == sum(low <= key < high for key in own) <= counts.MOST_COUNTED


def contents(connection):
    """As `all_places`, with the weights of each listing."""
    statement = text("""
    SELECT name, votes_class, weights, value, number, extra FROM listings JOIN places ON listing = id
    ORDER BY name, votes_class, value, number""")
    return [tuple(row) for row in connection.execute(statement)]


def count(connection, table):
    return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()
