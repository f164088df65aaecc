"""The fields of an article that its hash alone does not give."""

from collections.abc import Sequence
from itertools import compress

from resolvers import node_ids
from resolvers.context import Context
from resolvers.errors import BadInput, of_each
from resolvers.listings import kept_order, listing_in
from resolvers.pagination import Asked, Connection, of_names
from store import records, validation
from store.ranking import standings
from store.ranking.formulas import Order
from store.ranking.standings import Standing
from store.records import Article, Group, User, Vote


def poster(articles: Sequence[Article]) -> list[User]:
    return [records.user(article.poster) for article in articles]


def groups(articles: Sequence[Article]) -> list[list[Group]]:
    return [[records.group(name) for name in article.groups] for article in articles]


def score(articles: Sequence[Article], context: Context) -> list[float]:
    return [context.store.site.policy.score(article) for article in articles]


def is_good(articles: Sequence[Article], context: Context) -> list[bool]:
    return [context.store.site.policy.is_good(article) for article in articles]


def voting_closes_at(articles: Sequence[Article], context: Context) -> list[int]:
    return [context.store.site.policy.closes_at(article) for article in articles]


def is_voting_open(articles: Sequence[Article], context: Context) -> list[bool]:
    oldest = context.now - context.store.site.policy.voting_ms
    return [article.posted_at >= oldest for article in articles]


async def viewer_vote(articles: Sequence[Article], context: Context) -> list[Vote | None]:
    """None where nobody is logged in, or voting has closed and the voters are forgotten."""
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(articles)
    open_to_votes = is_voting_open(articles, context)
    numbers = [article.number for article in articles]
    if all(open_to_votes):
        return [*await context.reads.votes(numbers, viewer)]
    votes = iter(await context.reads.votes(list(compress(numbers, open_to_votes)), viewer))
    return [next(votes) if is_open else None for is_open in open_to_votes]


async def voters(
    articles: Sequence[Article],
    context: Context,
    first: int | None = None,
    after: str | None = None,
    last: int | None = None,
    before: str | None = None,
) -> list[Connection[User] | BadInput | None]:
    """Everyone whose vote counts, by name; None once they are forgotten. Wrong arguments are refused then, too."""
    asked = Asked(first, after, last, before)
    open_to_votes = is_voting_open(articles, context)
    numbers = [article.number for article in compress(articles, open_to_votes)]
    known = dict(zip(numbers, await context.reads.voters(numbers), strict=True))
    found = of_each(
        articles,
        lambda each: of_names(
            f"voters:{each.number}", known.get(each.number, ()), asked, validation.USERNAME, records.user
        ),
    )
    return [
        each if article.number in known or isinstance(each, BadInput) else None
        for article, each in zip(articles, found, strict=True)
    ]


async def standing(
    articles: Sequence[Article], context: Context, order: Order | None = Order.SCORE, group: str | None = None
) -> list[Standing | None]:
    """One round trip for all of them: the rank that the values have, which were read before."""
    site = context.store.site
    name = node_ids.listed_group(group) if group is not None else None
    order, listing, policy = kept_order(site, order), listing_in(site, order, name), site.policy_of(name)
    now = listing.decay.at if listing.decay else context.now
    listed = [article for article in articles if name is None or name in article.groups]
    places = [standings.position(policy, order, article, now) for article in listed]
    ranks = zip(listed, await context.reads.ranks(listing, places), strict=True)
    found = {article.number: standings.standing(policy, order, article, rank, now) for article, rank in ranks}
    return [found.get(article.number) for article in articles]
