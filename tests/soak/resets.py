"""
Links by which users choose a new password, as docs/accounts.md describes them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.soak.history import Ref
from tests.soak.input_checks import Refused, check
from tests.soak.model import Model
from tests.soak.records import User

LIFETIME = 60 * 60 * 1000  # milliseconds
MOST_LINKS = 10  # links of a user that are good


@dataclass(eq=False)
class Link:
    """A link. `ref` is the reference to its token."""

    user: User
    ends: int  # unix milliseconds
    ref: Ref
    is_good: bool = True


def issue_at_shell(model: Model, user: User, token: str, ref: Ref) -> None:
    """Issue a link, as the command `password` does. Beyond `MOST_LINKS` the oldest link ends."""
    model.password_links[token] = Link(user, model.now + LIFETIME, ref)
    own = [each for each in model.password_links.values() if each.user is user]
    good = [each for each in own if each.is_good and model.now <= each.ends]
    for link in good[:-MOST_LINKS]:
        link.is_good = False


def reset_password(model: Model, given: Mapping[str, Any], token: str) -> User:
    """
    Set a password by a link, which a banned user may do, too. All sessions of the user end, and all links; `token` is
    that of the new session.
    """
    check(8 <= len(given["newPassword"]) <= 128, "newPassword")
    user = user_of(model, given["token"])
    if user is None:
        model.reached.count("links that were used, or have ended", given["token"] in model.password_links)
        raise Refused("BAD_TOKEN", "token")
    model.end_password_links(user)
    user.password = given["newPassword"]
    model.sessions = {key: other for key, other in model.sessions.items() if other is not user}
    model.sessions[token] = user
    model.reached.count("passwords chosen by a link")
    return user


def user_of(model: Model, token: str) -> User | None:
    """Whose password a link sets; None if it is not good."""
    link = model.password_links.get(token)
    return link.user if link and link.is_good and model.now <= link.ends else None
