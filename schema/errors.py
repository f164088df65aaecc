"""Refusals as clients see them: data in `userErrors`, not errors of the response."""

from typing import Any

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
    errors.RateLimited: UserErrorCode.RATE_LIMITED,
    errors.IdempotencyMismatch: UserErrorCode.IDEMPOTENCY_MISMATCH,
}


def code(root: errors.Refusal) -> UserErrorCode:
    return CODES[type(root)]


def path(root: errors.Refusal) -> list[str] | None:
    return ["input", *root.field] if root.field else None


@strawberry.interface(description="A refusal: the request was understood, and the answer is no. Nothing was changed.")
class UserError:
    code: UserErrorCode = strawberry.field(resolver=code, description="Why, for programs.")
    message: str = strawberry.field(description="Why, for people.")
    field: list[str] | None = strawberry.field(
        resolver=path, description="The path of the value at fault, such as `input`, `title`."
    )


@strawberry.type(description="A refusal that has no more to say.")
class Refusal(UserError):
    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, errors.Refusal) and not isinstance(value, errors.VotingClosed | errors.RateLimited)


@strawberry.type(description="The article can no longer be voted on.")
class VotingClosed(UserError):
    closed_at: DateTime = strawberry.field(description="The last instant at which it could be.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, errors.VotingClosed)


@strawberry.type(description="This was done too often.")
class RateLimited(UserError):
    retry_at: DateTime = strawberry.field(description="When it can be done again.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, errors.RateLimited)
