"""The root fields of mutations. Refusals are raised; the schema turns them into `user_errors` of the payload."""

from collections.abc import Sequence
from dataclasses import dataclass

from resolvers import feeds, node_ids, pagination
from resolvers.context import Context
from resolvers.errors import BadInput
from store import records
from store.articles import Draft, Posted
from store.errors import Invalid
from store.follows import Followed
from store.records import Article, Feed, User, Vote
from store.sessions import NewSession


@dataclass(frozen=True, slots=True)
class SessionPayload:
    user: User | None = None
    token: str | None = None
    expires_at: int | None = None
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class ChangePasswordPayload:
    user: User | None = None
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class LogOutPayload:
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class ArticlePayload:
    article: Article | None = None
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class PostPayload:
    article: Article | None = None
    replayed: bool = False
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class VotePayload:
    article: Article | None = None
    changed: bool = False
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class DeleteArticlePayload:
    deleted_article_id: str | None = None
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class FollowUserPayload:
    user: User | None = None
    changed: bool = False
    user_errors: Sequence[object] = ()


@dataclass(frozen=True, slots=True)
class MarkFeedSeenPayload:
    feed: Feed | None = None
    user_errors: Sequence[object] = ()


async def register(context: Context, username: str, password: str) -> SessionPayload:
    rates = context.rates.of_registrations(context.address) if context.address is not None else ()
    return _session(context, await context.store.users.register(username, password, rates))


async def log_in(context: Context, username: str, password: str) -> SessionPayload:
    return _session(context, await context.store.users.log_in(username, password, context.address))


async def change_password(context: Context, current_password: str, new_password: str) -> ChangePasswordPayload:
    session = context.actor()
    username = await context.store.users.change_password(session, current_password, new_password, context.address)
    context.renew()
    context.reads.know_login(username)
    return ChangePasswordPayload(records.user(username))


async def log_out(context: Context) -> LogOutPayload:
    await context.store.sessions.close(context.actor())
    context.log_out()
    return LogOutPayload()


async def post(
    context: Context,
    title: str,
    link: str | None = None,
    content: str | None = None,
    groups: Sequence[str] | None = None,
    idempotency_key: str | None = None,
) -> PostPayload:
    draft = Draft(title, link or "", content or "", tuple(groups or ()))
    posted = await _posted(context, draft, idempotency_key)
    context.renew()
    context.reads.know_login(posted.poster)
    if posted.article and not posted.replayed:
        context.reads.know_vote(posted.article.number, posted.poster, Vote.UP)
    return PostPayload(posted.article, posted.replayed)


async def edit_article(context: Context, article_id: str, **changes: str | None) -> ArticlePayload:
    """Only what is given changes; null takes a link or content away."""
    if "title" in changes and changes["title"] is None:
        raise Invalid("a title cannot be taken away", "title")
    given = {field: text or "" for field, text in changes.items()}
    number = node_ids.written_article_number(article_id)
    article = await context.store.articles.edit(number, context.actor(), given)
    context.renew()
    return ArticlePayload(article)


async def delete_article(context: Context, article_id: str) -> DeleteArticlePayload:
    number = node_ids.written_article_number(article_id)
    await context.store.articles.delete(number, context.actor())
    context.renew()
    return DeleteArticlePayload(f"article:{number}")


async def vote(context: Context, article_id: str, value: Vote | None = Vote.UP) -> VotePayload:
    number, vote = node_ids.written_article_number(article_id), value or Vote.UP
    voted = await context.store.articles.vote(number, context.actor(), vote)
    context.renew()
    context.reads.know_login(voted.voter)
    context.reads.know_vote(number, voted.voter, vote)
    return VotePayload(voted.article, voted.changed)


async def regroup_article(
    context: Context, article_id: str, add: Sequence[str] | None = None, remove: Sequence[str] | None = None
) -> ArticlePayload:
    number = node_ids.written_article_number(article_id)
    article = await context.store.articles.regroup(number, context.actor(), add or (), remove or ())
    context.renew()
    return ArticlePayload(article)


async def follow_user(context: Context, user_id: str) -> FollowUserPayload:
    return _followed(context, await context.store.follows.follow(context.actor(), node_ids.followee(user_id)))


async def unfollow_user(context: Context, user_id: str) -> FollowUserPayload:
    return _followed(context, await context.store.follows.unfollow(context.actor(), node_ids.followee(user_id)))


async def mark_feed_seen(context: Context, through: str) -> MarkFeedSeenPayload:
    """Two round trips: the mark has to be a place of the viewer's own feed."""
    username = await context.store.sessions.username(context.actor())
    try:
        position = pagination.cursor_position(feeds.listing_name(Feed(username)), through, pagination.ARTICLES_BY_TIME)
    except BadInput as error:
        raise Invalid(str(error), "through") from error
    await context.store.follows.mark_seen(username, position)
    context.renew()
    return MarkFeedSeenPayload(Feed(username))


async def _posted(context: Context, draft: Draft, idempotency_key: str | None) -> Posted:
    """Where posts are counted: two waits more for the store, and one to take back what was not posted anew."""
    session, posted = context.actor(), None
    if context.address is None:
        return await context.store.articles.post(session, draft, idempotency_key)
    username = await context.store.sessions.username(session)
    back = await context.store.attempts.count(context.rates.of_posts(username, context.address))
    try:
        posted = await context.store.articles.post(session, draft, idempotency_key)
        return posted
    finally:
        if posted is None or posted.replayed:
            await context.store.attempts.take_back(back)


def _followed(context: Context, followed: Followed) -> FollowUserPayload:
    context.renew()
    context.reads.know_login(followed.follower)
    return FollowUserPayload(records.user(followed.followee), followed.changed)


def _session(context: Context, grant: NewSession) -> SessionPayload:
    context.log_in(grant.token)
    context.reads.know_login(grant.login.username)
    return SessionPayload(records.user(grant.login.username), grant.token, grant.login.expires_at)
