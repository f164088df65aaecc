"""
The orders of articles, such as `HOT` or `TIME`, that the site's pages offer: which is first, which are shown, and which
are below "More". A store keeps an index for each order that it was set up with; pages can offer no other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MOST_SHOWN = 4  # orders that a page shows; the others are below "More"
FRONT = "HOT"  # what the front page shows, unless the operator names another one or the store lacks it
PREFERRED = ("HOT", "TIME", "ACTIVE", "BEST")  # what is shown where the operator does not say


@dataclass(frozen=True, slots=True)
class SiteOrders:
    """What the operator has chosen: the order of the front page, and those shown; empty for what is not set."""

    front: str = ""
    named: Sequence[str] = ()

    def of(self, kept: Sequence[str]) -> "ShownOrders":
        """
        The orders to show, of those that a store keeps. An order that the store has dropped since the start is left
        out. If it was that of the front page, the first order that is kept takes its place.
        """
        wanted = self.front or FRONT
        front = wanted if wanted in kept else kept[0]
        beside = self.named or [*PREFERRED, *kept]
        listed = list(dict.fromkeys([front, *(order for order in beside if order in kept), *kept]))
        count = len({front, *self.named} & set(kept)) if self.named else MOST_SHOWN
        return ShownOrders(listed, min(count, MOST_SHOWN))

    def missing(self, kept: Sequence[str]) -> tuple[str, str] | None:
        """
        The setting, without its prefix, and the first order that it names and the store lacks; None if none is missing.
        """
        chosen = [("FRONT_ORDER", self.front), *(("SITE_ORDERS", order) for order in self.named)]
        return next(((setting, order) for setting, order in chosen if order and order not in kept), None)


@dataclass(frozen=True, slots=True)
class ShownOrders:
    """The orders of a store as pages list them; the front page has the first. `count` of them are shown at once."""

    names: Sequence[str]
    count: int

    @property
    def front(self) -> str:
        return self.names[0]

    @property
    def shown(self) -> Sequence[str]:
        return self.names[: self.count]

    @property
    def rest(self) -> Sequence[str]:
        return self.names[self.count :]
