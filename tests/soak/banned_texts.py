"""
What a ban with `removeTexts` does to the texts of a user, which are articles and comments, and what its revert brings
back, as docs/moderation.md describes it. Each text that it changes gets an action with a number, which
`Model.texts_of_ban` has by the id of the text, such as `article:12`: that is also its `repr`.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable

from tests.soak import moderation, states
from tests.soak.model import GROUPS_OF_AN_ARTICLE, Model
from tests.soak.moderation import Texts
from tests.soak.records import Action, Article, Comment, User

DECIDING = ("REMOVE", "APPROVE", "REVERT")  # kinds of actions that decide about a text
MOST_TEXTS_AT_ONCE = 120  # of a user who is banned so, or leaves: fewer than the server removes before it answers


def texts_of(model: Model, user: User) -> list[Article | Comment]:
    """All that a user has posted, articles first: an article that leaves a group takes its comments along."""
    texts: list[Article | Comment] = [*model.articles.values(), *model.comments.values()]
    return [each for each in texts if each.poster is user]


def remove(model: Model, ban: Action) -> None:
    """Remove the texts of the banned user. AssertionError if the server has removed others."""
    user, done = ban.subject, set()
    assert isinstance(user, User)
    for text in texts_of(model, user):
        if _is_removable(ban, text):
            done.add(repr(text))
            _remove(model, ban, text)
    assert done == model.texts_of_ban.keys(), f"the ban has removed {model.texts_of_ban.keys() ^ done} or not"


def restore(model: Model, ban: Action, reverted: Action) -> None:
    """
    Bring the texts of a ban back; `reverted` is its revert. What was decided about one since stays. Nothing comes back
    to an article that was deleted.
    """
    removals = [each for each in model.actions.values() if each.ban is ban and each.reverted_by is None]
    done = set()
    for action in removals:
        text = action.subject
        assert not isinstance(text, User)
        if _is_there(model, text) and _is_welcome(action, text):
            done.add(repr(text))
            moderation.bring_back(model, reverted.moderator, action, _reason(action, ban), _number_of(model, text))
            model.reached.count("texts that come back with the revert of a ban")
    assert done == model.texts_of_ban.keys(), f"the revert has shown {model.texts_of_ban.keys() ^ done} or not"


def _remove(model: Model, ban: Action, text: Article | Comment) -> None:
    group = ban.group
    if isinstance(text, Article) and len(text.groups) == 1:
        group = None  # as a whole
    reason = Texts(group, f"removed with the ban action:{ban.number}", note=None)
    number = _number_of(model, text)
    more = {"notifies": False, "ban": ban, "before": text.state}
    moderation.record(model, number, "REMOVE", text, ban.moderator, reason, **more)
    if isinstance(text, Article) and group is not None:
        text.groups = text.groups - {group}
    else:
        states.set_state(model, text, "REMOVED")
    model.reached.count(f"{type(text).__name__.lower()}s removed with a ban")
    model.reached.count("archived articles removed with a ban", text.number in model.archived)


def _is_removable(ban: Action, text: Article | Comment) -> bool:
    article = text.article if isinstance(text, Comment) else text
    is_in_group = ban.group is None or ban.group in article.groups
    is_decided = any(each.kind in DECIDING and each.at >= ban.at and each is not ban for each in text.actions)
    return is_in_group and text.state in ("VISIBLE", "PENDING") and text.posted_at <= ban.at and not is_decided


def _is_there(model: Model, text: Article | Comment) -> bool:
    if isinstance(text, Article):
        return text.number in model.articles
    return text.number in model.comments and not text.is_stub


def _is_welcome(action: Action, text: Article | Comment) -> bool:
    """Whether an article may be in the group again that the action has taken it out of: its groups are limited."""
    if isinstance(text, Comment) or action.group is None:
        return True
    return action.group in text.groups or len(text.groups) < GROUPS_OF_AN_ARTICLE


def _reason(action: Action, ban: Action) -> Texts:
    return Texts(action.group, f"the ban action:{ban.number} is reverted", note=None)


def _number_of(model: Model, text: Article | Comment) -> Callable[[User], int]:
    """A function that gives the number of the action about a text."""

    def number(moderator: User) -> int:
        assert repr(text) in model.texts_of_ban, f"{text} was left as it was"
        return model.texts_of_ban[repr(text)]

    return number
