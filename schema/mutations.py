"""What all mutations share: fields of inputs, fields of payloads, and refusals as `userErrors`."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

import strawberry
from strawberry.types.unset import UNSET

from resolvers.context import Context
from schema.errors import UserError, user_error
from schema.fields import command_field, field_of
from store.errors import Refusal, Unauthenticated

if TYPE_CHECKING:
    from schema.schema import Query

IDEMPOTENCY_KEY = (
    "A unique text chosen by the client. The same key within a day does not post again. Without a key the same input "
    "within 10 seconds does not."
)
HELD_BY = "The rule of the site that holds the text until a moderator approves it; null if none does."
REPLAYED = (
    "Whether the viewer posted this before: with the same idempotency key, or without one in the last 10 seconds."
)


def mutation(resolver: Callable[..., Awaitable[Any]], payload: type[Any], input: type | None, description: str) -> Any:
    """
    The field of a resolver whose result or refusal becomes a payload.

    The resolver is called with the context and the fields of `input` that the client has given. Its result is the
    argument of `payload.of`; a refusal, an exception, becomes `userErrors` of the payload.
    """

    async def command(context: Context, input: Any = None) -> Any:
        given = {name: value for name, value in vars(input).items() if value is not UNSET} if input else {}
        try:
            return payload.of(await resolver(context, **given))
        except Refusal as refusal:
            if isinstance(refusal, Unauthenticated):
                context.note_refused_session()
            return payload(user_errors=[user_error(each) for each in (refusal, *refusal.others)])

    return command_field(command, input, description)


def optional(description: str, name: str | None = None) -> Any:
    """A field of an input that may be left out. `name` is its own name where Python's differs."""
    return strawberry.field(default=UNSET, description=description, name=name)


def listed(description: str) -> Any:
    """A field of an input that is an empty list if it is left out."""
    empty: Callable[[], list[str]] = list
    return strawberry.field(default_factory=empty, description=description)


def nullable(description: str) -> Any:
    """A field that is null in the payload of a refused mutation."""
    return strawberry.field(default=None, description=description)


def query(payloads: Sequence[Any], context: Context) -> Sequence[Any]:
    """The root object of queries for each payload: any object will do, as no root field reads it."""
    return payloads


@strawberry.type
class Payload:
    """The fields of all payloads. Not a type of the schema itself."""

    user_errors: list[UserError] = strawberry.field(
        default_factory=list,
        description="Why the mutation was refused: all invalid values of its input; empty if it succeeded.",
    )
    query: Annotated["Query", strawberry.lazy("schema.schema")] = field_of(
        query, "The query root, as of after the mutation."
    )

    @classmethod
    def of_records(cls, **fields: Any) -> Self:
        """
        A payload with records in its fields, where the annotations have types of the schema. This works because only
        attributes are read, and a record has the attributes that the type in its place has.
        """
        return cls(**fields)
