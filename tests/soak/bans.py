"""
Bans, as docs/moderation.md describes them: actions by which moderators keep users from writing, in a group or the whole
site. A ban stands until it is reverted or its end is over.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.soak import annulments, banned_texts, moderation
from tests.soak.input_checks import Refused, check, check_all
from tests.soak.model import Model
from tests.soak.moderation import Done, NewNumber, Texts
from tests.soak.records import Action, Annulment, User
from tests.soak.requests import milliseconds


def ban(model: Model, token: str | None, given: Mapping[str, Any], number: NewNumber) -> Done:
    """Ban a user from the site, which ends all of their sessions, or from a group."""
    name = moderation.username(given["userId"])
    actor, until = model.actor(token), given.get("until")
    annuls_votes = bool(given.get("annulVotes"))
    check(not annuls_votes or given.get("group") is None, "annulVotes")
    ends = None if until is None else milliseconds(until)
    texts = _checked(model, given, ends)
    moderation.require_role(model, actor)
    groups, user = [texts.group] if texts.group else [], model.account(name)
    require_moderator(actor, user, groups)
    assert user
    if not actor.outranks(user, groups):
        raise Refused("NOT_A_MODERATOR", "userId")
    standing, removes_texts = model.ban_of(user, texts.group), bool(given.get("removeTexts"))
    if standing is not None and not _ends_later(ends, standing.until) and not _adds(given, standing):
        model.reached.count("bans that end no later than others")
        return standing, False
    more = {"until": ends, "removes_texts": removes_texts}
    action = moderation.record(model, number, "BAN", user, actor, texts, **more)
    model.reached.count(f"bans from {'a group' if texts.group else 'the site'}")
    if texts.group is None:
        model.sessions = {key: other for key, other in model.sessions.items() if other is not user}
    if removes_texts:
        banned_texts.remove(model, action)
    if annuls_votes:
        annulments.annul(model, action, Annulment(0, model.now))
        model.reached.count("votes annulled with a ban", bool(action.annulment and action.annulment.held))
    return action, True


def _adds(given: Mapping[str, Any], standing: Action) -> bool:
    """Whether a ban with this input removes texts or annuls votes, which the standing one does not."""
    adds_texts = bool(given.get("removeTexts")) and not standing.removes_texts
    return adds_texts or (bool(given.get("annulVotes")) and standing.annulment is None)


def revert(
    model: Model, actor: User, action: Action, texts: Texts, number: NewNumber, *, keeps_votes: bool = False
) -> Action:
    """
    Revert a ban. With `keeps_votes`, votes that it has annulled stay so, until a second revert restores them and
    nothing else.
    """
    user = action.subject
    assert isinstance(user, User)
    require_moderator(actor, user, [action.group] if action.group else [])
    is_second = action.has_kept_votes and not keeps_votes
    if not is_second:
        moderation.require_unreverted(action)
    before = model.ban_of(user, action.group)
    reverted = moderation.record_revert(model, actor, action, texts, number)
    if is_second:
        annulments.settle_reverted(model, action, keeps=False)
        return reverted
    if action.removes_texts:
        banned_texts.restore(model, action, reverted)
    if action.annulment:
        annulments.settle_reverted(model, action, keeps=keeps_votes)
    model.reached.count("reverts of bans")
    model.reached.count("reverts of one of several bans", before is not None and before is not action)
    return reverted


def require_moderator(actor: User, user: User | None, groups: Iterable[str]) -> None:
    """Refuse an actor who does not moderate any of the groups, or who is the user."""
    if not actor.moderates(groups):
        raise Refused("NOT_A_MODERATOR", "group")
    if user is None:
        raise Refused("NOT_FOUND", "userId")
    if user is actor:
        raise Refused("NOT_A_MODERATOR", "userId")


def _checked(model: Model, given: Mapping[str, Any], ends: int | None) -> Texts:
    reason, note = (given.get("reason") or "").strip(), (given.get("note") or "").strip()
    check_all(
        (given.get("group") is None or moderation.is_group(given["group"]), "group"),
        (ends is None or ends > model.now, "until"),
        (1 <= len(reason) <= moderation.LONGEST_REASON, "reason"),
        (len(note) <= moderation.LONGEST_NOTE, "note"),
    )
    return moderation.checked_texts(given)


def _ends_later(ends: int | None, other: int | None) -> bool:
    return other is not None and (ends is None or ends > other)
