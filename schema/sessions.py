"""
Sessions: registering, logging in and out, and who the viewer is.

An issuer is a service outside at which users may log in; its tokens are exchanged for a session here.
"""

from typing import Self

import strawberry

from resolvers import sessions
from resolvers.context import Context
from schema.enums import DeletedTexts
from schema.fields import root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.scalars import DateTime
from schema.users import User
from store import records

COOKIE = (
    "Whether the browser keeps the token in a cookie that no script can read, and `token` is null. INVALID where the "
    "page is not one of this site, and over WebSockets and streams."
)
PASSWORD = "8 to 128 characters."


@strawberry.type(description="The session of a logged-in user, which the token of a request names.")
class Session:
    expires_at: DateTime = strawberry.field(
        description="When the session ends if it is not used before. A request that reads something of the viewer "
        "extends it, once an hour, until a year after log-in."
    )


@strawberry.type
class SessionQueries:
    viewer: User | None = root_field(sessions.viewer, "The logged-in user; null if nobody is logged in.")
    session: Session | None = root_field(Context.login, "The session of this request; null if nobody is logged in.")
    password_reset_user: User | None = root_field(
        sessions.password_reset_user,
        "The user whose password `resetPassword` sets by this token; null if the token is not good. It is not used up.",
        arguments={"token": "What follows `#` in the link."},
    )


@strawberry.input(description="A name and a password for a new user.")
class RegisterInput:
    username: str = strawberry.field(description="2 to 20 letters, digits, `_` and `-`.")
    password: str = strawberry.field(description=PASSWORD)
    invitation: str | None = optional("Where the site is for those who are invited: what follows `#` in the link.")
    email: str | None = optional("An address, which a mail to it confirms. INVALID where the site sends no mail.")
    cookie: bool | None = strawberry.field(default=False, description=COOKIE)


@strawberry.input(description="The name and password of a user.")
class LogInInput:
    username: str = strawberry.field(description="The name of the user, in any case of letters.")
    password: str = strawberry.field(description=PASSWORD)
    cookie: bool | None = strawberry.field(default=False, description=COOKIE)


@strawberry.input(description="The token of an issuer of the site, and how its session is kept.")
class LogInWithTokenInput:
    token: str = strawberry.field(description="The token, as the issuer has made it.")
    cookie: bool | None = strawberry.field(default=False, description=COOKIE)


@strawberry.input(description="A new password for the viewer.")
class ChangePasswordInput:
    current_password: str = strawberry.field(description="The current password.")
    new_password: str = strawberry.field(description=PASSWORD)


@strawberry.input(description="A new password for the user to whom a token was given.")
class ResetPasswordInput:
    token: str = strawberry.field(
        description="What follows `#` in the link of a mail or of the operator. It is good once, for an hour."
    )
    new_password: str = strawberry.field(description=PASSWORD)
    cookie: bool | None = strawberry.field(default=False, description=COOKIE)


@strawberry.input(description="The password of the viewer, and what becomes of their articles and comments.")
class DeleteUserInput:
    current_password: str | None = optional("The current password.")
    token: str | None = optional("In place of a password: what follows `#` in the link of `requestConfirmation`.")
    texts: DeletedTexts | None = strawberry.field(
        default=DeletedTexts.KEEP, description="What becomes of the articles and comments."
    )


@strawberry.type(description="A new session.")
class SessionPayload(Payload):
    user: User | None = nullable("The user who is now logged in.")
    token: str | None = nullable(
        "Send it as `Authorization: Bearer TOKEN`. It cannot be read again. Null if a cookie has it."
    )
    expires_at: DateTime | None = nullable("When the session ends if it is not used before.")

    @classmethod
    def of(cls, opened: sessions.Opened) -> Self:
        user = records.user(opened.login.username)
        return cls.of_records(user=user, token=opened.token, expires_at=opened.login.expires_at)


@strawberry.type(description="A changed password.")
class ChangePasswordPayload(Payload):
    user: User | None = nullable("The user whose password was changed; null if refused.")

    @classmethod
    def of(cls, user: records.User) -> Self:
        return cls.of_records(user=user)


@strawberry.type(description="The end of an account.")
class DeleteUserPayload(Payload):
    deleted_user_id: strawberry.ID | None = nullable(
        "The id of the pseudonym in whose name votes, and texts that are kept, stay; null if refused."
    )

    @classmethod
    def of(cls, id: str) -> Self:
        return cls(deleted_user_id=strawberry.ID(id))


@strawberry.type(description="The end of a session.")
class LogOutPayload(Payload):
    @classmethod
    def of(cls, nothing: None) -> Self:
        return cls()


@strawberry.type
class SessionMutations:
    register: SessionPayload | None = mutation(
        sessions.register, SessionPayload, RegisterInput, "Create a user and log them in."
    )
    log_in: SessionPayload | None = mutation(sessions.log_in, SessionPayload, LogInInput, "Open a session.")
    log_in_with_token: SessionPayload | None = mutation(
        sessions.log_in_with_token,
        SessionPayload,
        LogInWithTokenInput,
        "Open a session for the user whom the token of an issuer names.",
    )
    change_password: ChangePasswordPayload | None = mutation(
        sessions.change_password,
        ChangePasswordPayload,
        ChangePasswordInput,
        "Change the viewer's password and end all their other sessions.",
    )
    reset_password: SessionPayload | None = mutation(
        sessions.reset_password,
        SessionPayload,
        ResetPasswordInput,
        "Set a password by a token, and log in. The token is used up, and all other sessions of the user end.",
    )
    delete_user: DeleteUserPayload | None = mutation(
        sessions.delete_user,
        DeleteUserPayload,
        DeleteUserInput,
        "Delete the viewer for good: profile, sessions and follows go, and nobody else ever gets the name. "
        "Articles and comments stay without a name, or are deleted; votes stay counted.",
    )
    log_out: LogOutPayload | None = mutation(
        sessions.log_out, LogOutPayload, input=None, description="End this session."
    )
