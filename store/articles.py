"""
Commands on articles. Each is one atomic script in the partition of the article's poster. A partition is a share of the
data; all that a user owns is in one. What a change means for users of other partitions are its effects.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from store import (
    effects,
    held_edits,
    idempotency,
    keys,
    links,
    mentions,
    recent_comments,
    records,
    removals,
    validation,
    verdicts,
)
from store.breaches import Candidate
from store.errors import (
    Forbidden,
    Invalid,
    VotingClosed,
    refuse,
)
from store.groups import Groups
from store.kept_answers import hash_left_out
from store.log import Entry
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.records import Article, UncachedArticle, Vote, make_tuple
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot
from store.validation import Faults

DELETE = Script("delete")
EDIT = Script("edit")
POST = Script("post")
REGROUP = Script("regroup")
VOTE = Script("vote")

# the functions that check a text, by the fields of an edit
RULES = {"title": validation.title, "link": validation.link, "content": validation.content}


@dataclass(frozen=True, slots=True)
class Draft:
    """An article to be posted. `checked` validates it and returns it as it is stored."""

    title: str
    link: str = ""
    content: str = ""
    groups: tuple[str, ...] = ()

    def checked(self) -> "Draft":
        faults = Faults()
        with faults:
            title = validation.title(self.title)
        with faults:
            link = self.link and validation.link(self.link)
            validation.link_or_content(self.link, self.content)
        with faults:
            content = self.content and validation.content(self.content)
        with faults:
            names = sorted(validation.groups(self.groups, "groups"))
            if len(names) > GROUPS_PER_ARTICLE:
                raise Invalid(f"an article is in at most {GROUPS_PER_ARTICLE} groups", "groups")
        faults.raise_any()
        return Draft(title, link, content, tuple(names))


@dataclass(frozen=True, slots=True)
class Posted:
    """
    What `Articles.post` returns. `replayed` says that an earlier post with the same input was found and nothing posted.
    Then `article` is None if Redis no longer has the article: it was deleted, or only the database has it. `held_by` is
    the rule of the site that holds it; None if none does, or if a moderator has approved it since.
    """

    article: Article | None
    replayed: bool
    poster: str
    number: int
    held_by: str | None = None


@dataclass(frozen=True, slots=True)
class Edited:
    """
    `held_by` is the rule of the site that holds the new text until a moderator approves it, None if none does. Until
    then a visible article keeps its old text.
    """

    article: Article
    held_by: str | None


@dataclass(frozen=True, slots=True)
class Voted:
    """The article after a vote by `voter`, a username. `changed` is False if the voter had voted the same before."""

    article: Article
    changed: bool
    voter: str


class Articles:
    """Commands on the articles of a store."""

    def __init__(self, site: Site, groups: Groups) -> None:
        self._site = site
        self._groups = groups

    async def post(self, poster: Actor, draft: Draft, idempotency_key: str | None = None) -> Posted:
        """
        Post an article and return it. If a rule of the site holds it, it is PENDING until a moderator approves it: then
        it is announced, to subscribers and to those whom it mentions, at the place of its posting time.

        One round trip, one more if users of other partitions are mentioned, and one more before it if groups are
        checked and there are several partitions; the article is in every order and in its groups at once. The poster is
        the first voter. The same idempotency key with the same input returns the first article for a day. Without a key
        the same input returns the first article for 10 seconds, unless it was deleted, so that a double click posts
        once. Those whom the content mentions are notified.

        Raises:
            Invalid: values break rules, or no article may be added to a group (see `GroupRules`); `others` has all
                faults but the first.
            IdempotencyMismatch: the key was used with other input.
            RuleBroken: a rule of the site refuses the text.
            Unauthenticated: the session has ended.
        """
        draft = _checked(draft, idempotency_key)
        texts = {"title": draft.title, "link": draft.link, "content": draft.content}
        text = Candidate("article", texts, {"groups": draft.groups}, is_new=True)
        async with verdicts.on_text(self._site, poster, text) as verdict:
            status, *reply = await self._run_post(poster, draft, idempotency_key, verdict.words)
            if status == "broken":
                verdict.refuse()
            verdict.is_posted = status == "posted"
        if status == "refused":
            self._groups.refuse(reply[0], "groups")
        if status not in ("posted", "replayed"):
            _refuse(status, number=0)  # of what is not posted
        number, flat, username, *new_entry = reply
        article = _article(int(number), flat) if flat else None
        if new_entry:
            await _apply(self._site, "posted", username, int(number), *new_entry)
        return Posted(article, status == "replayed", username, int(number), held_edits.rule_of(records.pairs(flat)))

    async def vote(self, number: int, voter: Actor, vote: Vote) -> Voted:
        """
        Set a voter's vote and return the article as it now stands.

        One round trip: `vote.lua` checks the session, counts and reads in a single step. One more before it if the
        session is stored in another partition. In the order SCORE an upvote is worth `vote_score` seconds (Redis in
        Action, ch. 1).

        Raises:
            NotFound: nothing was posted under this number.
            VotingClosed: posted more than `voting_window` seconds ago.
            Locked: the article is locked.
            Forbidden: the poster cannot withdraw or reverse the first vote, or the article is not visible.
            RuleBroken: the voter's account is too young, or has too little karma, by the rules of the site.
            Unauthenticated: the session has ended.
        """
        if self._site.rules.votes or self._site.rules.downvotes:
            await verdicts.check_vote(self._site, voter, vote)
        partition = self._site.partition_of_article(number)
        status, *reply = await self._site.run(VOTE, partition, voter, number, vote.value)
        if status == "forbidden":
            raise Forbidden("the poster's own vote stays", "value")
        if status == "closed":
            raise VotingClosed(number, int(reply[0]))
        if status not in ("voted", "same"):
            _refuse(status, number)
        username, flat = reply
        fields = records.pairs(flat) if flat else await hash_left_out(self._site.redis, keys.article(partition, number))
        if not fields:
            _refuse("missing", number)
        return Voted(_record(number, fields), status == "voted", username)

    async def edit(self, number: int, editor: Actor, changes: Mapping[str, str]) -> Edited:
        """
        Change the title, link or content of the editor's own article. An empty link or content is removed. Users whom
        the new content mentions for the first time are notified. A new text that a rule of the site holds waits until
        a moderator approves it; only an article that is pending anyway gets it at once. An earlier edit that waits is
        replaced.

        One round trip; one more before it if the session is stored in another partition, and one after it if users of
        other partitions are notified.

        Raises:
            Invalid: values break rules (see `checked_changes`), or neither link nor content would remain.
            NotFound, Forbidden: there is no such article, it has another poster, or it was removed.
            RuleBroken: a rule of the site refuses the new text.
            Unauthenticated: the session has ended.
        """
        checked = checked_changes(changes)
        text = Candidate("article", checked, {"subjectId": f"article:{number}"}, is_new=False)
        verdict = await verdicts.on_edit(self._site, editor, text)
        flat = [text for change in checked.items() for text in change]
        limit, *mentioned = mentions.arguments(checked.get("content", ""), self._site.max_mentions)
        digest = links.digest(checked.get("link", ""))
        arguments = (self._site.partitions, number, digest, limit, verdict.words, len(checked))
        partition = self._site.partition_of_article(number)
        status, *reply = await self._site.run(EDIT, partition, editor, *arguments, *flat, *mentioned)
        if status == "broken":
            verdict.refuse()
        if status not in ("edited", "held"):
            _refuse(status, number)
        stored, *entry = reply
        article = await self._stored(number, stored)
        await apply_edit(self._site, article.poster, number, *entry)
        return Edited(article, verdict.held_by)

    async def regroup(self, number: int, regrouper: Actor, add: Iterable[str], remove: Iterable[str]) -> Article:
        """
        Add the actor's own article to groups, then remove it from others. A group in both is removed.

        One round trip; one more before it if the session is stored in another partition, and one if groups are checked
        and there are several partitions. If it has comments, also those of `recent_comments.relist`.

        Raises:
            Invalid: names break a rule (see `checked_names`), the article would be in more than 10 groups, or no
                article may be added to one of them (see `GroupRules`).
            NotFound, Forbidden: there is no such article, it has another poster or is not visible, or a moderator took
                it out of one of the groups.
            Locked: the article is locked.
            Unauthenticated: the session has ended.
        """
        added, removed = checked_names(add, remove)
        names = (" ".join(added), " ".join(removed))
        partition = self._site.partition_of_article(number)
        to_check = await self._groups.to_check(added)
        status, *reply = await self._site.run(
            REGROUP, partition, regrouper, number, *names, GROUPS_PER_ARTICLE, *to_check
        )
        if status == "refused":
            self._groups.refuse(reply[0], "add")
        if status == "taken_out":
            raise Forbidden(f"a moderator took article:{number} out of the group {reply[0]}", "add")
        if not reply:
            _refuse(status, number)
        flat, has_comments = reply
        if has_comments:
            await recent_comments.relist(self._site, number)
        return await self._stored(number, flat)

    async def delete(self, number: int, deleter: Actor) -> None:
        """
        Delete the actor's own article and everything derived from it.

        One round trip; one more before it if the session is stored in another partition, and one after it if users of
        other partitions were notified. If it has comments, some more: see `removals.remove_thread`.

        Raises:
            NotFound, Forbidden: there is no such article, or it has another poster.
            Unauthenticated: the session has ended.
        """
        partition = self._site.partition_of_article(number)
        status, *reply = await self._site.run(DELETE, partition, deleter, self._site.partitions, number)
        if status != "deleted":
            _refuse(status, number)
        has_comments, *new_entry = reply
        nobody = ""  # those whose notifications end are told nothing, so no actor is needed
        await _apply(self._site, "deleted", nobody, number, *new_entry)
        if has_comments:
            await removals.remove_thread(self._site, number)

    async def _stored(self, number: int, flat: list[str]) -> Article:
        """An article as a script replies it; as it is now where a kept answer leaves that out, in one round trip."""
        key = keys.article(self._site.partition_of_article(number), number)
        fields = records.pairs(flat) if flat else await hash_left_out(self._site.redis, key)
        if not fields:
            _refuse("missing", number)
        return _record(number, fields)

    async def _run_post(self, poster: Actor, draft: Draft, idempotency_key: str | None, verdict: str) -> list[Any]:
        slot = actor_slot(poster)
        reply: list[Any] = await self._site.run(
            POST,
            slot % self._site.partitions,
            poster,
            self._site.partitions,
            draft.title,
            draft.link,
            draft.content,
            " ".join(draft.groups),
            slot,
            *idempotency.arguments(idempotency_key, draft.title, draft.link, draft.content, *draft.groups),
            links.digest(draft.link),
            *await self._groups.to_check(draft.groups),
            verdict,
            *mentions.arguments(draft.content, self._site.max_mentions),
        )
        return reply


async def apply_edit(site: Site, poster: str, number: int, id: str, noted: Sequence[int | str], notified: str) -> None:
    """
    Notify users of other partitions of the new text of an article. `id` is the entry of the edit in the log. The Lua
    function `change_article` returns the others: `noted` says in which partitions the entry has effects (see
    `effects.new_entries`), `notified` whom it notifies, in the form of the field of this name.
    """
    await _apply(site, "edited", poster, number, id, noted, notified)


async def _apply(
    site: Site, kind: str, actor: str, number: int, id: str, noted: Sequence[int | str], notified: str
) -> None:
    """
    Apply the effects that a new entry about an article has in other partitions: those on inboxes.

    `id` is the entry's. `noted` has each of these partitions, followed by the id of the last earlier entry with an
    effect there. `notified` says whose inboxes change, in the form of the field of this name.
    """
    partition, now, values = site.partition_of_article(number), site.clock(), {"notified": notified}
    await effects.apply_noted(site, Entry(partition, id, kind, now, actor, f"article:{number}", values), noted)


def checked_changes(changes: Mapping[str, str]) -> dict[str, str]:
    """
    The changes of an edit as they are stored.

    Raises:
        Invalid: values break rules; `others` has all faults but the first.
    """
    faults, checked = Faults(), {}
    for field, text in changes.items():
        with faults:
            checked[field] = RULES[field](text) if text or field == "title" else ""
    faults.raise_any()
    return checked


def checked_names(add: Iterable[str], remove: Iterable[str]) -> tuple[list[str], list[str]]:
    """
    The names of groups to add to and to remove from, as they are stored.

    Raises:
        Invalid: names break the rule; `others` has all faults but the first.
    """
    faults = Faults()
    with faults:
        added = validation.groups(add, "add")
    with faults:
        removed = validation.groups(remove, "remove")
    faults.raise_any()
    return added, removed


def _checked(draft: Draft, idempotency_key: str | None) -> Draft:
    faults = Faults()
    with faults:
        checked = draft.checked()
    with faults:
        validation.check_idempotency_key(idempotency_key)
    faults.raise_any()
    return checked


def _article(number: int, flat: list[str]) -> Article:
    return _record(number, records.pairs(flat))


def _record(number: int, fields: Mapping[str, str]) -> Article:
    article = records.article(number, fields)
    assert article is not None
    return make_tuple(UncachedArticle, article)


def _refuse(status: str, number: int) -> NoReturn:
    match status:
        case "bare":
            raise Invalid("an article has a link, content or both", "link")
        case "crowded":
            raise Invalid(f"an article is in at most {GROUPS_PER_ARTICLE} groups", "add")
    refuse(status, "article", number)
