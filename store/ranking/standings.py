"""
Standings of articles in an order: rank, value, the terms of the value, and the votes missing to the next rank. Ranks
are counted in each partition, a share of the data, and added up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from store import keys
from store.client import Argument
from store.listings import Listing
from store.queries import Read
from store.ranking import gravity
from store.ranking.formulas import Order, Policy
from store.ranking.gravity import Decay
from store.records import Article, Position
from store.scripts.registry import Script

POSITION_RANKS = Script("position_ranks")

MAX_VOTES = 2**31 - 1  # the most that may be missing to the next rank


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of a position: how many entries are `above` it, and the `next` one, the lowest of these."""

    above: int
    next: Position | None


@dataclass(frozen=True, slots=True)
class Term:
    """A part of the value of a standing."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Standing:
    """
    The terms add up to the value; instants are in seconds. `votes_to_next_rank` is None if upvotes cannot reach it.
    """

    order: Order
    rank: int
    value: float
    terms: Sequence[Term]
    votes_to_next_rank: int | None


def position(policy: Policy, order: Order, article: Article, now: int) -> Position:
    return Position(policy.value_at(order, article, now), keys.member(article.number))


def ranks(listing: Listing, positions: Sequence[Position]) -> list[Read[Any]]:
    """
    The reads of the ranks of positions, for `merge`: one for each partition. If values decay, two for each partition
    and position, which may result in further reads.
    """
    if decay := listing.decay:
        return [read for indexes in decay.keys for each in positions for read in _decaying(indexes, decay, each)]
    flat: list[Argument] = [text for each in positions for text in (repr(float(each.value)), each.member)]
    return [Read(POSITION_RANKS.command([index], *flat), _ranks) for index in listing.indexes]


def merge(listing: Listing, results: Sequence[Any]) -> list[Rank]:
    """Merge the results of `ranks` into the ranks in the whole listing."""
    parts: Sequence[Sequence[Rank]] = results
    if listing.decay:  # two results of each position, those of a partition one after the other: see `_decaying`
        pairs = list(zip(results[::2], results[1::2], strict=True))
        count = len(pairs) // len(listing.decay.keys)
        found = [Rank(above, page.positions[-1] if page.positions else None) for above, page in pairs]
        parts = [found[start : start + count] for start in range(0, len(found), count)]
    return [
        Rank(sum(each.above for each in ranks), min((each.next for each in ranks if each.next), default=None))
        for ranks in zip(*parts, strict=True)
    ]


def standing(policy: Policy, order: Order, article: Article, rank: Rank, now: int) -> Standing:
    """The standing of an article at an instant (unix milliseconds), by its rank."""
    value, scale = policy.value_at(order, article, now), _scale(order)
    missing = _missing_votes(policy, order, article, rank.next, now) if rank.next else None
    shown = value / scale
    return Standing(order, rank.above + 1, shown, list(_terms(policy, order, article, shown)), missing)


def _scale(order: Order) -> int:
    """By what stored values are divided to be shown: instants are stored in milliseconds and shown in seconds."""
    return 1000 if order in (Order.SCORE, Order.TIME, Order.ACTIVE) else 1


def _terms(policy: Policy, order: Order, article: Article, value: float) -> Iterator[Term]:
    votes, posted_at = article.votes, article.posted_at / 1000
    match order:
        case Order.SCORE:
            yield Term("posting time", posted_at)
            yield Term("votes", policy.vote_score * votes)
        case Order.TIME:
            yield Term("posting time", posted_at)
        case Order.VOTES:
            yield Term("upvotes", article.upvotes)
            yield Term("downvotes", -article.downvotes)
        case Order.HOT:
            size = log10(max(abs(votes), 1)) * (1 if votes > 0 else -1)
            yield from _two("votes", size, "posting time", value)
        case Order.BEST:
            cast = article.upvotes + article.downvotes
            yield from _two("share of upvotes", article.upvotes / max(cast, 1), "uncertainty", value)
        case Order.CONTROVERSIAL:
            yield from _two("all votes", article.upvotes + article.downvotes, "imbalance", value)
        case Order.GRAVITY:
            yield from _two("votes", policy.gravity(article, article.posted_at), "age", value)
        case Order.ACTIVE:
            yield from _two("posting time", posted_at, "newest comment", value)


def _two(name: str, value: float, rest: str, whole: float) -> Iterator[Term]:
    """A term with a value, and one with the rest of the `whole`, by the name `rest`."""
    yield Term(name, value)
    yield Term(rest, whole - value)


def _missing_votes(policy: Policy, order: Order, article: Article, goal: Position, now: int) -> int | None:
    """The least number of upvotes that lift an article above a position; None if more than 2,147,483,647."""

    def passes(votes: int) -> bool:
        lifted = article._replace(upvotes=article.upvotes + votes)
        return position(policy, order, lifted, now) > goal

    maximum = MAX_VOTES
    if order in (Order.TIME, Order.ACTIVE):
        return None
    if order is Order.CONTROVERSIAL:  # beyond balance, upvotes lower an article
        maximum = article.downvotes - article.upvotes
    return _least(passes, maximum)


def _least(passes: Callable[[int], bool], maximum: int) -> int | None:
    """The least number from 1 to `maximum` that passes, None if none does. All above one that passes have to pass."""
    high = 1
    while high <= maximum and not passes(high):
        high *= 2
    high = min(high, maximum)
    if high < 1 or not passes(high):
        return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high


def _decaying(indexes: tuple[str, ...], decay: Decay, position: Position) -> list[Read[Any]]:
    """The reads of the number of entries above a position, and of the lowest of them."""
    return [
        gravity.count_above(indexes, decay, position),
        gravity.partition_page(indexes, decay, decay.at, upwards=True, count=1, position=position),
    ]


def _ranks(reply: list[str]) -> list[Rank]:
    """Decode a reply of `position_ranks.lua`: for each position how many are above it, and the lowest of these."""
    rows = zip(reply[::3], reply[1::3], reply[2::3], strict=True)
    return [Rank(int(above), Position(float(value), member) if member else None) for above, member, value in rows]
