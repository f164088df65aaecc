"""
Who the viewer is: registering, logging in and out, changing the password, and leaving.

An issuer is a service outside at which users may log in; its tokens are exchanged for a session here.
"""

from typing import NamedTuple

from archive import leaving
from resolvers.context import Context
from store import one_time_tokens, records
from store.errors import BadToken, Unauthenticated
from store.leaving import DeletedTexts
from store.one_time_tokens import Purpose
from store.records import User
from store.sessions import NewSession
from store.site import Login


class Opened(NamedTuple):
    """A session just opened. `token` is None if it is in a cookie."""

    login: Login
    token: str | None


async def viewer(context: Context) -> User | None:
    username = await context.viewer()
    return records.user(username) if username else None


async def register(
    context: Context,
    username: str,
    password: str,
    invitation: str | None = None,
    email: str | None = None,
    cookie: bool | None = False,
) -> Opened:
    """Create a user, log them in, and set their e-mail address if one is given, which takes one more round trip."""
    if cookie:
        context.require_cookie()
    client_address, users = context.address, context.store.users
    email = context.store.mailboxes.checked(email) if email is not None else None
    rates = [*context.rates.of_registrations(client_address)] if client_address is not None else []
    rates += context.rates.of_mails(client_address) if email and client_address is not None else []
    opened = await users.register(username, password, rates, client_address, context.agent(), invitation)
    if email:
        await context.store.mailboxes.set_first(opened.login.username, email)
    return _logged_in(context, opened, cookie)


async def log_in(context: Context, username: str, password: str, cookie: bool | None = False) -> Opened:
    if cookie:
        context.require_cookie()
    users = context.store.users
    return _logged_in(context, await users.log_in(username, password, context.address, context.agent()), cookie)


async def log_in_with_token(context: Context, token: str, cookie: bool | None = False) -> Opened:
    """Open a session for the user whom an issuer's token names. One round trip beside those that check the token."""
    if cookie:
        context.require_cookie()
    identified = await context.user_of_token(token)
    return _logged_in(context, await context.store.sessions.open(identified.username, agent=context.agent()), cookie)


async def change_password(context: Context, current_password: str, new_password: str) -> User:
    command = context.store.users.change_password(
        context.own_session(), current_password, new_password, context.address
    )
    username = await context.write(command)
    context.reads.set_checked_login(username)
    return records.user(username)


async def reset_password(context: Context, token: str, new_password: str, cookie: bool | None = False) -> Opened:
    if cookie:
        context.require_cookie()
    opened = await context.write(context.store.users.reset_password(token, new_password, context.agent()))
    return _logged_in(context, opened, cookie)


async def password_reset_user(context: Context, token: str) -> User | None:
    """Whose password a token resets; None if it is not good. One round trip; the token stays as it is."""
    try:
        found = await one_time_tokens.read(context.store.site, token, Purpose.RESET)
    except BadToken:
        return None
    return records.user(found.username)


async def delete_user(
    context: Context,
    current_password: str | None = None,
    texts: DeletedTexts | None = None,
    token: str | None = None,
) -> str:
    """
    Delete the viewer, and return the id of the pseudonym, a random name to which their votes, and the texts that are
    kept, belong from now on. Round trips of `Users.delete` and `archive.leaving.begin`.
    """
    command = context.store.users.delete(
        context.actor(),
        current_password,
        removes_texts=texts is DeletedTexts.REMOVE,
        address=context.address,
        authenticated_at=context.identified.authenticated_at if context.identified else 0,
        token=token,
    )
    leaver = await context.write(command)
    await context.write(leaving.begin(context.store, context.database, leaver))
    context.discard_cookie()
    context.log_out()
    return f"user:{leaver.pseudonym}"


async def log_out(context: Context) -> None:
    try:
        await context.store.sessions.close(context.own_session())
    except Unauthenticated:
        context.discard_cookie()
        raise
    context.discard_cookie()
    context.log_out()


def _logged_in(context: Context, session: NewSession, cookie: bool | None) -> Opened:
    context.log_in(session.token)
    context.reads.set_login(session.login)
    if cookie:
        context.keep(session.token)
    return Opened(session.login, None if cookie else session.token)
