"""
The command `purge`: deletes the text of an article or a comment for good, in the store, its log and its database, and
says which backups still have it. It acts as `operator`, the name in the log of moderation for whoever has a shell.
"""

import asyncio
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic

from archive import write_back
from database import search
from database.database import Database
from database.positions import has_entry
from server.cli import backup_file, opened_store
from server.errors import CommandError
from server.settings import Settings, read_settings
from store import keys, log, purges, records
from store.errors import NotFound, Refusal
from store.purges import PURGED
from store.roles import OPERATOR
from store.store import Store

REASON = "it must not stay"
PATIENCE = 60.0  # seconds to wait for a server that writes the database


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", type=_subject, metavar="ID", help="such as article:1541 or comment:1541")
    parser.add_argument(
        "backups", nargs="*", type=Path, metavar="BACKUP", help="files of backups to search for the text"
    )
    parser.add_argument("--reason", default=REASON, help="why, for everybody to read in the log of moderation")


def run(arguments: Namespace) -> int:
    return purge(read_settings(), arguments.id, arguments.backups, arguments.reason)


def purge(settings: Settings, subject: str, backups: Sequence[Path], reason: str = REASON) -> int:
    """
    Purge an article or a comment by its id, and search backups for its text. Returns 1 if the database does not have
    the purge yet, or a backup could not be read.

    Raises:
        CommandError: there is no such article or comment, or the reason breaks a rule.
        DatabaseUnavailable: the database does not answer; what was purged in the store stays purged.
    """

    async def act(store: Store) -> bool:
        database = Database(settings.database) if settings.database else None
        try:
            if database:
                await database.open()
            await _purge(store, database, subject, reason)
            return await _is_in_database(store, database, _number(subject))
        finally:
            if database:
                await database.close()

    is_complete = opened_store.run(settings, act)
    searched = [_search(subject, each) for each in backups]
    if not backups:
        print(f"backups from before may still have it: `upvote purge {subject} FILE ...` searches these files")
    return int(not all((is_complete, *searched)))


async def _purge(store: Store, database: Database | None, subject: str, reason: str) -> None:
    number = _number(subject)
    command = partial(purges.purge, store.site, OPERATOR, number, reason)
    try:
        await _require_subject(store, database, subject)
        done = await write_back.run_moderation(store, database, number, command)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    assert done.action
    status = "purged" if done.changed else "purged before:"
    print(f"{status} {subject}, by {done.action.id}, which cannot be reverted")


async def _require_subject(store: Store, database: Database | None, subject: str) -> None:
    """
    Check that an article or a comment exists. An archived one, which only the database has, is written back to Redis.

    Raises:
        NotFound: there is nothing with this number of this kind.
    """
    kind, _, number = subject.partition(":")
    partition = store.site.partition_of_article(int(number))
    of_kind = keys.article if kind == "article" else keys.comment
    if await store.site.redis.run(("EXISTS", of_kind(partition, number))):
        return
    is_back = await write_back.bring_back(store, database, int(number))
    if not is_back or not await store.site.redis.run(("EXISTS", of_kind(partition, number))):
        raise NotFound(f"there is no {subject}", "subjectId")


async def _is_in_database(store: Store, database: Database | None, number: int) -> bool:
    """
    Bring the database up to the newest entry that the partition's log has now, unless a server does so. The purge is
    among these entries. False if the database does not have them within `PATIENCE`.
    """
    if database is None:
        return True
    from database.mirror import Mirror  # slow to import

    partition, mirror, begun = store.site.partition_of_article(number), Mirror(store.site, database), monotonic()
    identity, ends = await log.identity(store.site), await log.newest(store.site)
    try:
        while not await database.run(has_entry, partition, identity, ends[partition]):
            if monotonic() > begun + PATIENCE:
                print(f"{database.name} does not have this yet: a server writes it", file=sys.stderr)
                return False
            pause = await mirror.turn()
            await asyncio.sleep(min(pause, 0.2))
    finally:
        await mirror.close()
    await database.write(search.forget_removed)
    print(f"{database.name} has no text of it any more")
    return True


def _search(subject: str, path: Path) -> bool:
    """Say whether a backup has a text. False if it cannot be read."""
    try:
        with backup_file.checked(path) as backup:
            found = any(_is_text(subject, record) for frame in backup.records() for record in frame)
            taken_at = backup.header.get("taken_at")
    except (CommandError, OSError) as fault:
        print(f"{path} was not searched: {fault}", file=sys.stderr)
        return False
    when = datetime.fromtimestamp(taken_at / 1000, UTC).isoformat(timespec="seconds") if taken_at else "an unknown time"
    print(f"{path}, of {when}, {'still has the text: delete it' if found else 'does not have the text'}")
    return True


def _is_text(subject: str, record: object) -> bool:
    """Whether a record of a backup, a list such as `["article", 1541, {"title": ...}]`, is this subject with a text."""
    match record:
        case [kind, number, {**fields}, *_] if f"{kind}:{number}" == subject:
            texts = {fields.get(name) for name in ("title", "link", "content")}
            return not texts <= {None, PURGED}
    return False


def _number(subject: str) -> int:
    return int(subject.partition(":")[2])


def _subject(text: str) -> str:
    if records.article_number(text) is None and records.comment_number(text) is None:
        raise ArgumentTypeError(f"{text[:60]} is no id of an article or a comment, such as article:1541")
    return text
