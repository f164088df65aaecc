"""
Commands on comments. Each is one atomic script in the partition (a share of the data) of the article. A comment that is
not shown, but has visible ones below it, keeps an empty place in the thread.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from store import effects, held_edits, idempotency, keys, mentions, records, removals, validation, verdicts
from store.breaches import Candidate
from store.client import Argument
from store.errors import (
    Forbidden,
    NotFound,
    VotingClosed,
    refuse,
)
from store.kept_answers import hash_left_out
from store.log import Entry
from store.records import Comment, ContentState, HiddenComment, UncachedComment, Vote
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot
from store.threads import PLACE_LIFETIME
from store.validation import Faults

COMMENT = Script("comment")
DELETE_COMMENT = Script("delete_comment")
EDIT_COMMENT = Script("edit_comment")
SET_COMMENT_STATE = Script("set_comment_state")
VOTE_ON_COMMENT = Script("vote_on_comment")

STUBS_AT_ONCE = 500  # empty places in a thread, above a changed comment, that one script makes or removes


@dataclass(frozen=True, slots=True)
class Commented:
    """
    What `Comments.post` returns. `replayed` says that an earlier comment with the same input was found and nothing
    posted. Then `comment` is None if it was deleted, or if only the database has it. `held_by` is the rule of the site
    that holds it; None if none does, or if a moderator has approved it since.
    """

    comment: Comment | None
    number: int
    replayed: bool
    poster: str
    held_by: str | None = None


@dataclass(frozen=True, slots=True)
class EditedComment:
    """
    `held_by` is the rule of the site that holds the new text until a moderator approves it, None if none does. Until
    then a visible comment keeps its old text.
    """

    comment: Comment
    held_by: str | None


@dataclass(frozen=True, slots=True)
class VotedOnComment:
    """The comment after a vote. `changed` is False if the voter had voted the same before."""

    comment: Comment
    changed: bool
    voter: str


class Comments:
    """Commands on the comments of a store."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def post(
        self,
        article: int,
        parent: int | None,
        poster: Actor,
        content: str,
        idempotency_key: str | None = None,
    ) -> Commented:
        """
        Answer an article, or a comment of it, and return the new comment. If a rule of the site holds it, it is PENDING
        until a moderator approves it: then it is announced, to subscribers and to those whom it notifies.

        One round trip; one more before it if the session is stored in another partition. The poster is the first voter.
        The same idempotency key with the same input returns the first comment for a day. Without a key the same input
        returns the first comment for 10 seconds, unless it was deleted, so that a double click posts once. The poster
        of what is answered, and those whom the content mentions, are notified.

        Raises:
            Invalid: the content or the key breaks a rule; `others` has a second fault.
            NotFound: there is no such article, or no such comment of it, or that comment was deleted.
            Locked: the article is locked.
            CommentingClosed: the article is too old for comments.
            Forbidden: the article or the comment that is answered is not visible.
            IdempotencyMismatch: the key was used with other input.
            RuleBroken: a rule of the site refuses the text.
            Unauthenticated: the session has ended.
        """
        content = checked(content, idempotency_key)
        given = {"articleId": f"article:{article}", "parentId": f"comment:{parent}" if parent else None}
        text = Candidate("comment", {"content": content}, given, is_new=True)
        async with verdicts.on_text(self._site, poster, text) as verdict:
            status, *reply = await self._run_post(article, parent, poster, content, idempotency_key, verdict.words)
            if status == "broken":
                verdict.refuse()
            verdict.is_posted = status == "commented"
        if reply == ["parent"]:
            _refuse_parent(status, article, parent)
        if status not in ("commented", "replayed"):
            refuse(status, "article", article)
        number, flat, username, *new_entry = reply
        comment = _comment(int(number), flat) if flat else None
        if comment and new_entry:
            await self._apply_post(username, comment, *new_entry)
        return Commented(comment, int(number), status == "replayed", username, held_edits.rule_of(records.pairs(flat)))

    async def vote(self, number: int, voter: Actor, vote: Vote) -> VotedOnComment:
        """
        Set a voter's vote and return the comment as it now stands.

        One round trip; one more before it if the session is stored in another partition.

        Raises:
            NotFound: there is no such comment, or it was deleted.
            VotingClosed: posted more than `voting_window` seconds ago.
            Locked: the article is locked.
            Forbidden: the poster cannot withdraw or reverse the first vote, or the comment is not visible.
            RuleBroken: the voter's account is too young, or has too little karma, by the rules of the site.
            Unauthenticated: the session has ended.
        """
        if self._site.rules.votes or self._site.rules.downvotes:
            await verdicts.check_vote(self._site, voter, vote)
        status, *reply = await self._run(VOTE_ON_COMMENT, number, voter, vote.value, PLACE_LIFETIME)
        if status == "forbidden":
            raise Forbidden("the poster's own vote stays", "value")
        if status == "closed":
            raise VotingClosed(number, int(reply[0]), kind="comment")
        if status not in ("voted", "same"):
            refuse(status, "comment", number)
        username, flat, *new_entry = reply
        key = keys.comment(self._site.partition_of_article(number), number)
        fields = records.pairs(flat) if flat else await hash_left_out(self._site.redis, key)
        if new_entry and fields:
            entry, noted, karma = new_entry
            values = {"poster": fields.get("poster", ""), "karma": str(karma), "value": str(vote.value)}
            await self._apply("comment_voted", username, number, values, entry, noted)
        if not fields:
            refuse("missing", "comment", number)
        return VotedOnComment(_record(number, fields), status == "voted", username)

    async def edit(self, number: int, editor: Actor, content: str) -> EditedComment:
        """
        Change the content of the editor's own comment. Users whom the new content mentions for the first time are
        notified. A new text that a rule of the site holds waits until a moderator approves it; only a comment that is
        pending anyway gets it at once. An earlier edit that waits is replaced.

        One round trip; one more before it if the session is stored in another partition, and one after it if users of
        other partitions are notified.

        Raises:
            Invalid: the content breaks a rule.
            NotFound: there is no such comment, or it was deleted.
            Forbidden: it has another poster, or it or its article was removed.
            RuleBroken: a rule of the site refuses the new text.
            Unauthenticated: the session has ended.
        """
        content = validation.comment(content)
        text = Candidate("comment", {"content": content}, {"subjectId": f"comment:{number}"}, is_new=False)
        verdict = await verdicts.on_edit(self._site, editor, text)
        mentioned = mentions.arguments(content, self._site.max_mentions)
        status, *reply = await self._run(EDIT_COMMENT, number, editor, content, verdict.words, *mentioned)
        if status == "broken":
            verdict.refuse()
        if status not in ("edited", "held"):
            refuse(status, "comment", number)
        flat, entry, noted, notified = reply
        key = keys.comment(self._site.partition_of_article(number), number)
        fields = records.pairs(flat) if flat else await hash_left_out(self._site.redis, key)
        if not fields:
            refuse("missing", "comment", number)
        comment = _record(number, fields)
        await apply_edit(self._site, comment.poster or "", number, entry, noted, notified)
        return EditedComment(comment, verdict.held_by)

    async def delete(self, number: int, deleter: Actor) -> None:
        """
        Delete the actor's own comment. While it has replies, a comment without content and poster is left.

        One round trip; one more before it if the session is stored in another partition. Deleted comments above it that
        have no replies left are removed, too: more than `STUBS_AT_ONCE` in some more round trips.

        Raises:
            NotFound, Forbidden: there is no such comment, or it has another poster.
            Unauthenticated: the session has ended.
        """
        status, *reply = await self._run(DELETE_COMMENT, number, deleter, STUBS_AT_ONCE)
        if status != "deleted":
            refuse(status, "comment", number)
        entry, noted, poster, karma, notified, next_stub = reply
        values = {"poster": poster, "karma": str(karma), "notified": notified}
        await self._apply("comment_deleted", poster, number, values, entry, noted)
        if next_stub:
            await removals.update_places(self._site, self._site.partition_of_article(number), next_stub)

    async def set_state(self, number: int, state: ContentState, actor: str = "") -> bool:
        """
        Hide a comment (PENDING), or show it (VISIBLE), without a moderator; moderators use `comment_moderation`. False
        if it has this state already, or a moderator has removed it.

        A hidden one leaves all counts, and lists, inboxes, searches and threads, where it stays as an empty place while
        there are visible comments below it; it comes back to the places that it would have had. One round trip; one
        more if its poster, or those whom it has notified, are in other partitions.

        Raises:
            NotFound: there is no such comment, or it was deleted.
        """
        status, *change = await self._run(SET_COMMENT_STATE, number, actor, state.value, STUBS_AT_ONCE)
        if status == "missing":
            refuse(status, "comment", number)
        if change:
            await apply_state(self._site, actor, number, change[0])
        return bool(status == "changed")

    async def _apply_post(
        self,
        username: str,
        comment: Comment,
        id: str,
        noted: Sequence[int | str],
        told: str,
        change: Sequence[Any] = (),
    ) -> None:
        """
        Apply the effects of a new comment in other partitions. `id` is its entry in the log, `noted` has each of these
        partitions, followed by the id of the last earlier entry with an effect there, and `told` is whom it notifies. A
        comment that is held has the `change` of its state, too: see `apply_state`.
        """
        values = {"time": str(comment.posted_at), "notified": told}
        await self._apply("commented", username, comment.number, values, id, noted)
        if change:
            await apply_state(self._site, username, comment.number, change)

    async def _apply(
        self, kind: str, actor: str, number: int, values: dict[str, str], id: str, noted: Sequence[int | str]
    ) -> None:
        await _apply(self._site, kind, actor, number, values, id, noted)

    async def _run_post(
        self,
        article: int,
        parent: int | None,
        poster: Actor,
        content: str,
        idempotency_key: str | None,
        verdict: str,
    ) -> list[Any]:
        site, parent_number = self._site, "" if parent is None else str(parent)
        # when the oldest article was posted that still takes comments
        oldest_open = "" if site.commenting_ms is None else site.clock() - site.commenting_ms
        return await self._run(
            COMMENT,
            article,
            poster,
            parent_number,
            content,
            actor_slot(poster),
            *idempotency.arguments(idempotency_key, str(article), parent_number, content),
            verdict,
            STUBS_AT_ONCE,
            oldest_open,
            *mentions.arguments(content, site.max_mentions),
        )

    async def _run(self, script: Script, number: int, actor: Actor, *arguments: Argument) -> list[Any]:
        """Run a script in the partition of an article or a comment."""
        site = self._site
        reply: list[Any] = await self._site.run(
            script, site.partition_of_article(number), actor, site.partitions, number, *arguments
        )
        return reply


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


async def apply_state(site: Site, actor: str, number: int, change: Sequence[Any]) -> None:
    """
    Complete the change of the state of a comment in other partitions, and for comments above it. `change` is what
    `set_comment_state` of comment_states.lua has returned.
    """
    id, noted, state, poster, time, karma, listed, notified, next_comment, announced = change
    values = {"state": state, "poster": poster, "time": time, "karma": str(karma), "listed": listed}
    values |= {"notified": notified, "announced": announced}
    await _apply(site, "comment_state_changed", actor, number, values, id, noted)
    if next_comment:
        await removals.update_places(site, site.partition_of_article(number), next_comment)


async def apply_edit(site: Site, poster: str, number: int, id: str, noted: Sequence[int | str], notified: str) -> None:
    """
    Notify users of other partitions of the new text of a comment. `id` is the entry of the edit in the log. The Lua
    function `change_comment` returns the others: `noted` says in which partitions the entry has effects (see
    `effects.new_entries`), `notified` whom it notifies, in the form of the field of this name.
    """
    await _apply(site, "comment_edited", poster, number, {"notified": notified}, id, noted)


async def _apply(
    site: Site, kind: str, actor: str, number: int, values: dict[str, str], id: str, noted: Sequence[int | str]
) -> None:
    """
    Apply the effects of a new entry of the log about a comment in other partitions. `values` are those of the entry,
    `noted` has each of these partitions, followed by the id of the last earlier entry with an effect there.
    """
    entry = Entry(site.partition_of_article(number), id, kind, site.clock(), actor, f"comment:{number}", values)
    await effects.apply_noted(site, entry, noted)


def _comment(number: int, flat: list[str]) -> Comment:
    return _record(number, records.pairs(flat))


def _record(number: int, fields: Mapping[str, str]) -> Comment:
    comment = records.comment(number, fields)
    assert comment is not None
    is_held = comment.state is ContentState.PENDING  # then who acts is its poster
    return HiddenComment(*comment) if is_held else UncachedComment(*comment)


def _refuse_parent(status: str, article: int, parent: int | None) -> NoReturn:
    if status == "missing":
        raise NotFound(f"article:{article} has no comment:{parent}", "parentId")
    raise Forbidden(f"comment:{parent} is not visible", "parentId")
