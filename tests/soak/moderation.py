"""
What moderators do, as docs/moderation.md describes it: roles, and actions on articles and comments.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.soak import held_edits, inboxes, states
from tests.soak.input_checks import GROUP, PSEUDONYM, USERNAME, Refused, check, is_id, number_of
from tests.soak.model import GROUPS_OF_AN_ARTICLE, Model
from tests.soak.records import Action, Article, Comment, User, named, newest_standing, standing

LONGEST_REASON, LONGEST_NOTE = 1_000, 5_000  # characters
PURGED = "[purged]"
NewNumber = Callable[[User], int]  # gives the number that the server has assigned to a new action of a moderator
Done = tuple[Action | None, bool]  # the new action, or one that has done it already, and whether anything has changed


class Texts(NamedTuple):
    """What a moderator writes with an action, checked. `note` is for other moderators only."""

    group: str | None
    reason: str
    note: str | None


def remove(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    """Remove an article or a comment; with a group, an article is taken out of that group only."""
    kind = _kind(given["subjectId"], "subjectId")
    actor, texts = model.actor(token), checked_texts(given)
    subject = _subject(model, actor, kind, given["subjectId"])
    of_group = isinstance(subject, Article) and texts.group is not None
    _require_rank(actor, subject, texts.group, of_group=of_group)
    if isinstance(subject, Article) and texts.group is not None:
        return _take_out(model, actor, subject, texts, number_of_new)
    check(texts.group is None or texts.group in _article(subject).groups, "group")
    if subject.state == "REMOVED":
        return states.decided(subject).action, False
    return _decide(model, actor, subject, "REMOVE", texts, number_of_new), True


def approve(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    kind, texts = _kind(given["subjectId"], "subjectId", token), checked_texts(given, is_optional=True)
    actor = model.actor(token)
    subject = _subject(model, actor, kind, given["subjectId"])
    _require_rank(actor, subject, group=None)
    check(newest_standing(subject.actions, "PURGE") is None, "subjectId")
    decision = states.decided(subject)
    if subject.is_visible and decision.kind == "APPROVE" and not (standing(subject.flags) or subject.held_edit):
        return decision.action, False
    action = _decide(model, actor, subject, "APPROVE", texts, number_of_new)
    held_edits.put_in_place(model, subject)
    _clear_flags(model, subject, before=None, decision=action)
    return action, True


def reject_edit(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    """Discard the edit of a text that a rule holds."""
    kind, texts = _kind(given["subjectId"], "subjectId", token), checked_texts(given)
    actor = model.actor(token)
    subject = _subject(model, actor, kind, given["subjectId"])
    _require_rank(actor, subject, group=None)
    if subject.held_edit is None:
        return newest_standing(subject.actions, "REJECT_EDIT"), False
    subject.held_edit = None
    return record(model, number_of_new, "REJECT_EDIT", subject, actor, texts), True


def lock(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    number_of(given["articleId"])
    require_token(token)
    texts = checked_texts(given)
    actor = model.actor(token)
    article = _subject(model, actor, "article", given["articleId"], "articleId")
    _require_rank(actor, article, group=None)
    check(texts.group is None or texts.group in article.groups, "group")
    known = newest_standing(article.actions, "LOCK")
    if known is not None:
        return known, False
    return record(model, number_of_new, "LOCK", article, actor, texts), True


def grant(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    return _set_role(model, token, "GRANT_ROLE", given, number_of_new)


def revoke(model: Model, token: str | None, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    return _set_role(model, token, "REVOKE_ROLE", given, number_of_new)


def grant_at_shell(model: Model, username: str, number: int) -> None:
    """`upvote role grant NAME ADMIN`. `number` is that of the action."""
    user, texts = model.users[username.lower()], Texts(None, "by a command of the shell", note=None)
    record(model, lambda moderator: number, "GRANT_ROLE", user, model.operator, texts, role="ADMIN")
    write_role(user, "ADMIN", group=None)


def purge_at_shell(model: Model, text: Article | Comment, number: int) -> None:
    """`upvote purge ID`: the text is removed for good. `number` is that of the action."""
    texts = Texts(None, "must go", note=None)
    record(model, lambda moderator: number, "PURGE", text, model.operator, texts, before=text.state)
    states.set_state(model, text, "REMOVED")
    text.flags.clear()
    text.content = PURGED
    if isinstance(text, Article):
        text.title, text.link, text.content = PURGED, None, None
    model.reached.count(f"purges of {type(text).__name__.lower()}s")
    model.reached.count("purges of what is archived", text.number in model.archived)


def username(id: str) -> str:
    """The name, or the pseudonym of a user who has left, in the input `userId`, in lower case."""
    name = id.removeprefix("user:")
    check(id.startswith("user:") and (USERNAME.fullmatch(name) or PSEUDONYM.fullmatch(name)), "userId")
    return name.lower()


def is_group(name: str) -> bool:
    return GROUP.fullmatch(name) is not None


def record(
    model: Model,
    number_of_new: NewNumber,
    kind: str,
    subject: Article | Comment | User,
    moderator: User,
    texts: Texts,
    *,
    notifies: bool = True,
    **more: Any,
) -> Action:
    """
    A new action, with `more` of its fields; `number_of_new` gives the number that the server has assigned. It notifies
    the user whom it is about, or the poster of the text.
    """
    new = model.new_number(number_of_new(moderator))
    action = Action(new, kind, model.now, moderator, subject, texts.group, texts.reason, texts.note, **more)
    concerned = subject if isinstance(subject, User) else subject.poster
    if notifies and named(concerned) is not None and concerned is not moderator:
        action.notified = concerned, inboxes.unseen_time(model, concerned)
        model.reached.count("notifications MODERATION")
    subject.actions.append(action)
    model.actions[new] = action
    model.version += 1
    model.reached.count(f"actions {kind}")
    return action


def _decide(
    model: Model, actor: User, subject: Article | Comment, kind: str, texts: Texts, number_of_new: NewNumber
) -> Action:
    """Remove or approve a text. The approval of one that is shown, and has no edit that waits, notifies nobody."""
    before = subject.state
    notifies = kind == "REMOVE" or not subject.is_visible or subject.held_edit is not None
    rule = subject.rule if kind == "APPROVE" else None
    action = record(model, number_of_new, kind, subject, actor, texts, notifies=notifies, before=before, rule=rule)
    model.reached.count(f"{kind} of what is pending", before == "PENDING")
    states.set_state(model, subject, "REMOVED" if kind == "REMOVE" else "VISIBLE")
    _count_reach(model, subject, kind)
    return action


def _take_out(model: Model, actor: User, article: Article, texts: Texts, number_of_new: NewNumber) -> Done:
    """Take an article out of the group of `texts`."""
    if texts.group not in article.groups:
        known = newest_standing((each for each in article.actions if each.group == texts.group), "REMOVE")
        check(known, "group")
        return known, False
    action = record(model, number_of_new, "REMOVE", article, actor, texts)
    article.groups = article.groups - {texts.group}
    model.reached.count("articles taken out of a group")
    return action, True


def revert_content(model: Model, actor: User, action: Action, texts: Texts, number_of_new: NewNumber) -> Action:
    subject = action.subject
    assert not isinstance(subject, User)
    is_gone = subject.number not in (model.articles if isinstance(subject, Article) else model.comments)
    if isinstance(subject, Article) or not (is_gone or subject.poster is None):
        model.require_not_banned(actor)
    if is_gone or subject.poster is None:
        raise Refused("NOT_FOUND", "actionId")
    require_unreverted(action)
    of_group = isinstance(subject, Article) and action.kind == "REMOVE" and action.group is not None
    _require_rank(actor, subject, action.group, of_group=of_group)
    if isinstance(subject, Article) and of_group:
        check(action.group in subject.groups or len(subject.groups) < GROUPS_OF_AN_ARTICLE, "actionId")
    reverted = bring_back(model, actor, action, texts, number_of_new, notifies=True)
    model.reached.count(f"reverts of {action.kind} of {type(subject).__name__.lower()}s")
    return reverted


def bring_back(
    model: Model, actor: User, action: Action, texts: Texts, number_of_new: NewNumber, *, notifies: bool = False
) -> Action:
    """Revert an action on an article or a comment, which exists and may come back."""
    subject = action.subject
    assert not isinstance(subject, User)
    reverted = record_revert(model, actor, action, texts, number_of_new, notifies=notifies)
    if isinstance(subject, Article) and action.kind == "REMOVE" and action.group is not None:
        subject.groups = subject.groups | {action.group}
    elif action.kind != "LOCK":
        states.set_after_revert(model, subject)
    if action.kind == "APPROVE":
        _clear_flags(model, subject, action, states.decided(subject).action)
    return reverted


def revert_role(model: Model, actor: User, action: Action, texts: Texts, number_of_new: NewNumber) -> Action:
    user = action.subject
    assert isinstance(user, User) and action.role
    if action.kind == "GRANT_ROLE":
        _require_another_admin(model, actor, user, action.role)
    model.require_not_banned(actor)
    _require_admin(actor)
    if user.has_left:
        raise Refused("NOT_FOUND", "actionId")
    require_unreverted(action)
    reverted = record_revert(model, actor, action, texts, number_of_new, role=action.role)
    write_role(user, action.role, action.group)
    model.reached.count("reverts of roles")
    return reverted


def record_revert(
    model: Model, actor: User, action: Action, texts: Texts, number_of_new: NewNumber, **more: Any
) -> Action:
    """Record a revert, in the group of the action that it reverts. The first one is its `reverted_by`."""
    texts = texts._replace(group=action.group)
    reverted = record(model, number_of_new, "REVERT", action.subject, actor, texts, reverts=action, **more)
    action.reverted_by = action.reverted_by or reverted
    if action.appeal and action.appeal.answered_by is None:
        action.appeal.answered_by, action.appeal.answered_at = actor, model.now
        model.reached.count("appeals answered by a revert")
    return reverted


def _set_role(model: Model, token: str | None, kind: str, given: Mapping[str, Any], number_of_new: NewNumber) -> Done:
    name, role = username(given["userId"]), given["role"]
    require_token(token)
    check(role != "ADMIN" or given.get("group") is None, "group")
    group, user = _group(given), model.users.get(name)
    texts = checked_texts({**given, "group": group})
    actor = model.actor(token)
    if kind == "REVOKE_ROLE" and user is not None:
        _require_another_admin(model, actor, user, role)
    model.require_not_banned(actor)
    _require_admin(actor)
    if user is None:
        raise Refused("NOT_FOUND", "userId")
    if ((role, group) in user.roles) == (kind == "GRANT_ROLE"):
        model.reached.count("roles that are so already")
        return newest_standing(_about_role(user, role, group), kind), False
    action = record(model, number_of_new, kind, user, actor, texts, role=role)
    write_role(user, role, group)
    return action, True


def write_role(user: User, role: str, group: str | None) -> None:
    """Give the role, or take it, as the newest action says. A role that is given becomes the user's last."""
    user.roles.pop((role, group), None)
    decision = newest_standing(_about_role(user, role, group), "GRANT_ROLE", "REVOKE_ROLE")
    if decision is not None and decision.kind == "GRANT_ROLE":
        user.roles[role, group] = decision.at


def _about_role(user: User, role: str, group: str | None) -> list[Action]:
    return [each for each in user.actions if (each.role, each.group) == (role, group)]


def _require_another_admin(model: Model, actor: User, user: User, role: str) -> None:
    if role == "ADMIN" and actor.is_admin and [each for each in model.users.values() if each.is_admin] == [user]:
        model.reached.count("the last admin")
        raise Refused("INVALID", "userId")


def _require_admin(actor: User) -> None:
    if not actor.is_admin:
        raise Refused("NOT_A_MODERATOR")


def require_token(token: str | None) -> None:
    if token is None:
        raise Refused("UNAUTHENTICATED")


def require_role(model: Model, actor: User) -> None:
    """Refuse who has no role anywhere, or is banned from the site."""
    model.require_not_banned(actor)
    if not actor.roles:
        raise Refused("NOT_A_MODERATOR")


def require_unreverted(action: Action) -> None:
    if action.reverted_by is not None:
        raise Refused("ALREADY_REVERTED", "actionId")


def _require_rank(actor: User, subject: Article | Comment, group: str | None, *, of_group: bool = False) -> None:
    if not may_act(actor, subject, group, of_group=of_group):
        raise Refused("NOT_A_MODERATOR")


def may_act(actor: User, subject: Article | Comment, group: str | None, *, of_group: bool = False) -> bool:
    """
    Whether a moderator may act on a text. On a whole article, moderators of the site and of all of its groups may; with
    `of_group`, on its place in a group, moderators of this group. On a comment, moderators of any group of its article
    may. Only admins act on their own texts.
    """
    poster, groups = subject.poster, _article(subject).groups
    assert poster is not None
    if actor.is_admin:
        return True
    if poster is actor:
        return False
    if isinstance(subject, Comment) or of_group:
        return actor.outranks(poster, groups if group is None else {group})
    is_of_all = bool(groups) and all(actor.moderates([each]) for each in groups)
    return (actor.moderates_site or is_of_all) and actor.outranks(poster, groups)


def _kind(id: str, field: str, token: str | None = "") -> str:
    """The kind in the id of an article or a comment. Refuses other ids, and a token that is given as None."""
    check(is_id("article", id) or is_id("comment", id), field)
    require_token(token)
    return id.partition(":")[0]


def _subject(model: Model, actor: User, kind: str, id: str, field: str = "subjectId") -> Any:
    """The text that a moderator acts on, who is not banned."""
    require_role(model, actor)
    number = number_of(id, kind)
    subject: Article | Comment | None = (model.articles if kind == "article" else model.comments).get(number)
    if subject is None or subject.poster is None:
        raise Refused("NOT_FOUND", field)
    return subject


def checked_texts(given: Mapping[str, Any], *, is_optional: bool = False) -> Texts:
    """The group, the reason and the note of an input. `is_optional` is for approvals, which need no reason."""
    reason, note = (given.get("reason") or "").strip(), (given.get("note") or "").strip()
    check(len(reason) <= LONGEST_REASON and (reason or (is_optional and not given.get("reason"))), "reason")
    group = _group(given)
    check(len(note) <= LONGEST_NOTE, "note")
    return Texts(group, reason, note or None)


def _group(given: Mapping[str, Any]) -> str | None:
    name = given.get("group")
    check(name is None or GROUP.fullmatch(name), "group")
    return None if name is None else str(name).lower()


def _article(subject: Article | Comment) -> Article:
    return subject.article if isinstance(subject, Comment) else subject


def _clear_flags(model: Model, subject: Article | Comment, before: Action | None, decision: Action | None) -> None:
    """
    Let flags that `before` had cleared, or that count if it is None, be cleared by the decision if it is an approval,
    and count otherwise.
    """
    action = decision if decision is not None and decision.kind == "APPROVE" else None
    for user, flag in subject.flags.items():
        if flag.cleared_by is before:
            subject.flags[user] = flag._replace(cleared_by=action)
            model.reached.count("flags cleared" if action else "flags that count again")


def _count_reach(model: Model, subject: Article | Comment, kind: str) -> None:
    name = type(subject).__name__.lower()
    model.reached.count(f"{kind} of {name}s")
    is_archived = isinstance(subject, Article) and subject.number in model.archived
    model.reached.count("archived articles moderated", is_archived)
    replies = [each for each in model.comments.values() if each.parent is subject and each.is_visible]
    model.reached.count("comments removed above others", kind == "REMOVE" and bool(replies))
