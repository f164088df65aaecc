"""Refusals in the schema: they are data in `userErrors`, not `errors` of the response."""

import strawberry

from schema.enums import UserErrorCode
from schema.scalars import DateTime
from store import errors

CODES: dict[type[errors.Refusal], UserErrorCode] = {
    errors.Unauthenticated: UserErrorCode.UNAUTHENTICATED,
    errors.Forbidden: UserErrorCode.FORBIDDEN,
    errors.NotFound: UserErrorCode.NOT_FOUND,
    errors.Invalid: UserErrorCode.INVALID,
    errors.VotingClosed: UserErrorCode.VOTING_CLOSED,
    errors.UsernameTaken: UserErrorCode.USERNAME_TAKEN,
    errors.BadCredentials: UserErrorCode.BAD_CREDENTIALS,
    errors.SelfFollow: UserErrorCode.SELF_FOLLOW,
    errors.RateLimited: UserErrorCode.RATE_LIMITED,
    errors.IdempotencyMismatch: UserErrorCode.IDEMPOTENCY_MISMATCH,
    errors.Locked: UserErrorCode.LOCKED,
}


@strawberry.interface(description="The reason why a mutation was refused. A refused mutation changes nothing.")
class UserError:
    code: UserErrorCode = strawberry.field(description="The reason, for programs.")
    message: str = strawberry.field(description="The reason, for people.")
    field: list[str] | None = strawberry.field(description="The path of the invalid value, such as `input`, `title`.")


@strawberry.type(description="A refusal without further fields.")
class Refusal(UserError):
    pass


@strawberry.type(description="The article or comment can no longer be voted on.")
class VotingClosed(UserError):
    closed_at: DateTime = strawberry.field(description="When voting closed.")


@strawberry.type(description="The rate limit was exceeded.")
class RateLimited(UserError):
    retry_at: DateTime = strawberry.field(description="When the mutation is allowed again.")


def user_error(refusal: errors.Refusal) -> UserError:
    code, message = CODES[type(refusal)], refusal.message
    field = ["input", *refusal.field] if refusal.field else None
    match refusal:
        case errors.VotingClosed():
            return VotingClosed(code=code, message=message, field=field, closed_at=DateTime(refusal.closed_at))
        case errors.RateLimited():
            return RateLimited(code=code, message=message, field=field, retry_at=DateTime(refusal.retry_at))
        case _:
            return Refusal(code=code, message=message, field=field)
