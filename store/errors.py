"""
Exceptions of the store.

    Refusal                     an expected no: the command is valid, but not allowed; nothing was changed
    ├── Unauthenticated         there is no session, or it has ended
    ├── Forbidden               only the owner may do this
    ├── NotFound                nothing has this id
    ├── Invalid                 a value breaks a rule
    ├── VotingClosed            the article or comment was posted before the voting window began
    ├── Locked                  the article takes no votes and no comments
    ├── CommentingClosed        the article is too old for comments
    ├── UsernameTaken           the username exists
    ├── BadCredentials          there is no such name, or the password is wrong
    ├── BadToken                a one-time token was used, has ended, or is unknown
    ├── NotOffered              the site has switched this off
    ├── TokenRefused            the token of an issuer has expired, or is not accepted
    ├── SelfFollow              you cannot follow yourself
    ├── RateLimited             too many attempts
    ├── RuleBroken              a rule of the site does not allow it
    ├── Banned                  a moderator has banned the user
    ├── NotAModerator           only moderators, or admins, may do this
    ├── AlreadyReverted         the action of a moderator was reverted before
    └── IdempotencyMismatch     the idempotency key was used with other input
    StoreError                  a fault
    ├── StoreUnavailable        Redis does not answer, or takes no writes
    ├── StoreMismatch           the store was created with other settings
    ├── RebuildOvertaken        another rebuild of the same indexes has begun
    └── LeaseTaken              another process does what only one may do at a time
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from store.client import StoreError as StoreError
from store.client import StoreUnavailable as StoreUnavailable

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WRONG_PASSWORD = "this is not your password"


class Refusal(Exception):
    """`field` is the path of the invalid value in the input. `others` are further refusals of the same input."""

    others: "Sequence[Refusal]" = ()

    def __init__(self, message: str, *field: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Unauthenticated(Refusal):
    def __init__(self) -> None:
        super().__init__("log in first")


class Forbidden(Refusal):
    pass


class NotFound(Refusal):
    pass


class Invalid(Refusal):
    pass


class VotingClosed(Refusal):
    """`closed_at` is in unix milliseconds, `kind` is "article" or "comment"."""

    def __init__(self, number: int, closed_at: int, kind: str = "article") -> None:
        super().__init__(f"voting on {kind}:{number} closed", f"{kind}Id")
        self.closed_at = closed_at


class Locked(Refusal):
    """`kind` is "article", or "comment" for a comment whose article is locked."""

    def __init__(self, kind: str, number: int) -> None:
        locked = f"article:{number}" if kind == "article" else f"the article of {kind}:{number}"
        super().__init__(f"{locked} is locked: it takes no votes and no comments", f"{kind}Id")


class CommentingClosed(Refusal):
    """The article is too old for comments."""

    def __init__(self, number: int) -> None:
        super().__init__(f"article:{number} takes no comments any more, as it is too old", "articleId")


class UsernameTaken(Refusal):
    def __init__(self, username: str) -> None:
        super().__init__(f"the name {username} is taken", "username")


class BadCredentials(Refusal):
    """
    `proof` is what is wrong where a user who is logged in has to show who it is. A log-in does not say whether the
    name or the password is wrong.
    """

    def __init__(self, proof: str | None = None) -> None:
        super().__init__(proof or "no such name and password", *(("currentPassword",) if proof else ()))


class BadToken(Refusal):
    def __init__(self, field: str = "token") -> None:
        super().__init__("this link was used, has expired, or is not complete", field)


class NotOffered(Refusal):
    pass


class TokenRefused(Refusal):
    """`reason` is a word that programs read, such as `audience`."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the token is not accepted: {reason}", "token")
        self.reason = reason


class SelfFollow(Refusal):
    def __init__(self) -> None:
        super().__init__("you cannot follow yourself", "userId")


class RateLimited(Refusal):
    """`retry_at` is in unix milliseconds. `what` says what was done too often, `params` are its numbers."""

    def __init__(self, retry_at: int, what: str = "too often", params: Mapping[str, int | str] | None = None) -> None:
        super().__init__(f"{what}: try again after {_text_of(retry_at)}")
        self.retry_at = retry_at
        self.params = params or {}


class RuleBroken(Refusal):
    """`rule` names its table in `store/rules.py`, `params` are its numbers and what they were compared with."""

    def __init__(self, rule: str, message: str, params: Mapping[str, int | str], *field: str) -> None:
        super().__init__(message, *field)
        self.rule = rule
        self.params = params


class Banned(Refusal):
    """`until` is in unix milliseconds, None for good; `group` is None if the ban is from the whole site."""

    def __init__(self, until: int | None, group: str | None) -> None:
        place = f"the group {group}" if group else "this site"
        self.params = ({"until": _text_of(until)} if until else {}) | ({"group": group} if group else {})
        super().__init__(f"you are banned from {place} " + (f"until {_text_of(until)}" if until else "for good"))
        self.until = until
        self.group = group


class NotAModerator(Refusal):
    pass


class AlreadyReverted(Refusal):
    """`action` is the number of the action."""

    def __init__(self, action: int) -> None:
        super().__init__(f"action:{action} was reverted before", "actionId")
        self.action = action


class IdempotencyMismatch(Refusal):
    def __init__(self) -> None:
        super().__init__("this key was used with other input", "idempotencyKey")


class StoreMismatch(StoreError):
    pass


class RebuildOvertaken(StoreError):
    def __init__(self) -> None:
        super().__init__("another rebuild of the same indexes has begun: this one was stopped")


class LeaseTaken(StoreError):
    """`lifetime` is in milliseconds."""

    def __init__(self, name: str, lifetime: int) -> None:
        super().__init__(
            f"another {name} of this store is running, or was killed in the last {lifetime / 1000:.0f} seconds:"
            " nothing was changed"
        )


def is_out_of_memory(error: StoreUnavailable) -> bool:
    """Whether the store refuses writes because its memory is full."""
    return str(error.__cause__).startswith("OOM ")


def banned_by(error: StoreUnavailable) -> Banned | None:
    """The refusal in a script's error `BANNED UNTIL GROUP`, whose group is `-` for the site; None for others."""
    code, *words = str(error.__cause__).split()
    if code != "BANNED":
        return None
    until, group, *_ = words  # the server adds the name of the script
    return Banned(int(until) or None, group=None if group == "-" else group)


def refuse(status: str, kind: str, number: int) -> NoReturn:
    """Raise the refusal for the status that a script has returned. `kind` is "article" or "comment"."""
    field = f"{kind}Id"
    refusals: dict[str, Refusal] = {
        "unauthenticated": Unauthenticated(),
        "missing": NotFound(f"there is no {kind}:{number}", field),
        "forbidden": Forbidden(f"{kind}:{number} is somebody else's", field),
        "hidden": Forbidden(f"{kind}:{number} is not visible", field),
        "locked": Locked(kind, number),
        "old": CommentingClosed(number),
        "mismatch": IdempotencyMismatch(),
    }
    raise refusals[status]


def _text_of(milliseconds: int) -> str:
    """An instant (unix milliseconds) in UTC, as the API writes it."""
    return f"{(EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec='milliseconds')[:-6]}Z"
