"""
Edits that rules hold, as docs/rules.md describes them: the old text stands for everybody until a moderator approves the
new one, which only its poster and moderators of the place read meanwhile.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.soak import inboxes
from tests.soak.model import Model
from tests.soak.records import Article, Comment, HeldEdit, Reading, User
from tests.soak.requests import Request

Text = Article | Comment


class ShownEdit(NamedTuple):
    text: Text
    edit: HeldEdit


def edit(model: Model, text: Text, changes: Mapping[str, str | None], rule: str | None) -> None:
    """
    Change a text now, or let the edit wait if a rule holds it. Either takes the place of an edit that waits. A pending
    text takes an edit at once, and stays pending.
    """
    if not changes:
        return
    model.version += 1
    if rule is not None and text.state != "PENDING":
        model.reached.count("held edits that are replaced", text.held_edit is not None)
        text.held_edit = HeldEdit(rule, model.now, changes)
        model.reached.count(f"held edits of {type(text).__name__.lower()}s")
        return
    text.rule = rule or text.rule
    text.held_edit = None
    _change(model, text, changes)


def put_in_place(model: Model, text: Text) -> None:
    """Carry out the edit of a text that waits, if there is one, as a moderator has approved it."""
    held, text.held_edit = text.held_edit, None
    if held is not None:
        _change(model, text, held.changes)
        model.reached.count("held edits approved")


def _change(model: Model, text: Text, changes: Mapping[str, str | None]) -> None:
    if isinstance(text, Article):
        text.title = changes.get("title") or text.title
        text.link = changes.get("link", text.link) or None
    text.content = changes.get("content", text.content) or None
    text.edited_at = model.now
    model.forget_cleared_flags(text)
    if "content" in changes:
        inboxes.notify(model, text)


def held_edit(request: Request, subject: Text | Reading) -> ShownEdit | None:
    """The edit that waits for a text, as its poster and moderators of the place see it; None for others."""
    viewer, text = request.viewer(), subject.comment if isinstance(subject, Reading) else subject
    if viewer is None or text.held_edit is None:
        return None
    may_read = _may_read(viewer, text)
    request.model.reached.count("held edits read" if may_read else "held edits kept from others")
    return ShownEdit(text, text.held_edit) if may_read else None


def held_by(request: Request, subject: Text | Reading) -> str | None:
    """The rule that holds a pending text, as its poster and moderators of the place see it; None for others."""
    viewer, text = request.viewer(), subject.comment if isinstance(subject, Reading) else subject
    is_read = viewer is not None and text.state == "PENDING" and _may_read(viewer, text)
    return text.rule if is_read else None


def held_reason(request: Request, subject: Text | Reading) -> None:
    """Why a service holds a text, which the servers of the soak do not have."""
    request.viewer()


def _may_read(viewer: User, text: Text) -> bool:
    groups = text.article.groups if isinstance(text, Comment) else text.groups
    return text.poster is viewer or viewer.moderates(groups)


def _as_edited(name: str) -> Callable[[Request, ShownEdit], str | None]:
    return lambda request, shown: shown.edit.changes.get(name, getattr(shown.text, name, None)) or None


FIELDS: Mapping[str, Callable[[Request, ShownEdit], Any]] = {
    "id": lambda request, shown: f"heldEdit:{shown.text!r}",
    "title": _as_edited("title"),
    "link": _as_edited("link"),
    "content": _as_edited("content"),
    "heldBy": lambda request, shown: shown.edit.rule,
    "at": lambda request, shown: shown.edit.at,
}
