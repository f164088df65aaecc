"""
Annuls the votes of a user when a moderator orders it (an *action*), so that they count no more, and restores them when
the action is reverted. Votes on archived articles, which only the SQL database has, are included.

Votes are annulled and restored in steps, partition by partition; a partition is a share of the data in Redis. The
database knows who has voted on what; without one, only the sets of voters do, which Redis deletes after voting closes.
An archived article stays archived while its votes change: see `recounts`. Before a revert restores votes in a
partition, it forbids there that a process which is late annuls more.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from archive import recounts
from archive.pace import Pace, in_steps
from archive.stepwise import ConsumerBehind, Reverted, StepwiseWork
from database import vote_gaps
from database.database import CONSUMER, Database, DatabaseUnavailable
from database.statements import Statement
from store import annulments, keys, leaving, log, moderation_records
from store.annulments import NOTHING_ARCHIVED, Archived, Step
from store.client import Command
from store.errors import StoreUnavailable
from store.maintenance import scan
from store.moderation_records import AnnulmentState, ModerationAction
from store.site import Site
from store.store import Store

if TYPE_CHECKING:
    from database.statements import Connection

READ_AT_ONCE = 5_000  # votes, in a query of the task; after each it is noted how far the action is
AT_ONCE = 1_000  # votes that the request of a moderator waits for: those of one query
MAX_BEHIND = 10_000  # entries of the log, the stream of all changes: with a consumer further behind, the steps wait
TRIES = 3  # to find what leaves Redis, or comes back, meanwhile
PATIENCE, PAUSE = 2.0, 0.05  # seconds: how long to wait for the database, and between two looks
PATIENCE_AT_END = 60.0  # seconds that the task waits for the database in the end
INTERVAL = 0.5  # seconds between two searches for actions whose votes are to be annulled or restored

# Annuls or restores votes on articles and comments with these numbers; `Step` is what it could not do.
Run = Callable[[Sequence[int], Archived], Awaitable[Step]]


class CastVote(NamedTuple):
    """A vote on the article or comment with this number: 1, -1, or 0 where only Redis knows the value."""

    number: int
    value: int


class Span(NamedTuple):
    """Votes of a user that were cast from an instant to another one (unix milliseconds)."""

    voter: str
    since: int
    until: int


async def begin(store: Store, database: Database | None, number: int) -> None:
    """
    Annul the votes of the action with a number, or restore them if it is reverted: about `AT_ONCE` of them. More, and
    what cannot be done yet, are left to the task of `WORK`, which every server runs.
    """
    with suppress(StoreUnavailable, DatabaseUnavailable, ConsumerBehind):
        await settle(store, database, number, AT_ONCE)


async def settle(store: Store, database: Database | None, number: int, most: int | None = None) -> None:
    """
    Annul the votes of the action with a number, or restore them if it is reverted; if `most` is given, stop after about
    as many.

    A query for `READ_AT_ONCE` votes, and a round trip for each step (see `pace`). If some votes of a step are on what
    is archived, one more round trip, and the cost of `recounts.archived`.

    Raises:
        ConsumerBehind: a consumer of the log is too far behind, or the database does not have all votes in time.
    """
    site = store.site
    partition = site.partition_of_article(number)
    action = moderation_records.moderation_action(
        number, await site.redis.run(("HGETALL", keys.action(partition, number)))
    )
    name = action.subject_id.removeprefix("user:") if action else ""
    voter = await leaving.stored_name(site, name)
    if action is None or not action.annulment or voter is None:
        await site.redis.run(("ZREM", annulments.annulling(partition), number))
        return
    with suppress(Reverted):  # then the action is still noted, and the votes come back the next time
        if action.is_restored:
            is_done = await _restore(store, database, action, voter, most)
        else:
            is_done = await _annul(store, database, action, voter, most)
        if not is_done:
            await annulments.note(site, action)


WORK = StepwiseWork(annulments.annulling, settle, INTERVAL, "votes were not annulled")


async def _annul(
    store: Store, database: Database | None, action: ModerationAction, voter: str, most: int | None
) -> bool:
    """Annul the votes of an action. False if `most` were looked at before the end."""
    site, seen, total = store.site, 0, None
    complete_at, pace = 0, Pace()  # 0: there is no database
    if database is not None:
        complete_at = await caught_up(site)
        total = await database.run(_count, _span(action, voter))
    reaches_back_to = await _reaches_back_to(site, database)
    async for votes in _votes(store, database, action, voter, most or READ_AT_ONCE):
        unsure = await _annul_some(store, database, action, voter, complete_at, votes, pace)
        if unsure:
            assert database  # without one, nothing is unsure
            await _annul_closed(store, database, action, voter, unsure, pace)
        if not await annulments.note(site, action, total=total, reaches_back_to=reaches_back_to):
            raise Reverted
        await _require_room(site)
        seen += len(votes)
        if most is not None and seen >= most:
            return False
    await _wait_until_shown(site, most)
    count = await annulments.held(site, action.number)
    return await annulments.note(site, action, total=count, reaches_back_to=reaches_back_to, state=AnnulmentState.DONE)


async def _annul_some(
    store: Store,
    database: Database | None,
    action: ModerationAction,
    voter: str,
    complete_at: int | None,
    votes: Collection[CastVote],
    pace: Pace,
) -> list[int]:
    """
    Annul some votes, also those on what is archived. Returns the numbers of articles and comments whose voters are gone
    from Redis, while the database may lack votes on them. What it has is given by `complete_at`, as for
    `annulments.annul_some`.

    Raises:
        Reverted: the action was reverted.
    """
    site, unsure = store.site, list[int]()

    async def annul(partition: int, some: Sequence[CastVote]) -> None:
        known = {vote.number: vote for vote in some}
        run = partial(_annul_these, site, partition, action.number, voter, complete_at, known)
        unsure_here, _ = await _take_step(store, database, partition, list(known), run, pace)
        unsure.extend(unsure_here)

    for partition, of_partition in _by_partition(site, votes).items():
        await in_steps(of_partition, pace, partial(annul, partition))
    return unsure


async def _annul_closed(
    store: Store, database: Database, action: ModerationAction, voter: str, numbers: Sequence[int], pace: Pace
) -> None:
    """
    Annul the votes on some articles and comments whose voters are gone from Redis. They take no votes any more, so that
    the database has all of these once it has the entries up to now.

    Raises:
        ConsumerBehind: it does not have them in time.
        Reverted: the action was reverted.
    """
    await caught_up(store.site)
    votes = await database.run(_read_on, _span(action, voter), numbers)
    await _annul_some(store, database, action, voter, None, votes, pace)


async def _annul_these(
    site: Site,
    partition: int,
    action: int,
    voter: str,
    complete_at: int | None,
    votes: Mapping[int, CastVote],
    numbers: Sequence[int],
    archived: Archived,
) -> Step:
    """As `annulments.annul_some`, for the votes on some numbers. `votes` has these and others, by number."""
    wanted = [votes[number] for number in numbers]
    return await annulments.annul_some(site, partition, action, voter, complete_at, wanted, archived)


async def _restore(
    store: Store, database: Database | None, action: ModerationAction, voter: str, most: int | None
) -> bool:
    """Restore the votes that an action holds. False if `most` were restored before the end."""
    site, seen, pace = store.site, 0, Pace()
    if not (action.annulment and action.annulment.began_restoring):
        total = await annulments.held(site, action.number)
        await annulments.note(site, action, total=total, state=AnnulmentState.RESTORING)
    for partition in range(site.partitions):
        await annulments.restore_some(site, partition, action.number, voter, [])  # from now on none is annulled here
        run = partial(annulments.restore_some, site, partition, action.number, voter)
        restore = partial(_restore_some, store, database, partition, run, pace)
        while numbers := await annulments.held_in(site, partition, action.number, most or READ_AT_ONCE):
            await in_steps(numbers, pace, restore)
            await annulments.note(site, action)
            await _require_room(site)
            seen += len(numbers)
            if most is not None and seen >= most:
                return False
    await _wait_until_shown(site, most)
    return await annulments.note(site, action, state=AnnulmentState.RESTORED)


async def _restore_some(
    store: Store,
    database: Database | None,
    partition: int,
    run: Callable[..., Awaitable[Step]],
    pace: Pace,
    numbers: Sequence[int],
) -> None:
    """Restore votes on some articles and comments, and forget those on deleted ones, which no step finds."""
    _, gone = await _take_step(store, database, partition, numbers, run, pace)
    if gone:
        await run(gone, are_gone=True)


async def _wait_until_shown(site: Site, most: int | None) -> None:
    """
    Wait until reads show all counts, so that the action says that it is done only then.

    Raises:
        ConsumerBehind: the database takes longer than a request (with `most`), or the task, waits.
    """
    await recounts.wait_until_shown(site, PATIENCE if most is not None else PATIENCE_AT_END)


async def _take_step(
    store: Store, database: Database | None, partition: int, numbers: Sequence[int], run: Run, pace: Pace
) -> tuple[Sequence[int], Sequence[int]]:
    """
    Take a step, first for the articles and comments that Redis has, then for the archived ones, which stay archived.
    Returns the numbers of those on which the database may lack votes, and those that are neither in Redis nor archived.

    Raises:
        Reverted: the action was reverted.
        ConsumerBehind: the counts of what is archived change, or articles move, again and again, or comments are still
            leaving Redis.
    """
    site, step, archived = store.site, await pace.timed(partial(run, numbers, NOTHING_ARCHIVED)), NOTHING_ARCHIVED
    unsure = list(step.unsure)
    for turn in range(TRIES):
        if step.is_reverted:
            raise Reverted
        if not step.absent or site.rankings.archive is None:  # None: the store has no archive
            return unsure, step.absent
        if turn:
            await caught_up(site)
        archived = await recounts.archived(site, database, partition, step.absent)
        step = await pace.timed(partial(run, step.absent, archived))
        unsure += step.unsure
    if any(number in archived.found for number in step.absent):
        raise ConsumerBehind
    return unsure, step.absent


async def _votes(
    store: Store, database: Database | None, action: ModerationAction, voter: str, at_once: int
) -> AsyncIterator[list[CastVote]]:
    """The votes of a user that an action annuls, some at a time: those on articles, then those on comments."""
    span = _span(action, voter)
    if database is None:
        async for votes in _stored_votes(store.site, span):
            yield votes
        return
    for statement in (ON_ARTICLES, ON_COMMENTS):
        after = 0
        while votes := await database.run(_read, statement, span, after, at_once):
            yield votes
            after = votes[-1].number


async def _stored_votes(site: Site, span: Span) -> AsyncIterator[list[CastVote]]:
    """The votes that Redis knows of, on what was posted in the span: it does not know when votes were cast."""
    async for found in scan.known_keys(site, lambda count: None):  # without a report of progress
        things = [key for key in found if key.name in ("article", "comment")]
        commands: list[Command] = []  # four for each thing
        for key in things:
            number = int(key.suffix)
            commands += [("HGET", key.text, "time"), ("HEXISTS", keys.annulled(key.partition, number), span.voter)]
            commands += [
                ("SISMEMBER", kind(key.partition, number), span.voter) for kind in (keys.voted, keys.downvoted)
            ]
        replies = await site.redis.pipeline(commands)
        parts = (replies[i::4] for i in range(4))
        votes = [
            CastVote(int(key.suffix), value=0)
            for key, time, *is_listed in zip(things, *parts, strict=True)  # whether among annulled, up or down
            if time and any(is_listed) and span.since <= int(time) <= span.until
        ]
        if votes:
            yield votes


async def _reaches_back_to(site: Site, database: Database | None) -> int | None:
    """
    When voting closed on the newest thing with votes whose voters are unknown (unix milliseconds): votes that were cast
    before may stay. None if all voters are known.
    """
    newest = await database.run(vote_gaps.newest) if database else await _newest_without_voters(site)
    return None if newest is None else newest + site.policy.voting_window * 1000


async def _newest_without_voters(site: Site) -> int | None:
    """When the newest thing was posted whose voters are gone from Redis (unix milliseconds); None if there is none."""
    closed: list[int] = []
    async for found in scan.known_keys(site, lambda count: None):  # without a report of progress
        things = [key for key in found if key.name in ("article", "comment")]
        times: list[Command] = [("HGET", key.text, "time") for key in things]
        known: list[Command] = [("EXISTS", keys.voted(key.partition, int(key.suffix))) for key in things]
        replies = await site.redis.pipeline([*times, *known])
        pairs = zip(replies[: len(things)], replies[len(things) :], strict=True)
        closed += [int(time) for time, is_known in pairs if time and not is_known]
    return max(closed, default=None)


async def caught_up(site: Site) -> int:
    """
    Wait until the database has all votes up to now, and return that instant (unix milliseconds). Two round trips, and
    one every `PAUSE`.

    Raises:
        ConsumerBehind: it does not have them after `PATIENCE`.
    """
    now, ends, deadline = site.clock(), await log.newest(site), monotonic() + PATIENCE
    while True:
        taken = (await log.positions(site)).get(CONSUMER, {})
        if all(
            log.sort_key(taken.get(partition, log.START)) >= log.sort_key(end) for partition, end in enumerate(ends)
        ):
            return now
        if monotonic() > deadline:
            raise ConsumerBehind
        await asyncio.sleep(PAUSE)


async def _require_room(site: Site) -> None:
    """
    Raises:
        ConsumerBehind: a consumer of the log is more than `MAX_BEHIND` entries behind.
    """
    for taken in (await log.positions(site)).values():
        if sum(lag.entries for lag in await log.lags(site, taken)) >= MAX_BEHIND:
            raise ConsumerBehind


def _by_partition(site: Site, votes: Collection[CastVote]) -> Mapping[int, list[CastVote]]:
    found: defaultdict[int, list[CastVote]] = defaultdict(list)
    for vote in votes:
        found[site.partition_of_article(vote.number)].append(vote)
    return found


def _span(action: ModerationAction, voter: str) -> Span:
    """The votes that an action annuls: without bounds of its own, all that were cast before it."""
    found = action.annulment
    since, until = (found.since, found.until) if found else (None, None)
    return Span(voter, since or 0, action.at if until is None else until)


def _read(connection: "Connection", statement: Statement, span: Span, after: int, at_once: int) -> list[CastVote]:
    rows = statement.run(connection, span._asdict() | {"after": after, "most": at_once})
    return [CastVote(number, value) for number, value in rows]


def _read_on(connection: "Connection", span: Span, numbers: Sequence[int]) -> list[CastVote]:
    """The votes of a span on articles and comments with these numbers."""
    rows = [row for each in ON_SOME for row in each.run(connection, span._asdict() | {"numbers": numbers})]
    return [CastVote(number, value) for number, value in rows]


def _count(connection: "Connection", span: Span) -> int:
    return sum(int(statement.run(connection, span._asdict()).scalar_one()) for statement in COUNTS)


# Votes of a user on what others posted. One whose time is not known (`cast_ms` is null) counts as cast at the posting.
CAST = """{votes} AS cast_votes JOIN {things} AS things ON things.number = cast_votes.number
  WHERE voter = :voter AND poster <> :voter AND coalesce(cast_ms, posted_ms) BETWEEN :since AND :until"""
CAST_ON_ARTICLES = CAST.format(votes="votes", things="articles")
CAST_ON_COMMENTS = CAST.format(votes="comment_votes", things="comments")
PAGE = "SELECT cast_votes.number, value FROM {} AND cast_votes.number > :after ORDER BY cast_votes.number LIMIT :most"
ON_ARTICLES, ON_COMMENTS = (Statement(PAGE.format(each)) for each in (CAST_ON_ARTICLES, CAST_ON_COMMENTS))
SOME = "SELECT cast_votes.number, value FROM {} AND cast_votes.number IN :numbers"
ON_SOME = [Statement(SOME.format(each), "numbers") for each in (CAST_ON_ARTICLES, CAST_ON_COMMENTS)]
COUNTS = [Statement(f"SELECT count(*) FROM {each}") for each in (CAST_ON_ARTICLES, CAST_ON_COMMENTS)]
