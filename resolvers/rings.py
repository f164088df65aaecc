"""
Rings, groups of accounts that vote for each other far more often than chance explains: those that the last search has
found, for moderators of the site. The command `upvote rings` searches; here nothing is computed.
"""

from collections.abc import Sequence

from database import rings
from database.rings import Ring, RingMove
from resolvers.context import Context
from store import records
from store.records import Article, User


async def of_users(users: Sequence[User], context: Context) -> list[Ring | None]:
    """
    The ring of each user, for moderators of the site. None without a database.

    Raises:
        DatabaseUnavailable: the database does not answer.
    """
    if context.database is None:
        return [None] * len(users)
    names = [_stored_name(user) for user in users]
    found = await context.database.run(rings.of_users, names)
    return [found.get(name) for name in names]


def members(found: Sequence[Ring], context: Context) -> list[list[User]]:
    return [[records.user(name) for name in ring.members] for ring in found]


async def articles(moves: Sequence[RingMove], context: Context) -> list[Article | None]:
    return await context.articles([move.article for move in moves])


def _stored_name(user: User) -> str:
    """The name of a user, or of a deleted one the pseudonym."""
    name = user.id.removeprefix("user:")
    return name if records.is_pseudonym(name) else user.username
