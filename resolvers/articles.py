"""
Articles: their fields that are not attributes of the record, listings of them, and what posters and voters do.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
An archived article is in the database only. The policy of a site has the weights of its orders and its time limits.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from operator import and_, attrgetter
from typing import Protocol, TypeVar

from archive import reads, write_back
from resolvers import arguments
from resolvers.arguments import (
    BadInput,
    PageArguments,
    articles_by,
    checked_link,
    for_each,
    maintained_order,
    paginated,
)
from resolvers.context import Context
from resolvers.pagination import Connection, article_connection, name_connection
from store import listings, records, roles
from store.articles import Draft, Edited, Posted, Voted, checked_changes, checked_names
from store.errors import Invalid, NotFound, VotingClosed
from store.listings import Window
from store.offers import VoterReaders
from store.ranking import standings
from store.ranking.formulas import FRONT_PAGE_SIZE, Order
from store.ranking.standings import Standing
from store.records import Article, Comment, ContentState, Group, User, Vote
from store.validation import Faults

T = TypeVar("T")
Votable = Article | Comment

NUMBER, STATE, POSTED_AT = map(attrgetter, ("number", "state", "posted_at"))


class PostResult(Protocol):
    """The payload of the mutation `post`, made in `schema`: `article` is None if it was refused."""

    @property
    def article(self) -> Article | None: ...


def poster(articles: Sequence[Article], context: Context) -> list[User]:
    return [records.user(article.poster) for article in articles]


def groups(articles: Sequence[Article], context: Context) -> list[list[Group]]:
    return [[records.group(name) for name in article.groups] for article in articles]


def score(articles: Sequence[Article], context: Context) -> list[float]:
    """The value by which the order SCORE sorts each, in unix seconds."""
    return [context.store.site.policy.score(article) for article in articles]


def is_good(articles: Sequence[Article], context: Context) -> list[bool]:
    """Whether each has enough votes for the front page."""
    return [context.store.site.policy.is_good(article) for article in articles]


def voting_closes_at(subjects: Sequence[Votable], context: Context) -> list[int]:
    """When voting on each closes (unix milliseconds)."""
    return [context.store.site.policy.closes_at(subject) for subject in subjects]


def is_voting_open(articles: Sequence[Article], context: Context) -> list[bool]:
    have_voters = are_voters_stored(articles, context)
    return [has_voters and is_open(article) for article, has_voters in zip(articles, have_voters, strict=True)]


def is_commenting_open(articles: Sequence[Article], context: Context) -> list[bool]:
    site = context.store.site
    return [is_open(article) and site.takes_comments(article.posted_at) for article in articles]


def is_open(article: Article) -> bool:
    """Whether an article and its comments take votes and answers, as long as they are young enough for them."""
    return not article.is_locked and article.state is ContentState.VISIBLE


def are_voters_stored(subjects: Sequence[Votable], context: Context) -> list[bool]:
    """Whether the voters of each are still stored: they are deleted when voting closes, and with a deleted comment."""
    oldest, deleted = context.now - context.store.site.policy.voting_ms, ContentState.DELETED
    if subjects and min(map(POSTED_AT, subjects)) >= oldest and deleted not in map(STATE, subjects):  # the usual case
        return [True] * len(subjects)
    return [subject.posted_at >= oldest and subject.state is not deleted for subject in subjects]


async def viewer_vote(subjects: Sequence[Votable], context: Context) -> list[Vote | None]:
    """
    The viewer's vote on each article or comment. None if nobody is logged in, or if the votes of users are deleted, as
    when voting has closed.
    """
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(subjects)
    have_voters = are_voters_stored(subjects, context)
    numbers = list(map(NUMBER, subjects))
    if all(have_voters):
        return [*await context.reads.votes(numbers, viewer)]
    votes = iter(await context.reads.votes(list(compress(numbers, have_voters)), viewer))
    return [next(votes) if has_voters else None for has_voters in have_voters]


def known_or_read_viewer_votes(
    subjects: Sequence[Votable], context: Context
) -> Sequence[Vote | None] | Awaitable[Sequence[Vote | None]]:
    """
    As `viewer_vote`, without waiting if this request knows who the viewer is, and all these votes: it has cast or read
    them, or this server's client-side cache of Redis has them.
    """
    viewer = context.known_viewer()
    if viewer and all(are_voters_stored(subjects, context)):
        return context.reads.known_or_read_votes(list(map(NUMBER, subjects)), viewer)
    return viewer_vote(subjects, context)


@paginated
async def voters(
    articles: Sequence[Article], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput | None]:
    """
    Those who voted up, by name; None once voting has closed, when they are deleted, and for viewers to whom the site
    does not show them. Arguments are always checked.
    """
    shown = [*map(and_, are_voters_stored(articles, context), await _may_read_voters(articles, context))]
    numbers = [article.number for article in compress(articles, shown)]
    names = dict(zip(numbers, await context.reads.voters(numbers), strict=True))
    connections = for_each(articles, lambda article: _voters(article, names.get(article.number, ()), paging))
    return [
        connection if article.number in names or isinstance(connection, BadInput) else None
        for article, connection in zip(articles, connections, strict=True)
    ]


async def _may_read_voters(articles: Sequence[Article], context: Context) -> list[bool]:
    readers = context.store.users.offers.voters
    if readers is not VoterReaders.MODERATORS:
        return [readers is VoterReaders.EVERYBODY] * len(articles)
    grants = await context.viewer_roles()
    return [roles.moderates(grants, article.groups) for article in articles]


def _voters(article: Article, names: Sequence[str], paging: PageArguments) -> Connection[User]:
    return name_connection(f"voters:{article.number}", names, paging, records.NAME, records.user)


async def standing(
    articles: Sequence[Article], context: Context, order: Order | None = Order.SCORE, group: str | None = None
) -> list[Standing | None]:
    """
    The rank of each article by its value in the order, which is computed from the record; None if the article is not
    visible, or not in the group. One round trip for all.
    """
    site = context.store.site
    name = arguments.group_name(group) if group is not None else None
    order, listing, policy = maintained_order(site, order), articles_by(site, order, name), site.policy_of(name)
    now = listing.decay.at if listing.decay else context.now  # `decay` is set if values change with age
    visible = [article for article in articles if article.state is ContentState.VISIBLE]
    listed = [article for article in visible if name is None or name in article.groups]
    positions = [standings.position(policy, order, article, now) for article in listed]
    ranks = zip(listed, await context.reads.ranks(listing, positions), strict=True)
    found = {article.number: standings.standing(policy, order, article, rank, now) for article, rank in ranks}
    return [found.get(article.number) for article in articles]


async def article(context: Context, id: str) -> Article | None:
    return (await context.articles([arguments.article_number(id)]))[0]


@paginated
async def articles(
    context: Context,
    order: Order | None = Order.SCORE,
    group: str | None = None,
    since: int | None = None,
    *,
    paging: PageArguments,
    page: int | None = None,
    pinned: bool | None = False,
) -> Connection[Article]:
    """
    A page of all articles, or only of those in a group or posted `since` an instant (unix milliseconds). With `pinned`,
    the next pages show the order of this instant.
    """
    name = arguments.group_name(group) if group is not None else None
    listing = articles_by(context.store.site, order, name, since)
    if page is not None:
        paging = paging._replace(page=page)
    return await article_connection(context, listing, paging, pinned=bool(pinned))


@paginated
async def by_link(context: Context, link: str, *, paging: PageArguments) -> Connection[Article]:
    """
    Raises:
        BadInput: this is no link, or the links of the store are not indexed yet, as an earlier version has made it.
    """
    site = context.store.site
    if not site.rankings.has_links:
        raise BadInput("links are not indexed in this store yet: `upvote reindex` does it")
    return await article_connection(context, listings.by_link(site, checked_link(link)), paging)


@paginated
async def front_page(context: Context, date: int | None = None, *, paging: PageArguments) -> Connection[Article]:
    """The newest good articles, all or those of a UTC day. `date` is its first instant (unix milliseconds)."""
    return await article_connection(context, listings.front_page(context.store.site, date), paging, FRONT_PAGE_SIZE)


async def post(
    context: Context,
    title: str,
    link: str | None = None,
    content: str | None = None,
    groups: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> Posted:
    draft = Draft(title, link or "", content or "", tuple(groups or ()))
    actor = context.actor()
    command = partial(context.store.articles.post, actor, draft, idempotency_key)
    posted = await context.write(context.within_limits(context.rates.of_posts, command))
    context.reads.set_checked_login(posted.poster)
    if posted.article is None:  # the same was posted before (`replayed`), and was deleted or archived since
        posted = replace(posted, article=await reads.find(context.store, context.database, posted.number))
    if posted.article and not posted.replayed:
        context.reads.prime_vote(posted.article.number, posted.poster, Vote.UP)
    return posted


async def duplicate_of(payloads: Sequence[PostResult], context: Context) -> list[Article | None]:
    """
    The newest other article with the link of a posted one, if it was posted within the site's window.

    Two round trips for each: one to find it by its link in all partitions, which are shares of the data; one to read
    it.
    """
    return [await _duplicate_of(payload.article, context) for payload in payloads]


async def edit(context: Context, article_id: str, **changes: str | None) -> Edited:
    """Change the fields that are given. Null removes a link or content."""
    actor, texts = context.actor(), {field: text or "" for field, text in changes.items()}
    number = parsed(partial(checked_number, article_id), partial(checked_changes, texts))
    return await _change(context, number, lambda: context.store.articles.edit(number, actor, texts))


async def delete(context: Context, article_id: str) -> str:
    """Return the id of the deleted article."""
    actor, number = context.actor(), checked_number(article_id)
    await _change(context, number, lambda: context.store.articles.delete(number, actor))
    return f"article:{number}"


async def vote(context: Context, article_id: str, value: Vote | None = Vote.UP) -> Voted:
    actor, number, vote = context.actor(), checked_number(article_id), value or Vote.UP
    try:
        voted = await context.write(context.store.articles.vote(number, actor, vote))
    except NotFound as missing:
        raise await _archived_or(missing, context, number) from None
    context.reads.set_checked_login(voted.voter)
    context.reads.prime_vote(number, voted.voter, vote)
    return voted


async def regroup(
    context: Context, article_id: str, add: Sequence[str] | None = None, remove: Sequence[str] | None = None
) -> Article:
    actor, added, removed = context.actor(), add or (), remove or ()
    number = parsed(partial(checked_number, article_id), partial(checked_names, added, removed))
    return await _change(context, number, lambda: context.store.articles.regroup(number, actor, added, removed))


def checked_number(article_id: str) -> int:
    """The number in the input `articleId`. Raises Invalid if it is malformed."""
    number = records.article_number(article_id)
    if number is None:
        raise Invalid("an article's id looks like article:1541", "articleId")
    return number


def parsed(parse_ids: Callable[[], T], check_others: Callable[[], object]) -> T:
    """The numbers in ids of an input. If one is malformed, the refusal has the faults of the other values, too."""
    faults = Faults()
    with faults:
        numbers = parse_ids()
    if faults:
        with faults:
            check_others()
    faults.raise_any()
    return numbers


async def _change(context: Context, number: int, command: Callable[[], Awaitable[T]]) -> T:
    """Run a command on an article. An archived one is first written back to Redis; `waker` limits how often."""
    changed = write_back.run_change(context.store, context.database, number, command, context.waker())
    return await context.write(changed)


async def _archived_or(missing: NotFound, context: Context, number: int) -> VotingClosed | NotFound:
    """The reason why an article that is not in Redis takes no vote: it is archived, or there is none."""
    archived = await reads.find(context.store, context.database, number)
    return missing if archived is None else VotingClosed(number, context.store.site.policy.closes_at(archived))


async def _duplicate_of(article: Article | None, context: Context) -> Article | None:
    site = context.store.site
    if article is None or article.link is None or not site.policy.duplicate_window:
        return None
    since = context.now - round(site.policy.duplicate_window * 1000)
    listing = listings.by_link(site, article.link, since)
    page = await context.reads.page(listing, Window(count=2))  # the article itself is in it, too
    others = [position.number for position in page.positions if position.number != article.number]
    return (await context.reads.articles(others[:1]))[0] if others else None
