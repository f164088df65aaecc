"""The account of the viewer: where they are logged in."""

from collections.abc import Sequence
from dataclasses import dataclass

from resolvers.context import Context
from store.errors import Invalid
from store.sessions import ListedSession

PREFIX = "session:"


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """What only its user sees."""

    username: str


async def account(context: Context) -> OwnAccount | None:
    username = await context.viewer()
    return OwnAccount(username) if username else None


async def sessions(accounts: Sequence[OwnAccount], context: Context) -> list[list[ListedSession]]:
    """One round trip."""
    listed = await context.store.sessions.listed(context.actor())
    return [listed for _ in accounts]


def session_ids(listed: Sequence[ListedSession], context: Context) -> list[str]:
    return [f"{PREFIX}{each.id}" for each in listed]


async def end_session(context: Context, session_id: str | None = None) -> OwnAccount | None:
    """End a session of the viewer, or all but the one of this request. None if that is the one that has ended."""
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
