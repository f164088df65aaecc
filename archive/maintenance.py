"""
What the commands `upvote backup`, `move` and `verify` do with archived articles, which only the SQL database has.
`backup` and `move` read a dump: one record for each article and comment. `verify` checks that each article of the
database is in Redis, or archived, or deleted by an entry of the log (the stream of all changes). It also checks what is
derived from archived articles: their places in listings, which the database has, and their counts, which Redis has.

Articles move meanwhile, from Redis to the archive and back; while they do, they are marked as moving. So what seems
wrong is read again, in a moment in which none moves, before it is reported; and the script or transaction that repairs
it checks once more that it is wrong.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from archive import faults, hashes, mover, steps
from archive.faults import Fault
from archive.steps import COUNT_FIELD, USER_FIELD
from database import article_places, conversations, recent_comments
from database.database import Database
from database.order_index import writes
from database.positions import stored_positions
from store import keys, log, moving, numbering
from store.client import Argument
from store.maintenance.records.content import (
    DERIVED_ARTICLE_FIELDS,
    DERIVED_COMMENT_FIELDS,
    ArticleRecord,
    CommentRecord,
)
from store.maintenance.records.record import Record
from store.maintenance.verify import Finding, Tally, UserTally, findings_in
from store.records import ArchivedConversation, Article, ContentState
from store.scripts.registry import Script
from store.site import Site

if TYPE_CHECKING:
    from database.statements import Connection

VERIFY_ARCHIVED = Script("verify_archived")
VERIFY_LOST = Script("verify_lost")
VERIFY_MOVING = Script("verify_moving")

RECORDS_AT_ONCE = 200  # articles of a dump, in a query
ARCHIVED_AT_ONCE = 200  # archived articles that are checked, in a query
LOOKED_UP_AT_ONCE = 1_000  # other articles, in a query and a round trip
ENTRIES_AT_ONCE = 1_000  # of a log, in a round trip
MOVED = "moved"  # the first item of the reply of a script that was given an old serial


async def records_of(
    site: Site, database: Database, *, with_returned: bool = True, with_comments: bool = True
) -> AsyncIterator[Sequence[Record]]:
    """
    The records of a dump of all archived articles, some at a time. With `with_returned` those that came back to Redis
    meanwhile are among them. With `with_comments` the comments of archived articles follow.

    Raises:
        DatabaseUnavailable: the database does not answer, or does not have the archive of this store.
    """
    after = 0
    await database.run(mover.check_identity, site.rankings.archive or "")
    while numbers := await database.run(article_places.numbers, after, RECORDS_AT_ONCE):
        states = await moving.states_of(site, numbers)
        absent = [number for number, state in states.items() if state.may_be_archived]
        archived = [record for record in await database.run(article_places.records, absent) if record]
        returned = [state.article for state in states.values() if state.article and with_returned]
        found = [*archived, *returned]
        kept = await database.run(conversations.fields_kept, [each.number for each in found])
        yield [_record(each, kept[each.number]) for each in found]
        for each in archived if with_comments else ():
            if isinstance(each, ArchivedConversation):
                yield await _comments_of(site, database, each.number)
        after = numbers[-1]


async def records_since(site: Site, database: Database, since: int) -> AsyncIterator[list[Record]]:
    """
    The records of a dump of those articles that have left Redis with a conversation since an instant, in unix
    milliseconds, and of their comments.
    """
    for number in await database.run(conversations.left_since, since):
        for article in await database.run(article_places.records, [number]):
            if article:
                kept = await database.run(conversations.fields_kept, [number])
                yield [_record(article, kept[number])]
                yield await _comments_of(site, database, number)


def _record(article: Article, kept: dict[str, str]) -> ArticleRecord:
    """The record of an article. `kept` are fields of its hash that the database keeps beside its row."""
    fields = hashes.article_fields(article) | kept
    copied = {name: value for name, value in fields.items() if name not in DERIVED_ARTICLE_FIELDS}
    return ArticleRecord(article.number, copied, upvoters=[], downvoters=[])


async def _comments_of(site: Site, database: Database, article: int) -> list[Record]:
    """The records of the comments of an archived article, each after what it answers."""
    found = await database.run(partial(hashes.comment_hashes, article=article, best_z=site.policy.best_z))
    return [
        CommentRecord(
            number,
            {name: text for name, text in each.items() if name not in DERIVED_COMMENT_FIELDS},
            upvoters=[],
            downvoters=[],
        )
        for number, each in sorted(found.items(), key=lambda pair: int(pair[1]["depth"]))
    ]


async def verify(site: Site, database: Database, report: Callable[[Finding], None], *, repair: bool) -> Tally:
    """
    Report what is wrong in the archive, and with `repair` repair it. Return the sums of all archived articles.

    The sums are read again until no article has moved while they were read.

    Raises:
        DatabaseUnavailable: the database does not answer, or does not have the archive of this store.
    """
    await database.run(mover.check_identity, site.rankings.archive or "")
    if repair:
        await mover.renew_listings(site, database)
        await mover.remove_archived_comments(site)
    checks = _Checks(site, database, report, repair)
    await checks.archived()
    await checks.others()
    return await checks.counts()


@dataclass(frozen=True, slots=True)
class _Sums:
    """
    The sums of all archived articles, to compare with the hash `archived` of each partition (a share of the data).
    `tally` has the sums of users. `counts` has the counters of each partition, such as `count:good`, also counters that
    should be 0. `serials` has a number of each partition, which rises when an article leaves Redis or comes back: so
    the script that compares the sums knows whether they still hold.
    """

    tally: Tally
    counts: dict[int, dict[str, int]]
    serials: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Checks:
    """The checks of `verify`, in the order in which it calls them. With `repair` they repair what they report."""

    site: Site
    database: Database
    report: Callable[[Finding], None]
    repair: bool

    async def archived(self) -> None:
        """Check what the database has as archived: Redis has such an article only while it moves, and it has places."""
        after = 0
        while numbers := await self.database.run(article_places.numbers, after, ARCHIVED_AT_ONCE):
            await self._moving(numbers)
            await self._conversations(numbers)
            await self._places(numbers)
            after = numbers[-1]

    async def others(self) -> None:
        """
        Check the articles that the database has, but not as archived: they are in Redis, unless they were deleted. Lost
        ones that could have been archived are written back.
        """
        after = 0
        while numbers := await self.database.run(article_places.numbers, after, LOOKED_UP_AT_ONCE, archived=False):
            partitions = map(self.site.partition_of_article, numbers)
            lookups = [
                ("EXISTS", keys.article(partition, number))
                for partition, number in zip(partitions, numbers, strict=True)
            ]
            found = await self.site.redis.pipeline(lookups)
            await self._lost([number for number, exists in zip(numbers, found, strict=True) if not exists])
            after = numbers[-1]

    async def counts(self) -> Tally:
        """
        Compare the counts of archived articles in Redis with those of the database, and return the sums of the
        database. A partition in which articles move meanwhile is compared again.
        """
        pending = set(range(self.site.partitions))
        while True:
            sums = await _sums_of(self.site, self.database)
            counts = {partition: sums.counts[partition] for partition in sorted(pending)}
            found = await _find_counts(self.site, counts, sums.serials, repair=self.repair)
            for findings in found.values():
                self._report(findings)
            pending -= found.keys()
            if not pending:
                return sums.tally

    async def _moving(self, numbers: Sequence[int]) -> None:
        """Report those that Redis has, too, without marks that they move: it has lost the write that removed them."""
        suspects = await _find_moving(self.site, numbers, repair=False)
        if suspects:
            # Some have come back to Redis meanwhile: they are no longer archived, and their marks were removed.
            archived = await self.database.run(_still_archived, list(suspects))
            self._report((await _find_moving(self.site, archived, repair=self.repair)).values())

    async def _places(self, numbers: Sequence[int]) -> None:
        """Report the articles whose places differ from their records."""
        suspects = await self.database.run(article_places.check, self.site, numbers)
        if not suspects:
            return
        misplaced = await steps.at_rest(self.site, partial(self._misplaced_of, suspects))
        for number in misplaced.found:
            if not self.repair or await self.database.write(_place_again, self.site, number):
                where = f"places of article {number} in the database"
                self.report(Finding(where, found="others", expected="those of its record", repaired=self.repair))

    async def _misplaced_of(self, numbers: Sequence[int]) -> list[int]:
        """Which of some articles are archived now and have wrong places."""
        states = await moving.states_of(self.site, numbers)
        settled = [number for number, state in states.items() if state.may_be_archived]
        return await self.database.run(article_places.check, self.site, settled)

    async def _conversations(self, numbers: Sequence[int]) -> None:
        """Report conversations whose rows do not fit each other. What is derived from other rows is repaired."""
        best_z = self.site.policy.best_z
        if not (suspects := {each.article for each in await self.database.run(faults.faults, numbers, best_z)}):
            return
        found = (await steps.at_rest(self.site, partial(self._faults_of, sorted(suspects)))).found
        for article in {each.article for each in found if each.is_derived} if self.repair else ():
            await self.database.write(faults.repair, article, best_z)
        for each in found:
            self.report(Finding(each.where, str(each.found), str(each.expected), self.repair and each.is_derived))

    async def _faults_of(self, numbers: Sequence[int]) -> list[Fault]:
        """The faults of the conversations of those articles that are archived now."""
        states = await moving.states_of(self.site, numbers)
        settled = [number for number, state in states.items() if state.may_be_archived]
        return await self.database.run(faults.faults, settled, self.site.policy.best_z)

    async def _lost(self, numbers: Sequence[int]) -> None:
        """Report the articles that the database alone has, although they are not archived."""
        for start in range(0, len(numbers), ARCHIVED_AT_ONCE):
            some = list(numbers[start : start + ARCHIVED_AT_ONCE])
            while some:
                alone, serials = await steps.at_rest(self.site, partial(self._alone, some))
                found = await _find_lost(self.site, alone, serials, repair=self.repair)
                self._report([finding for finding in found.values() if finding])
                some = [article.number for article in alone if article.number not in found]

    async def _alone(self, numbers: Sequence[int]) -> list[Article]:
        """
        The articles with these numbers that only the database has, without those whose deletion it has still to apply.
        None at all if the database has to be rebuilt first, as it cannot follow the log.
        """
        states = await moving.states_of(self.site, numbers)
        absent = [number for number, state in states.items() if state.may_be_archived]
        latest = self.site.clock() - self.site.policy.voting_ms - steps.GRACE
        articles, identity, positions = await self.database.run(_archivable, absent, latest)
        if identity != await log.identity(self.site):
            return []
        partitions = {self.site.partition_of_article(article.number) for article in articles}
        # by partition; None for one whose deletions are not known
        deleted = {partition: await self._deleted_since(partition, positions) for partition in partitions}
        return [
            article
            for article in articles
            if (gone := deleted[self.site.partition_of_article(article.number)]) is not None
            and article.number not in gone
        ]

    async def _deleted_since(self, partition: int, positions: Mapping[int, str]) -> set[int] | None:
        """The articles that were deleted after the position of a partition; None if the log lacks entries after it."""
        after, found = positions.get(partition, log.START), set[int]()
        while entries := await log.read(self.site, partition, after, ENTRIES_AT_ONCE):
            subjects = [entry.subject for entry in entries if entry.kind == "deleted"]
            found.update(int(subject.removeprefix("article:")) for subject in subjects)
            after = entries[-1].id
        is_whole = partition in positions and await log.has_all_after(self.site, partition, positions[partition])
        return found if is_whole else None

    def _report(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.report(finding)


async def _sums_of(site: Site, database: Database) -> _Sums:
    """
    The sums of all archived articles, of a moment in which none leaves Redis or comes back.

    Raises:
        DatabaseUnavailable: the database does not answer, or does not have the archive of this store.
    """
    (tally, counts), serials = await steps.at_rest(site, partial(_sums, site, database))
    return _Sums(tally, counts, serials)


async def _sums(site: Site, database: Database) -> tuple[Tally, dict[int, dict[str, int]]]:
    """
    The sums and the counts of `_Sums`. Each read is of another moment: `_sums_of` repeats them until no article moves.
    """
    find, older = partial(_hashes, site, database), partial(_comments_of_user, database)
    tally, counts = Tally(sequences={}, users={}, known={}, find=find, older=older), dict[int, dict[str, int]]()
    for partition in range(site.partitions):
        known = await steps.known_counts(site, partition)
        counts[partition] = {name: 0 for name in known if name.startswith(COUNT_FIELD)}
        users = [name for name in known if name.startswith(USER_FIELD)]
        tally.known.update({name.removeprefix(USER_FIELD): known[name] for name in users})
    async for some in records_of(site, database, with_returned=False, with_comments=False):
        for article in some:
            assert isinstance(article, ArticleRecord)
            partition = site.partition_of_article(article.number)
            _add(tally, partition, article.number, article.fields)
            _count(counts[partition], article.fields, site.policy.good_votes)
    return tally, counts


async def _hashes(site: Site, database: Database, numbers: Collection[int]) -> dict[int, dict[str, str]]:
    """The hashes that archived articles and comments had, by number, without the votes and texts of articles."""
    found = await database.run(conversations.archived, list(numbers))
    comments: dict[int, dict[str, str]] = {}
    for article in {each.article for each in found}:
        found_hashes = await database.run(partial(hashes.comment_hashes, article=article, best_z=site.policy.best_z))
        comments |= {number: fields for number, fields in found_hashes.items() if number in numbers}
    articles = [each for each in await database.run(article_places.records, list(numbers)) if each]
    kept = await database.run(conversations.fields_kept, [each.number for each in articles])
    return comments | {each.number: _record(each, kept[each.number]).fields for each in articles}


async def _comments_of_user(database: Database, poster: str, until: int) -> list[int]:
    return await database.run(recent_comments.of_poster, poster, until)


def _add(tally: Tally, partition: int, number: int, fields: dict[str, str]) -> None:
    """
    Add an article, by the fields of its hash, to the sums of its poster. If it is a post, and no imported story, its
    sequence counts for the highest one of the partition.
    """
    votes, posted_at, poster = int(fields["up"]) - int(fields["down"]), int(fields["time"]), fields["poster"].lower()
    if not _is_removed(fields):
        sums = tally.users.get(poster, UserTally())
        tally.users[poster] = UserTally(sums.articles + 1, sums.karma + votes - 1, max(sums.newest, posted_at))
    sequence = numbering.sequence_of(number)
    if not numbering.is_of_story(sequence):
        tally.sequences[partition] = max(tally.sequences.get(partition, 0), sequence)


def _count(counts: dict[str, int], fields: dict[str, str], good_votes: int) -> None:
    """Count an article in the fields of the hash `archived` that it belongs to."""
    is_good = int(fields["up"]) - int(fields["down"]) >= good_votes
    groups = [f"count:group:{name}" for name in fields["groups"].split()]
    listed = ("count", *(["count:good"] if is_good else []), *groups)
    for name in ("count:removed",) if _is_removed(fields) else listed:
        counts[name] = counts.get(name, 0) + 1


def _is_removed(fields: Mapping[str, str]) -> bool:
    """Whether a moderator has removed the article: it is in no listing, and counts for nobody."""
    return fields.get("state") == ContentState.REMOVED.value


def _still_archived(connection: "Connection", numbers: Sequence[int]) -> list[int]:
    return [article.number for article in article_places.records(connection, numbers) if article]


def _place_again(connection: "Connection", site: Site, number: int) -> bool:
    """Write the places of an article again. False if they are right by now, or if it is no longer archived."""
    writes.lock(connection)
    if not article_places.check(connection, site, [number]):
        return False
    article_places.archive(
        connection, site, [article for article in article_places.records(connection, [number]) if article]
    )
    return True


def _archivable(
    connection: "Connection", numbers: Sequence[int], latest: int
) -> tuple[list[Article], str, dict[int, str]]:
    """
    The articles with these numbers that are not archived, and could be: posted until an instant, and without comments.
    Then the identity of the log that the tables mirror, and by partition the id of the last entry that they have.
    """
    found = [article for article in article_places.records(connection, numbers, archived=False) if article]
    with_comments = article_places.with_comments(connection, [article.number for article in found])
    articles = [each for each in found if each.posted_at <= latest and each.number not in with_comments]
    return articles, *stored_positions(connection)


async def _find_moving(site: Site, numbers: Sequence[int], *, repair: bool) -> dict[int, Finding]:
    """
    A finding for each article, by its number, that the database has as archived and that Redis has, too, without being
    marked as moving. One round trip.
    """
    by_partition = _by_partition(site, numbers)
    calls = [VerifyCall(partition, "", part) for partition, part in by_partition.items()]
    replies = await _run_script(site, VERIFY_MOVING, calls, repair)
    findings = [each for reply in replies for each in findings_in(reply[1:])]
    return {int(each.where.rpartition(" ")[2]): each for each in findings}  # `where` is the key `moving` and a number


async def _find_lost(
    site: Site, articles: Sequence[Article], serials: Sequence[str], *, repair: bool
) -> dict[int, Finding | None]:
    """
    What there is to report of articles that the database alone has, by number. Articles of a partition whose serial is
    another one by now are left out. One round trip.
    """
    partitions = [site.partition_of_article(each.number) for each in articles]
    calls = [
        VerifyCall(partition, str(each.number), [serials[partition], *hashes.article_fields_and_values(each)])
        for partition, each in zip(partitions, articles, strict=True)
    ]
    replies = await _run_script(site, VERIFY_LOST, calls, repair)
    return {
        each.number: next(iter(findings_in(reply[1:])), None)
        for each, reply in zip(articles, replies, strict=True)
        if reply[0] != MOVED
    }


async def _find_counts(
    site: Site, expected: Mapping[int, Mapping[str, int]], serials: Sequence[str], *, repair: bool
) -> dict[int, list[Finding]]:
    """
    What there is to report of the counts of archived articles, by partition. `expected` has them by partition and field
    of `archived`. A partition whose serial is another one by now is left out. One round trip.
    """
    calls = [VerifyCall(partition, "", [serials[partition], *_flat(fields)]) for partition, fields in expected.items()]
    replies = await _run_script(site, VERIFY_ARCHIVED, calls, repair)
    return {
        partition: findings_in(reply[1:])
        for partition, reply in zip(expected, replies, strict=True)
        if reply[0] != MOVED
    }


class VerifyCall(NamedTuple):
    """What a script of `store/scripts/verify` is called with. `number` is that of an article, or ""."""

    partition: int
    number: str
    arguments: Sequence[Argument]


async def _run_script(site: Site, script: Script, calls: Sequence[VerifyCall], repair: bool) -> list[list[str]]:
    """The replies to some calls, each a status or cursor, and then the values of findings. One round trip."""
    repairing = "repair" if repair else ""
    commands = [site.command(script, each.partition, repairing, each.number, *each.arguments) for each in calls]
    replies: list[list[str]] = await site.redis.pipeline(commands)
    return replies


def _by_partition(site: Site, numbers: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number in numbers:
        found.setdefault(site.partition_of_article(number), []).append(number)
    return found


def _flat(fields: Mapping[str, int]) -> list[Argument]:
    return [item for pair in sorted(fields.items()) for item in pair]
