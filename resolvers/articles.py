"""Fields of Article that are not attributes of its record, and those of all that is voted on."""

from collections.abc import Sequence
from itertools import compress

from resolvers import arguments
from resolvers.arguments import BadInput, PageArguments, articles_by, for_each, maintained_order, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, name_connection
from store import records, validation
from store.ranking import standings
from store.ranking.formulas import Order
from store.ranking.standings import Standing
from store.records import Article, Comment, ContentState, Group, User, Vote

Votable = Article | Comment


def poster(articles: Sequence[Article], context: Context) -> list[User]:
    return [records.user(article.poster) for article in articles]


def groups(articles: Sequence[Article], context: Context) -> list[list[Group]]:
    return [[records.group(name) for name in article.groups] for article in articles]


def score(articles: Sequence[Article], context: Context) -> list[float]:
    return [context.store.site.policy.score(article) for article in articles]


def is_good(articles: Sequence[Article], context: Context) -> list[bool]:
    return [context.store.site.policy.is_good(article) for article in articles]


def voting_closes_at(subjects: Sequence[Votable], context: Context) -> list[int]:
    return [context.store.site.policy.closes_at(subject) for subject in subjects]


def is_voting_open(articles: Sequence[Article], context: Context) -> list[bool]:
    have_voters = are_voters_stored(articles, context)
    return [has_voters and takes_votes(article) for article, has_voters in zip(articles, have_voters, strict=True)]


def takes_votes(article: Article) -> bool:
    """Whether an article and its comments take votes, until voting on them closes."""
    return not article.is_locked and article.state is ContentState.VISIBLE


def are_voters_stored(subjects: Sequence[Votable], context: Context) -> list[bool]:
    """Whether the voters of each are still stored: until voting closes, but not those of a deleted comment."""
    oldest, deleted = context.now - context.store.site.policy.voting_ms, ContentState.DELETED
    return [subject.posted_at >= oldest and subject.state is not deleted for subject in subjects]


async def viewer_vote(subjects: Sequence[Votable], context: Context) -> list[Vote | None]:
    """None if nobody is logged in, or if the votes of users are deleted, as when voting has closed."""
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(subjects)
    have_voters = are_voters_stored(subjects, context)
    numbers = [subject.number for subject in subjects]
    if all(have_voters):
        return [*await context.reads.votes(numbers, viewer)]
    votes = iter(await context.reads.votes(list(compress(numbers, have_voters)), viewer))
    return [next(votes) if has_voters else None for has_voters in have_voters]


@paginated
async def voters(
    articles: Sequence[Article], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput | None]:
    """The voters by name; None after voting has closed, when they are deleted. Arguments are checked in both cases."""
    numbers = [article.number for article in compress(articles, are_voters_stored(articles, context))]
    names = dict(zip(numbers, await context.reads.voters(numbers), strict=True))
    connections = for_each(articles, lambda article: _voters(article, names.get(article.number, ()), paging))
    return [
        connection if article.number in names or isinstance(connection, BadInput) else None
        for article, connection in zip(articles, connections, strict=True)
    ]


def _voters(article: Article, names: Sequence[str], paging: PageArguments) -> Connection[User]:
    return name_connection(f"voters:{article.number}", names, paging, validation.USERNAME, records.user)


async def standing(
    articles: Sequence[Article], context: Context, order: Order | None = Order.SCORE, group: str | None = None
) -> list[Standing | None]:
    """The rank of each article by its value, which is computed from the record. One round trip for all."""
    site = context.store.site
    name = arguments.group_name(group) if group is not None else None
    order, listing, policy = maintained_order(site, order), articles_by(site, order, name), site.policy_of(name)
    now = listing.decay.at if listing.decay else context.now
    listed = [article for article in articles if name is None or name in article.groups]
    places = [standings.position(policy, order, article, now) for article in listed]
    ranks = zip(listed, await context.reads.ranks(listing, places), strict=True)
    found = {article.number: standings.standing(policy, order, article, rank, now) for article, rank in ranks}
    return [found.get(article.number) for article in articles]
