"""
Refusals in the schema: they are data in `userErrors`, not `errors` of the response.

A refusal is an exception of the store, which says why a mutation changes nothing. Here it becomes a `UserError`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import strawberry

from schema.changes import ChangedField
from schema.enums import UserErrorCode
from schema.scalars import DateTime
from store import errors, records

if TYPE_CHECKING:
    from schema.groups import Group

CODES: dict[type[errors.Refusal], UserErrorCode] = {  # by the class of the exception
    errors.Unauthenticated: UserErrorCode.UNAUTHENTICATED,
    errors.Forbidden: UserErrorCode.FORBIDDEN,
    errors.NotFound: UserErrorCode.NOT_FOUND,
    errors.Invalid: UserErrorCode.INVALID,
    errors.VotingClosed: UserErrorCode.VOTING_CLOSED,
    errors.UsernameTaken: UserErrorCode.USERNAME_TAKEN,
    errors.BadCredentials: UserErrorCode.BAD_CREDENTIALS,
    errors.BadToken: UserErrorCode.BAD_TOKEN,
    errors.NotOffered: UserErrorCode.NOT_OFFERED,
    errors.TokenRefused: UserErrorCode.BAD_TOKEN,  # a token of an issuer, a service outside at which users log in
    errors.SelfFollow: UserErrorCode.SELF_FOLLOW,
    errors.RateLimited: UserErrorCode.RATE_LIMITED,
    errors.IdempotencyMismatch: UserErrorCode.IDEMPOTENCY_MISMATCH,
    errors.Locked: UserErrorCode.LOCKED,
    errors.CommentingClosed: UserErrorCode.LOCKED,
    errors.Banned: UserErrorCode.BANNED,
    errors.NotAModerator: UserErrorCode.NOT_A_MODERATOR,
    errors.AlreadyReverted: UserErrorCode.ALREADY_REVERTED,
    errors.RuleBroken: UserErrorCode.RULE,
}


@strawberry.interface(description="The reason why a mutation was refused. A refused mutation changes nothing.")
class UserError:
    code: UserErrorCode = strawberry.field(description="The reason, for programs.")
    message: str = strawberry.field(description="The reason, for people.")
    field: list[str] | None = strawberry.field(description="The path of the invalid value, such as `input`, `title`.")
    rule: str | None = strawberry.field(
        default=None, description="The rule of the site that was broken, as the file of the rules names it; else null."
    )
    params: list[ChangedField] = strawberry.field(
        default_factory=list,
        description="The numbers of the rule, and what they were compared with, so that a page can say it in its own "
        "words; `until` and `group` of a ban; `conversations` of the limit of old ones that a user brings back.",
    )


@strawberry.type(description="A refusal without further fields.")
class Refusal(UserError):
    pass


@strawberry.type(description="The article or comment can no longer be voted on.")
class VotingClosed(UserError):
    closed_at: DateTime = strawberry.field(description="When voting closed.")


@strawberry.type(description="The rate limit was exceeded.")
class RateLimited(UserError):
    retry_at: DateTime = strawberry.field(description="When the mutation is allowed again.")


@strawberry.type(description="The viewer is banned.")
class Banned(UserError):
    id: strawberry.ID = strawberry.field(
        description="Names the ban for caches of clients: `ban:site`, or `ban:group:` and the name of a group."
    )
    until: DateTime | None = strawberry.field(default=None, description="When the ban ends; null if it is for good.")
    group: Annotated["Group", strawberry.lazy("schema.groups")] | None = strawberry.field(
        default=None, description="The group that the viewer is banned from; null for the whole site."
    )


def user_error(refusal: errors.Refusal) -> UserError:
    """The error in a payload for a refusal. Its `field` is the path of the value in the input of the mutation."""
    code, message = CODES[type(refusal)], refusal.message
    field = ["input", *refusal.field] if refusal.field else None
    match refusal:
        case errors.VotingClosed():
            return VotingClosed(code=code, message=message, field=field, closed_at=DateTime(refusal.closed_at))
        case errors.RateLimited():
            limited = RateLimited(code=code, message=message, field=field, retry_at=DateTime(refusal.retry_at))
            limited.params = _params(refusal.params)
            return limited
        case errors.Banned():
            place = f"group:{refusal.group}" if refusal.group else "site"
            banned = Banned(code=code, message=message, field=field, id=strawberry.ID(f"ban:{place}"))
            banned.params = _params(refusal.params)
            banned.until = DateTime(refusal.until) if refusal.until else None
            banned.group = records.group(refusal.group) if refusal.group else None  # type: ignore[assignment]  # a record
            return banned
        case errors.RuleBroken():
            params = _params(refusal.params)
            return Refusal(code=code, message=message, field=field, rule=refusal.rule, params=params)
        case _:
            return Refusal(code=code, message=message, field=field)


def _params(params: Mapping[str, int | str]) -> list[ChangedField]:
    """The parameters of a refusal by name, as pairs, since GraphQL has no maps."""
    return [ChangedField(name=name, value=str(value)) for name, value in params.items()]
