"""
Archived articles: those that are in SQL only, as Redis holds them no more.

`archive` writes their places in all listings. `places` reads these.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, TextClause, bindparam, text

from database import place_reads as reads
from database import place_writes, since
from database.place_reads import Index, Place
from database.place_writes import IndexName
from database.rows import slices
from store import links
from store.ranking.formulas import Order, Policy
from store.records import Article
from store.site import Site

RECOMPUTED_AT_ONCE = 5_000
WEIGHTED_BY = {Order.SCORE: "vote_score", Order.HOT: "hot_seconds", Order.BEST: "best_z"}
GOOD = "good"


@dataclass(frozen=True, slots=True)
class Archived:
    """A user's archived articles: how many, the karma from them, and when the newest was posted (unix milliseconds)."""

    articles: int
    karma: int
    newest: int | None


class Listed(NamedTuple):
    """A listing that an article is in, and what it is ordered by; None: by time."""

    name: str
    group: str | None
    order: Order | None

    def index_name(self, article: Article) -> IndexName:
        return self.name, since.votes_class(article.votes) if self.order is Order.GRAVITY else 0


def archive(connection: Connection, site: Site, articles: Sequence[Article]) -> None:
    """
    Mark articles as archived, and replace all their places. Their rows have to be in the table of articles.

    Values depend on the weights of the site or of a group. A listing that has places keeps the weights that these were
    made with, until `recompute`.
    """
    place_writes.lock(connection)
    place_writes.remove(connection, [article.number for article in articles])
    listings = [(article, list(_listings(article))) for article in articles]
    wanted = {each.index_name(article): each for article, listed in listings for each in listed}
    stored = {(each.name, each.votes_class): each for each in reads.indexes(connection, {name for name, _ in wanted})}
    missing = {name: _weights(site, listed) for name, listed in wanted.items() if name not in stored}
    stored |= place_writes.create_indexes(connection, missing)
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for article, listed in listings:
        for index, place in _places(site, stored, article, listed):
            places[index].append(place)
    place_writes.add(connection, places)
    place_writes.remove_empty(connection, [stored[name].id for name in missing])
    _mark(connection, [article.number for article in articles], True)


def unarchive(connection: Connection, numbers: Collection[int]) -> None:
    """Remove all places of articles, and their mark. Numbers that are not archived are passed over."""
    place_writes.lock(connection)
    place_writes.remove(connection, numbers)
    _mark(connection, numbers, False)


def records(connection: Connection, numbers: Sequence[int]) -> list[Article | None]:
    """The articles of these numbers; None for those that are not archived."""
    found = {article.number: article for some in slices(numbers) for article in _articles(connection, some)}
    return [found.get(number) for number in numbers]


def numbers(connection: Connection, after: int, count: int) -> list[int]:
    """The numbers of archived articles above a number, ascending."""
    return list(connection.execute(NUMBERS, {"after": after, "count": count, "archived": True}).scalars())


def karma(connection: Connection, usernames: Sequence[str]) -> list[Archived]:
    """What archived articles contribute to each user, by username as written."""
    rows = [row for some in slices(usernames) for row in connection.execute(KARMA, {"names": some, "archived": True})]
    found = {poster: Archived(articles, int(votes) - articles, newest) for poster, articles, votes, newest in rows}
    return [found.get(name, Archived(0, 0, None)) for name in usernames]


def stale(connection: Connection, site: Site) -> list[str]:
    """The listings whose values were made by other weights than those of the site or the group now."""
    return [
        index.name
        for index in (Index(*row) for row in connection.execute(WEIGHTED_INDEXES))
        if index.weights != _weights(site, _listed(index.name))
    ]


def recompute(connection: Connection, site: Site, name: str) -> None:
    """
    Make the places of a listing again, by the weights of the site or the group now.

    All articles of the listing are read and written once, in about 15 seconds for 1,000,000.
    """
    place_writes.lock(connection)
    listed = _listed(name)
    before, weights = reads.index(connection, name), _weights(site, listed)
    (after,) = place_writes.create_indexes(connection, {(f"{name} {weights}", 0): weights}).values()
    for articles in _members(connection, listed):
        places = [_place(_policy(site, weights), listed, article) for article in articles]
        place_writes.add(connection, {after.id: [place for place in places if place]})
    if before:
        place_writes.remove_index(connection, before)
    connection.execute(RENAME, {"id": after.id, "name": name})
    place_writes.remove_empty(connection, [after.id])


def check(connection: Connection, site: Site, numbers: Sequence[int]) -> list[int]:
    """Those of some archived articles whose places are not as `archive` writes them."""
    articles = [(article, list(_listings(article))) for article in records(connection, numbers) if article]
    names = {each.name for _, listed in articles for each in listed}
    stored = {(each.name, each.votes_class): each for each in reads.indexes(connection, names)}
    written: defaultdict[int, set[tuple[int, Place]]] = defaultdict(set)
    for some in slices([article.number for article, _ in articles]):
        for index, *place in connection.execute(PLACES, {"numbers": some}):
            written[place[1]].add((index, Place(*place)))
    return [each.number for each, listed in articles if written[each.number] != _expected(site, stored, each, listed)]


def _expected(
    site: Site, stored: Mapping[IndexName, Index], article: Article, listings: Sequence[Listed]
) -> set[tuple[int, Place]] | None:
    """The places of an article; None if a listing has no index."""
    names = [listed.index_name(article) for listed in listings if listed.name != GOOD]
    return set(_places(site, stored, article, listings)) if all(name in stored for name in names) else None


def _listings(article: Article) -> Iterator[Listed]:
    """The listings that an article is in, or may be in if it is good."""
    for group in (None, *article.groups):
        for order in Order:
            yield Listed(order.value if group is None else f"group:{group}:{order.value}", group, order)
    yield Listed(GOOD, None, None)
    yield Listed(f"timeline:{article.poster.lower()}", None, None)
    if article.link:
        yield Listed(f"links:{links.digest(article.link)}", None, None)


def _listed(name: str) -> Listed:
    """The listing of a name that depends on weights."""
    if name == GOOD:
        return Listed(GOOD, None, None)
    group, _, order = name.removeprefix("group:").rpartition(":")
    return Listed(name, group or None, Order(order))


def _places(
    site: Site, stored: Mapping[IndexName, Index], article: Article, listings: Sequence[Listed]
) -> Iterator[tuple[int, Place]]:
    """The places of an article, each with the id of its index."""
    for listed in listings:
        index = stored.get(listed.index_name(article))
        place = _place(_policy(site, index.weights), listed, article) if index else None
        if index and place:
            yield index.id, place


def _place(policy: Policy, listed: Listed, article: Article) -> Place | None:
    if listed.name == GOOD and not policy.is_good(article):
        return None
    by_time = listed.order in (Order.TIME, Order.GRAVITY)
    extra = article.votes if by_time else article.posted_at if listed.order is Order.VOTES else None
    value = article.posted_at if listed.order is Order.GRAVITY else _value(policy, listed, article)
    return Place(float(value), article.number, extra)


def _value(policy: Policy, listed: Listed, article: Article) -> float:
    return policy.value(listed.order, article) if listed.order else article.posted_at


def _weights(site: Site, listed: Listed) -> str:
    """What the values of a listing depend on, as `listings.weights` has it."""
    name = "good_votes" if listed.name == GOOD else WEIGHTED_BY.get(listed.order) if listed.order else None
    return f"{name}={getattr(site.policy_of(listed.group), name)!r}" if name else ""


def _policy(site: Site, weights: str) -> Policy:
    """The policy of the site with these weights."""
    return _policy_with(site.policy, weights) if weights else site.policy


@lru_cache(maxsize=1_000)
def _policy_with(policy: Policy, weights: str) -> Policy:
    name, _, value = weights.partition("=")
    number = int(value) if name == "good_votes" else float(value)
    return replace(policy, **{name: number})  # type: ignore[arg-type]  # both are numbers


def _members(connection: Connection, listed: Listed) -> Iterator[list[Article]]:
    """The articles of a listing. Every archived article may be a good one."""
    last = 0
    while True:
        named = {"after": last, "count": RECOMPUTED_AT_ONCE, "archived": True, "group": listed.group}
        rows = connection.execute(MEMBERS_OF_GROUP if listed.group else MEMBERS, named).all()
        if not rows:
            return
        yield [Article(number, "", None, None, "", time, None, up, down, 0, ()) for number, time, up, down in rows]
        last = rows[-1][0]


def _articles(connection: Connection, numbers: Sequence[int]) -> Iterator[Article]:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for number, name in connection.execute(GROUPS, {"numbers": numbers}):
        groups[number].append(name)
    for number, *fields in connection.execute(ARTICLES, {"numbers": numbers, "archived": True}):
        yield Article(*[number, *fields, tuple(groups[number])])


def _mark(connection: Connection, numbers: Collection[int], archived: bool) -> None:
    for some in slices(numbers):
        connection.execute(MARK, {"numbers": some, "archived": archived})


def _of_numbers(statement: str) -> TextClause:
    return text(statement).bindparams(bindparam("numbers", expanding=True))


ARTICLES = _of_numbers("""
SELECT number, title, link, content, poster, posted_ms, edited_ms, up, down, imported_votes FROM articles
WHERE number IN :numbers AND archived = :archived""")
GROUPS = _of_numbers("SELECT number, name FROM article_groups WHERE number IN :numbers ORDER BY number, place")
PLACES = _of_numbers("SELECT listing, value, number, extra FROM places WHERE number IN :numbers")
MARK = _of_numbers("UPDATE articles SET archived = :archived WHERE number IN :numbers AND archived <> :archived")
NUMBERS = text("""
SELECT number FROM articles WHERE archived = :archived AND number > :after ORDER BY number LIMIT :count""")
KARMA = text("""
SELECT poster, count(*), sum(up - down), max(posted_ms) FROM articles
WHERE poster IN :names AND archived = :archived GROUP BY poster""").bindparams(bindparam("names", expanding=True))
WEIGHTED_INDEXES = text("SELECT id, name, votes_class, size, weights FROM listings WHERE weights <> '' ORDER BY name")
RENAME = text("UPDATE listings SET name = :name WHERE id = :id")
MEMBERS = text("""
SELECT number, posted_ms, up, down FROM articles
WHERE archived = :archived AND number > :after ORDER BY number LIMIT :count""")
MEMBERS_OF_GROUP = text("""
SELECT number, posted_ms, up, down FROM article_groups JOIN articles USING (number)
WHERE name = :group AND archived = :archived AND number > :after ORDER BY number LIMIT :count""")
