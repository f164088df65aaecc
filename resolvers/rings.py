"""
Rings, groups of accounts that vote for each other far more often than chance explains: those that the last search has
found, for moderators of the site. The command `upvote rings` searches; here nothing is computed.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from database import rings
from database.rings import Ring, RingMove
from resolvers.context import Context
from store import moderation, records
from store.listings import Window
from store.moderation_records import ModerationAction
from store.records import Article, User

NEWEST_ACTIONS = 20  # about a member, among which the one is that annuls the votes


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


async def annulled_members(found: Sequence[Ring], context: Context) -> list[list[User]]:
    """
    Of the members of each ring those whose votes until the search are annulled by an action that stands. Two round
    trips: one for the newest actions about each member, and one for the actions.
    """
    of_rings = [[(ring, name) for name in ring.members if not records.is_pseudonym(name)] for ring in found]
    pairs = list(chain.from_iterable(of_rings))
    logs = [moderation.log(context.store.site, f"user:{name.lower()}") for _, name in pairs]
    pages = await context.reads.pages([(log, Window(NEWEST_ACTIONS)) for log in logs])
    numbers = [[int(position.member) for position in page.positions] for page in pages]
    actions = iter(await context.reads.actions(chain.from_iterable(numbers)))
    annulled = {
        (ring.number, name)
        for (ring, name), of_member in zip(pairs, numbers, strict=True)
        if _is_annulled(ring, list(islice(actions, len(of_member))))
    }
    return [[records.user(name) for ring, name in pairs if (ring.number, name) in annulled] for pairs in of_rings]


def _is_annulled(ring: Ring, actions: Iterable[ModerationAction | None]) -> bool:
    """Whether one of these actions about a member keeps all votes from counting that were cast until the search."""
    return any(
        action.annulment.since is None and (action.annulment.until or action.at) >= ring.found_at
        for action in actions
        if action and action.annulment and not action.is_restored
    )


async def articles(moves: Sequence[RingMove], context: Context) -> list[Article | None]:
    return await context.articles([move.article for move in moves])


def _stored_name(user: User) -> str:
    """The name of a user, or of a deleted one the pseudonym."""
    name = user.id.removeprefix("user:")
    return name if records.is_pseudonym(name) else user.username
