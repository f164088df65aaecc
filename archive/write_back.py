"""
Runs commands on articles that may be archived, which means that only the SQL database has them: an archived article is
written back to Redis ("brought back") before the command runs. A conversation is an article with its comments, which
come back together; a conversation that came back is *woken*.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from archive import moments, places, recounts, steps
from archive.hashes import article_fields_and_values
from archive.reads import ArchiveUnavailable, ask, find, find_comment
from archive.returns import with_comments
from database import article_places, conversations
from database.database import Database
from store import conversations as conversations_in_redis
from store import keys, moving
from store.client import Argument
from store.conversations import Overtaken
from store.errors import CommentingClosed, Forbidden, Locked, NotFound, RateLimited
from store.rate_limits import Counted, SlidingWindow
from store.records import ArchivedConversation, Article, Comment, ContentState, Position
from store.scripts.registry import Script
from store.site import Actor, Site
from store.store import Store

UNARCHIVE = Script("unarchive")

T = TypeVar("T")


class Waker(NamedTuple):
    """
    The user for whom a command runs (`actor`), and how many archived conversations may come back to Redis for it.
    `limits` gives the rate limits by username; None: there are none. If `is_bounded`, all conversations that came back
    have at most `Site.woken_comments` comments together. Work of moderators and of the server itself has no bounds.
    """

    actor: Actor
    limits: Callable[[str], Sequence[SlidingWindow]] | None = None
    is_bounded: bool = True


class PosterState(NamedTuple):
    """
    What `unarchive.lua` compares, to see whether articles of a poster were archived or written back since.

    `archived_counts` is the text that the hash `archived` has about the poster ("" without archived articles);
    `moving` are the numbers of articles of the same partition (a share of the data) that are between Redis and the
    archive: being archived, or just written back.
    """

    archived_counts: str
    moving: frozenset[int]


class FoundArticle(NamedTuple):
    """
    An archived article as the database has it, with what `unarchive.lua` needs. `kept_fields` are fields of its hash
    that its record lacks, such as whom it has notified. `newest_other` is the place by time of the poster's newest
    other archived article. `log_position` is the id of the last entry of the log (the stream of all changes) that the
    database had before this was read.
    """

    article: Article
    kept_fields: Mapping[str, str]
    newest_other: Position | None
    log_position: str


async def run_change(
    store: Store, database: Database | None, number: int, command: Callable[[], Awaitable[T]], waker: Waker
) -> T:
    """
    Run a command of a poster that changes an article. If the article is archived and the actor's own, it is written
    back to Redis before.

    That takes five round trips and two queries, and as many again if the article is archived again before the command
    runs.

    Raises:
        Forbidden: the article is archived, and somebody else's: it stays archived.
        RateLimited: the waker has brought too many conversations back.
        ArchiveUnavailable: there is no room for the conversation.
    """
    return await _run(command, partial(_bring_back_own, store, database, number, waker))


async def run_answer(
    store: Store,
    database: Database | None,
    number: int,
    parent: int | None,
    command: Callable[[], Awaitable[T]],
    waker: Waker,
) -> T:
    """
    Run a command that posts a comment: an answer to an article, or to a comment of it. The article is written back to
    Redis before if it is archived, whoever posted it. The cost is that of `run_change`.

    Raises:
        NotFound: the article is archived, and has no such comment, or that was deleted.
        Forbidden: the archived article, or its comment, is not visible.
        Locked, CommentingClosed: it is archived with a conversation, and takes no comments.
        RateLimited, ArchiveUnavailable: as `run_change`.
    """
    return await _run(command, partial(_bring_back_answered, store, database, number, parent, waker))


async def run_comment_change(
    store: Store, database: Database | None, number: int, command: Callable[[], Awaitable[T]], waker: Waker
) -> T:
    """
    Run a command of a poster that changes a comment. If its article is archived and the comment the actor's own, the
    article is written back to Redis before, with all its comments. The cost is that of `run_change`, and that of
    `returns.with_comments`.

    Raises:
        Forbidden: the article is archived, and the comment somebody else's.
        RateLimited, ArchiveUnavailable: as `run_change`.
    """
    return await _run(command, partial(_bring_back_with_own, store, database, number, waker))


async def run_moderation(
    store: Store,
    database: Database | None,
    number: int,
    command: Callable[[], Awaitable[T]],
    waker: Waker | None = None,
) -> T:
    """
    Run a command of a moderator on an article or a comment; or, with `waker`, a command of another user, such as an
    appeal. The article is written back to Redis before if it is archived. The cost is that of `run_change`.

    Raises:
        RateLimited, ArchiveUnavailable: as `run_change`.
    """

    async def bring_subject_back(refusal: NotFound) -> bool:
        return await bring_back(store, database, number, waker)

    return await _run(command, bring_subject_back)


async def run_flag(
    store: Store, database: Database | None, number: int, command: Callable[[], Awaitable[T]], waker: Waker
) -> T:
    """
    Run a command that flags an article or a comment: as `run_moderation`, but what is archived and not shown stays
    archived, as the flag would be refused.

    Raises:
        Forbidden: the archived article or comment is not visible.
        RateLimited, ArchiveUnavailable: as `run_change`.
    """

    async def bring_subject_back(refusal: NotFound) -> bool:
        archived, comment = await _find_subject(store, database, number)
        if archived is None or (comment and comment.state is ContentState.DELETED):
            return False
        if comment is None and archived.state is not ContentState.VISIBLE:
            raise Forbidden(f"article:{number} is not visible", "subjectId") from None
        if comment and not comment.state is archived.state is ContentState.VISIBLE:
            raise Forbidden(f"comment:{number} is not visible", "subjectId") from None
        return await _bring_back(store, database, archived, waker)

    return await _run(command, bring_subject_back)


async def bring_back(store: Store, database: Database | None, number: int, waker: Waker | None = None) -> bool:
    """
    Write the archived article, or that of the archived comment, with this number back to Redis, whoever posted it.
    False if nothing of this number is archived.

    Four round trips and two queries, and with a conversation the cost of `returns.with_comments`. Without an
    archive it costs nothing.
    """
    archived, _ = await _find_subject(store, database, number)
    return archived is not None and await _bring_back(store, database, archived, waker)


async def bring_back_alone(store: Store, database: Database | None, number: int) -> bool:
    """
    Write an archived article back to Redis, unless it was archived with a conversation. False if it was, or if the
    number is that of an archived comment; True also if nothing of this number is archived. The cost is that of
    `bring_back` without a conversation.
    """
    archived = await find(store, database, number)
    if isinstance(archived, ArchivedConversation) or await find_comment(store, database, number):
        return False
    if archived is not None:
        await _bring_back(store, database, archived)
    return True


async def bring_back_comments(store: Store, database: Database | None, numbers: Collection[int]) -> bool:
    """
    Write the articles of archived comments back to Redis; False if none of the numbers is of such a comment. One query,
    and for each article the cost of `bring_back`. Without archived conversations it costs nothing.
    """
    if not store.site.rankings.has_archived_conversations or not numbers:
        return False
    found = await ask(store.site, database, partial(conversations.archived, numbers=list(numbers)))
    for article in dict.fromkeys(each.article for each in found):
        await bring_back(store, database, article)
    return bool(found)


async def _find_subject(store: Store, database: Database | None, number: int) -> tuple[Article | None, Comment | None]:
    """An archived article, or an archived comment and its article; both are None if the number is of neither."""
    archived = await find(store, database, number)
    comment = await find_comment(store, database, number) if archived is None else None
    return (await find(store, database, comment.article) if comment else archived), comment


async def _run(command: Callable[[], Awaitable[T]], bring_back: Callable[[NotFound], Awaitable[bool]]) -> T:
    """
    Run a command. If it does not find an article, call `bring_back` with this refusal, and if that wrote the article
    back to Redis, run the command again; repeatedly, as the archiver may remove the article again before the command
    runs. What `bring_back` refuses is raised `from None`, as it takes the place of the first refusal.
    """
    for _ in range(moments.TRIES):
        try:
            return await command()
        except NotFound as refusal:
            if not await bring_back(refusal):
                raise
    return await command()


async def _bring_back_own(
    store: Store, database: Database | None, number: int, waker: Waker, refusal: NotFound
) -> bool:
    """Write an archived article of the actor back to Redis; False if there is none."""
    archived = await find(store, database, number)
    if archived is None:
        return False
    username = await store.site.username(waker.actor)
    if archived.poster != username:
        raise Forbidden(f"article:{number} is somebody else's", "articleId") from None
    await _bring_back(store, database, archived, waker)
    return True


async def _bring_back_answered(
    store: Store, database: Database | None, number: int, parent: int | None, waker: Waker, refusal: NotFound
) -> bool:
    """
    Write the archived article that a new comment is for back to Redis; False if it is not archived. `parent` is the
    comment of it that is answered, if any. Raises as `run_answer`.
    """
    is_article_missing = refusal.field == ("articleId",)  # else it is in Redis, and the parent is missing
    archived = await find(store, database, number) if is_article_missing else None
    if archived is None:
        return False
    await store.site.refuse_banned(waker.actor, archived.groups)
    # If the article came back a moment ago, its comments are not in the archive: then the script looks for the parent.
    if parent is not None and not await _is_in_redis(store.site, number):
        answered = await find_comment(store, database, parent)
        if answered is None or answered.article != number or answered.state is ContentState.DELETED:
            raise NotFound(f"article:{number} has no comment:{parent}", "parentId") from None
        if archived.state is ContentState.VISIBLE and answered.state is not ContentState.VISIBLE:
            raise Forbidden(f"comment:{parent} is not visible", "parentId") from None
    if archived.state is not ContentState.VISIBLE:
        raise Forbidden(f"article:{number} is not visible", "articleId") from None
    if isinstance(archived, ArchivedConversation):
        _check_commenting(store.site, archived)
    await _bring_back(store, database, archived, waker)
    return True


def _check_commenting(site: Site, archived: Article) -> None:
    """
    Check that an archived article takes comments, so that its conversation does not come back for a comment that is
    refused.
    """
    if archived.is_locked:
        raise Locked("article", archived.number) from None
    if not site.takes_comments(archived.posted_at):
        raise CommentingClosed(archived.number) from None


async def _bring_back_with_own(
    store: Store, database: Database | None, number: int, waker: Waker, refusal: NotFound
) -> bool:
    """Write the archived article of a comment of the actor back to Redis; False if there is none."""
    comment = await find_comment(store, database, number)
    archived = await find(store, database, comment.article) if comment else None
    if comment is None or archived is None or comment.state is ContentState.DELETED:
        return False
    if comment.poster != await store.site.username(waker.actor):
        raise Forbidden(f"comment:{number} is somebody else's", "commentId") from None
    await _bring_back(store, database, archived, waker)
    return True


async def _bring_back(store: Store, database: Database | None, archived: Article, waker: Waker | None = None) -> bool:
    """Write an archived article back to Redis, with its comments; False if it does not exist any more."""
    if not isinstance(archived, ArchivedConversation):
        return await _bring_back_article(store, database, archived, comments=0, token="")
    site, number = store.site, archived.number
    write_article = partial(_bring_back_article, store, database, archived)
    counted = await _counted(store, waker) if waker else ()
    is_back: bool | None = None  # None: the article is in Redis by now, or was deleted
    try:
        room = (
            await conversations_in_redis.room(site, site.partition_of_article(number))
            if waker and waker.is_bounded
            else None
        )
        is_back = await with_comments(site, database, number, write_article, room)
    finally:
        if not is_back:  # it failed, or another request was first
            await store.attempts.take_back(counted)
    return await _is_in_redis(site, number) if is_back is None else is_back


async def _counted(store: Store, waker: Waker) -> Sequence[Counted]:
    """Count a conversation that comes back for a user. Two round trips."""
    if waker.limits is None:
        return ()
    limits = waker.limits(await store.site.username(waker.actor))
    try:
        return await store.attempts.count(limits)
    except RateLimited as limited:
        most = limits[0].limit
        what = f"you have brought {most} old conversations back, as many as a user may in a day"
        raise RateLimited(limited.retry_at, what, {"conversations": most}) from None


async def _bring_back_article(
    store: Store, database: Database | None, archived: Article, comments: int, token: str
) -> bool:
    """
    Write an archived article back to Redis; False if it was deleted. `comments` is how many comments of it the caller
    has written back before. For that it holds the lease by which one process at a time writes conversations back:
    `token` is that of the lease; "" without a conversation.
    """
    number, tries_left, deadline = archived.number, moments.TRIES, monotonic() + recounts.PATIENCE
    while tries_left and monotonic() < deadline:
        state = await _poster_state(store.site, number, archived.poster)
        excluded = frozenset({number}) | state.moving
        partition = store.site.partition_of_article(number)
        query = partial(_found_in_database, archived=archived, excluded=excluded, partition=partition)
        found = await ask(store.site, database, query)
        if found is None:
            return await _is_in_redis(store.site, number)
        status = await _unarchive(store.site, found, state, comments, token)
        if status == "behind":  # votes on archived articles were just annulled or restored
            await asyncio.sleep(recounts.PAUSE)
        elif status == "changed":
            tries_left -= 1
        elif status == "overtaken":
            raise Overtaken
        else:
            return status == "unarchived"
    raise ArchiveUnavailable("articles of this poster are being archived, or the database is behind: try again")


async def _poster_state(site: Site, number: int, poster: str) -> PosterState:
    """The state of a poster, which has to be read before the database to write an article back. One round trip."""
    partition = site.partition_of_article(number)
    commands = [("HGET", keys.archived(partition), f"user:{poster.lower()}"), ("SMEMBERS", moving.MOVING(partition))]
    archived_counts, numbers = await site.redis.pipeline(commands)
    return PosterState(archived_counts or "", frozenset(map(int, numbers)))


async def _unarchive(site: Site, found: FoundArticle, state: PosterState, comments: int, token: str) -> str:
    """
    Write an archived article back as it was found. `comments` and `token` are as `_bring_back_article` takes them. One
    round trip.

    The status is "unarchived", also if Redis has the article; "missing" if it was deleted; "changed" if articles of the
    poster have moved since `state` was read; "behind" if the database may not have its counts yet; "overtaken" if
    another process has the lease of conversations.
    """
    number, newest = found.article.number, found.newest_other
    time_and_number: tuple[Argument, Argument] = (round(newest.value), newest.number) if newest else ("", "")
    values = [*article_fields_and_values(found.article), *chain(*found.kept_fields.items())]
    arguments = number, state.archived_counts, *time_and_number, found.log_position, comments, token, *values
    status: str
    (status,) = await site.redis.run(site.command(UNARCHIVE, site.partition_of_article(number), *arguments))
    return status


async def _is_in_redis(site: Site, number: int) -> bool:
    return bool(await steps.in_redis(site, site.partition_of_article(number), [number]))


def _found_in_database(
    connection: Any, archived: Article, excluded: Collection[int], partition: int
) -> FoundArticle | None:
    """An archived article as the database has it now, for `unarchive.lua`; None if it has none of this number."""
    log_position = recounts.position(connection, partition)
    (article,) = article_places.records(connection, [archived.number])
    if article is None:
        return None
    kept = conversations.fields_kept(connection, [archived.number])[archived.number]
    return FoundArticle(article, kept, places.newest_of(connection, archived.poster, excluded), log_position)
