"""Listings as they are asked for: by an order that the store keeps."""

from resolvers.errors import BadInput
from store import listings
from store.listings import Listing
from store.ranking.formulas import Order
from store.site import Site


def kept_order(site: Site, order: Order | None) -> Order:
    """
    The order, SCORE unless given.

    Raises:
        BadInput: the store does not keep it.
    """
    order = order or Order.SCORE
    if order not in site.rankings.orders:
        raise BadInput(
            f"{order.name} is not kept here; kept are {', '.join(each.name for each in site.rankings.orders)}"
        )
    return order


def listing_in(site: Site, order: Order | None, group: str | None) -> Listing:
    """
    The listing of the whole site, or of a group.

    Raises:
        BadInput: the store does not keep the order.
    """
    order = kept_order(site, order)
    return listings.whole(site, order) if group is None else listings.group(site, group, order)
