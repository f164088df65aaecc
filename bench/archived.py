"""
Fills the SQL database in bulk with archived articles, which only the database has, and Valkey with what the archiver
leaves of them there: how many they are, by group and by poster, and the greatest value of each listing.

The archived ones are older than those of `bench.filling`, and closed to votes: one a minute, with votes as unevenly
spread as on a real site. None has more votes than articles of `bench.filling` may have, so none is on the first page of
a listing by score. The names of their voters are not stored. The same seed gives the same articles.

An index of the database has the places of the articles of a listing: the value, the number, and the votes or the
posting time, if pages need them. By GRAVITY, articles with about the same votes are a class, with an index of its own.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import islice

from sqlalchemy import Connection, text

from archive import mover
from bench import filling
from bench.filling import MOST_VOTES, POSTERS
from bench.since import DISTRIBUTIONS, MINUTE
from database.database import Database
from database.mirror import Mirror
from database.order_index import reads, writes
from database.order_index.classes import votes_class
from database.order_index.reads import Place
from database.order_index.writes import IndexName
from database.tables import ARTICLES
from store import keys, links
from store.client import Command
from store.ranking.config import ARCHIVE_FIELD
from store.ranking.formulas import DAY, Order
from store.records import Article, Position
from store.site import Site
from store.store import Store
from tests.archive.filling import archive_all, write_rows

IDENTITY = "0123456789abcdef"  # of the archive, in the database and in the store
GOOD = "good"  # the listing of the articles with enough votes for the front page
ORDERS = tuple((order, order.value, order.decays) for order in Order)  # its name, and whether values change with age
BATCH = 1_000  # articles
PLACED_AT_ONCE = 500_000  # articles whose places are kept in memory, about 5 kB of each, and written index by index
PLACES = 100  # that `archive` returns at least, if there are as many batches; it returns fewer than twice as many
AGE_MS = 10 * DAY * 1000  # of the newest: voting was closed long ago


async def archive(store: Store, database_url: str, count: int) -> list[Position]:
    """
    Make a database of the articles that the store has, and archive `count` older ones, which are numbered from 1. Takes
    the time of a dump of the store, and about 0.1 ms for each archived article.

    Returns the places by score of some archived articles, which are spread over all of them.
    """
    database, spread = Database(database_url), list[Position]()
    await database.open()
    await Mirror(store.site, database).rebuild()
    if count:
        articles, left = old(random.Random(3), count, store.site.clock()), Left(store.site)
        first = list(islice(articles, BATCH))
        left.add(first)
        await database.write(partial(archive_all, site=store.site, articles=first))
        await database.write(add, store.site, articles, left)
        spread = left.places[:: max(len(left.places) // PLACES, 1)]
        await database.write(mover.SET_IDENTITY.run, {"id": IDENTITY})
        await store.site.redis.pipeline([("HSET", keys.store(), ARCHIVE_FIELD, IDENTITY), *left.commands()])
    await database.close()
    return spread


def add(connection: Connection, site: Site, articles: Iterator[Article], left: "Left") -> None:
    """
    Archive articles as `archive_all` of the tests does, but index by index, which takes a fraction of the time. Some
    were archived by `archive_all` before, so that there are indexes with the weights of the site.
    """
    connection.execute(text("DROP INDEX places_by_number"))
    while places := _write_articles(connection, site, islice(articles, PLACED_AT_ONCE), left):
        known = reads.indexes(connection, {name for name, _ in places})
        stored = {(each.name, each.votes_class): each for each in known}
        stored |= writes.create_indexes(connection, {name: "" for name in places if name not in stored})
        writes.add(connection, {stored[name].id: some for name, some in places.items()})
    connection.execute(ARTICLES.update().where(ARTICLES.c.number <= left.greatest).values(archived=True))
    connection.execute(text("CREATE INDEX places_by_number ON places (number, listing)"))


def _write_articles(
    connection: Connection, site: Site, articles: Iterator[Article], left: "Left"
) -> dict[IndexName, list[Place]]:
    """Write the rows of articles. Returns their places, by index."""
    places: defaultdict[IndexName, list[Place]] = defaultdict(list)
    while batch := list(islice(articles, BATCH)):
        write_rows(connection, batch)
        left.add(batch)
        for each in batch:
            for name, place in places_of(site, each):
                places[name].append(place)
    return places


def places_of(site: Site, article: Article) -> Iterator[tuple[IndexName, Place]]:
    """
    The places of an article, each with the name of its index: that of the listing and the class of votes, 0 in orders
    without classes. Groups have the same weights as the site.
    """
    by_time = Place(float(article.posted_at), article.number, article.votes)
    prefixes = ["", *(f"group:{group}:" for group in article.groups)]
    for order, name, decays in ORDERS:
        place, votes = by_time, 0
        if decays:
            votes = votes_class(article.votes)
        elif order is not Order.TIME:
            extra = article.posted_at if order is Order.VOTES else None
            place = Place(float(site.policy.value(order, article)), article.number, extra)
        for prefix in prefixes:
            yield (prefix + name, votes), place
    alone = Place(float(article.posted_at), article.number, extra=None)
    yield (f"timeline:{article.poster}", 0), alone
    yield (f"links:{links.digest(article.link or '')}", 0), alone
    if site.policy.is_good(article):
        yield (GOOD, 0), alone


def score_place(site: Site, article: Article) -> Position:
    """Where an article is in the listing by SCORE."""
    return Position(site.policy.value(Order.SCORE, article), keys.member(article.number))


def old(chance: random.Random, count: int, now: int) -> Iterator[Article]:
    """Articles that are closed to votes, the oldest first, the newest `AGE_MS` before `now` (unix milliseconds)."""
    votes = DISTRIBUTIONS["as on a site"]
    for sequence in range(1, count + 1):
        time = now - AGE_MS - (count - sequence) * MINUTE
        up = min(max(votes(chance), 1), MOST_VOTES)
        yield filling.article(chance, sequence, chance.choice(POSTERS), time, up=up, down=0)


class Left:
    """
    What is left in Valkey of archived articles: collects the hash `archived` of each partition, and what belongs to
    their posters, as `archive.lua` would have written it.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._counts: defaultdict[int, Counter[str]] = defaultdict(Counter)  # of articles, by partition and field
        self._greatest: defaultdict[int, dict[str, float]] = defaultdict(dict)  # values, by partition and listing
        self._newest: dict[str, int] = {}  # posting times of users' newest articles, by username
        self._karma: Counter[str] = Counter()  # by username
        self.places: list[Position] = []  # of one article of each batch, by score
        self.greatest = 0  # number of an archived article

    def add(self, articles: list[Article]) -> None:
        """Count articles that are archived."""
        self.places.append(score_place(self._site, articles[0]))
        self.greatest = max(self.greatest, *(each.number for each in articles))
        for each in articles:
            partition = self._site.partition_of_article(each.number)
            prefixes = ["", *(f"group:{group}:" for group in each.groups)]
            self._counts[partition].update(["count", *(f"count:group:{group}" for group in each.groups)])
            self._counts[partition][f"user:{each.poster}"] += 1
            self._newest[each.poster] = max(self._newest.get(each.poster, 0), each.posted_at)
            self._karma[each.poster] += each.votes - 1  # the poster's own vote is no karma
            for order, name, decays in ORDERS:
                if not decays:
                    value = self._site.policy.value(order, each)
                    for prefix in prefixes:
                        self._note(partition, prefix + name, value)
            if self._site.policy.is_good(each):
                self._counts[partition][f"count:{GOOD}"] += 1
                self._note(partition, GOOD, each.posted_at)

    def commands(self) -> Iterator[Command]:
        """The commands that write what was counted to Valkey."""
        for partition, counts in self._counts.items():
            serial = counts["count"]
            fields: dict[str, object] = {"serial": serial}
            for name, count in counts.items():
                user = name.removeprefix("user:")
                # as `set_archived_of` in article_indexes.lua does: how many, when the newest was posted, a serial
                fields[name] = count if user == name else f"{count} {self._newest[user]} {serial}"
            fields |= {f"top:{name}": repr(float(value)) for name, value in self._greatest[partition].items()}
            yield ("HSET", keys.archived(partition), *(part for pair in fields.items() for part in pair))
            posters = [name.removeprefix("user:") for name in counts if name.startswith("user:")]
            newest = [part for name in posters for part in (self._newest[name], name)]
            yield ("ZADD", keys.newest_posts(partition), "GT", *newest)
            for name in posters:
                yield ("HINCRBY", keys.user(partition, name), "karma", self._karma[name])

    def _note(self, partition: int, listing: str, value: float) -> None:
        greatest = self._greatest[partition]
        greatest[listing] = max(greatest.get(listing, value), value)
