"""
The command `rings`: finds accounts that vote for each other far more often than chance explains, prints them with what
annulling their votes would move, and keeps the finding in the database, where moderators see it.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from database import rings
from database.database import Database
from database.rings import Ring, RingMove
from server.cli.database import run_action
from server.cli.progress import progress_bar
from server.errors import CommandError
from server.settings import WrongSetting, read_settings
from store.store import Store

SHOWN_MEMBERS = 10  # of a ring, whose names are printed


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="only print what is found: moderators see the last finding"
    )


def run(arguments: Namespace) -> int:
    settings = read_settings()
    if settings.database is None:
        raise WrongSetting("UPVOTE_DATABASE_URL=none: only the database knows who has voted on what")
    require_numpy()
    return run_action(settings, lambda store, database: _search(store, database, arguments.dry_run), must_exist=True)


def require_numpy() -> None:
    """
    Raises:
        CommandError: numpy is not installed.
    """
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise CommandError("the search for rings needs numpy: .venv/bin/pip install -e '.[rings]'") from error


async def _search(store: Store, database: Database, is_dry: bool) -> None:
    """Search for rings and print them. The database keeps them, unless this is a dry run."""
    from server.rings.search import search  # needs numpy

    now = store.site.clock()
    with progress_bar("votes", total=None) as advance:
        found = await search(database, store.site.policy, now, advance)
    if not is_dry:
        await database.write_durably(rings.replace_all, now, found.votes, found.users, found.rings)
    newest = "" if found.is_whole else "the newest "
    print(f"{newest}{found.votes} votes of {found.users} users; rings: {len(found.rings)}")
    for ring in found.rings:
        for line in _lines(ring):
            print(line)


def _lines(ring: Ring) -> Iterator[str]:
    """What moderators see of a ring."""
    more = ring.member_count - SHOWN_MEMBERS
    names = ", ".join(ring.members[:SHOWN_MEMBERS]) + (f" and {more} more" if more > 0 else "")
    yield f"\nring {ring.number}, {ring.member_count} accounts: {names}"
    yield f"  {ring.votes} votes for each other, where chance explains {ring.expected:.1f}"
    yield f"  each voted for {ring.coverage:.0%} of what the others posted"
    yield (
        f"  annulling all their votes takes {ring.article_votes} on articles and {ring.comment_votes} on comments, "
        f"which moves {ring.moved} articles with such votes"
    )
    yield from map(_move, ring.moves)


def _move(move: RingMove) -> str:
    return f"    article:{move.article} loses {move.votes} votes: place {move.place} -> {move.new_place} by score"
