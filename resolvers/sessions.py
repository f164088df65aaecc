"""Who the viewer is: registering, logging in and out, and changing the password, and leaving."""

from archive import leaving
from resolvers.context import Context
from store import records
from store.leaving import DeletedTexts
from store.records import User
from store.sessions import NewSession


async def viewer(context: Context) -> User | None:
    username = await context.viewer()
    return records.user(username) if username else None


async def register(context: Context, username: str, password: str) -> NewSession:
    address, users = context.address, context.store.users
    rates = context.rates.of_registrations(address) if address is not None else ()
    return _logged_in(context, await users.register(username, password, rates, address))


async def log_in(context: Context, username: str, password: str) -> NewSession:
    return _logged_in(context, await context.store.users.log_in(username, password, context.address))


async def change_password(context: Context, current_password: str, new_password: str) -> User:
    command = context.store.users.change_password(context.actor(), current_password, new_password, context.address)
    username = await context.write(command)
    context.reads.prime_login(username)
    return records.user(username)


async def delete_user(context: Context, current_password: str | None = None, texts: DeletedTexts | None = None) -> str:
    """The id that is left of the viewer. Beside the round trips of `Users.delete` those of `archive.leaving.begin`."""
    command = context.store.users.delete(
        context.actor(), current_password, removes_texts=texts is DeletedTexts.REMOVE, address=context.address
    )
    leaver = await context.write(command)
    await context.write(leaving.begin(context.store, context.database, leaver))
    context.log_out()
    return f"user:{leaver.pseudonym}"


async def log_out(context: Context) -> None:
    await context.store.sessions.close(context.actor())
    context.log_out()


def _logged_in(context: Context, session: NewSession) -> NewSession:
    context.log_in(session.token)
    context.reads.set_login(session.login)
    return session
