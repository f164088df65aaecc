"""
The fields of the schema about moderation: actions, roles, flags, and texts of the viewer that are hidden from others.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` are the arguments of a field. A `Reading` is a comment that is not visible, as it is
read by its id.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tests.soak import appeals, flags, held_edits
from tests.soak.input_checks import PSEUDONYM, USERNAME, BadInput, group_or_none, is_id
from tests.soak.pages import ListingEntry, Page, cut, descending
from tests.soak.records import Action, Article, Comment, Flag, Reading, User, newest_standing, standing
from tests.soak.requests import Request

HELD = ("PENDING", "REMOVED")  # states of texts that only their posters and moderators read


class RoleGrant(NamedTuple):
    role: str
    group: str | None
    granted_at: int


def log(request: Request, parent: Any, **given: Any) -> Page:
    """All actions of moderators, or those in a group or about a subject, newest first."""
    paging = request.paging(given)
    paging.check()
    group, subject = given.get("group"), given.get("subjectId")
    if group is not None and subject is not None:
        raise BadInput
    if subject is not None and not _is_subject(subject):
        raise BadInput
    scope = group.lower() if group is not None else subject.lower() if subject is not None else None
    # what tells this listing from others in cursors: the kind of log, and the name or id that it is about
    listing = ("log", "group" if group is not None else "subject" if subject is not None else "all", scope)
    chosen = [
        each for each in request.model.actions.values()
        if scope is None or scope == (each.group if group is not None else subject_id(each))
    ]  # fmt: skip
    request.model.reached.count("pages of the log of moderation", bool(chosen))
    request.model.reached.count("logs of one subject", subject is not None and bool(chosen))
    request.model.reached.count("logs of a group", group is not None and bool(chosen))
    return _by_time("ModerationAction", listing, ((each.at, each) for each in chosen), request, paging)


def held(request: Request, parent: Any, **given: Any) -> Page | None:
    """The viewer's own articles and comments that wait or were removed, newest first, each as it is read by its id."""
    viewer, paging = request.viewer(), request.paging(given)
    if viewer is None:
        return None
    paging.check()
    model = request.model
    articles = [each for each in model.articles.values() if each.poster is viewer and not each.is_visible]
    comments = [each for each in model.comments.values() if each.poster is viewer and each.state in HELD]
    chosen: list[Article | Comment] = [*articles, *comments]
    model.reached.count("pages of what is held", bool(chosen))
    listing = ("held", viewer.lower)
    page = _by_time("Votable", listing, ((each.posted_at, each) for each in chosen), request, paging)
    page.edges = [edge._replace(node=_read(request, viewer, edge.node)) for edge in page.edges]
    return page


def queue(request: Request, parent: Any, **given: Any) -> Page | None:
    viewer, group = request.viewer(), given.get("group")
    name = group_or_none(group)
    kind, paging = given.get("kind") or "FLAGGED", request.paging(given)
    return None if viewer is None else flags.queue(request.model, viewer, kind, name, paging)


def flags_on(request: Request, subject: Article | Comment | Reading) -> list[tuple[User, Flag]] | None:
    """The flags on a text, for moderators of the site; None for others."""
    viewer, thing = request.peek_viewer(), subject.comment if isinstance(subject, Reading) else subject
    return standing(thing.flags) if viewer is not None and viewer.moderates_site else None


def flag_reasons(request: Request, subject: Article | Comment | Reading) -> list[str] | None:
    """The reasons of the flags on a text in the groups of a viewer who has a role; None for others."""
    viewer, thing = request.peek_viewer(), subject.comment if isinstance(subject, Reading) else subject
    if viewer is None or not viewer.roles:
        return None
    return [flag.reason for _, flag in standing(thing.flags) if viewer.moderates(flag.groups)]


def viewer_flag(request: Request, subject: Article | Comment | Reading) -> tuple[User, Flag] | None:
    viewer, thing = request.viewer(), subject.comment if isinstance(subject, Reading) else subject
    flag = None if viewer is None else thing.flags.get(viewer)
    is_standing = flag is not None and flag.cleared_by is None
    request.model.reached.count("flags of viewers", is_standing)
    return (viewer, flag) if viewer and flag and is_standing else None


def removal(request: Request, subject: Article | Comment | Reading) -> Action | None:
    """The action that has removed an article or a comment, for all who may read the text or see that it is missing."""
    thing = subject.comment if isinstance(subject, Reading) else subject
    request.model.reached.count("removals of what is read", thing.state == "REMOVED")
    return newest_standing(thing.decisions, "REMOVE", "PURGE") if thing.state == "REMOVED" else None


def lock(request: Request, article: Article) -> Action | None:
    found = newest_standing(article.actions, "LOCK")
    request.model.reached.count("locks of what is read", found is not None)
    return found


def appeals_queue(request: Request, parent: Any, **given: Any) -> Page | None:
    viewer, group = request.viewer(), given.get("group")
    name = group_or_none(group)
    return None if viewer is None else appeals.queue(request.model, viewer, name, request.paging(given))


def _queue_flags(request: Request, edge: flags.QueueEdge) -> list[tuple[User, Flag]]:
    request.model.reached.count("flags with names" if edge.has_names else "flags without names", len(edge.flags))
    return edge.flags if edge.has_names else []


def banned_until(request: Request, user: User) -> int | None:
    """When the ban of a user ends, for the user and for all who have a role; None for others."""
    viewer, ban = request.viewer(), request.model.ban_of(user, group=None)
    is_told = viewer is not None and (viewer is user or bool(viewer.roles))
    request.model.reached.count("ends of bans that are told", is_told and ban is not None)
    request.model.reached.count("ends of bans that are not told", not is_told and ban is not None)
    return ban.until if ban and is_told and not user.has_left else None


def subject_id(action: Action) -> str:
    subject = action.subject
    return f"user:{subject.lower}" if isinstance(subject, User) else repr(subject)  # such as "article:12"


def _is_subject(id: str) -> bool:
    kind, _, name = id.partition(":")
    is_user = kind == "user" and any(form.fullmatch(name) for form in (USERNAME, PSEUDONYM))
    return is_id("article", id) or is_id("comment", id) or is_user


def _by_time(
    kind: str, listing: tuple[Any, ...], items: Iterable[tuple[int, Any]], request: Request, paging: Any
) -> Page:
    entries = descending([ListingEntry((at, each.number), each) for at, each in items])
    return cut(kind, listing, entries, paging, paging.position(listing))


def _read(request: Request, viewer: User | None, subject: Article | Comment) -> Any:
    if isinstance(subject, Comment):
        return request.threads.read(viewer, subject)
    return subject if request.model.may_read(viewer, subject) else None


def _subject(request: Request, action: Action) -> Any:
    """The subject of an action, as the viewer reads it by its id; None once it is deleted."""
    subject, model = action.subject, request.model
    if isinstance(subject, User):
        return subject
    is_there = subject.number in (model.articles if isinstance(subject, Article) else model.comments)
    if not is_there or subject.poster is None:
        return None
    return _read(request, request.peek_viewer(), subject)


def _note(request: Request, action: Action) -> str | None:
    viewer = request.peek_viewer()
    may_read = viewer is not None and _moderates_place(request, viewer, action)
    request.model.reached.count("notes for moderators", may_read and action.note is not None)
    is_of_elsewhere = viewer is not None and bool(viewer.roles) and not may_read
    request.model.reached.count("notes kept from moderators of elsewhere", is_of_elsewhere and action.note is not None)
    return action.note if may_read else None


def _moderates_place(request: Request, viewer: User, action: Action) -> bool:
    """Whether a viewer moderates the group of an action or, without one, those of a subject that everybody may read."""
    found, groups = _subject(request, action), frozenset({action.group} - {None})
    if action.group is None and isinstance(found, Article):
        groups = frozenset(found.groups)
    elif action.group is None and found is not None and isinstance(action.subject, Comment):
        article = action.subject.article
        groups = frozenset(article.groups if article.is_visible else ())
    return viewer.moderates(filter(None, groups)) and bool(viewer.roles)  # `filter` is for the type: no group is None


def _appeal(request: Request, action: Action) -> Action | None:
    """The action, whose appeal is read, for the user who has appealed and for moderators of the place."""
    viewer = request.viewer()
    if viewer is None or action.appeal is None:
        return None
    may_read = action.appeal.author is viewer or _moderates_place(request, viewer, action)
    request.model.reached.count("appeals read" if may_read else "appeals kept from others")
    return action if may_read else None


def roles(request: Request, user: User) -> list[RoleGrant]:
    request.model.reached.count("roles of users", bool(user.roles))
    return [RoleGrant(role, group, at) for (role, group), at in user.roles.items()]


def can_moderate(request: Request, name: str) -> bool:
    viewer = request.peek_viewer()
    return viewer is not None and viewer.moderates([name])


def _moderators(request: Request, name: str, **given: Any) -> Page:
    return request.listings.moderators(name, request.paging(given))


VOTABLE_FIELDS: Mapping[str, Callable[..., Any]] = {
    "flags": flags_on,
    "flagReasons": flag_reasons,
    "removal": removal,
    "viewerFlag": viewer_flag,
    "heldEdit": held_edits.held_edit,
    "heldBy": held_edits.held_by,
    "heldReason": held_edits.held_reason,
}
GROUP_FIELDS: Mapping[str, Callable[..., Any]] = {
    "viewerCanModerate": can_moderate,
    "moderators": _moderators,
}
FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "ModerationAction": {
        "id": lambda request, action: f"action:{action.number}",
        "kind": lambda request, action: action.kind,
        "at": lambda request, action: action.at,
        "moderator": lambda request, action: action.moderator,
        "subjectId": lambda request, action: subject_id(action),
        "subject": _subject,
        "group": lambda request, action: action.group,
        "reason": lambda request, action: action.reason,
        "note": _note,
        "appeal": _appeal,
        "ban": lambda request, action: action.ban,
        "annulledVotes": lambda request, action: action.annulment and action.annulment.held,  # votes that do not count
        "annulment": lambda request, action: action if action.annulment else None,
        "expiresAt": lambda request, action: action.until,
        "role": lambda request, action: action.role if action.kind != "REVERT" else None,
        "reverts": lambda request, action: action.reverts,
        "revertedBy": lambda request, action: action.reverted_by,
    },
    "Flag": {  # fields of a pair: the user who has set a flag, and the flag
        "by": lambda request, flagged: flagged[0],
        "reason": lambda request, flagged: flagged[1].reason,
        "note": lambda request, flagged: flagged[1].note,
        "at": lambda request, flagged: flagged[1].at,
    },
    "QueueEdge": {
        "cursor": lambda request, edge: edge.cursor,
        "node": lambda request, edge: edge.node,
        "flags": _queue_flags,
        "flagReasons": lambda request, edge: [flag.reason for _, flag in edge.flags],
        "since": lambda request, edge: edge.since,
        "heldBy": lambda request, edge: edge.held_by,
    },
    "Appeal": {
        "id": lambda request, action: f"appeal:{action.number}",
        "text": lambda request, action: action.appeal.text,
        "at": lambda request, action: action.appeal.at,
        "answer": lambda request, action: action.appeal.answer,
        "answeredBy": lambda request, action: action.appeal.answered_by,
        "answeredAt": lambda request, action: action.appeal.answered_at,
    },
    "HeldEdit": {**held_edits.FIELDS},
    "Annulment": {
        "id": lambda request, action: f"annulment:{action.number}",
        "state": lambda request, action: "RESTORED" if action.annulment.is_restored else "DONE",
        "done": lambda request, action: action.annulment.done,
        "total": lambda request, action: action.annulment.total,
        "reachesBackTo": lambda request, action: None,  # the database knows of all votes
    },
    "RoleGrant": {
        "role": lambda request, grant: grant.role,
        "group": lambda request, grant: grant.group,
        "grantedAt": lambda request, grant: grant.granted_at,
    },
}
