"""
What Redis knows of archived articles, which only the SQL database has: how many there are, and the greatest values that
they have in listings. By these a page, a rank or a feed is answered without the database, if no archived article can be
on it. A place is an article with its value in a listing.

The summaries are in the hash `archived` of each partition, a share of the data in Redis. Its fields are

    count, count:good, count:group:NAME     how many archived articles the site, good articles or a group have
    user:NAME                               of a user: how many, when the newest was posted (unix milliseconds), and the
                                            value of `serial` then, so that each change of this text is noticed
    top:ORDER, top:good, top:group:NAME:ORDER   a value that no place of the listing exceeds
    serial                                  how often articles left Redis, came back or got other counts
    marks                                   how often articles were marked as moving, between Redis and the archive
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Generic, NamedTuple, TypeVar

from store import feeds, keys
from store.feeds import Pull
from store.listings import TIMELINE, Listing, Window
from store.moving import new_call
from store.queries import Read
from store.ranking.formulas import Order
from store.records import PartitionPage, Position
from store.site import Site

T = TypeVar("T")

NO_FIELD = "-"  # asked for where no counter fits: no hash `archived` has this field, so the reply is null
TOLERANCE = 1e-9  # relative error of a computation with floats


@dataclass(frozen=True, slots=True)
class Summary:
    """
    What Redis has of the archived places of a listing. No value is above `greatest`, no posting time above `newest`,
    no votes above `most_votes`; all are -inf if there are none. `count` is None if only the database can count them.
    """

    count: int | None
    greatest: float
    newest: float
    most_votes: float


class Known(NamedTuple, Generic[T]):
    """
    What Redis knows of the archived articles of a partition, with its `serial` at the same moment: a number that rises
    when one leaves Redis or comes back, by which a reader sees whether others of its reads still fit.
    """

    value: T
    partition: int
    serial: str | None


def summary(site: Site, listing: Listing, call: int) -> list[Read[Known[Summary]]]:
    """
    The reads of a listing's summary, one for each partition that has the listing. A `call` (`moving.new_call`) makes
    them unequal to reads that were sent before, which a request does not send again.
    """
    kind, *names = listing.name.split(":")
    partitions = partitions_of(site, listing)
    if kind == TIMELINE:
        return [_read_known(partition, [f"user:{names[0]}"], _timeline_summary, call) for partition in partitions]
    # the fields with the count, and with the greatest value, the newest time and the most votes
    counter: str | None
    if kind == "good":
        counter, tops = "count:good", ["good"] * 3
    elif kind == "links":
        counter, tops = None, [Order.TIME.value] * 3
    else:
        group = f"group:{names[0]}" if kind == "group" else ""
        order = names[1] if kind == "group" else kind
        counter = f"count:{group}" if group else "count"
        tops = [f"{group}:{each}" if group else each for each in (order, Order.TIME.value, Order.VOTES.value)]
    if (listing.lowest, listing.highest, listing.since) != ("-inf", "+inf", None):  # a part of a listing
        counter = None
    fields = (counter or NO_FIELD, *(f"top:{each}" for each in tops))
    decode = _summary if counter else _uncounted_summary
    return [_read_known(partition, fields, decode, call) for partition in partitions]


def merged(parts: Sequence[Summary]) -> Summary:
    """The summary of a listing, made of the summaries of its partitions."""
    counts = [part.count for part in parts if part.count is not None]
    return Summary(
        sum(counts) if len(counts) == len(parts) else None,
        max(part.greatest for part in parts),
        max(part.newest for part in parts),
        max(part.most_votes for part in parts),
    )


def partitions_of(site: Site, listing: Listing) -> Sequence[int]:
    """The partitions whose articles a listing may have."""
    kind, *names = listing.name.split(":")
    return [site.partition_of_user(names[0])] if kind == TIMELINE else range(site.partitions)


def newest(partitions: Iterable[int]) -> list[Read[Known[float]]]:
    """The reads of the time that no archived article of each partition was posted after; -inf without any."""
    call = new_call()
    return [_read_known(partition, [f"top:{Order.TIME.value}"], _first_value, call) for partition in partitions]


def serials(partitions: Iterable[int]) -> list[Read[Known[None]]]:
    """The reads of the serials of partitions alone."""
    call = new_call()
    return [_read_known(partition, [], _nothing, call) for partition in partitions]


def marks(partitions: Iterable[int]) -> list[Read[str | None]]:
    """The reads of how often articles of each partition were marked as moving, as text; None for never."""
    call = new_call()
    return [Read(("HGET", keys.archived(partition), "marks"), _text, (call,)) for partition in partitions]


def counts(site: Site, usernames: Sequence[str]) -> list[Read[Known[int]]]:
    """The reads of the numbers of archived articles of users."""
    call = new_call()
    return [
        _read_known(partition, [f"user:{name.lower()}" for name in names], _count_of_users, call)
        for partition, names in feeds.calls(site, usernames, feeds.NAMES_PER_CALL)
    ]


def part_without_database(
    listing: Listing, window: Window, parts: Sequence[PartitionPage], known: Summary
) -> PartitionPage | None:
    """
    The archive's part of a page, if no archived place is on the page or before it; else None: the database has to be
    asked. `parts` are those of all partitions, each with the positions that `window.skip` passes over.
    """
    at = parts[0].at
    lowest = listing.since.at if listing.since else float(listing.lowest)
    if known.count == 0 or known.newest == -inf or ((listing.by_time or listing.since) and lowest > known.newest):
        return PartitionPage(above=0, total=0, positions=(), at=at)
    if known.count is None:
        return None
    top = greatest(listing, known, at)
    nothing_before = PartitionPage(above=0, total=known.count, positions=(), at=at)
    if window.beyond is not None and window.beyond.value <= top:
        return None
    if window.upwards:
        return nothing_before if window.beyond else None
    values = sorted((position.value for part in parts for position in part.positions), reverse=True)
    size = window.skip + window.count
    return nothing_before if len(values) >= size and values[size - 1] > top else None


def is_above_all(listing: Listing, position: Position, known: Summary) -> bool:
    """Whether a position is above all archived places of a listing."""
    if known.count == 0 or known.newest == -inf:
        return True
    return position.value > greatest(listing, known, at=None)


def is_feed_page_whole(pulled: Pull, window: Window, floor: Position | None, newest: float) -> bool:
    """
    Whether no archived article changes a page of a feed as Redis has it. `newest` is the time that no archived article
    was posted after.
    """
    if newest == -inf or (floor and floor.value > newest):
        return True
    if window.beyond and window.beyond.value <= newest:
        return False
    if window.upwards:
        return window.beyond is not None and pulled.behind
    return len(pulled.positions) >= window.count and pulled.positions[window.count - 1].value > newest


def without_known(part: PartitionPage, parts: Sequence[PartitionPage]) -> PartitionPage:
    """The archive's part of a page without articles that were in Redis when the other parts were read."""
    members = {position.member for each in parts for position in each.positions}
    return part._replace(positions=tuple([each for each in part.positions if each.member not in members]))


def greatest(listing: Listing, known: Summary, at: int | None) -> float:
    """
    A value that no archived place of a listing exceeds; infinity if none is known. By GRAVITY it is the value that an
    article with the most votes and the newest time would have at the instant `at` (None: the instant of the listing).
    """
    if -inf in (known.greatest, known.most_votes if listing.decay else 0):
        return inf  # the order was added later: no value of its places is known
    if not listing.decay:
        return known.greatest
    votes_exponent, age_exponent, delay = listing.decay.numbers
    base = max(known.most_votes - 1, 0) ** votes_exponent
    minutes = max((listing.decay.at if at is None else at) - known.newest, 0) / 60_000
    top: float = base / ((minutes + delay) / 60) ** age_exponent
    return top * (1 + TOLERANCE)


def _read_known(
    partition: int, fields: Sequence[str], decode: Callable[[Sequence[str | None]], T], call: int
) -> Read[Known[T]]:
    return Read(("HMGET", keys.archived(partition), "serial", *fields), _known, (partition, decode, call))


def _known(partition: int, decode: Callable[[Sequence[str | None]], T], call: int, reply: list[str | None]) -> Known[T]:
    serial, *values = reply
    return Known(decode(values), partition, serial)


def _summary(reply: Sequence[str | None]) -> Summary:
    counter, *values = reply
    return _summary_of(int(counter or 0), values)


def _uncounted_summary(reply: Sequence[str | None]) -> Summary:
    _, *values = reply
    return _summary_of(None, values)


def _summary_of(count: int | None, values: Sequence[str | None]) -> Summary:
    greatest, newest, most_votes = map(_value, values)
    return Summary(count, greatest, newest, most_votes)


def _timeline_summary(reply: Sequence[str | None]) -> Summary:
    """Decodes the field `user:NAME`."""
    (text,) = reply
    if text is None:
        return Summary(count=0, greatest=-inf, newest=-inf, most_votes=-inf)
    count, newest, _ = map(int, text.split())
    return Summary(count, greatest=newest, newest=newest, most_votes=-inf)


def _first_value(reply: Sequence[str | None]) -> float:
    return _value(reply[0])


def _value(text: str | None) -> float:
    return -inf if text is None else float(text)


def _count_of_users(reply: Sequence[str | None]) -> int:
    return sum(int(text.split()[0]) for text in reply if text)


def _nothing(reply: Sequence[str | None]) -> None:
    return None


def _text(call: int, reply: str | None) -> str | None:
    return reply
