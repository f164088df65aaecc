"""
Archived articles, which only the database has and Redis no longer: their records, and their places in all listings.

A place is a row of an index: an article with its value in a listing, such as the site by SCORE or the timeline of a
user. This module writes places and verifies them; `archive/places.py` reads pages and ranks from them. A listing has
one index. Values by GRAVITY change with time, so such a listing has an index by time for each class of votes: the
articles with about equally many votes (`order_index/classes.py`).

Weights are the numbers in the formulas of the values, such as the seconds that a vote is worth (`Policy`). A group may
have weights of its own.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from database.order_index import reads, writes
from database.order_index.classes import votes_class
from database.order_index.reads import Index, Place
from database.order_index.writes import IndexName
from database.statements import Statement, slices
from database.states import state_of
from store import links
from store.ranking.formulas import Order, Policy
from store.records import (
    ArchivedAlone,
    ArchivedConversation,
    Article,
    ContentState,
    HiddenArchivedAlone,
    HiddenArchivedConversation,
)
from store.site import Site

if TYPE_CHECKING:
    from database.statements import Connection

RECOMPUTED_AT_ONCE = 5_000  # articles whose places are computed with new weights, in a statement
RECOUNTED_AT_ONCE = 500  # articles: each has some 20 places, and requests wait for the thread that compares them
# the weight that the values of an order depend on: a field of `Policy`, which a group may have with a value of its own
WEIGHTED_BY = {Order.SCORE: "vote_score", Order.HOT: "hot_seconds", Order.BEST: "best_z"}
GOOD = "good"  # the name of the listing, by time, of good articles: those with at least `Policy.good_votes` votes


class Listed(NamedTuple):
    """
    A listing that an article is in. `group` is None if it is not the listing of a group. `order` is None if it is
    always by time, as a listing of good articles, of a user or of a link is.
    """

    name: str
    group: str | None
    order: Order | None


class PlaceKind(NamedTuple):
    """
    What places in an index are made of. In indexes with the same order and weights, such as the indexes of the site and
    of groups without weights of their own, an article has equal places, which are computed once. `number` tells kinds
    apart, `policy` has the weights, and `listed` is any of these listings.
    """

    number: int
    policy: Policy
    listed: Listed


NamedListing = tuple[IndexName, Listed]  # ((name of the listing, class of votes), the listing)
GOOD_LISTING: NamedListing = ((GOOD, 0), Listed(GOOD, group=None, order=None))


def archive(connection: "Connection", site: Site, articles: Sequence[Article]) -> None:
    """
    Replace all places of articles, which are archived from then on. Their rows have to be in the table of articles.

    An index that has places keeps the weights with which they were computed, until `recompute`: new places are computed
    with the same weights.
    """
    _write_places(connection, site, articles)
    _set_archived(connection, [article.number for article in articles], archived=True)


def recount(connection: "Connection", site: Site, numbers: Sequence[int]) -> None:
    """Replace the places of archived articles after their counts have changed. Other numbers are passed over."""
    for some in slices(numbers, RECOUNTED_AT_ONCE):
        _write_places(connection, site, [article for article in records(connection, some) if article])


def unarchive(connection: "Connection", numbers: Collection[int]) -> None:
    """Remove all places of archived articles, which are not archived from then on. Other numbers are passed over."""
    writes.lock(connection)
    writes.remove(connection, numbers)
    _set_archived(connection, numbers, archived=False)


def records(connection: "Connection", numbers: Sequence[int], *, archived: bool = True) -> list[Article | None]:
    """The articles of these numbers that are archived, or with `archived` False not archived; None for all others."""
    found = {each.number: each for some in slices(numbers) for each in _articles(connection, some, archived)}
    return [found.get(number) for number in numbers]


def numbers(connection: "Connection", after: int, count: int, *, archived: bool = True) -> list[int]:
    """The first `count` numbers above `after` of articles that are archived, or with `archived` False not archived."""
    return list(NUMBERS.run(connection, {"after": after, "count": count, "archived": archived}).scalars())


def removed(connection: "Connection", until: int, above: tuple[int, int], count: int) -> list[tuple[int, int]]:
    """
    The first `count` articles above a place in time that were removed and have not left Redis, posted until an instant
    (unix milliseconds): their places, each a posting time and a number.
    """
    values = {"until": until, "time": above[0], "number": above[1], "count": count}
    return [(time, number) for time, number in REMOVED.run(connection, values)]


def with_comments(connection: "Connection", numbers: Sequence[int]) -> set[int]:
    """Which of some articles have comments, not counting deleted ones."""
    return {number for some in slices(numbers) for number in COMMENTED.run(connection, {"numbers": some}).scalars()}


def stale(connection: "Connection", site: Site) -> list[str]:
    """The names of listings whose values were computed with other weights than the site or the group has now."""
    return [
        index.name
        for index in (Index(*row) for row in WEIGHTED_INDEXES.run(connection))
        if index.weights != _weights(site, _listed(index.name))
    ]


def recompute(connection: "Connection", site: Site, name: str) -> None:
    """
    Compute the places of a listing again, with the weights that the site or the group has now.

    All articles of the listing are read and written once, in about 15 seconds for 1,000,000.
    """
    writes.lock(connection)
    listed = _listed(name)
    before, weights = reads.index(connection, name), _weights(site, listed)
    # The new index has a name of its own until the old one is removed. Only GRAVITY has classes of votes other than 0,
    # and it has no weights.
    (after,) = writes.create_indexes(connection, {(f"{name} {weights}", 0): weights}).values()
    for articles in _members(connection, listed):
        places = [_place(_policy(site, weights), listed, article) for article in articles]
        writes.add(connection, {after.id: [place for place in places if place]})
    if before:
        writes.remove_index(connection, before)
    RENAME.run(connection, {"id": after.id, "name": name})
    writes.remove_empty(connection, [after.id])


def check(connection: "Connection", site: Site, numbers: Sequence[int]) -> list[int]:
    """The numbers of those archived articles whose places differ from what `archive` writes."""
    articles = [(article, _listings(article)) for article in records(connection, numbers) if article]
    stored = _indexes(connection, [index_name for _, listed in articles for index_name, _ in listed])
    written: defaultdict[int, set[tuple[int, Place]]] = defaultdict(set)
    for some in slices([article.number for article, _ in articles]):
        for index, value, number, extra in PLACES.run(connection, {"numbers": some}):
            written[number].add((index, Place(value, number, extra)))
    return [each.number for each, listed in articles if written[each.number] != _expected(site, stored, each, listed)]


def _write_places(connection: "Connection", site: Site, articles: Sequence[Article]) -> None:
    """Let articles have the places that follow from their records, and no others; missing indexes are created."""
    writes.lock(connection)
    listings = [(article, _listings(article)) for article in articles]
    wanted = dict(chain.from_iterable(listed for _, listed in listings))
    stored = _indexes(connection, wanted)
    missing = {index_name: _weights(site, each) for index_name, each in wanted.items() if index_name not in stored}
    stored |= writes.create_indexes(connection, missing)
    kinds = _kinds(site, stored, wanted)
    places: defaultdict[int, list[Place]] = defaultdict(list)
    for article, listed in listings:
        for index, place in _places(kinds, article, listed):
            places[index].append(place)
    writes.replace(connection, [article.number for article in articles], places)
    new = [stored[index_name].id for index_name in missing]
    writes.remove_empty(connection, new)  # the index of good articles gets no place if none of these is good


def _indexes(connection: "Connection", index_names: Collection[IndexName]) -> dict[IndexName, Index]:
    """The stored indexes of the listings of these names, in all classes of votes, by name and class."""
    stored = reads.indexes(connection, {name for name, _ in index_names})
    return {(index.name, index.votes_class): index for index in stored}


def _expected(
    site: Site, stored: Mapping[IndexName, Index], article: Article, listings: Sequence[NamedListing]
) -> set[tuple[int, Place]] | None:
    """The places of an article, each with the id of its index; None if an index that it must be in is missing."""
    # The index of good articles exists only if there is one.
    needed = [index_name for index_name, listed in listings if listed.name != GOOD]
    if any(index_name not in stored for index_name in needed):
        return None
    return set(_places(_kinds(site, stored, dict(listings)), article, listings))


def _listings(article: Article) -> list[NamedListing]:
    """
    The listings that an article is in, or may be in if it is good, by the names of their indexes. A removed article is
    in none.
    """
    if article.state is not ContentState.VISIBLE:
        return []
    of_votes = votes_class(article.votes)
    found = [*_by_orders(group=None, of_votes=of_votes)]
    for group in article.groups:
        found += _by_orders(group, of_votes)
    found.append(GOOD_LISTING)
    by_time = [f"timeline:{article.poster.lower()}"]
    if article.link:
        by_time.append(f"links:{links.digest(article.link)}")
    return found + [((name, 0), Listed(name, group=None, order=None)) for name in by_time]


@lru_cache(maxsize=5_000)
def _by_orders(group: str | None, of_votes: int) -> tuple[NamedListing, ...]:
    """The listings of the site, or of a group, by all orders, for an article in a class of votes."""
    listings = [
        Listed(order.value if group is None else f"group:{group}:{order.value}", group, order) for order in Order
    ]
    return tuple(((each.name, of_votes if each.order is Order.GRAVITY else 0), each) for each in listings)


def _listed(name: str) -> Listed:
    """The listing with this name, which is one whose values depend on weights."""
    if name == GOOD:
        return Listed(GOOD, group=None, order=None)
    group, _, order = name.removeprefix("group:").rpartition(":")
    return Listed(name, group or None, Order(order))


def _kinds(
    site: Site, stored: Mapping[IndexName, Index], wanted: Mapping[IndexName, Listed]
) -> dict[IndexName, tuple[int, PlaceKind]]:
    """For each wanted index that is stored: its id, and the kind of its places."""
    kinds: dict[tuple[Order | None, str], PlaceKind] = {}
    found: dict[IndexName, tuple[int, PlaceKind]] = {}
    for index_name, listed in wanted.items():
        if index := stored.get(index_name):
            by = listed.order, index.weights
            if by not in kinds:
                kinds[by] = PlaceKind(len(kinds), _policy(site, index.weights), listed)
            found[index_name] = index.id, kinds[by]
    return found


def _places(
    kinds: Mapping[IndexName, tuple[int, PlaceKind]], article: Article, listings: Sequence[NamedListing]
) -> list[tuple[int, Place]]:
    """The places of an article, each with the id of its index."""
    found: dict[int, Place | None] = {}
    places: list[tuple[int, Place]] = []
    for index_name, _ in listings:
        if known := kinds.get(index_name):
            index, (kind, policy, listed) = known
            if kind not in found:
                found[kind] = _place(policy, listed, article)
            if place := found[kind]:
                places.append((index, place))
    return places


def _place(policy: Policy, listed: Listed, article: Article) -> Place | None:
    """
    The place of an article in the index of a listing, by the weights of a policy; None if the listing is of good
    articles and this is none. An index of GRAVITY is by time, within a class of votes. See `Place` for `extra`.
    """
    if listed.name == GOOD and not policy.is_good(article):
        return None
    by_time = listed.order in (Order.TIME, Order.GRAVITY)
    extra = article.votes if by_time else article.posted_at if listed.order is Order.VOTES else None
    value = article.posted_at if listed.order is Order.GRAVITY else _value(policy, listed, article)
    return Place(float(value), article.number, extra)


def _value(policy: Policy, listed: Listed, article: Article) -> float:
    return policy.value(listed.order, article) if listed.order else article.posted_at


def _weights(site: Site, listed: Listed) -> str:
    """The weight that the values of a listing depend on, as NAME=VALUE; "" if they depend on none."""
    if listed.name == GOOD:
        name: str | None = "good_votes"
    else:
        name = WEIGHTED_BY.get(listed.order) if listed.order else None
    return f"{name}={getattr(site.policy_of(listed.group), name)!r}" if name else ""


def _policy(site: Site, weights: str) -> Policy:
    """The policy of the site with these weights."""
    return _policy_with(site.policy, weights) if weights else site.policy


@lru_cache(maxsize=1_000)
def _policy_with(policy: Policy, weights: str) -> Policy:
    name, _, value = weights.partition("=")
    number = int(value) if name == "good_votes" else float(value)
    return replace(policy, **{name: number})  # type: ignore[arg-type]  # both are numbers


def _members(connection: "Connection", listed: Listed) -> Iterator[list[Article]]:
    """
    The articles of the site or of a group, with the fields on which values depend. For the listing of good articles
    they are all of the site: each may be a good one.
    """
    last = 0
    while True:
        named = {"after": last, "count": RECOMPUTED_AT_ONCE, "archived": True, "group": listed.group}
        statement = MEMBERS_OF_GROUP if listed.group else MEMBERS
        rows = statement.run(connection, named).all()
        if not rows:
            return
        yield [
            Article(
                number=number,
                title="",
                link=None,
                content=None,
                poster="",
                posted_at=time,
                edited_at=None,
                upvotes=up,
                downvotes=down,
                imported_votes=0,
                groups=(),
            )
            for number, time, up, down in rows
        ]
        last = rows[-1][0]


def _articles(connection: "Connection", numbers: Sequence[int], archived: bool) -> Iterator[Article]:
    """Articles as their rows are, where `left` is when an article left Redis with its conversation, else None."""
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for number, name in GROUPS.run(connection, {"numbers": numbers}):
        groups[number].append(name)
    for number, *fields, state, locked, active, comments, left in ARTICLES.run(
        connection, {"numbers": numbers, "archived": archived}
    ):
        kind = _kind(state_of(state), has_conversation=left is not None) if archived else Article
        # The columns up to `imported_votes` are the first fields of an article, `more` those from `groups` on.
        more = (tuple(groups[number]), comments or 0, state_of(state), bool(locked), active)
        yield kind(*[number, *fields, *more])


def _kind(state: ContentState, *, has_conversation: bool) -> type[Article]:
    if state is ContentState.VISIBLE:
        return ArchivedConversation if has_conversation else ArchivedAlone
    return HiddenArchivedConversation if has_conversation else HiddenArchivedAlone


def _set_archived(connection: "Connection", numbers: Collection[int], archived: bool) -> None:
    for some in slices(numbers):
        SET_ARCHIVED.run(connection, {"numbers": some, "archived": archived})


ARTICLES = Statement(
    """
SELECT number, title, link, content, poster, posted_ms, edited_ms, up, down, imported_votes, state, locked,
  active_ms, comment_count, left_ms FROM articles
WHERE number IN :numbers AND archived = :archived""",
    "numbers",
)
GROUPS = Statement("SELECT number, name FROM article_groups WHERE number IN :numbers ORDER BY number, place", "numbers")
COMMENTED = Statement(
    "SELECT DISTINCT article FROM comments WHERE article IN :numbers AND state <> 'DELETED'", "numbers"
)
PLACES = Statement("SELECT listing, value, number, extra FROM places WHERE number IN :numbers", "numbers")
SET_ARCHIVED = Statement(
    "UPDATE articles SET archived = :archived WHERE number IN :numbers AND archived <> :archived", "numbers"
)
NUMBERS = Statement("""
SELECT number FROM articles WHERE archived = :archived AND number > :after ORDER BY number LIMIT :count""")
WEIGHTED_INDEXES = Statement(
    "SELECT id, name, votes_class, size, weights FROM listings WHERE weights <> '' ORDER BY name"
)
RENAME = Statement("UPDATE listings SET name = :name WHERE id = :id")
MEMBERS = Statement("""
SELECT number, posted_ms, up, down FROM articles
WHERE archived = :archived AND state = 'VISIBLE' AND number > :after ORDER BY number LIMIT :count""")
MEMBERS_OF_GROUP = Statement("""
SELECT number, posted_ms, up, down FROM article_groups JOIN articles USING (number)
WHERE name = :group AND archived = :archived AND state = 'VISIBLE' AND number > :after ORDER BY number LIMIT :count""")
REMOVED = Statement("""
SELECT posted_ms, number FROM articles
WHERE state = 'REMOVED' AND NOT archived AND posted_ms <= :until AND (posted_ms, number) > (:time, :number)
ORDER BY posted_ms, number LIMIT :count""")
