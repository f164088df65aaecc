"""The viewer's home. A request has at most one."""

from resolvers.context import Context
from store.records import Home


async def home(context: Context) -> Home | None:
    username = await context.viewer()
    return Home(username) if username else None
