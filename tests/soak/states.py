"""
States of texts, which are articles and comments, as docs/moderation.md describes them: VISIBLE, PENDING while a text
waits for a moderator because a rule or flags hold it, and REMOVED. What is not visible leaves lists and inboxes, and
comes back to them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.soak import inboxes
from tests.soak.model import Model
from tests.soak.records import Action, Article, Comment

Text = Article | Comment


@dataclass(eq=False)
class Decision:
    """
    A state of a text, and the action of a moderator that has set it; None if no action has set it, but one has found
    the text in this state. `rule` has held the text then.
    """

    state: str
    action: Action | None = None
    rule: str | None = None

    @property
    def kind(self) -> str | None:
        return self.action and self.action.kind


def decided(text: Text) -> Decision:
    """
    The decision about a text that stands: by the newest of its actions that are not reverted. If an action has found
    another state than those before it have set, this state counts as a decision, too: a rule or flags held the text
    then, or it was shown, without a moderator.
    """
    known, held = list[Decision](), None
    for action in text.decisions:
        if action.before != "REMOVED" and _standing(known, action.number).state != action.before:
            known.append(Decision(action.before))
            held = known[-1] if action.before == "PENDING" else held
        if held and action.rule:
            held.rule = action.rule
        known.append(Decision("VISIBLE" if action.kind == "APPROVE" else "REMOVED", action))
    return _standing(known)


def set_after_revert(model: Model, text: Text) -> None:
    """Bring back the state, and the rule that held the text. What was held since the action stays PENDING."""
    before = text.state
    decision = decided(text)
    if before != "PENDING" or decision.state != "VISIBLE":
        set_state(model, text, decision.state)
    if text.state != before and decision.rule:
        text.rule = decision.rule
        model.reached.count("rules that hold again after a revert")


def set_state(model: Model, text: Text, state: str) -> None:
    """Change the state. What is shown again comes back to inboxes; what is shown for the first time arrives there."""
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
    """The newest decision that stood when the action with this number was made; without a number, that stands now."""
    for each in reversed(decisions):
        ends = each.action.reverted_by if each.action else None
        if ends is None or (number is not None and number <= ends.number):
            return each
    return Decision("VISIBLE")


def _listed(model: Model, text: Text) -> set[Text]:
    """A text and, if it is an article, its comments: those of them that are in lists and inboxes."""
    if isinstance(text, Comment):
        return {text} if text.is_shown else set()
    comments = {each for each in model.comments.values() if each.article is text and each.is_shown}
    return {text, *comments} if text.is_visible else set()
