"""
Rings, groups of accounts that vote for each other far more often than chance explains: those that the last search has
found, for moderators of the site. The command `upvote rings` searches; here nothing is computed.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
The votes of a user are annulled if a moderator's action keeps them from counting.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from database import rings
from database.rings import Ring, RingMove
from resolvers.context import Context
from store import moderation, records
from store.listings import Window
from store.moderation_records import ModerationAction
from store.records import Article, Position, User

ACTIONS_AT_ONCE = 20  # about a member, newest first, that are looked through for one that annuls the votes


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
    The members of each ring whose votes until the search are all annulled by an action, and were not restored. Two
    round trips for `ACTIONS_AT_ONCE` actions about each member, newest first; two more for the next ones, as long as
    those were newer than the search.
    """
    of_rings = [[(ring, name) for name in ring.members] for ring in found]
    annulled: set[tuple[int, str]] = set()  # numbers of rings, and names of members
    # members to look at, each with the position in the log about them below which to read on; None: from the newest
    to_read: list[tuple[Ring, str, Position | None]] = [(*pair, None) for pair in chain.from_iterable(of_rings)]
    while to_read:
        batch, to_read = to_read, []
        for (ring, name, _), (actions, last) in zip(batch, await _actions(batch, context), strict=True):
            if _is_annulled(ring, actions):
                annulled.add((ring.number, name))
            elif (
                last and last.value >= ring.found_at
            ):  # an older action cannot annul all votes that were cast until the search
                to_read.append((ring, name, last))
    return [[records.user(name) for ring, name in pairs if (ring.number, name) in annulled] for pairs in of_rings]


async def _actions(
    wanted: Sequence[tuple[Ring, str, Position | None]], context: Context
) -> list[tuple[list[ModerationAction | None], Position | None]]:
    """
    For each member of `wanted` the newest actions below the position; and the position of the last of these, or None if
    there are no older ones.
    """
    site = context.store.site
    pages = await context.reads.pages(
        [
            (moderation.log(site, f"user:{name.lower()}"), Window(ACTIONS_AT_ONCE, beyond=beyond))
            for _, name, beyond in wanted
        ]
    )
    numbers = [int(position.member) for page in pages for position in page.positions]
    actions = iter(await context.reads.actions(numbers))
    return [(list(islice(actions, len(page.positions))), page.positions[-1] if page.below else None) for page in pages]


def _is_annulled(ring: Ring, actions: Iterable[ModerationAction | None]) -> bool:
    """Whether one of these actions about a member keeps all votes from counting that were cast until the search."""
    return any(
        action.annulment.since is None and (action.annulment.until or action.at) >= ring.found_at
        for action in actions
        if action and action.annulment and not action.is_restored
    )


async def articles(moves: Sequence[RingMove], context: Context) -> list[Article | None]:
    """The article of each move: it would change its place in the ranking if all votes of a ring were annulled."""
    return await context.articles([move.article for move in moves])


def _stored_name(user: User) -> str:
    """The name of a user, or of a deleted one the pseudonym."""
    name = user.id.removeprefix("user:")
    return name if records.is_pseudonym(name) else user.username
