"""Commands on comments. Each is one atomic script in the partition of the article."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from itertools import compress
from typing import Any, NoReturn

from store import effects, idempotency, keys, mentions, records, validation
from store.background import repeating, turns
from store.client import Argument
from store.errors import (
    Forbidden,
    NotFound,
    StoreUnavailable,
    VotingClosed,
    refuse,
)
from store.log import Entry
from store.records import Comment, UncachedComment, Vote
from store.scripts.registry import COMMENT, DELETE_COMMENT, EDIT_COMMENT, REMOVE_THREAD, VOTE_ON_COMMENT, Script
from store.sessions import Actor, Sessions, actor_slot
from store.site import Site
from store.threads import PLACE_LIFETIME
from store.validation import Faults

STUBS_AT_ONCE = 500  # that one deletion removes above a comment
REMOVED_AT_ONCE = 50  # comments of a deleted article, or stubs, in about a millisecond
STEPS_AT_ONCE = 4  # that a deletion waits for
REMOVAL_INTERVAL = 1.0  # seconds between two searches for comments to be removed


@dataclass(frozen=True, slots=True)
class Commented:
    """`comment` is None if a replayed comment has been deleted."""

    comment: Comment | None
    replayed: bool
    poster: str


@dataclass(frozen=True, slots=True)
class VotedOnComment:
    comment: Comment
    changed: bool
    voter: str


class Comments:
    def __init__(self, site: Site, sessions: Sessions) -> None:
        self._site = site
        self._sessions = sessions

    async def post(
        self, article: int, parent: int | None, poster: Actor, content: str, idempotency_key: str | None = None
    ) -> Commented:
        """
        Answer an article, or a comment of it, and return the new comment.

        One round trip; one more before it if the session is stored in another partition. The poster is the first voter.
        The same idempotency key with the same input returns the first comment for a day. Without a key the same input
        returns the first comment for 10 seconds, unless it was deleted, so that a double click posts once. The poster
        of what is answered, and those whom the content mentions, are notified.

        Raises:
            Invalid: the content or the key breaks a rule; `others` has a second fault.
            NotFound: there is no such article, or no such comment of it, or that comment was deleted.
            Locked: the article is locked.
            Forbidden: the article or the comment that is answered is not visible.
            IdempotencyMismatch: the key was used with other input.
            Unauthenticated: the session has ended.
        """
        content = checked(content, idempotency_key)
        parent_number = "" if parent is None else str(parent)
        status, *reply = await self._run(
            COMMENT,
            article,
            poster,
            parent_number,
            content,
            actor_slot(poster),
            *idempotency.arguments(idempotency_key, str(article), parent_number, content),
            *mentions.arguments(content, self._site.max_mentions),
        )
        if reply == ["parent"]:
            _refuse_parent(status, article, parent)
        if status not in ("commented", "replayed"):
            refuse(status, "article", article)
        number, flat, username, *effects_of = reply
        comment = _comment(int(number), flat) if flat else None
        if comment and effects_of:
            await self._apply_post(username, comment, *effects_of)
        return Commented(comment, status == "replayed", username)

    async def vote(self, number: int, voter: Actor, vote: Vote) -> VotedOnComment:
        """
        Set a voter's vote and return the comment as it now stands.

        One round trip; one more before it if the session is stored in another partition.

        Raises:
            NotFound: there is no such comment, or it was deleted.
            VotingClosed: posted more than `voting_window` seconds ago.
            Locked: the article is locked.
            Forbidden: the poster cannot withdraw or reverse the first vote, or the comment is not visible.
            Unauthenticated: the session has ended.
        """
        status, *reply = await self._run(VOTE_ON_COMMENT, number, voter, vote.value, PLACE_LIFETIME)
        if status == "forbidden":
            raise Forbidden("the poster's own vote stays", "value")
        if status == "closed":
            raise VotingClosed(number, int(reply[0]), "comment")
        if status not in ("voted", "same"):
            refuse(status, "comment", number)
        username, flat, *effects_of = reply
        comment = _comment(number, flat)
        if effects_of:
            entry, noted, karma = effects_of
            values = {"poster": comment.poster or "", "karma": str(karma)}
            await self._apply("comment_voted", username, number, values, entry, noted)
        return VotedOnComment(comment, status == "voted", username)

    async def edit(self, number: int, editor: Actor, content: str) -> Comment:
        """
        Change the content of the editor's own comment. Those whom it did not mention before are notified.

        One round trip; one more before it if the session is stored in another partition, and one after it if users of
        other partitions are notified.

        Raises:
            Invalid: the content breaks a rule.
            NotFound, Forbidden: there is no such comment, or it has another poster.
            Unauthenticated: the session has ended.
        """
        content = validation.comment(content)
        mentioned = mentions.arguments(content, self._site.max_mentions)
        status, *reply = await self._run(EDIT_COMMENT, number, editor, content, *mentioned)
        if status != "edited":
            refuse(status, "comment", number)
        flat, entry, noted, notified = reply
        comment = _comment(number, flat)
        await self._apply("comment_edited", comment.poster or "", number, {"notified": notified}, entry, noted)
        return comment

    async def delete(self, number: int, deleter: Actor) -> None:
        """
        Delete the actor's own comment. While it has replies, a comment without content and poster is left.

        One round trip; one more before it if the session is stored in another partition. Deleted comments above it that
        have no replies left are removed, too: more than `STUBS_AT_ONCE` in some more round trips, and later.

        Raises:
            NotFound, Forbidden: there is no such comment, or it has another poster.
            Unauthenticated: the session has ended.
        """
        status, *reply = await self._run(DELETE_COMMENT, number, deleter, STUBS_AT_ONCE)
        if status != "deleted":
            refuse(status, "comment", number)
        entry, noted, poster, karma, notified, has_more = reply
        values = {"poster": poster, "karma": str(karma), "notified": notified}
        await self._apply("comment_deleted", poster, number, values, entry, noted)
        if has_more:
            await begin_removal(self._site, self._site.home_of_article(number))

    async def _apply_post(
        self, username: str, comment: Comment, id: str, noted: Sequence[int | str], notified: str
    ) -> None:
        values = {"time": str(comment.posted_at), "notified": notified}
        await self._apply("commented", username, comment.number, values, id, noted)

    async def _apply(
        self, kind: str, actor: str, number: int, values: dict[str, str], id: str, noted: Sequence[int | str]
    ) -> None:
        """Apply the effects of a new entry about a comment in other partitions."""
        site = self._site
        entry = Entry(site.home_of_article(number), id, kind, site.clock(), actor, f"comment:{number}", values)
        await effects.apply_noted(site, entry, noted)

    async def _run(self, script: Script, number: int, actor: Actor, *arguments: Argument) -> list[Any]:
        """Run a script in the partition of an article or a comment."""
        site = self._site
        reply: list[Any] = await self._sessions.run(
            script, site.home_of_article(number), actor, site.partitions, number, *arguments
        )
        return reply


def removing_threads(site: Site) -> AbstractAsyncContextManager[None]:
    """Remove the comments that others have left to be removed, as long as the context is open."""
    searched = turns(site.partitions)
    return repeating(lambda: _remove_noted(site, next(searched)), REMOVAL_INTERVAL, "removing comments failed")


async def begin_removal(site: Site, p: int) -> None:
    """
    Remove some of the comments that a deletion has left in a partition, in `STEPS_AT_ONCE` steps. The rest, and all if
    the partition does not answer, is left to the task of `removing_threads`.
    """
    with suppress(StoreUnavailable):
        await remove_threads(site, p, STEPS_AT_ONCE)


async def remove_threads(site: Site, p: int, steps: int | None = None) -> None:
    """
    Remove the comments of the deleted articles of a partition, and deleted comments without replies, in `steps` steps,
    or all.

    One round trip for each step of `REMOVED_AT_ONCE` comments, one more if they have effects in other partitions. What
    an interruption leaves, the next call removes.

    Raises:
        StoreUnavailable: the partition does not answer, or takes no writes.
    """
    for number in await site.redis.run(("ZRANGE", keys.removing(p), 0, -1)):
        while number and steps != 0:
            command = site.command(REMOVE_THREAD, p, site.partitions, number, REMOVED_AT_ONCE)
            number, noted = await site.redis.run(command)
            for q, entry in zip(noted[::2], noted[1::2], strict=True):
                await effects.apply_missing(site, p, int(q), entry)
            steps = steps and steps - 1


async def _remove_noted(site: Site, partitions: Sequence[int]) -> None:
    noted = await site.redis.pipeline([("EXISTS", keys.removing(p)) for p in partitions])
    for p in compress(partitions, noted):
        await remove_threads(site, p)


def checked(content: str, idempotency_key: str | None) -> str:
    """
    The content of a comment as it is stored.

    Raises:
        Invalid: the content or the key breaks a rule; `others` has a second fault.
    """
    faults = Faults()
    with faults:
        valid = validation.comment(content)
    with faults:
        validation.check_idempotency_key(idempotency_key)
    faults.raise_any()
    return valid


def _comment(number: int, flat: list[str]) -> Comment:
    comment = records.comment(number, records.pairs(flat))
    assert comment is not None
    return UncachedComment(*comment)


def _refuse_parent(status: str, article: int, parent: int | None) -> NoReturn:
    if status == "missing":
        raise NotFound(f"article:{article} has no comment:{parent}", "parentId")
    raise Forbidden(f"comment:{parent} is not visible", "parentId")
