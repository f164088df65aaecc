"""
What users write about themselves. Users of an issuer, an identity provider, have the display name that it gives them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from collections.abc import Mapping
from typing import Any

from tests.soak import issuers
from tests.soak.input_checks import Refused, check_all
from tests.soak.model import Model
from tests.soak.records import User

LONGEST_NAME, LONGEST_ABOUT = 50, 1_000  # characters
RESERVED = "admin"  # one of the names that nobody may have


def edit(model: Model, token: str | None, given: Mapping[str, Any]) -> User:
    """Edit the viewer's profile. Fields that are left out keep their values; null removes a text."""
    if token is None:
        raise Refused("UNAUTHENTICATED")
    owner = model.sessions.get(token)
    if "displayName" in given and owner is not None and issuers.subject_of(model, owner) is not None:
        model.reached.count("edits of what an issuer says")
        raise Refused("FORBIDDEN", "displayName")
    changes = {name: given[name] or None for name in ("displayName", "about", "avatarUrl") if name in given}
    name = changes.get("displayName")
    if name is not None:
        changes["displayName"] = name.strip()
    check_all(
        (name is None or (1 <= len(name.strip()) <= LONGEST_NAME and name.lower() != RESERVED), "displayName"),
        (len(changes.get("about") or "") <= LONGEST_ABOUT, "about"),
    )
    user = model.writer(token)
    user.profile = user.profile | changes
    model.version += 1
    model.reached.count("display names", changes.get("displayName") is not None)
    return user
