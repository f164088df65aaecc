"""
Reads of listings that have only the articles posted since an instant: the top of a day, a week, a year.

By TIME, such a listing is a range of the index. By VOTES it is read from indexes that exist anyway: that of GRAVITY
holds articles of similar votes together, by time, and that of VOTES has their exact order. So no further index is
written, any instant is possible, and stores of earlier versions need no reindex. A store whose orders lack GRAVITY does
not have it by VOTES. Rejected: an index of votes for each hour, day and month, whose heads are merged. By figures in
`bench/RESULTS.md` it takes 7 microseconds more for each vote, and 250 bytes for each article, and both again for each
group of the article.

`since_page.lua` says how a page is read: with 50 to 100 commands of the server, for listings of any size. A page that
takes longer is read in steps, as by GRAVITY, each of about `STEP` articles: one with a high number in a listing where
many articles have similar votes. Others may write between two steps, so it is not of one instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from store.client import Command
from store.queries import Read
from store.ranking.formulas import Order
from store.records import INSTANTS, PartitionPage, Position, parse_positions
from store.scripts.registry import Script

SINCE_PAGE = Script("since_page")

INDEXES = (Order.GRAVITY, Order.VOTES, Order.TIME)  # that a page by VOTES is read from
STEP = 600  # articles that a call of the script reads, about


@dataclass(frozen=True, slots=True)
class Since:
    """The instant (unix milliseconds), and the keys of `INDEXES` in each partition, a share of the data."""

    at: int
    keys: tuple[tuple[str, ...], ...]


class Stop(NamedTuple):
    """The position at which a step has stopped, and how many positions the next step still passes over."""

    value: str
    member: str
    skip: int


class Reply(NamedTuple):
    """
    The reply of `since_page.lua`. `stop` is None if the page is whole; `total` is how many articles the listing has;
    `is_behind` says that the article from whose position the step has read is still there or behind it, which is
    opposite to the direction of the page.
    """

    stop: Stop | None
    total: int
    is_behind: bool
    found: Sequence[Position]

    @classmethod
    def parse(cls, reply: list[Any]) -> "Reply":
        value, member, skip, total, is_behind, *flat = reply
        return cls(Stop(value, member, skip) if value else None, total, bool(is_behind), parse_positions(flat))


@dataclass(frozen=True, slots=True)
class SincePageRead:
    """
    A page of one partition that is being read: the `count` positions that follow after `skip` beyond `position`.

    After a step, `found` has the positions so far, and `stopped` says where the next step goes on. `is_behind` says
    that the article of `position` is there or behind it.
    """

    keys: tuple[str, ...]
    at: int
    upwards: bool
    count: int
    skip: int
    position: Position | None
    stopped: Stop | None = None
    found: tuple[Position, ...] = ()
    is_behind: bool = False

    def command(self) -> Command:
        """The next step. It looks for one position more than the page has, to know whether more follow."""
        value, member = (repr(self.position.value), self.position.member) if self.position else ("", "")
        start = self.stopped or Stop(value, member, self.skip)
        direction, wanted = "up" if self.upwards else "down", self.count + 1 - len(self.found)
        return SINCE_PAGE.command(self.keys, self.at, direction, wanted, start.skip, STEP, start.value, start.member)

    def after(self, reply: Reply) -> "SincePageRead":
        """This page with what a step has found. `stopped` is None if it is whole."""
        is_behind = self.is_behind or (self.stopped is None and reply.is_behind)  # the first step began at `position`
        return replace(self, stopped=reply.stop, found=(*self.found, *reply.found), is_behind=is_behind)


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
    """The page of one partition with these indexes: results in a PartitionPage, or in a further read."""
    page = SincePageRead(keys, since.at, upwards, count, skip, position)
    return Read(page.command(), _next_page_part, (page,))


def _next_page_part(page: SincePageRead, reply: list[Any]) -> PartitionPage | Read[Any]:
    parsed = Reply.parse(reply)
    page, total = page.after(parsed), parsed.total
    if page.stopped:
        return Read(page.command(), _next_page_part, (page,))
    if not page.position:
        return _partition_page(page, total, behind=min(page.skip, total))
    if page.is_behind:
        return _partition_page(page, total, behind=1)
    behind = replace(page, upwards=not page.upwards, count=0, skip=0, found=())
    return Read(behind.command(), _first_behind, (page, behind))


def _first_behind(page: SincePageRead, behind: SincePageRead, reply: list[Any]) -> PartitionPage | Read[Any]:
    """A page beyond an article that was deleted or has moved: whether any other article is behind the position."""
    parsed = Reply.parse(reply)
    behind, total = behind.after(parsed), parsed.total
    if behind.stopped and not behind.found:
        return Read(behind.command(), _first_behind, (page, behind))
    return _partition_page(page, total, behind=len(behind.found))


def _partition_page(page: SincePageRead, total: int, behind: int) -> PartitionPage:
    """`behind` is how many positions there are behind the page, opposite to its direction, or 1 if some are known."""
    has_more, shown = len(page.found) > page.count, page.found[: page.count]
    above, has_below = (int(has_more), behind > 0) if page.upwards else (behind, has_more)
    if above and not has_below:  # then it is exact: see `PartitionPage`
        above = max(total - len(shown), 0)
    return PartitionPage(above, total, shown[::-1] if page.upwards else shown)
