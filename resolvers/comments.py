"""Fields of Comment that are not attributes of its record, and connections of comments."""

from asyncio import gather
from collections.abc import Iterable, Sequence

from resolvers import pagination
from resolvers.arguments import BadInput, PageArguments, for_each, paginated
from resolvers.articles import are_voters_stored, takes_votes
from resolvers.context import Context
from resolvers.dataloader import Replies
from resolvers.pagination import ARTICLE_CURSOR, ARTICLE_TIME_CURSOR, Connection, Nodes
from store import listings, records, threads
from store.errors import NotFound
from store.listings import Window
from store.records import Article, Comment, ContentState, User
from store.threads import CommentOrder


def poster(comments: Sequence[Comment], context: Context) -> list[User | None]:
    return [records.user(comment.poster) if comment.poster else None for comment in comments]


def content(comments: Sequence[Comment], context: Context) -> list[str | None]:
    return [comment.content if comment.state is ContentState.VISIBLE else None for comment in comments]


async def article(comments: Sequence[Comment], context: Context) -> list[Article | NotFound]:
    articles = await context.reads.articles(comment.article for comment in comments)
    return [
        article or NotFound(f"article:{comment.article} was deleted", "articleId")
        for comment, article in zip(comments, articles, strict=True)
    ]


async def parent(comments: Sequence[Comment], context: Context) -> list[Comment | None]:
    numbers = [comment.parent for comment in comments if comment.parent]
    parents = iter(await context.reads.comments(numbers))
    return [next(parents) if comment.parent else None for comment in comments]


async def ancestors(comments: Sequence[Comment], context: Context) -> list[list[Comment]]:
    found = iter(await context.reads.ancestors([comment.number for comment in comments if comment.depth]))
    return [next(found) if comment.depth else [] for comment in comments]


async def descendant_count(comments: Sequence[Comment], context: Context) -> list[int]:
    return await context.reads.descendant_counts([comment.number for comment in comments])


async def is_voting_open(comments: Sequence[Comment], context: Context) -> list[bool]:
    articles = await context.reads.articles(comment.article for comment in comments)
    return [
        has_voters and comment.state is ContentState.VISIBLE and article is not None and takes_votes(article)
        for comment, has_voters, article in zip(comments, are_voters_stored(comments, context), articles, strict=True)
    ]


@paginated
async def replies(
    comments: Sequence[Comment],
    context: Context,
    order: CommentOrder | None = CommentOrder.BEST,
    *,
    paging: PageArguments,
) -> list[Connection[Comment] | BadInput]:
    return await _connections(context, [(comment.article, comment.number) for comment in comments], order, paging)


@paginated
async def of_articles(
    articles: Sequence[Article],
    context: Context,
    order: CommentOrder | None = CommentOrder.BEST,
    *,
    paging: PageArguments,
) -> list[Connection[Comment] | BadInput]:
    return await _connections(context, [(article.number, article.number) for article in articles], order, paging)


@paginated
async def of_users(
    users: Sequence[User], context: Context, *, paging: PageArguments
) -> list[Connection[Comment] | BadInput]:
    """The comments of each user, newest first, without those whose article was deleted."""
    own = [listings.comments(context.store.site, user.username) for user in users]
    windows = for_each(own, lambda listing: pagination.window(listing.name, paging, ARTICLE_TIME_CURSOR))
    selected = pagination.valid_windows(own, windows)
    pages = zip(selected, await context.reads.pages(selected), strict=True)
    named = [(listing.name, page, page.total) for (listing, _), page in pages]
    return pagination.with_errors(windows, await pagination.connections_of_pages(context, named, OWN_COMMENTS))


async def read_comments(context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """
    The comments of a page, and the votes of the viewer on them, which nearly every viewer asks for: one round trip.
    """
    wanted = list(numbers)
    login = await context.reads.login() if wanted else None
    if login is None:
        return await context.reads.comments(wanted)
    comments, _ = await gather(context.reads.comments(wanted), context.reads.votes(wanted, login.username))
    return comments


async def _read_own_comments(context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """Also None for a deleted comment, which leaves the list of its poster a moment later."""
    comments = await read_comments(context, numbers)
    return [comment if comment and comment.poster else None for comment in comments]


def _bytes_of(comments: Sequence[Comment | None]) -> int:
    return sum([comment.held_bytes for comment in comments if comment])


COMMENTS, OWN_COMMENTS = Nodes(read_comments, _bytes_of), Nodes(_read_own_comments, _bytes_of)


async def _connections(
    context: Context, parents: Sequence[tuple[int, int]], order: CommentOrder | None, paging: PageArguments
) -> list[Connection[Comment] | BadInput]:
    """
    The same page of the replies to each parent, given as the numbers of its article and itself: two round trips for
    all, for the places and for the comments.
    """
    wanted = [Replies(article, parent, order or CommentOrder.BEST) for article, parent in parents]
    windows = for_each(wanted, lambda replies: _window(context, replies, paging))
    selected = pagination.valid_windows(wanted, windows)
    pages = zip(selected, await context.reads.replies(selected), strict=True)
    named = [(_name(context, replies), page, page.total) for (replies, _), page in pages]
    return pagination.with_errors(windows, await pagination.connections_of_pages(context, named, COMMENTS))


def _window(context: Context, replies: Replies, paging: PageArguments) -> Window:
    is_by_time = replies.order in (CommentOrder.NEWEST, CommentOrder.OLDEST)
    return pagination.window(_name(context, replies), paging, ARTICLE_TIME_CURSOR if is_by_time else ARTICLE_CURSOR)


def _name(context: Context, replies: Replies) -> str:
    return threads.siblings(context.store.site, *replies).name
