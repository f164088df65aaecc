"""
Mail addresses and mails, as docs/mail.md describes them. The server that is compared sends no mail, so nobody has an
address. Mutations get the request, their input, and as `hint` what the server has assigned, which these do not need.

Part of the model: a server in plain Python, with which the soak test compares the real one. `reached` counts the cases
that have occurred.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tests.soak.input_checks import Refused
from tests.soak.records import User
from tests.soak.requests import Request

FREQUENCIES = ("NEVER", "AT_ONCE", "DAILY", "WEEKLY")


def edit_account(request: Request, given: Mapping[str, Any], hint: Any) -> dict[str, Any]:
    """Change the viewer's address, or which mails they get. A banned user may, too."""
    model, token = request.model, request.token
    if token is None:
        raise Refused("UNAUTHENTICATED")
    if given.get("email") is not None:
        model.reached.count("addresses that are refused")
        raise Refused("INVALID", "email")
    user = model.actor(token)
    if often := given.get("mailReplies"):
        model.reached.count("frequencies of mails that change", often != user.mail_replies)
        user.mail_replies = often
        model.version += 1
    return {"account": user}


def request_password_reset(request: Request, given: Mapping[str, Any], hint: Any) -> dict[str, Any]:
    request.model.reached.count("resets that are not offered")
    raise Refused("NOT_OFFERED")


def request_confirmation(request: Request, given: Mapping[str, Any], hint: Any) -> dict[str, Any]:
    request.model.reached.count("links for the settings that are not offered")
    raise Refused("NOT_OFFERED")


def _none(request: Request, user: User) -> None:
    return None


def _false(request: Request, user: User) -> bool:
    return False


MUTATIONS: dict[str, Callable[[Request, Any, Any], dict[str, Any]]] = {
    "editAccount": edit_account,
    "requestPasswordReset": request_password_reset,
    "requestConfirmation": request_confirmation,
}
ACCOUNT_FIELDS: Mapping[str, Callable[..., Any]] = {
    "email": _none,
    "pendingEmail": _none,
    "isEmailRefused": _false,
    "isMailOffered": _false,
    "mailReplies": lambda request, user: user.mail_replies,
}
