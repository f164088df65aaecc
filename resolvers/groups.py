"""Fields of Group."""

from collections.abc import Sequence

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.listings import articles_by
from resolvers.pagination import Connection, PageArguments, article_connections, paginated
from store.ranking.formulas import Order
from store.records import Article, Group


@paginated
async def articles(
    groups: Sequence[Group],
    context: Context,
    order: Order | None = Order.SCORE,
    *,
    paging: PageArguments,
    page: int | None = None,
    pinned: bool | None = False,
) -> list[Connection[Article] | BadInput]:
    listings = [articles_by(context.store.site, order, group.name) for group in groups]
    return await article_connections(context, listings, paging._replace(page=page), pinned=bool(pinned))
