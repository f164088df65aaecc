"""
Reads of listings that have only the articles posted since an instant: the top of a day, a week, a year.

By TIME, such a listing is a range of the index. By VOTES it is read from indexes that exist anyway: that of GRAVITY
holds articles of similar votes together, by time, and that of VOTES has their exact order. So votes, posts and stores
need nothing more, the instant slides by the millisecond, and old stores have it at once. A store whose orders lack
GRAVITY does not have it by VOTES. Rejected: an index of votes for each hour, day and month, whose heads are merged. By
the figures of `bench/RESULTS.md` it takes 7 microseconds more for each vote, and 250 bytes for each article, and both
again for each group of the article.

`since_page.lua` says how a page is read: with some 50 to 100 commands of the server, whatever the size of the listing.
A page that takes longer is read in steps, as by GRAVITY, each of about `STEP` articles: one with a high number in a
listing of which many articles have similar votes. Others may write between two steps, so it is not of one instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from store.queries import Read
from store.ranking.formulas import Order
from store.records import INSTANTS, PartitionPage, Position, parse_positions
from store.scripts.registry import SINCE_PAGE

INDEXES = (Order.GRAVITY, Order.VOTES, Order.TIME)  # that a page by VOTES is read from
STEP = 600  # articles that a call of the script reads, about


@dataclass(frozen=True, slots=True)
class Since:
    """The instant (unix milliseconds), and `INDEXES` in each partition."""

    at: int
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PageRead:
    """
    A page of one partition that is being read: the `count` positions that follow after `skip` beyond `position`.

    `found` are those that earlier steps found, and `behind` what the first step said: how many positions are passed
    over, or, with a position, whether there are any at the position or behind it.
    """

    keys: tuple[str, ...]
    at: int
    upwards: bool
    count: int
    skip: int
    position: tuple[str, str]
    found: tuple[Position, ...] = ()
    behind: int | None = None

    def read(self) -> Read[Any]:
        """The next step. It looks for one position more than the page has, to know whether more follow."""
        direction, wanted = "up" if self.upwards else "down", self.count + 1 - len(self.found)
        step = "first" if self.behind is None else ""
        command = SINCE_PAGE.command(self.keys, self.at, direction, wanted, self.skip, STEP, *self.position, step)
        return Read(command, _next_page_part, (self,))


def orders(maintained: Sequence[Order]) -> list[Order]:
    """The orders that can be listed since an instant, of those that a store maintains."""
    possible = (Order.TIME, Order.VOTES) if Order.GRAVITY in maintained else (Order.TIME,)
    return [order for order in possible if order in maintained]


def clamped(at: int) -> int:
    """The nearest instant at which an article can be posted (unix milliseconds)."""
    return min(max(at, INSTANTS[0]), INSTANTS[-1])


def partition_page(
    since: Since, keys: tuple[str, ...], upwards: bool, count: int, skip: int, position: Position | None
) -> Read[Any]:
    """The page of one partition, of whose indexes these are: results in a PartitionPage, or in a further read."""
    beyond = (repr(position.value), position.member) if position else ("", "")
    return PageRead(keys, since.at, upwards, count, skip, beyond).read()


def _next_page_part(read: PageRead, reply: list[Any]) -> PartitionPage | Read[Any]:
    value, member, skip, total, behind, *flat = reply
    found = (*read.found, *parse_positions(flat))
    known = behind if read.behind is None else read.behind
    if value:
        return replace(read, skip=skip, position=(value, member), found=found, behind=known).read()
    has_more, shown = len(found) > read.count, found[: read.count]
    if read.upwards:
        return PartitionPage(_above(int(has_more), known > 0, total - len(shown)), total, shown[::-1])
    return PartitionPage(_above(known, has_more, total - len(shown)), total, shown)


def _above(known: int, has_below: bool, others: int) -> int:
    """The number of positions above a page, as far as it is known; `others` is the number of those not on the page."""
    return max(others, 0) if known and not has_below else known
