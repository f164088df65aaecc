"""
Dumps a store, while it is in use, as records (see `records`) from which `restore` creates the same store. Their order:

    serverkeys, ranking, imported
    articles and follows, also of groups
    comments: after their articles and their parents
    users, deleted ones, identities, what is written about groups, idempotency keys, lists of users (such as saved
    articles), sessions, tokens, addresses, mails, actions of moderators, appeals, flags, edits that wait, annulled
    votes
    sequences: of each partition, a share of the data, the last one given to a post

`kinds` says which keys are in records, which are derived from others, and which are left out. Each record is read
atomically. What refers to something is read before it: an article before its poster. So a dump has everything from
before it began, and of each change made meanwhile all or nothing; of an article that is deleted meanwhile, it may have
a part of the comments.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeAlias

from store import keys, kinds
from store.kinds import Backup, Key
from store.maintenance import scan
from store.maintenance.records.accounts import (
    read_departed,
    read_follows,
    read_leaving,
    read_posted,
    read_sessions,
    read_users,
)
from store.maintenance.records.actions import read_actions, read_appeals
from store.maintenance.records.annulments import read_annulled
from store.maintenance.records.content import read_articles, read_comments
from store.maintenance.records.flags import read_flags
from store.maintenance.records.held_edits import read_held_edits
from store.maintenance.records.identities import read_identities, read_identity
from store.maintenance.records.lists import kinds_of_lists, read_lists
from store.maintenance.records.mailboxes import read_mailboxes, read_mailing
from store.maintenance.records.places import read_places
from store.maintenance.records.record import OnSkipped, Record
from store.maintenance.records.settings import imported, read_ranking, read_sequences, read_server_keys
from store.maintenance.records.tokens import read_invitations, read_tokens
from store.maintenance.scan import Progress
from store.site import Site

Reader: TypeAlias = Callable[[Site, Sequence[Key], OnSkipped], Awaitable[Sequence[Record]]]

KEYS_AT_ONCE = 100  # in a round trip
# what makes records of keys, by the kind of the keys
FIRST: dict[str, Reader] = {  # read in the first pass over all keys
    "article": read_articles,
    "following": read_follows,
    "groupfollows": read_follows,
}
LAST: dict[str, Reader] = {  # read in the last one
    "user": read_users,
    "leaving": read_leaving,
    "departed": read_departed,
    "identity": read_identity,
    "identities": read_identities,
    "place": read_places,
    "posted": read_posted,
    "commented": read_posted,
    "session": read_sessions,
    "mailbox": read_mailboxes,
    "mailing": read_mailing,
    "token": read_tokens,
    "invitation": read_invitations,
    "action": read_actions,
    "appeal": read_appeals,
    "flags": read_flags,
    "heldedit": read_held_edits,
    "annulled": read_annulled,
}
PASSES = 3  # over all keys: those of FIRST, the comments of each article, those of LAST


async def size(site: Site) -> int:
    """How much `records_of` reports as progress. One round trip."""
    return PASSES * await site.redis.size()


async def settings(site: Site) -> dict[str, str]:
    """The settings that the store was made with. One round trip."""
    stored: dict[str, str] = await site.redis.run(("HGETALL", keys.store()))
    return stored


async def records_of(
    site: Site,
    progress: Progress,
    on_skipped: OnSkipped,
    archived: AsyncIterator[Sequence[Record]] | None = None,
    departed: AsyncIterator[Sequence[Record]] | None = None,
    *,
    is_move: bool = False,
) -> AsyncIterator[Sequence[Record]]:
    """
    All records of what Redis has, and those of `archived` articles, some at a time. `departed` are those of articles
    that have left Redis since the dump began. A move has also what backups leave out. Damaged keys are skipped.
    """
    yield await read_ranking(site)
    yield await read_server_keys(site, on_skipped)
    for partition in range(site.partitions):
        async for stories in scan.imported_stories(site, partition):
            yield imported(keys.imported(partition), stories, on_skipped)
    async for read in _pass(site, progress, on_skipped, FIRST):
        yield read
    if archived:  # after Redis, as articles may leave it meanwhile, and before their posters
        async for read in archived:
            yield read
    async for read in _comments(site, progress, on_skipped):
        yield read
    if departed:
        async for read in departed:
            yield read
    async for read in _pass(site, progress, on_skipped, _last(is_move)):
        yield read
    yield [await read_sequences(site, on_skipped)]


def _last(is_move: bool) -> dict[str, Reader]:
    """The readers of the kinds of keys of the last pass. Lists come after what their members name."""
    readers = LAST | {kind.name: read_lists for kind in kinds_of_lists()}
    return {
        name: read
        for name, read in readers.items()
        if is_move or kinds.by_name()[name].backup is not Backup.COPIED_BY_MOVE
    }


async def _pass(
    site: Site, progress: Progress, on_skipped: OnSkipped, readers: dict[str, Reader]
) -> AsyncIterator[Sequence[Record]]:
    async for found in scan.known_keys(site, progress):
        for start in range(0, len(found), KEYS_AT_ONCE):
            some = found[start : start + KEYS_AT_ONCE]
            for name, read in readers.items():
                yield await read(site, [key for key in some if key.name == name], on_skipped)


async def _comments(site: Site, progress: Progress, on_skipped: OnSkipped) -> AsyncIterator[Sequence[Record]]:
    """The comments of each article that has some, which is one with a `tree`."""
    async for found in scan.known_keys(site, progress):
        for key in found:
            if key.name == "tree":
                async for read in read_comments(site, int(key.suffix), on_skipped):
                    yield read
