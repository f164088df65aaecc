"""
The account of the viewer, which nobody else sees: their address and mails, and where they are logged in.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names. With `is_pure`
its value is always the same for a record, for every client. An issuer is a service outside at which users log in.
"""

from typing import Self

import strawberry

from resolvers import accounts
from schema.enums import MailFrequency
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
    id: strawberry.ID = field_of(accounts.ids, "The id, `account:` and the username in lower case.", is_pure=True)
    has_password: bool = field_of(
        accounts.has_password, "Whether the viewer has a password: not who logs in at an issuer only."
    )
    email: str | None = field_of(accounts.email, "The address that the viewer has confirmed; null if there is none.")
    pending_email: str | None = field_of(
        accounts.pending_email, "An address that waits for its confirmation; until then `email` stays."
    )
    is_email_refused: bool = field_of(
        accounts.is_email_refused,
        "Whether a mail server has refused an address of the viewer for good. Nothing is sent to it until "
        "`editAccount` sets one.",
    )
    is_mail_offered: bool = field_of(
        accounts.is_mail_offered, "Whether the site sends mail; without it nobody has an address.", is_pure=True
    )
    mail_replies: MailFrequency = field_of(
        accounts.mail_replies, "How often what arrives in the inbox is mailed to the confirmed address."
    )
    sessions: list[AccountSession] = field_of(
        accounts.sessions, "Where the viewer is logged in, last used first; at most 100."
    )


@strawberry.type
class AccountQueries:
    account: Account | None = root_field(accounts.account, "The account of the viewer; null if nobody is logged in.")


@strawberry.input(description="What changes in the account of the viewer; what is left out stays.")
class EditAccountInput:
    email: str | None = optional(
        "A new address, which a mail to it confirms; null removes it. INVALID where the site sends no mail."
    )
    mail_replies: MailFrequency | None = optional("How often what arrives in the inbox is mailed.")
    current_password: str | None = optional("The current password, where the address changes.")
    token: str | None = optional("In place of a password: what follows `#` in the link of `requestConfirmation`.")


@strawberry.input(description="The token of a link to confirm an address.")
class ConfirmEmailInput:
    token: str = strawberry.field(description="What follows `#` in the link. It is good once, for a day.")


@strawberry.input(description="Whose password is forgotten.")
class RequestPasswordResetInput:
    username_or_email: str = strawberry.field(
        description="The name of a user, or an address, by which all who have confirmed it are found."
    )


@strawberry.input(description="Which session of the viewer ends.")
class EndSessionInput:
    session_id: strawberry.ID | None = optional("The id of a session; without it all end but the one of this request.")


@strawberry.type(description="An account that was edited.")
class EditAccountPayload(Payload):
    account: Account | None = nullable("The account of the viewer; null if refused, or if nobody is logged in.")

    @classmethod
    def of(cls, account: accounts.OwnAccount | None) -> Self:
        return cls.of_records(account=account)


@strawberry.type(description="A mail was asked for. This says the same whether or not there is such a user.")
class RequestPasswordResetPayload(Payload):
    @classmethod
    def of(cls, nothing: None) -> Self:
        return cls()


@strawberry.type(description="A mail to the viewer that was asked for.")
class RequestConfirmationPayload(Payload):
    @classmethod
    def of(cls, nothing: None) -> Self:
        return cls()


@strawberry.type(description="The end of sessions of the viewer.")
class EndSessionPayload(Payload):
    account: Account | None = nullable("The account; null if the session of this request has ended.")

    @classmethod
    def of(cls, account: accounts.OwnAccount | None) -> Self:
        return cls.of_records(account=account)


@strawberry.type
class AccountMutations:
    edit_account: EditAccountPayload | None = mutation(
        accounts.edit_account,
        EditAccountPayload,
        EditAccountInput,
        "Change the viewer's address, or which mails they get. A new address gets a mail with a link to confirm it, "
        "and the one before is told.",
    )
    confirm_email: EditAccountPayload | None = mutation(
        accounts.confirm_email,
        EditAccountPayload,
        ConfirmEmailInput,
        "Confirm a pending address, in whatever browser its link was opened. From then on it counts.",
    )
    request_password_reset: RequestPasswordResetPayload | None = mutation(
        accounts.request_password_reset,
        RequestPasswordResetPayload,
        RequestPasswordResetInput,
        "Send a mail with a link to choose a new password, to the confirmed address of a user or to an address.",
    )
    request_confirmation: RequestConfirmationPayload | None = mutation(
        accounts.request_confirmation,
        RequestConfirmationPayload,
        input=None,
        description="Send a mail to the viewer's confirmed address, with a link that stands in for the password of who "
        "has none: for `deleteUser` and a change of the address. INVALID with a password, or without such an address.",
    )
    end_session: EndSessionPayload | None = mutation(
        accounts.end_session,
        EndSessionPayload,
        EndSessionInput,
        "Log the viewer out in another place, or in all others. WebSockets and streams there are closed.",
    )
