"""
States of texts in the model, as docs/moderation.md describes them: VISIBLE, PENDING while a text waits for a moderator,
and REMOVED. What is not visible leaves lists and inboxes, and comes back to them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tests.soak import inboxes
from tests.soak.model import Model
from tests.soak.records import Action, Article, Comment

Text = Article | Comment


class Decision(NamedTuple):
    """A state, and the action that says so; None for one in which a text was found."""

    state: str
    action: Action | None = None

    @property
    def kind(self) -> str | None:
        return self.action and self.action.kind


def decided(text: Text) -> Decision:
    """
    What the actions that are not reverted say. What an action has found, and no action before it says, counts as a
    decision of that time: a text was held then, or shown, without a moderator.
    """
    known: list[Decision] = []
    for action in text.decisions:
        if action.before != "REMOVED" and _standing(known, action.number).state != action.before:
            known.append(Decision(action.before))
        known.append(Decision("VISIBLE" if action.kind == "APPROVE" else "REMOVED", action))
    return _standing(known)


def after_revert(text: Text) -> str:
    """The state of a text after a revert, which shows nothing that was held since."""
    state = decided(text).state
    return "PENDING" if state == "VISIBLE" and text.state == "PENDING" else state


def set_state(model: Model, text: Text, state: str) -> None:
    """Texts that are shown again come back to inboxes. Those that are shown for the first time arrive there now."""
    if state == text.state:
        return
    before = _listed(model, text)
    text.state = state
    if state == "VISIBLE":
        text.rule = None
    elif state == "REMOVED":
        model.reached.count("held edits that go with their texts", text.held_edit is not None)
        text.held_edit = None
    model.version += 1
    for each in _listed(model, text) - before:
        if each.is_announced:
            inboxes.put_back(model, each)
        else:
            each.is_announced = True
            inboxes.announce(model, each)


def _standing(decisions: Sequence[Decision], number: int | None = None) -> Decision:
    """The newest of some decisions that stood when the action with a number was made, or of those that stand now."""
    for each in reversed(decisions):
        ends = each.action.reverted_by if each.action else None
        if ends is None or (number is not None and number <= ends.number):
            return each
    return Decision("VISIBLE")


def _listed(model: Model, text: Text) -> set[Text]:
    """Of what is about a text, what is in lists and inboxes."""
    if isinstance(text, Comment):
        return {text} if text.is_shown else set()
    comments = {each for each in model.comments.values() if each.article is text and each.is_shown}
    return {text, *comments} if text.is_visible else set()
