"""What maintenance commands read from the archive: the records of a dump, and the sums that `verify` compares."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from database import archiver
from database.database import Database
from store import archive, archiving, keys, records
from store.archive import State
from store.maintenance.dump import Record
from store.maintenance.verify import Finding, Tally, UserTally
from store.records import Article
from store.site import Site

if TYPE_CHECKING:
    from sqlalchemy import Connection

RECORDS_AT_ONCE = 200


async def records_of(site: Site, database: Database, *, with_returned: bool = True) -> AsyncIterator[list[Record]]:
    """
    The records of a dump of all archived articles, some at a time, and of those that came back to Redis meanwhile.

    Raises:
        DatabaseUnavailable: the database does not answer, or does not have the archive of this store.
    """
    after = 0
    await database.run(archiver.check_identity, site.rankings.archive or "")
    while numbers := await database.run(partial(_numbers, after)):
        states = await states_of(site, numbers)
        archived = await database.run(
            partial(_records, [number for number, state in states.items() if state.may_be_archived])
        )
        returned = [state.article for state in states.values() if state.article and with_returned]
        yield [["article", each.number, archive.fields(each), [], []] for each in (*archived, *returned)]
        after = numbers[-1]


async def tally_of(site: Site, database: Database) -> Tally:
    """
    The sums of all archived articles, of a moment in which none leaves Redis or comes back.

    Raises:
        DatabaseUnavailable: the database does not answer, or does not have the archive of this store.
    """
    while True:
        before = await archiving.serials(site)
        tally = Tally({}, {}, {}, await archiving.known_users(site))
        async for some in records_of(site, database, with_returned=False):
            for _, number, fields, _, _ in some:
                _add(tally, site.home_of_article(number), number, fields, site.policy.good_votes)
        if await archiving.serials(site) == before:
            return tally


async def verify_places(site: Site, database: Database, report: Callable[[Finding], None], *, repair: bool) -> None:
    """Report archived articles whose places differ from their records; with `repair`, write the places again."""
    if repair:
        await archiver.renew_listings(site, database)
    after = 0
    while numbers := await database.run(partial(_numbers, after)):
        await _verify_absence(site, numbers, report, repair)
        for number in await database.run(partial(_misplaced, site, numbers)):
            state = (await states_of(site, [number]))[number]
            if not state.may_be_archived:
                continue
            if repair:
                await database.write(partial(_place_again, site, number))
            report(Finding(f"places of article {number} in the database", "others", "those of its record", repair))
        after = numbers[-1]


async def states_of(site: Site, numbers: Sequence[int]) -> dict[int, State]:
    """Whether articles that the database has as archived are in Redis. One round trip."""
    reads = archive.states(site, numbers)
    replies = await site.redis.pipeline([read.command for read in reads])
    return {
        number: state
        for read, reply in zip(reads, replies, strict=True)
        for number, state in read.result(reply).items()
    }


async def _verify_absence(site: Site, numbers: Sequence[int], report: Callable[[Finding], None], repair: bool) -> None:
    """Report articles that are in Redis, too, and not marked as moving: Redis has lost what it had written."""
    for number, state in (await states_of(site, numbers)).items():
        key = keys.moving(site.home_of_article(number))
        if state.article and not await site.redis.run(("SISMEMBER", key, number)):
            if repair:
                await site.redis.run(("SADD", key, number))
            report(Finding(f"{key} {number}", "nothing", "there, as the article is in Redis again", repair))


def _add(tally: Tally, p: int, number: int, fields: dict[str, str], good_votes: int) -> None:
    votes, posted_at, poster = int(fields["up"]) - int(fields["down"]), int(fields["time"]), fields["poster"].lower()
    counts = tally.counts.setdefault(p, {})
    for name in (
        "count",
        *(["count:good"] if votes >= good_votes else []),
        *map("count:group:{}".format, fields["groups"].split()),
    ):
        counts[name] = counts.get(name, 0) + 1
    sums = tally.users.get(poster, UserTally())
    tally.users[poster] = UserTally(sums.articles + 1, sums.karma + votes - 1, max(sums.newest, posted_at))
    sequence = records.sequence_of(number)
    if not records.is_of_story(sequence):
        tally.sequences[p] = max(tally.sequences.get(p, 0), sequence)


def _misplaced(site: Site, numbers: Sequence[int], connection: "Connection") -> list[int]:
    from database import archive

    return archive.check(connection, site, numbers)


def _place_again(site: Site, number: int, connection: "Connection") -> None:
    from database import archive

    archive.archive(connection, site, [article for article in archive.records(connection, [number]) if article])


def _numbers(after: int, connection: "Connection") -> list[int]:
    from database import archive

    return archive.numbers(connection, after, RECORDS_AT_ONCE)


def _records(numbers: Sequence[int], connection: "Connection") -> list[Article]:
    from database import archive

    return [record for record in archive.records(connection, numbers) if record]
