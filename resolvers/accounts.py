"""
The account of the viewer: their address, which mails they get, and where they are logged in.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
An issuer is a service outside at which users may log in; a user who logs in only there has no password here.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from resolvers.context import Context
from store import mailboxes, mails, standing_bans
from store.errors import Invalid, NotOffered, Unauthenticated
from store.mailboxes import KEPT, Email, MailFrequency, UserMailbox
from store.sessions import ListedSession
from store.validation import EMAIL_LENGTH

PREFIX = "session:"  # of the id of a session in GraphQL


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """The account of a user, which only they see. The batch resolvers below read its fields."""

    username: str


async def account(context: Context) -> OwnAccount | None:
    username = await context.viewer()
    return OwnAccount(username) if username else None


def ids(accounts: Sequence[OwnAccount], context: Context) -> list[str]:
    return [f"account:{each.username.lower()}" for each in accounts]


async def email(accounts: Sequence[OwnAccount], context: Context) -> list[str | None]:
    return [each.email for each in await _mailboxes(accounts, context)]


async def pending_email(accounts: Sequence[OwnAccount], context: Context) -> list[str | None]:
    return [each.pending for each in await _mailboxes(accounts, context)]


async def is_email_refused(accounts: Sequence[OwnAccount], context: Context) -> list[bool]:
    return [each.is_refused for each in await _mailboxes(accounts, context)]


def is_mail_offered(accounts: Sequence[OwnAccount], context: Context) -> list[bool]:
    return [context.store.site.offers_mail for _ in accounts]


async def mail_replies(accounts: Sequence[OwnAccount], context: Context) -> list[MailFrequency]:
    return [each.replies for each in await _mailboxes(accounts, context)]


async def has_password(accounts: Sequence[OwnAccount], context: Context) -> list[bool]:
    """Whether the viewer has a password. One round trip; none if the site has no passwords of its own."""
    users = context.store.users
    if not users.offers.has_passwords:
        return [False for _ in accounts]
    return await context.reads.load_all([users.find_password(each.username) for each in accounts])


async def sessions(accounts: Sequence[OwnAccount], context: Context) -> list[list[ListedSession]]:
    """Where the viewer is logged in. One round trip."""
    listed = await context.store.sessions.listed(context.actor())
    return [listed for _ in accounts]


def session_ids(listed: Sequence[ListedSession], context: Context) -> list[str]:
    return [f"{PREFIX}{each.id}" for each in listed]


async def end_session(context: Context, session_id: str | None = None) -> OwnAccount | None:
    """
    End one session of the viewer; without an id, all but the session of this request. Return None if the session of
    this request has ended: nobody is logged in any more.
    """
    if session_id is not None and not session_id.startswith(PREFIX):
        raise Invalid("a session's id begins with session:", "sessionId")
    actor, username = context.actor(), await context.viewer()
    id = session_id.removeprefix(PREFIX) if session_id is not None else None
    if id == "":
        raise Invalid("a session's id has something after session:", "sessionId")
    is_own = await context.write(context.store.sessions.close_listed(actor, id))
    if is_own:
        context.discard_cookie()
        context.log_out()
        return None
    return OwnAccount(username) if username else None


async def edit_account(
    context: Context,
    email: Email = KEPT,
    mail_replies: MailFrequency | None = None,
    current_password: str | None = None,
    token: str | None = None,
) -> OwnAccount:
    """
    Change what is given. `email` is KEPT to leave the address as it is, and None to remove it. Users without a password
    give a `token` from a mail in its place.
    """
    actor, client_address = context.actor(), context.address
    if email is not KEPT and client_address is not None:
        if email is not None:
            context.store.mailboxes.checked(email)
        username = await context.store.site.username(actor)
        await context.store.attempts.count(context.rates.of_mails(client_address, username))
    # when the user has logged in at their issuer, in unix milliseconds; 0 for sessions of this site
    authenticated_at = context.identified.authenticated_at if context.identified else 0
    edited = context.store.mailboxes.edit(
        actor, email, mail_replies, current_password, client_address, authenticated_at, token
    )
    username = await context.write(edited)
    context.reads.set_checked_login(username)
    return OwnAccount(username)


async def confirm_email(context: Context, token: str) -> OwnAccount | None:
    """Confirm the address of the user whom the token names. Returns the account only if that user is the viewer."""
    username = await context.write(context.store.mailboxes.confirm(token))
    return OwnAccount(username) if await context.viewer() == username else None


async def request_password_reset(context: Context, username_or_email: str) -> None:
    """
    Queue a mail with a link to reset the password. The answer and its time do not tell whether there is such a user.
    One round trip; another one to count the mail for the client's address, if that is known.
    """
    context.store.users.offers.require_passwords()
    if not context.store.site.offers_mail:
        raise NotOffered("this site sends no mail: ask its operator for a link")
    if len(username_or_email) > EMAIL_LENGTH:
        raise Invalid(f"an address has at most {EMAIL_LENGTH} characters", "usernameOrEmail")
    if context.address is not None:
        await context.store.attempts.count(context.rates.of_mails(context.address))
    await context.write(mails.ask_for_reset(context.store.site, username_or_email.strip()))


async def request_confirmation(context: Context) -> None:
    """
    Queue a mail with a link that stands in for a password. Four round trips: the session, the viewer's mailbox and
    password, the rate limits, and the queue.
    """
    store = context.store
    if not store.site.offers_mail:
        raise NotOffered("this site sends no mail")
    login = await context.login()
    if login is None:
        raise Unauthenticated
    standing_bans.refuse_banned(login.bans, store.site.clock())
    viewer = [OwnAccount(login.username)]
    (mailbox,), (has_password_here,) = await asyncio.gather(_mailboxes(viewer, context), has_password(viewer, context))
    if has_password_here:
        raise Invalid("you have a password, which is asked for instead")
    if mailbox.usable is None:
        raise Invalid("you have no confirmed address: log in again instead")
    if context.address is not None:
        await store.attempts.count(context.rates.of_mails(context.address, login.username))
    await context.write(mails.ask_for_identity(store.site, login.username))


async def _mailboxes(accounts: Sequence[OwnAccount], context: Context) -> list[UserMailbox]:
    """The viewer's mailbox, once for each account. One round trip, which all fields share."""
    return await context.reads.load_all([mailboxes.find(context.store.site, each.username) for each in accounts])
