"""Root fields of Mutation: each runs a command of the store. The schema turns refusals into `userErrors`."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol, TypeVar

from resolvers import archive, feeds, inboxes
from resolvers.arguments import BadInput
from resolvers.context import Context
from store import articles, comments, listings, records, validation
from store.articles import Draft, Posted, Voted
from store.comments import Commented, VotedOnComment
from store.errors import Invalid, NotFound, VotingClosed
from store.follows import Followed
from store.listings import Window
from store.rate_limits import SlidingWindow
from store.records import Article, Comment, Feed, Inbox, Position, User, Vote
from store.sessions import NewSession, Session
from store.validation import Faults

T = TypeVar("T")
R = TypeVar("R", Posted, Commented)
Owner = TypeVar("Owner", Feed, Inbox)


class PostResult(Protocol):
    """The payload of a post: `article` is None if it was refused."""

    @property
    def article(self) -> Article | None: ...


async def register(context: Context, username: str, password: str) -> NewSession:
    rates = context.rates.of_registrations(context.address) if context.address is not None else ()
    return _logged_in(context, await context.store.users.register(username, password, rates))


async def log_in(context: Context, username: str, password: str) -> NewSession:
    return _logged_in(context, await context.store.users.log_in(username, password, context.address))


async def change_password(context: Context, current_password: str, new_password: str) -> User:
    command = context.store.users.change_password(context.actor(), current_password, new_password, context.address)
    username = await context.write(command)
    context.reads.prime_login(username)
    return records.user(username)


async def log_out(context: Context) -> None:
    await context.store.sessions.close(context.actor())
    context.log_out()


async def post(
    context: Context,
    title: str,
    link: str | None = None,
    content: str | None = None,
    groups: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> Posted:
    draft = Draft(title, link or "", content or "", tuple(groups or ()))
    session = context.actor()
    command = partial(context.store.articles.post, session, draft, idempotency_key)
    posted = await context.write(_within_limits(context, context.rates.of_posts, command))
    context.reads.prime_login(posted.poster)
    if posted.article is None:
        posted = replace(posted, article=await archive.find(context.store, context.database, posted.number))
    if posted.article and not posted.replayed:
        context.reads.prime_vote(posted.article.number, posted.poster, Vote.UP)
    return posted


async def duplicate_of(payloads: Sequence[PostResult], context: Context) -> list[Article | None]:
    """
    The newest other article with the link of a posted one, if it was posted within the site's window.

    Two round trips for each: one for the places in all partitions, one for the article.
    """
    return [await _duplicate_of(payload.article, context) for payload in payloads]


async def edit_article(context: Context, article_id: str, **changes: str | None) -> Article:
    """Change the fields that are given. Null removes a link or content."""
    actor, texts = context.actor(), {field: text or "" for field, text in changes.items()}
    number = _parsed(partial(_article_number, article_id), partial(articles.checked_changes, texts))
    return await _change(context, number, actor, lambda: context.store.articles.edit(number, actor, texts))


async def delete_article(context: Context, article_id: str) -> str:
    """Return the id of the deleted article."""
    actor, number = context.actor(), _article_number(article_id)
    await _change(context, number, actor, lambda: context.store.articles.delete(number, actor))
    return f"article:{number}"


async def vote(context: Context, article_id: str, value: Vote | None = Vote.UP) -> Voted:
    actor, number, vote = context.actor(), _article_number(article_id), value or Vote.UP
    voted = await context.write(_vote(context, number, actor, vote))
    context.reads.prime_login(voted.voter)
    context.reads.prime_vote(number, voted.voter, vote)
    return voted


async def regroup_article(
    context: Context, article_id: str, add: Sequence[str] | None = None, remove: Sequence[str] | None = None
) -> Article:
    actor, added, removed = context.actor(), add or (), remove or ()
    number = _parsed(partial(_article_number, article_id), partial(articles.checked_names, added, removed))
    return await _change(context, number, actor, lambda: context.store.articles.regroup(number, actor, added, removed))


async def comment(
    context: Context,
    article_id: str,
    content: str,
    parent_id: str | None = None,
    idempotency_key: str | None = None,
) -> Commented:
    actor, check = context.actor(), partial(comments.checked, content, idempotency_key)
    article, parent = _parsed(partial(_article_and_parent, article_id, parent_id), check)
    post = partial(context.store.comments.post, article, parent, actor, content, idempotency_key)
    command = partial(archive.answered, context.store, context.database, article, parent, post)
    commented = await context.write(_within_limits(context, context.rates.of_comments, command))
    context.reads.prime_login(commented.poster)
    if commented.comment and not commented.replayed:
        context.reads.prime_vote(commented.comment.number, commented.poster, Vote.UP)
    return commented


async def edit_comment(context: Context, comment_id: str, content: str) -> Comment:
    actor = context.actor()
    number = _parsed(partial(_comment_number, comment_id), partial(validation.comment, content))
    return await context.write(context.store.comments.edit(number, actor, content))


async def delete_comment(context: Context, comment_id: str) -> str:
    """Return the id of the deleted comment."""
    actor, number = context.actor(), _comment_number(comment_id)
    await context.write(context.store.comments.delete(number, actor))
    return f"comment:{number}"


async def vote_on_comment(context: Context, comment_id: str, value: Vote | None = Vote.UP) -> VotedOnComment:
    actor, number, vote = context.actor(), _comment_number(comment_id), value or Vote.UP
    voted = await context.write(context.store.comments.vote(number, actor, vote))
    context.reads.prime_login(voted.voter)
    context.reads.prime_vote(number, voted.voter, vote)
    return voted


async def follow_user(context: Context, user_id: str) -> Followed:
    actor, username = context.actor(), _username(user_id)
    followed = await context.write(context.store.follows.follow(actor, username))
    context.reads.prime_login(followed.follower)
    return followed


async def unfollow_user(context: Context, user_id: str) -> Followed:
    actor, username = context.actor(), _username(user_id)
    followed = await context.write(context.store.follows.unfollow(actor, username))
    context.reads.prime_login(followed.follower)
    return followed


async def mark_feed_seen(context: Context, through: str) -> Feed:
    """Two round trips: the cursor has to belong to the viewer's feed, so the username is read first."""
    feed = Feed(await context.store.sessions.username(context.actor()))
    position = _position(feeds.cursor_position, feed, through)
    await context.write(context.store.follows.mark_seen(feed.username, position))
    return feed


async def mark_inbox_seen(context: Context, through: str) -> Inbox:
    """Two round trips: the cursor has to belong to the viewer's inbox, so the username is read first."""
    inbox = Inbox(await context.store.sessions.username(context.actor()))
    position = _position(inboxes.cursor_position, inbox, through)
    await context.write(context.store.inboxes.mark_seen(inbox.username, position))
    return inbox


def _position(cursor_position: Callable[[Owner, str], Position], owner: Owner, through: str) -> Position:
    """The position of a cursor of the owner's list, given as `through`."""
    try:
        return cursor_position(owner, through)
    except BadInput as error:
        raise Invalid(str(error), "through") from error


def _article_number(article_id: str) -> int:
    """The number in `articleId`."""
    number = records.article_number(article_id)
    if number is None:
        raise Invalid("an article's id looks like article:1541", "articleId")
    return number


def _comment_number(comment_id: str, field: str = "commentId") -> int:
    """The number in `commentId` or `parentId`."""
    number = records.comment_number(comment_id)
    if number is None:
        raise Invalid("a comment's id looks like comment:1541", field)
    return number


def _username(user_id: str) -> str:
    """The name in `userId`."""
    name = records.username(user_id)
    if name is None:
        raise Invalid("a user's id looks like user:alice", "userId")
    return name


def _article_and_parent(article_id: str, parent_id: str | None) -> tuple[int, int | None]:
    """The numbers in `articleId` and `parentId`."""
    faults, parent = Faults(), None
    with faults:
        article = _article_number(article_id)
    with faults:
        parent = None if parent_id is None else _comment_number(parent_id, "parentId")
    faults.raise_any()
    return article, parent


def _parsed(parse_ids: Callable[[], T], check_others: Callable[[], object]) -> T:
    """The numbers in ids. If one is malformed, the refusal has the faults of the other values, too."""
    faults = Faults()
    with faults:
        numbers = parse_ids()
    if faults:
        with faults:
            check_others()
    faults.raise_any()
    return numbers


async def _change(context: Context, number: int, actor: Session, command: Callable[[], Awaitable[T]]) -> T:
    """Run a command on an article, also on one that is archived."""
    return await context.write(archive.changed(context.store, context.database, number, actor, command))


async def _vote(context: Context, number: int, actor: Session, vote: Vote) -> Voted:
    try:
        return await context.store.articles.vote(number, actor, vote)
    except NotFound:
        archived = await archive.find(context.store, context.database, number)
        if archived is None:
            raise
        raise VotingClosed(number, context.store.site.policy.closes_at(archived)) from None


async def _duplicate_of(article: Article | None, context: Context) -> Article | None:
    site = context.store.site
    if article is None or article.link is None or not site.policy.duplicate_window:
        return None
    since = context.now - round(site.policy.duplicate_window * 1000)
    (page,) = await context.reads.pages([(listings.by_link(site, article.link, since), Window(2))])
    others = [position.number for position in page.positions if position.number != article.number]
    return (await context.reads.articles(others[:1]))[0] if others else None


async def _within_limits(
    context: Context, limits: Callable[[str, str], Sequence[SlidingWindow]], post: Callable[[], Awaitable[R]]
) -> R:
    """
    Post, and count it against the rate limits of the user and the address, if there is an address.

    Limits cost two round trips, and one more to take the count back if nothing new was posted.
    """
    session, posted = context.actor(), None
    if context.address is None:
        return await post()
    username = await context.store.sessions.username(session)
    back = await context.store.attempts.count(limits(username, context.address))
    try:
        posted = await post()
        return posted
    finally:
        if posted is None or posted.replayed:
            await context.store.attempts.take_back(back)


def _logged_in(context: Context, session: NewSession) -> NewSession:
    context.log_in(session.token)
    context.reads.set_login(session.login)
    return session
