"""The root fields of subscriptions: each gives a record for every event, read after it."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from resolvers import node_ids, queries
from resolvers.context import Context
from resolvers.dataloader import Reads
from resolvers.listings import kept_order
from resolvers.pagination import Asked
from resolvers.posts import posts
from store.errors import NotFound, Unauthenticated
from store.events import of_article
from store.ranking.formulas import PAGE_SIZE, Order
from store.records import Article


@dataclass(frozen=True, slots=True)
class RankingMove:
    """Places count from 1; `before` is None of an article that came, `after` of one that left."""

    article_id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class RankingChange:
    at: int
    articles: Sequence[Article]
    moves: Sequence[RankingMove]


async def article_changed(context: Context, id: str) -> AsyncGenerator[Article, None]:
    """Ends when the article is deleted."""
    number = node_ids.asked_article_number(id)
    with context.live.events.mailbox(of_article(number)) as mailbox:
        if await queries.article(context, id) is None:
            raise NotFound(f"there is no article:{number}")
        async for event in mailbox:
            (article,) = await context.live.after(event, lambda reads: reads.articles([number]))
            if article is None:
                return
            yield article


async def article_posted(context: Context, group: str | None = None) -> AsyncGenerator[Article, None]:
    async with aclosing(posts(context, node_ids.listed_group(group) if group is not None else None)) as posted:
        async for _, article in posted:
            yield article


async def feed_article(context: Context) -> AsyncGenerator[Article, None]:
    """Whom the viewer follows, and whether they are still logged in, is asked anew for every article."""
    viewer = await context.viewer()
    if viewer is None:
        raise Unauthenticated
    async with aclosing(posts(context, None)) as posted:
        async for event, article in posted:
            if not await context.live.after(event, partial(_is_in_feed, viewer, article)):
                continue
            context.renew()
            if await context.viewer() is None:
                raise Unauthenticated
            yield article


async def ranking_changed(
    context: Context, order: Order | None = Order.SCORE, group: str | None = None, first: int | None = PAGE_SIZE
) -> AsyncGenerator[RankingChange, None]:
    """First the listing as it stands, then what moves in it. Folding the moves gives the listing."""
    size, name = Asked(first).size(), node_ids.listed_group(group) if group is not None else None
    with context.live.ranking(kept_order(context.store.site, order), name, size, context.address) as ranking:
        standings, shown = ranking.latest, None
        ranking.refresh()
        while True:
            standings = await ranking.later_than(standings)
            moves = _moves(shown or (), standings.articles)
            if moves or shown is None:
                yield RankingChange(standings.at, standings.articles, moves)
            shown = standings.articles


async def _is_in_feed(viewer: str, article: Article, reads: Reads) -> bool:
    return article.poster == viewer or (await reads.follows(viewer, [article.poster]))[0]


def _moves(before: Iterable[Article], after: Iterable[Article]) -> list[RankingMove]:
    old = {article.id: place for place, article in enumerate(before, 1)}
    new = {article.id: place for place, article in enumerate(after, 1)}
    return [RankingMove(id, old.get(id), new.get(id)) for id in old | new if old.get(id) != new.get(id)]
