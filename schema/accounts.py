"""The account of the viewer, which nobody else sees: where they are logged in."""

from typing import Self

import strawberry

from resolvers import accounts
from schema.fields import field_of, root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.scalars import DateTime


@strawberry.type(description="A session of the viewer: where they are logged in.")
class AccountSession:
    id: strawberry.ID = field_of(
        accounts.session_ids, "The id, `session:` and a random text. It is no token.", is_pure=True
    )
    opened_at: DateTime = strawberry.field(description="When the viewer logged in there.")
    used_at: DateTime = strawberry.field(description="When it was used last, but for an hour.")
    agent: str | None = strawberry.field(
        description="The program and its system, such as `Firefox on Linux`; null if it did not say."
    )
    is_current: bool = strawberry.field(description="Whether this request is of this session.")


@strawberry.type(description="What only the viewer sees of their account.")
class Account:
    sessions: list[AccountSession] = field_of(
        accounts.sessions, "Where the viewer is logged in, last used first; at most 100."
    )


@strawberry.type
class AccountQueries:
    account: Account | None = root_field(accounts.account, "The account of the viewer; null if nobody is logged in.")


@strawberry.input(description="Which session of the viewer ends.")
class EndSessionInput:
    session_id: strawberry.ID | None = optional("The id of a session; without it all end but the one of this request.")


@strawberry.type(description="The end of sessions of the viewer.")
class EndSessionPayload(Payload):
    account: Account | None = nullable("The account; null if the session of this request has ended.")

    @classmethod
    def of(cls, account: accounts.OwnAccount | None) -> Self:
        return cls.of_records(account=account)


@strawberry.type
class AccountMutations:
    end_session: EndSessionPayload | None = mutation(
        accounts.end_session,
        EndSessionPayload,
        EndSessionInput,
        "Log the viewer out in another place, or in all others. WebSockets and streams there are closed.",
    )
