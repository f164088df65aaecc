"""Bans in the model, as docs/moderation.md describes them: what the actions say, compared with the clock."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.soak import banned_texts, moderation
from tests.soak.model import Model, Refused, check_all
from tests.soak.moderation import Done, NewNumber, Texts
from tests.soak.records import Action, User
from tests.soak.requests import milliseconds


def ban(model: Model, token: str | None, given: Mapping[str, Any], number: NewNumber) -> Done:
    """From the site, which ends all sessions of the user, or from a group."""
    name = moderation.username(given["userId"])
    actor, until = model.actor(token), given.get("until")
    ends = None if until is None else milliseconds(until)
    texts = _checked(model, given, ends)
    if not actor.roles:
        raise Refused("NOT_A_MODERATOR")
    model.require_not_banned(actor)
    groups, user = [texts.group] if texts.group else [], model.users.get(name)
    _require_moderator(actor, user, groups)
    assert user
    if not actor.outranks(user, groups):
        raise Refused("NOT_A_MODERATOR", "userId")
    standing, removes_texts = model.ban_of(user, texts.group), bool(given.get("removeTexts"))
    adds_texts = removes_texts and standing is not None and not standing.removes_texts
    if standing is not None and not _ends_later(ends, standing.until) and not adds_texts:
        model.reached.count("bans that end no later than others")
        return standing, False
    more = {"until": ends, "removes_texts": removes_texts}
    action = moderation.record(model, number, "BAN", user, actor, texts, **more)
    model.reached.count(f"bans from {'a group' if texts.group else 'the site'}")
    if texts.group is None:
        model.sessions = {key: other for key, other in model.sessions.items() if other is not user}
    if removes_texts:
        banned_texts.remove(model, action)
    return action, True


def revert(model: Model, actor: User, action: Action, texts: Texts, number: NewNumber) -> Action:
    user = action.subject
    assert isinstance(user, User)
    _require_moderator(actor, user, [action.group] if action.group else [])
    moderation.require_unreverted(action)
    before = model.ban_of(user, action.group)
    reverted = moderation.record_revert(model, actor, action, texts, number)
    if action.removes_texts:
        banned_texts.restore(model, action, reverted)
    model.reached.count("reverts of bans")
    model.reached.count("reverts of one of several bans", before is not None and before is not action)
    return reverted


def _require_moderator(actor: User, user: User | None, groups: Iterable[str]) -> None:
    """A moderator of the place, who is not the user."""
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
