"""
Articles and comments that users have saved, as docs/saved.md describes them. Mutations get the request, their input,
and as `hint` what the server has assigned, which these do not need.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.soak.input_checks import Refused, check, is_id, number_of
from tests.soak.model import Model
from tests.soak.pages import ListingEntry, Page, cut, descending
from tests.soak.records import Article, Comment, Reading, User
from tests.soak.requests import Request
from tests.soak.searches import ANY_FLAG, Between, doubt_flag


@dataclass(frozen=True)
class Home:
    """The node in which a user finds what only they read, such as their front page and what they have saved."""

    user: User


def save(request: Request, given: Mapping[str, Any], hint: Any) -> dict[str, Any]:
    model, token = request.model, request.token
    _check(given, token)
    user, subject = model.actor(token), _subject(model, given["subjectId"])
    if not _exists(model, subject):
        raise Refused("NOT_FOUND", "subjectId")
    if not _is_shown(subject):
        raise Refused("FORBIDDEN", "subjectId")
    model.require_not_banned(user)
    changed = subject not in user.saved
    if changed:
        user.saved[subject] = model.now
        model.version += 1
    model.reached.count("things saved", changed)
    return {"subject": subject, "changed": changed}


def unsave(request: Request, given: Mapping[str, Any], hint: Any) -> dict[str, Any]:
    """
    Remove a text from what the viewer has saved. Of a deleted one the model does not know whether a read has removed
    it.
    """
    model, token = request.model, request.token
    _check(given, token)
    user, subject = model.writer(token), _subject(model, given["subjectId"])
    exists = _exists(model, subject)
    was_saved = user.saved.pop(subject, None) is not None
    model.version += was_saved
    model.reached.count("things not saved any more", was_saved)
    shown = subject if exists and _is_shown(subject) else None
    return {"subject": shown, "changed": was_saved if exists else ANY_FLAG}


def home(request: Request, parent: Any) -> Home | None:
    user = request.viewer()
    return Home(user) if user else None


def page(request: Request, of: Home, **given: Any) -> Page:
    """
    A page of what the viewer has saved, without what is not visible. The total, and the flag (`hasNextPage` or
    `hasPreviousPage`) on the side from which the reader comes, may count that, too.
    """
    model, paging, user = request.model, request.paging(given), of.user
    paging.check()
    listing = ("saved", user.lower)
    shown = {each: at for each, at in user.saved.items() if is_shown(model, each)}
    entries = descending([ListingEntry((at, each.number), each) for each, at in shown.items()])
    found = cut("Votable", listing, entries, paging, paging.position(listing))
    found.total = Between(len(shown), len(user.saved))
    if len(shown) < len(user.saved):
        doubt_flag(found, paging)
    model.reached.count("pages of what is saved", bool(shown))
    model.reached.count("pages of saved things of which some are not shown", len(shown) < len(user.saved))
    return found


def viewer_has_saved(request: Request, subject: Article | Comment | Reading) -> bool:
    viewer, thing = request.viewer(), subject.comment if isinstance(subject, Reading) else subject
    has_saved = viewer is not None and thing in viewer.saved and thing.poster is not None
    request.model.reached.count("saved things that are read", has_saved)
    return has_saved


def is_shown(model: Model, subject: Article | Comment) -> bool:
    return _exists(model, subject) and _is_shown(subject)


def _check(given: Mapping[str, Any], token: str | None) -> None:
    check(is_id("article", given["subjectId"]) or is_id("comment", given["subjectId"]), "subjectId")
    if token is None:
        raise Refused("UNAUTHENTICATED")


def _subject(model: Model, id: str) -> Any:
    kind = id.partition(":")[0]
    return (model.articles if kind == "article" else model.comments).get(number_of(id, kind))


def _exists(model: Model, subject: Article | Comment | None) -> bool:
    if subject is None or subject.poster is None:
        return False
    return subject.number in (model.articles if isinstance(subject, Article) else model.comments)


def _is_shown(subject: Article | Comment) -> bool:
    return subject.is_visible if isinstance(subject, Article) else subject.is_shown


VOTABLE_FIELDS: Mapping[str, Callable[..., Any]] = {"viewerHasSaved": viewer_has_saved}
HOME_FIELDS: Mapping[str, Callable[..., Any]] = {
    "id": lambda request, home: f"home:{home.user.lower}",
    "saved": page,
}
