"""
Appeals of users against actions of moderators, as docs/moderation.md describes them, and the queue in which they wait
for an answer.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Mapping
from typing import Any

from tests.soak import inboxes, moderation
from tests.soak.flags import chosen_queue
from tests.soak.input_checks import Refused, check, is_id
from tests.soak.model import Model
from tests.soak.pages import ListingEntry, Page, PageArguments, cut
from tests.soak.records import Action, Appeal, Article, Comment, User

LONGEST = 5_000  # characters


def appeal(model: Model, token: str | None, given: Mapping[str, Any]) -> Action:
    """Appeal against an action. Only the user whom it concerns may, even while banned."""
    number, text = _checked(token, given)
    author, action = model.actor(token), model.actions.get(number)
    concerned = _concerned(model, action)
    if action is None or concerned is None:
        raise Refused("NOT_FOUND", "actionId")
    if concerned is not author:
        raise Refused("FORBIDDEN", "actionId")
    check(action.kind != "REVERT" and (action.appeal is None or action.appeal.text == text), "actionId")
    if action.appeal is None and action.reverted_by is not None:
        raise Refused("ALREADY_REVERTED", "actionId")
    if action.appeal is None:
        action.appeal = Appeal(author, model.now, text, _groups(action))
        model.version += 1
        model.reached.count("appeals")
        model.reached.count("appeals of the banned", model.ban_of(author, group=None) is not None)
    return action


def answer(model: Model, token: str | None, given: Mapping[str, Any]) -> Action:
    """Answer an appeal. Only moderators who could revert the action may. Its user is notified once more."""
    number, text = _checked(token, given)
    actor, action = model.actor(token), model.actions.get(number)
    moderation.require_role(model, actor)
    if action is None or action.appeal is None or _concerned(model, action) is None:
        raise Refused("NOT_FOUND", "actionId")
    known = action.appeal
    if not _may_revert(actor, action) or known.author is actor:
        raise Refused("NOT_A_MODERATOR", "actionId")
    if known.answered_by is actor and known.answer == text:
        return action
    if known.answered_by is not None:
        check(action.reverted_by is not None, "actionId")
        raise Refused("ALREADY_REVERTED", "actionId")
    known.answer, known.answered_by, known.answered_at = text, actor, model.now
    action.notified = known.author, inboxes.unseen_time(model, known.author)
    model.version += 1
    model.reached.count("appeals answered")
    return action


def queue(model: Model, viewer: User, group: str | None, paging: PageArguments) -> Page | None:
    """The actions whose appeals wait, the oldest first; None if the viewer does not moderate there."""
    chosen = chosen_queue(viewer, group)
    if chosen is None:
        return None
    paging.check()
    waiting = [
        ListingEntry((each.appeal.at, each.number), each) for each in model.actions.values()
        if each.appeal and _waits(model, each, each.appeal)
        and (chosen.groups is None or chosen.groups & each.appeal.groups)
    ]  # fmt: skip
    listing = ("appeals", *chosen.name)
    waiting.sort(key=lambda entry: entry.key)
    model.reached.count("queues of appeals", bool(waiting))
    return cut("ModerationAction", listing, waiting, paging, paging.position(listing), rising=True)


def _waits(model: Model, action: Action, appeal: Appeal) -> bool:
    return appeal.answered_by is None and _concerned(model, action) is not None


def _concerned(model: Model, action: Action | None) -> User | None:
    """The user whom an action concerns; None if its subject is gone."""
    if action is None or isinstance(action.subject, User):
        return action and action.subject  # type: ignore[return-value]  # it is a user
    kept = model.articles if isinstance(action.subject, Article) else model.comments
    return action.subject.poster if action.subject.number in kept else None


def _groups(action: Action) -> frozenset[str]:
    """The groups any of whose moderators could revert an action; empty if only those of the whole site could."""
    subject = action.subject
    if isinstance(subject, User):
        return frozenset({action.group} if action.kind == "BAN" and action.group else ())
    if action.group:
        return frozenset({action.group})
    groups = subject.article.groups if isinstance(subject, Comment) else subject.groups
    return frozenset(groups if isinstance(subject, Comment) or len(groups) == 1 else ())


def _may_revert(actor: User, action: Action) -> bool:
    if isinstance(action.subject, User):
        is_of_role = action.role is not None
        return actor.is_admin if is_of_role else actor.moderates([action.group] if action.group else [])
    of_group = isinstance(action.subject, Article) and action.kind == "REMOVE" and action.group is not None
    return moderation.may_act(actor, action.subject, action.group, of_group=of_group)


def _checked(token: str | None, given: Mapping[str, Any]) -> tuple[int, str]:
    check(is_id("action", given["actionId"]), "actionId")
    moderation.require_token(token)
    text = given["text"].strip()
    check(1 <= len(text) <= LONGEST, "text")
    return int(given["actionId"].partition(":")[2]), text
