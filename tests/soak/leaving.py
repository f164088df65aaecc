"""
Users who leave, as docs/leaving.md describes it: a pseudonym takes the place of the name. The server completes a
deletion within `UNTIL_DONE`, for which the soak waits.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Mapping
from typing import Any

from tests.soak import comments, issuers
from tests.soak.input_checks import Refused
from tests.soak.model import Model
from tests.soak.records import User

UNTIL_DONE = 10_100  # milliseconds


def delete_user(model: Model, token: str | None, given: Mapping[str, Any], pseudonym: str | None) -> User:
    """Delete the viewer. `pseudonym` is the one that the server has given; None if it refuses."""
    user = model.actor(token)
    current = given.get("currentPassword")
    is_recent = current is None and issuers.is_recent(model, token, user)
    model.reached.count("users who left by a recent token", is_recent)
    if not is_recent and (not user.password or user.password != current):
        model.reached.count("wrong passwords")
        raise Refused("BAD_CREDENTIALS", "currentPassword")
    if user.is_admin and not any(each.is_admin for each in model.users.values() if each is not user):
        model.reached.count("last admins who would leave")
        raise Refused("INVALID", "currentPassword")
    assert pseudonym, "the server did not delete the user"
    removes_texts = given.get("texts") == "REMOVE"
    _forget(model, user)
    _replace_name(model, user, pseudonym)
    if removes_texts:
        _delete_texts(model, user)
    model.version += 1
    model.reached.count(f"users who left {'without' if removes_texts else 'with'} their texts")
    return user


def _forget(model: Model, user: User) -> None:
    """Forget all that goes in any case, whether texts are kept or not."""
    model.sessions = {token: other for token, other in model.sessions.items() if other is not user}
    model.end_password_links(user)
    user.following.clear()
    user.groups.clear()
    user.profile.clear()
    user.saved.clear()
    user.hidden.clear()
    user.blocked.clear()
    user.roles.clear()
    for other in model.users.values():
        other.following.pop(user, None)
        other.blocked.pop(user, None)
    for text in (*model.articles.values(), *model.comments.values()):
        text.notified.pop(user.lower, None)
    for action in model.actions.values():
        if action.notified and action.notified[0] is user:
            action.notified = None


def _replace_name(model: Model, user: User, pseudonym: str) -> None:
    del model.users[user.lower]
    model.names_of_before.add(user.lower)
    model.departed[pseudonym] = user
    user.name = pseudonym


def _delete_texts(model: Model, user: User) -> None:
    """Articles first, as a comment goes with its article."""
    for article in [each for each in model.articles.values() if each.poster is user]:
        model.drop(article)
    for comment in [each for each in model.comments.values() if each.poster is user]:
        comments.drop(model, comment)
