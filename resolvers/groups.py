"""The fields of a group."""

from collections.abc import Sequence

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.listings import listing_in
from resolvers.pagination import Asked, Connection, of_articles
from store.ranking.formulas import Order
from store.records import Article, Group


async def articles(
    groups: Sequence[Group],
    context: Context,
    order: Order | None = Order.SCORE,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
    page: int | None = None,
    pinned: bool | None = False,
) -> list[Connection[Article] | BadInput]:
    ranked = [listing_in(context.store.site, order, group.name) for group in groups]
    return await of_articles(context, ranked, Asked(first, after, last, before, page), pinned=bool(pinned))
