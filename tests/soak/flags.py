"""
Flags that users set on texts, as docs/moderation.md describes them, and the queue in which moderators see what is
flagged.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.soak import states
from tests.soak.input_checks import Refused, check, is_id, number_of
from tests.soak.model import Model
from tests.soak.pages import ListingEntry, Page, PageArguments, Position, cut, descending
from tests.soak.records import Article, Comment, Flag, Reading, User, newest_standing, standing

LONGEST_NOTE = 5_000  # characters


class QueueEdge(NamedTuple):
    """
    A text in a queue. `flags` are those that the viewer sees, and `has_names` is whether they see who has set them.
    `held_by` is the rule that holds a pending text. A comment that is not visible is a `Reading`, as it is read by its
    id.
    """

    cursor: Position
    node: Article | Comment | Reading
    flags: list[tuple[User, Flag]]
    has_names: bool
    held_by: str | None

    @property
    def since(self) -> int:
        return int(self.cursor.key[0])


@dataclass(frozen=True)
class Queue:
    """The groups whose texts wait in a queue for moderators; None for the whole site."""

    groups: frozenset[str] | None

    @property
    def name(self) -> tuple[str, ...]:
        """The name in its cursors. All queues of several groups have the same, so one takes the cursors of another."""
        if self.groups is None:
            return ("all",)
        return tuple(self.groups) if len(self.groups) == 1 else ("moderated", "")

    def has(self, flag: Flag) -> bool:
        return self.groups is None or bool(self.groups & flag.groups)


def flag(
    model: Model, token: str | None, given: Mapping[str, Any], reason: str | None
) -> tuple[Article | Comment | None, bool]:
    """
    Flag an article or a comment; without a reason, withdraw the flag. Returns the text, or None if the flag hides it,
    and whether anything changed.
    """
    id = given["subjectId"]
    check(is_id("article", id) or is_id("comment", id), "subjectId")
    if token is None:
        raise Refused("UNAUTHENTICATED")
    note = (given.get("note") or "").strip()
    check(len(note) <= LONGEST_NOTE, "note")
    user = model.writer(token)
    if reason is not None:
        model.verdicts.require_flag(user)
    subject = _subject(model, id)
    is_shown = subject.is_visible if isinstance(subject, Article) else subject.is_shown
    if not is_shown or subject.poster is user:
        raise Refused("FORBIDDEN", "subjectId")
    model.require_not_banned(user, _article(subject).groups)
    before = subject.flags.get(user)
    if before is not None and before.cleared_by is not None:
        model.reached.count("flags that were cleared")
        return subject, False
    if (before and (before.reason, before.note) == (reason, note or None)) or (before is None and reason is None):
        return subject, False
    if reason is None:
        del subject.flags[user]
        model.reached.count("flags withdrawn")
    else:
        at = before.at if before else model.now
        rules = model.policy.rules
        has_karma = rules is None or model.karma(user) >= rules.flags.least_karma
        model.reached.count("flags of those with too little karma", not has_karma)
        counts = has_karma and not any(model.bans_of(user))
        subject.flags[user] = Flag(at, reason, note or None, frozenset(_article(subject).groups), counts=counts)
        model.reached.count("flags replaced" if before else "flags")
        has_left = isinstance(subject, Comment) and subject.article.number in model.archived
        model.reached.count("flags of comments that have left", has_left)
    model.version += 1
    if reason is not None and _hides(model, subject, user):
        model.reached.count("texts that flags hide")
        states.set_state(model, subject, "PENDING")
        return None, True
    return subject, True


def _hides(model: Model, subject: Article | Comment, flagger: User) -> bool:
    """
    Whether the flags on a text hide it, by the rules, now that `flagger` has set one. Nothing hides texts of users who
    have a role, and texts that were approved since they were edited.
    """
    poster, counting = subject.poster, [user for user, flag in standing(subject.flags) if flag.counts]
    assert poster
    if model.policy.rules is None or flagger not in counting or poster.roles:
        return False
    rule = model.policy.rules.flags
    counted = sum(not any(model.bans_of(user)) for user in counting)
    approval = newest_standing(subject.decisions, "APPROVE")
    is_approved = approval is not None and approval.at >= (subject.edited_at or 0)
    is_enough = counted >= rule.hide_at and counted * rule.votes_per_flag >= subject.votes
    return is_enough and not is_approved


def _rule_of(subject: Article | Comment) -> str | None:
    """The rule that holds a pending text, or the edit of a visible one."""
    return subject.rule if subject.state == "PENDING" else subject.held_edit and subject.held_edit.rule


def queue(model: Model, viewer: User, kind: str, group: str | None, paging: PageArguments) -> Page | None:
    """
    The texts that are flagged and visible, by the time of the first flag; or those that are pending, by the time when
    they were posted, and those with an edit that waits, by its time. None if the viewer does not moderate there.
    """
    chosen = chosen_queue(viewer, group)
    if chosen is None:
        return None
    paging.check()
    waiting = list(_waiting(model, chosen) if kind == "FLAGGED" else _pending(model, chosen))
    model.reached.count("queues of what is pending", kind == "PENDING" and bool(waiting))
    entries = descending([ListingEntry((at, each.number), each) for at, each in waiting])
    listing = ("queue", kind, *chosen.name)
    page = cut("Queue", listing, entries, paging, paging.position(listing))
    page.edges = page.ends = [
        QueueEdge(
            edge.cursor,
            _as_read(edge.node),
            _shown(edge.node, viewer, chosen),
            viewer.moderates_site,
            _rule_of(edge.node) if kind == "PENDING" else None,
        )
        for edge in page.edges
    ]
    model.reached.count(f"queues of {'the site' if viewer.moderates_site else 'groups'}", bool(entries))
    return page


def _as_read(subject: Article | Comment) -> Article | Comment | Reading:
    return Reading(subject) if isinstance(subject, Comment) and not subject.is_visible else subject


def chosen_queue(viewer: User, group: str | None) -> Queue | None:
    """The queue that a moderator asks for; None if they do not moderate there."""
    if group is not None:
        return Queue(frozenset({group})) if viewer.moderates([group]) else None
    if viewer.moderates_site:
        return Queue(None)
    own = frozenset(of for _, of in viewer.roles if of)
    return Queue(own) if own else None


def _waiting(model: Model, chosen: Queue) -> Iterable[tuple[int, Article | Comment]]:
    comments = (each for each in model.comments.values() if each.is_shown)
    subjects: list[Article | Comment] = [*model.visible(), *comments]
    for each in subjects:
        flags = [flag for _, flag in standing(each.flags)]
        if any(map(chosen.has, flags)):
            yield flags[0].at, each


def _pending(model: Model, chosen: Queue) -> Iterable[tuple[int, Article | Comment]]:
    subjects: list[Article | Comment] = [*model.articles.values(), *model.comments.values()]
    for each in subjects:
        is_in_queue = chosen.groups is None or bool(chosen.groups & _article(each).groups)
        if each.state == "PENDING" and is_in_queue:
            yield each.posted_at, each
        elif each.held_edit and is_in_queue:
            model.reached.count("held edits in queues")
            yield each.held_edit.at, each


def _shown(subject: Article | Comment, viewer: User, chosen: Queue) -> list[tuple[User, Flag]]:
    """The flags that a moderator sees: all, or those in the groups of the queue."""
    is_all = viewer.moderates_site
    return [(user, flag) for user, flag in standing(subject.flags) if is_all or chosen.has(flag)]


def _subject(model: Model, id: str) -> Article | Comment:
    kind = id.partition(":")[0]
    number = number_of(id, kind)
    subject: Article | Comment | None = (model.articles if kind == "article" else model.comments).get(number)
    if subject is None or subject.poster is None:
        raise Refused("NOT_FOUND", "subjectId")
    return subject


def _article(subject: Article | Comment) -> Article:
    return subject.article if isinstance(subject, Comment) else subject
