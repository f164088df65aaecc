"""
Measures pages of archived articles, which are in the SQL database only, in SQLite and at any depth.

    python -m bench.archive [SIZE]

Writes the places of the articles, which are their values in listings, directly: one article a minute, with votes as
unevenly spread as on a real site, in the listings of all orders and in the timelines of 1 000 users. The figures are
CPU time of the thread, with SQLAlchemy.

By GRAVITY values change with age, they decay. There, articles with about the same votes are a class, which has an index
by time, and a page merges the classes.
"""

import gc
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from statistics import median
from time import thread_time_ns

from sqlalchemy import Connection, text

from archive import gravity, places
from bench.since import DAY_MS, DISTRIBUTIONS, MINUTE, NOW, SIZE, random_article
from bench.tables import markdown
from database.engines import Engines
from database.interrupter import Call
from database.order_index import counts
from database.order_index import reads as place_reads
from database.order_index import writes as place_writes
from database.order_index.classes import votes_class as class_of
from database.order_index.reads import HIGHEST, Place, Range, before
from store import listings
from store.client.client import RedisClient
from store.listings import Listing, Window
from store.ranking.formulas import Order, Policy
from store.records import Article, Position
from store.site import Site

ROUNDS = 15  # reads of each page
USERS = 1_000  # with a timeline
DEPTHS = (0.1, 0.5, 0.9)  # shares of a listing that are before a page
APART = 97  # places from one measured position to the next
# rows, as `Place`: value, number of the article, and `extra`: its votes by TIME, and its posting time by VOTES
Places = Iterable[tuple[float, int, int | None]]


def main(size: int) -> None:
    no_redis = RedisClient.__new__(RedisClient)  # only the database is read
    site = Site(no_redis, partitions=1, policy=Policy(), clock=lambda: NOW, session_lifetime=0)
    with tempfile.TemporaryDirectory() as folder:
        engines = Engines.open(f"sqlite:///{folder}/upvote.db")
        engines.write(fill, site, size)
        stored = engines.read(Call(), bytes_stored) / size  # `Call()`: without a deadline
        print(f"{size:,} archived articles, {stored:.0f} bytes of places each; microseconds of CPU\n")
        head = ["page of 25", "first", *(f"after {share:.0%}" for share in DEPTHS), "before 50%", "last", "worst"]
        print(markdown(head, (row(engines, name, listing) for name, listing in measured(site))))
        print()
        print(markdown(["", *(f"{share:.0%}" for share in DEPTHS)], others(engines, site)))
        engines.close()


def fill(connection: Connection, site: Site, size: int) -> None:
    chance = random.Random(size)
    votes = DISTRIBUTIONS["as on a site"]
    articles = [random_article(chance, NOW - (size - each) * MINUTE, votes) for each in range(size)]
    connection.execute(text("DROP INDEX places_by_number"))
    for order in Order:
        if order.decays:
            classes: defaultdict[int, list[Article]] = defaultdict(list)
            for article in articles:
                classes[class_of(article.votes)].append(article)
            for votes_class, some in sorted(classes.items()):
                write(
                    connection, order.value, votes_class, ((each.posted_at, each.number, each.votes) for each in some)
                )
        else:
            write(connection, order.value, votes_class=0, rows=in_order(site, order, articles))
    for user in range(USERS):
        own = articles[user::USERS]
        rows = ((each.posted_at, each.number, None) for each in own)
        write(connection, f"timeline:user-{user}", votes_class=0, rows=rows)
    connection.execute(text("CREATE INDEX places_by_number ON places (number, listing)"))


def in_order(site: Site, order: Order, articles: list[Article]) -> Places:
    for each in articles:
        extra = each.votes if order is Order.TIME else each.posted_at if order is Order.VOTES else None
        yield site.policy.value(order, each), each.number, extra


def write(connection: Connection, name: str, votes_class: int, rows: Places) -> None:
    """Write a listing, and for a long one the counts of ranges of its places, by which ranks are found."""
    # "": the text of the weights that its values are computed with, which do not change meanwhile
    index = place_writes.create_indexes(connection, {(name, votes_class): ""})[name, votes_class].id
    values = [(index, *row) for row in sorted(rows)]
    connection.exec_driver_sql("INSERT INTO places VALUES (?, ?, ?, ?)", values)
    connection.execute(text("UPDATE listings SET size = :size WHERE id = :id"), {"size": len(values), "id": index})
    if len(values) > counts.MOST_COUNTED:
        counts.divide(connection, index)


def bytes_stored(connection: Connection) -> int:
    pages, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size"))
    return int(pages * size)


def measured(site: Site) -> Iterator[tuple[str, Listing]]:
    """The listings whose pages are measured, each with its name in the table."""
    for order in Order:
        yield order.name, listings.whole(site, order)
    for name, days in (("a month", 30), ("a year", 365), ("100 years", 36_500)):
        yield f"VOTES since {name}", listings.posted_since(site, group=None, order=Order.VOTES, at=NOW - days * DAY_MS)
    a_year_ago = NOW - 365 * DAY_MS
    yield "TIME since a year", listings.posted_since(site, group=None, order=Order.TIME, at=a_year_ago)
    yield "timeline", listings.timeline(site, "user-7")


def row(engines: Engines, name: str, listing: Listing) -> list[str]:
    """The medians of the pages of a listing, and the most that one of all these reads took, in microseconds of CPU."""
    first = cpu(engines, [partial(places.page, listing=listing, window=Window(25))] * ROUNDS)
    pages = [first]
    for share in DEPTHS:
        pages.append(cpu(engines, [page(listing, each) for each in spread(engines, listing, share)]))
    pages.append(cpu(engines, [page(listing, each, upwards=True) for each in spread(engines, listing, share=0.5)]))
    pages.append(cpu(engines, [partial(places.page, listing=listing, window=Window(25, upwards=True))] * ROUNDS))
    return [name, *(f"{median(each):,.0f}" for each in pages), f"{max(max(each) for each in pages):,.0f}"]


def others(engines: Engines, site: Site) -> Iterator[list[str]]:
    """The rows of the second table: reads of ranks, of positions at a rank, and of feeds, near each of `DEPTHS`."""
    by_score, decaying = listings.whole(site, Order.SCORE), listings.whole(site, Order.GRAVITY)
    for name, listing in (("rank by SCORE", by_score), ("rank by GRAVITY", decaying)):
        calls = [
            [partial(places.ranks, listing=listing, positions=[each]) for each in spread(engines, listing, share)]
            for share in DEPTHS
        ]
        yield [name, *(f"{median(cpu(engines, some)):,.0f}" for some in calls)]
    size = engines.read(Call(), places.total, by_score)
    calls = [[partial(places.at_rank, listing=by_score, rank=int(share * size))] * ROUNDS for share in DEPTHS]
    yield ["position at a rank by SCORE", *(f"{median(cpu(engines, some)):,.0f}" for some in calls)]
    for users in (10, USERS):
        names = [f"user-{user}" for user in range(users)]
        calls = [
            [
                partial(places.feed_page, usernames=names, window=Window(25, beyond=each), floor=None)
                for each in spread(engines, listings.whole(site, Order.TIME), share)
            ]
            for share in DEPTHS
        ]
        yield [f"feed of {users} users", *(f"{median(cpu(engines, some)):,.0f}" for some in calls)]


def page(listing: Listing, beyond: Position, upwards: bool = False) -> Callable[[Connection], object]:
    return partial(places.page, listing=listing, window=Window(25, upwards, beyond))


def spread(engines: Engines, listing: Listing, share: float) -> list[Position]:
    """
    Positions of a listing near a share of its entries. By GRAVITY, and by VOTES since an instant, this is a share of
    the articles by their posting times, the newest first.
    """
    return engines.read(Call(), partial(positions, listing=listing, share=share))


def positions(connection: Connection, listing: Listing, share: float) -> list[Position]:
    name = Order.TIME.value if listing.decay or listing.since else places.plain_name(listing)
    index = place_reads.index(connection, name)
    assert index
    # the instant of a listing of VOTES is `since`; a listing of TIME has it as its lowest value
    lowest = float(listing.since.at if listing.since else listing.lowest)
    size = place_reads.rank(connection, index, (lowest, -1))  # of the part of the index that the listing has
    keys = [
        place_reads.at_rank(connection, index, min(int(share * size) + APART * turn, size - 1))
        for turn in range(ROUNDS)
    ]
    # a key has no `extra`, from which `value_of` computes: the whole place is the lowest one above the key before it
    found = [
        place_reads.places(connection, Range(index.id, before(key), HIGHEST), count=1, upwards=True)[0]
        for key in keys
        if key
    ]
    return [place_reads.position(value_of(listing, each), each.number) for each in found]


def value_of(listing: Listing, place: Place) -> float:
    """The value by which a listing is sorted, of a place in the index that `positions` reads."""
    if listing.decay:
        return gravity.Formula(listing.decay.at, *listing.decay.numbers).value_of(place)
    return float(place.extra or 0) if listing.since else place.value


def cpu(engines: Engines, calls: list[Callable[[Connection], object]]) -> list[float]:
    """The CPU time of each call in microseconds, after one that is not measured."""
    return engines.read(Call(), partial(timed, calls=[calls[0], *calls]))[1:]


def timed(connection: Connection, calls: list[Callable[[Connection], object]]) -> list[float]:
    found = []
    gc.disable()  # the server collects rarely
    for call in calls:
        started_at = thread_time_ns()
        call(connection)
        found.append((thread_time_ns() - started_at) / 1000)
    gc.enable()
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
