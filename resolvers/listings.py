"""Listings of articles by an order, which has to be one that the store maintains."""

from resolvers.errors import BadInput
from store import listings
from store.listings import Listing
from store.ranking.formulas import Order
from store.site import Site


def maintained_order(site: Site, order: Order | None) -> Order:
    """
    The order, SCORE if it is null.

    Raises:
        BadInput: the store does not maintain it. The message lists the valid ones.
    """
    order = order or Order.SCORE
    if order not in site.rankings.orders:
        valid = ", ".join(each.name for each in site.rankings.orders)
        raise BadInput(f"{order.name} is not maintained here; valid orders are {valid}")
    return order


def articles_by(site: Site, order: Order | None, group: str | None) -> Listing:
    """
    The listing of all articles, or of those of a group.

    Raises:
        BadInput: the store does not maintain the order.
    """
    order = maintained_order(site, order)
    return listings.whole(site, order) if group is None else listings.group(site, group, order)
