"""
Annulled votes, as docs/moderation.md describes them: an action of a moderator keeps votes of a user from counting until
it is reverted. A vote that several actions hold counts once all are reverted. The server annuls and restores votes in
steps, for whose end the soak waits.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tests.soak import comments, moderation
from tests.soak.input_checks import Refused, check_all
from tests.soak.model import Model
from tests.soak.moderation import Done, NewNumber, Texts
from tests.soak.records import Action, AnnulledVote, Annulment, Article, Comment, User, set_vote, vote_of
from tests.soak.requests import milliseconds

Subject = Article | Comment


def annul_votes(model: Model, token: str | None, given: Mapping[str, Any], number: NewNumber) -> Done:
    """
    Annul all votes of a user, or those of a span of time. If an action that stands annuls all of these already, return
    that one.
    """
    name, actor = moderation.username(given["userId"]), model.actor(token)
    span, texts = _checked(model, given)
    moderation.require_role(model, actor)
    user = model.account(name)
    _require_moderator(actor, user)
    assert user
    if not actor.outranks(user, ()):
        raise Refused("NOT_A_MODERATOR", "userId")
    for known in reversed(user.actions):
        if known.annulment and not known.reverted_by and _contains(known.annulment, span):
            model.reached.count("annulments of what is annulled already")
            return known, False
    action = moderation.record(model, number, "ANNUL_VOTES", user, actor, texts)
    annul(model, action, span)
    return action, True


def revert(model: Model, actor: User, action: Action, texts: Texts, number: NewNumber) -> Action:
    user = action.subject
    assert isinstance(user, User)
    _require_moderator(actor, user)
    moderation.require_unreverted(action)
    reverted = moderation.record_revert(model, actor, action, texts, number)
    settle_reverted(model, action, keeps=False)
    return reverted


def annul(model: Model, action: Action, span: Annulment) -> None:
    """
    Annul the votes of a span of time, which the action then holds: they do not count. One that it holds already stays
    as it is.
    """
    action.annulment = span
    user = action.subject
    assert isinstance(user, User)
    for subject in _voted_by(model, user, span):
        before = subject.annulled.get(user, AnnulledVote(vote_of(subject, user), ()))
        if action in before.actions:
            continue
        if not before.actions:
            _count(model, subject, user, "NONE")
        subject.annulled[user] = before._replace(actions=(*before.actions, action))
        model.reached.count("votes held by two actions", bool(before.actions))
        _count_reach(model, subject, "annulled")
    span.held = span.total = sum(_is_held(each, user, action) for each in _in_order(model))
    model.version += 1


def settle_reverted(model: Model, action: Action, *, keeps: bool) -> None:
    """Let the votes of an action that was reverted count again or, with `keeps`, stay annulled."""
    assert action.annulment
    if keeps:
        action.annulment.is_kept = True
        annul(model, action, action.annulment)
        model.reached.count("votes that stay annulled after a revert", bool(action.annulment.held))
    else:
        model.reached.count(
            "votes restored by a second revert", action.annulment.is_kept and bool(action.annulment.held)
        )
        action.annulment.is_kept = False
        _restore(model, action, action.annulment)


def _restore(model: Model, action: Action, span: Annulment) -> None:
    user, restored = action.subject, 0
    assert isinstance(user, User)
    for subject in _in_order(model):
        if not _is_held(subject, user, action):
            continue
        restored, vote = restored + 1, subject.annulled[user]
        others = tuple(each for each in vote.actions if each is not action)
        if others:
            subject.annulled[user] = vote._replace(actions=others)
            model.reached.count("votes that another action still holds")
            continue
        del subject.annulled[user]
        if vote.value != "NONE":
            _count(model, subject, user, vote.value)
            _count_reach(model, subject, "restored")
    span.held, span.total, span.is_restored = 0, restored, True
    model.version += 1


def _voted_by(model: Model, user: User, span: Annulment) -> Iterator[Subject]:
    """What others have posted and a user has voted on in a span of time."""
    for subject in _in_order(model):
        at = subject.cast_at.get(user)
        if at is not None and span.since <= at <= span.until and subject.poster not in (None, user):
            yield subject


def _is_held(subject: Subject, user: User, action: Action) -> bool:
    return user in subject.annulled and action in subject.annulled[user].actions


def _in_order(model: Model) -> Iterator[Subject]:
    """
    Articles, and then comments in the order in which a partition annuls votes on them: each of these is noted as the
    next move in the threads of the partition.
    """
    yield from model.articles.values()
    yield from sorted(model.comments.values(), key=lambda each: each.number)


def _count(model: Model, subject: Subject, user: User, value: str) -> None:
    """Let a vote of this value count, or none."""
    up, down = len(subject.up), len(subject.down)
    set_vote(subject, user, value)
    if isinstance(subject, Comment):
        comments.note_move(model, subject, up, down)


def _require_moderator(actor: User, user: User | None) -> None:
    """Refuse an actor who is no moderator of the site, or is the user."""
    if not actor.moderates_site:
        raise Refused("NOT_A_MODERATOR")
    if user is None:
        raise Refused("NOT_FOUND", "userId")
    if user is actor:
        raise Refused("NOT_A_MODERATOR", "userId")


def _checked(model: Model, given: Mapping[str, Any]) -> tuple[Annulment, Texts]:
    since, until = (given.get(name) and milliseconds(given[name]) for name in ("from", "to"))
    end = model.now if until is None else min(until, model.now)
    reason, note = (given.get("reason") or "").strip(), (given.get("note") or "").strip()
    check_all(
        (since is None or since <= end, "from"),
        (1 <= len(reason) <= moderation.LONGEST_REASON, "reason"),
        (len(note) <= moderation.LONGEST_NOTE, "note"),
    )
    return Annulment(since or 0, end), Texts(group=None, reason=reason, note=note or None)


def _contains(known: Annulment, span: Annulment) -> bool:
    """Whether one span of time contains another one."""
    return known.since <= span.since and known.until >= span.until


def _count_reach(model: Model, subject: Subject, what: str) -> None:
    reached, kind = model.reached, type(subject).__name__.lower()
    reached.count(f"votes on {kind}s {what}")
    is_open = model.has_voters(subject)
    reached.count(f"votes on open {kind}s {what}", is_open)
    reached.count(f"votes on closed {kind}s {what}", not is_open)
    reached.count(f"votes on archived articles {what}", subject.number in model.archived)
    has_left = isinstance(subject, Comment) and subject.article.number in model.archived
    reached.count(f"votes on comments that have left {what}", has_left)
    reached.count(f"votes on what is removed {what}", not subject.is_visible)
