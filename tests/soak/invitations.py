"""
Invitations, as docs/accounts.md describes them. Everybody may register on the site of the soak, so nobody needs them.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred. `given` is the input of a mutation.
"""

from typing import Any

from tests.soak.input_checks import Refused
from tests.soak.requests import Request

LIFETIME = 7 * 24 * 60 * 60 * 1000  # milliseconds


def create_invitation(request: Request, given: Any, text: str | None) -> dict[str, Any]:
    """`text` is what the server has made; None if the answer does not show it."""
    model = request.model
    if not model.writer(request.token).is_admin:
        model.reached.count("invitations by others than admins")
        raise Refused("NOT_A_MODERATOR")  # the code for any role that is missing
    return {"invitation": text, "expiresAt": model.now + LIFETIME}
