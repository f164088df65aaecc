"""
Comments: their fields that are not attributes of the record, connections of them, and what posters and voters do.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
The conversation of an article is all its comments; if it is archived, it is in the database only. A place is an entry
of a listing, such as the replies to a comment.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import NamedTuple, TypeVar

from archive import write_back
from archive.reads import find_comment
from database.database import DatabaseUnavailable
from resolvers import arguments, pagination
from resolvers.arguments import BadInput, PageArguments, for_each, paginated
from resolvers.articles import are_voters_stored, checked_number, is_open, parsed
from resolvers.context import Context
from resolvers.filling import Source, full_connection
from resolvers.older_comments import CommentsByTime
from resolvers.pagination import ARTICLE_CURSOR, ARTICLE_TIME_CURSOR, Connection, Nodes
from store import listings, records, roles, threads, validation
from store.comments import Commented, EditedComment, VotedOnComment, checked
from store.errors import Invalid, NotFound, VotingClosed
from store.listings import Page, Window
from store.records import Article, Comment, ContentState, HiddenComment, Profile, User, Vote
from store.site import Actor
from store.threads import CommentOrder
from store.validation import Faults

T = TypeVar("T")

NO_REPLIES = Page((), above=0, below=0)


class Replies(NamedTuple):
    """The replies to the comment `parent` of an article, or to the article itself if both numbers are equal."""

    article: int
    parent: int
    order: CommentOrder


def poster(comments: Sequence[Comment], context: Context) -> list[User | None]:
    return [records.named(comment.poster) for comment in comments]


def content(comments: Sequence[Comment], context: Context) -> list[str | None]:
    return [
        comment.content if comment.state is ContentState.VISIBLE or isinstance(comment, HiddenComment) else None
        for comment in comments
    ]


async def article(comments: Sequence[Comment], context: Context) -> list[Article | NotFound]:
    articles = await context.articles([comment.article for comment in comments])
    return [
        article or NotFound(f"there is no article:{comment.article}", "articleId")
        for comment, article in zip(comments, articles, strict=True)
    ]


async def parent(comments: Sequence[Comment], context: Context) -> list[Comment | None]:
    numbers = [comment.parent for comment in comments if comment.parent]
    parents = iter(await shown_in_threads(context, numbers))
    return [next(parents) if comment.parent else None for comment in comments]


async def ancestors(comments: Sequence[Comment], context: Context) -> list[list[Comment]]:
    of_replies = iter(await context.reads.ancestors([comment for comment in comments if comment.depth]))
    numbers_above = [next(of_replies) if comment.depth else () for comment in comments]
    found = iter(await shown_in_threads(context, [number for numbers in numbers_above for number in numbers]))
    return [[each for _ in numbers if (each := next(found))] for numbers in numbers_above]


async def descendant_count(comments: Sequence[Comment], context: Context) -> list[int]:
    counts = await context.reads.descendant_counts((comment.article, comment.number) for comment in comments)
    return [counts[comment.number] for comment in comments]


async def is_voting_open(comments: Sequence[Comment], context: Context) -> list[bool]:
    articles = await context.reads.articles(comment.article for comment in comments)
    return [
        has_voters and comment.state is ContentState.VISIBLE and article is not None and is_open(article)
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
    """The replies to each comment: none for a comment of the viewer on an article that they may not read."""
    hidden = [comment for comment in comments if isinstance(comment, HiddenComment)]
    articles = await context.articles([comment.article for comment in hidden])
    empty = {comment.number for comment, article in zip(hidden, articles, strict=True) if article is None}
    parents = [(comment.article, comment.number) for comment in comments]
    return await _connections(context, parents, order, paging, empty)


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
) -> list[Connection[Comment] | BadInput | DatabaseUnavailable]:
    """
    The comments of each user, newest first, without those whose article was deleted.

    Redis lists the comments of a user after an instant, the floor (unix milliseconds); it lists all if that is 0. Two
    round trips, one for the places and one for the comments; two more, and a query, for each user with a floor above 0.
    """
    site = context.store.site
    own = [CommentsByTime(poster=user.username) for user in users]
    windows = for_each(own, lambda each: pagination.window(each.listing(site).name, paging, ARTICLE_TIME_CURSOR))
    selected = pagination.valid_windows(own, windows)
    stored = await gather(*(each.stored_page(context, window) for each, window in selected))
    listed = [
        (each.listing(site).name, page, page.total)
        for (each, _), (page, floor) in zip(selected, stored, strict=True)
        if not floor
    ]
    whole = iter(await pagination.connections_of_pages(context, listed, OWN_COMMENT_NODES))
    found = [
        await _with_older(context, each, paging) if floor else next(whole)
        for (each, _), (_, floor) in zip(selected, stored, strict=True)
    ]
    return pagination.with_errors(windows, found)


async def _with_older(
    context: Context, own: CommentsByTime, paging: PageArguments
) -> Connection[Comment] | DatabaseUnavailable:
    """
    The comments of a user, of which Redis does not list all. The database may still list some that have just been
    hidden: more are read in their place.
    """
    source = Source(own.listing(context.store.site).name, page=partial(own.page, context), total=own)
    try:
        return await full_connection(context, source, paging, OWN_COMMENT_NODES)
    except DatabaseUnavailable as error:
        return error


async def read_comments(context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """
    The comments of a page. The same round trip reads the votes of the viewer on them, as nearly every viewer asks for
    them: `context.reads` keeps them.
    """
    wanted = list(numbers)
    login = await context.reads.login() if wanted else None
    if login is None:
        return await shown_in_threads(context, wanted)
    comments, _ = await gather(shown_in_threads(context, wanted), context.reads.votes(wanted, login.username))
    return comments


async def shown_in_threads(context: Context, numbers: Sequence[int]) -> list[Comment | None]:
    """
    Comments as the threads of their articles show them: the same for all who may read the article, None for others. One
    round trip, and one for the articles; one more if an article is not visible and somebody is logged in.
    """
    stored = await context.reads.stored_comments(numbers)
    hidden = [article for _, article in stored if article and article.state is not ContentState.VISIBLE]
    if not hidden:
        return [comment and comment.as_shown for comment, _ in stored]
    readable = await _readable_articles(context, hidden)
    return [
        _shown_in_thread(comment, article) if comment and article and readable(article) else None
        for comment, article in stored
    ]


async def of_viewer(context: Context, numbers: Sequence[int]) -> list[Comment | None]:
    """
    Comments as the viewer may read them by id: posters, and moderators of the groups of the article, read also those
    that are not visible. These are of the class HiddenComment. Round trips as those of `shown_in_threads`.
    """
    stored = await context.reads.stored_comments(numbers)
    shown = await shown_in_threads(context, numbers)
    doubtful = [each for each in stored if each[0] and not _is_visible(*each)]
    viewer = await context.viewer() if doubtful else None
    (profile,) = await context.reads.profiles([viewer]) if viewer else (None,)
    return [
        HiddenComment(*comment) if profile and comment and _may_read(profile, comment, article) else found
        for (comment, article), found in zip(stored, shown, strict=True)
    ]


async def _readable_articles(context: Context, articles: Sequence[Article]) -> Callable[[Article], bool]:
    """A function that says of each of these articles whether the viewer may read it."""
    found = await context.articles(dict.fromkeys(article.number for article in articles))
    numbers = {article.number for article in found if article}
    return lambda article: article.state is ContentState.VISIBLE or article.number in numbers


def _shown_in_thread(comment: Comment, article: Article) -> Comment | None:
    """The comment as a thread shows it: of the class HiddenComment if not everybody may read the article."""
    shown = comment.as_shown
    return HiddenComment(*shown) if shown and article.state is not ContentState.VISIBLE else shown


def _is_visible(comment: Comment | None, article: Article | None) -> bool:
    visible = ContentState.VISIBLE
    return comment is not None and article is not None and comment.state is visible and article.state is visible


def _may_read(profile: Profile, comment: Comment, article: Article | None) -> bool:
    """Whether a user may read a comment that is hidden, or whose article is; a deleted one has nothing to read."""
    if article is None or comment.state is ContentState.DELETED or _is_visible(comment, article):
        return False
    return comment.poster == profile.username or roles.moderates(profile.roles, article.groups)


async def _read_own_comments(context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """
    Comments in the list of their poster, by number. None also for a deleted or hidden one, which leaves the list a
    moment later.
    """
    wanted = list(numbers)
    await read_comments(context, wanted)  # with the votes of the viewer; `context.reads` keeps both
    comments = await context.reads.comments(wanted)
    return [comment if comment and comment.state is ContentState.VISIBLE else None for comment in comments]


def _bytes_of(comments: Sequence[Comment | None]) -> int:
    return sum([comment.held_bytes for comment in comments if comment])


# how a page reads its comments, and how much memory they take: a page of a thread, and one of a user's comments
COMMENT_NODES, OWN_COMMENT_NODES = Nodes(read_comments, _bytes_of), Nodes(_read_own_comments, _bytes_of)


async def _connections(
    context: Context,
    parents: Sequence[tuple[int, int]],
    order: CommentOrder | None,
    paging: PageArguments,
    empty: Container[int] = (),
) -> list[Connection[Comment] | BadInput]:
    """
    The same page of the replies to each parent, which is given as the number of its article and its own number: two
    round trips for all, for the places and for the comments. Parents whose numbers are in `empty` have no replies.
    """
    wanted = [Replies(article, parent, order or CommentOrder.BEST) for article, parent in parents]
    windows = for_each(wanted, lambda replies: _window(replies, paging))
    selected = pagination.valid_windows(wanted, windows)
    # for each: its article, the read from Redis, and what computes the same from an archived conversation
    reads = [
        (
            replies.article,
            threads.siblings_page(context.store.site, *replies, window),
            methodcaller("siblings_page", replies.parent, replies.order, window),
        )
        for replies, window in selected
    ]
    parts = zip(selected, await context.reads.of_conversations(reads), strict=True)
    pages = [
        (replies, NO_REPLIES if replies.parent in empty else listings.merge([part], window))
        for (replies, window), part in parts
    ]
    named = [(_name(replies), page, page.total) for replies, page in pages]
    return pagination.with_errors(windows, await pagination.connections_of_pages(context, named, COMMENT_NODES))


def _window(replies: Replies, paging: PageArguments) -> Window:
    is_by_time = replies.order in (CommentOrder.NEWEST, CommentOrder.OLDEST)
    return pagination.window(_name(replies), paging, ARTICLE_TIME_CURSOR if is_by_time else ARTICLE_CURSOR)


def _name(replies: Replies) -> str:
    return threads.siblings_name(replies.parent, replies.order)


async def comment(context: Context, id: str) -> Comment | None:
    """
    The comment with an id. One round trip, and one more for its article: without that there is no comment. One more if
    it is not visible and somebody is logged in.
    """
    return (await of_viewer(context, [arguments.comment_number(id)]))[0]


async def post(
    context: Context,
    article_id: str,
    content: str,
    parent_id: str | None = None,
    idempotency_key: str | None = None,
) -> Commented:
    actor, check = context.actor(), partial(checked, content, idempotency_key)
    article, parent = parsed(partial(_article_and_parent, article_id, parent_id), check)
    command = partial(context.store.comments.post, article, parent, actor, content, idempotency_key)
    command = partial(write_back.run_answer, context.store, context.database, article, parent, command, context.waker())
    commented = await context.write(context.within_limits(context.rates.of_comments, command))
    context.reads.set_checked_login(commented.poster)
    if commented.comment is None:  # the same was posted before (`replayed`), and was deleted or archived since
        archived = await find_comment(context.store, context.database, commented.number)
        is_there = archived and archived.state is not ContentState.DELETED
        commented = replace(commented, comment=archived if is_there else None)
    if commented.comment and not commented.replayed:
        context.reads.prime_vote(commented.comment.number, commented.poster, Vote.UP)
    return commented


async def edit(context: Context, comment_id: str, content: str) -> EditedComment:
    actor = context.actor()
    number = parsed(partial(_checked_comment_number, comment_id), partial(validation.comment, content))
    return await _change(context, number, lambda: context.store.comments.edit(number, actor, content))


async def delete(context: Context, comment_id: str) -> str:
    """Return the id of the deleted comment."""
    actor, number = context.actor(), _checked_comment_number(comment_id)
    await _change(context, number, lambda: context.store.comments.delete(number, actor))
    return f"comment:{number}"


async def vote(context: Context, comment_id: str, value: Vote | None = Vote.UP) -> VotedOnComment:
    actor, number, vote = context.actor(), _checked_comment_number(comment_id), value or Vote.UP
    voted = await context.write(_vote(context, number, actor, vote))
    context.reads.set_checked_login(voted.voter)
    context.reads.prime_vote(number, voted.voter, vote)
    return voted


async def _change(context: Context, number: int, command: Callable[[], Awaitable[T]]) -> T:
    """Run a command on a comment. An archived one is first written back to Redis; `waker` limits how often."""
    changed = write_back.run_comment_change(context.store, context.database, number, command, context.waker())
    return await context.write(changed)


async def _vote(context: Context, number: int, actor: Actor, vote: Vote) -> VotedOnComment:
    try:
        return await context.store.comments.vote(number, actor, vote)
    except NotFound:
        archived = await find_comment(context.store, context.database, number)
        if archived is None or archived.state is ContentState.DELETED:
            raise
        raise VotingClosed(number, context.store.site.policy.closes_at(archived), kind="comment") from None


def _checked_comment_number(comment_id: str, field: str = "commentId") -> int:
    """The number in the input `commentId` or `parentId`. Raises Invalid if it is malformed."""
    number = records.comment_number(comment_id)
    if number is None:
        raise Invalid("a comment's id looks like comment:1541", field)
    return number


def _article_and_parent(article_id: str, parent_id: str | None) -> tuple[int, int | None]:
    """The numbers in the inputs `articleId` and `parentId`. Raises Invalid for all that are malformed."""
    faults, parent = Faults(), None
    with faults:
        article = checked_number(article_id)
    with faults:
        parent = None if parent_id is None else _checked_comment_number(parent_id, "parentId")
    faults.raise_any()
    return article, parent
