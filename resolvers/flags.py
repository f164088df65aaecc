"""
Flags on articles and comments, and the queues of what is flagged or pending.

A flag stands until its user withdraws it or a moderator's decision clears it. Public functions whose first argument is
a sequence are batch resolvers: they return a value for each element, in order.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from archive import write_back
from resolvers import queues, subjects
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import Edge, PageInfo, connection_by_time, total_count
from resolvers.subjects import SUBJECT_NODES
from store import flags, held_edits, records, roles
from store.flags import Flag, Flagged, FlagReason, Queue
from store.held_edits import Hold
from store.records import Article, Comment, User
from store.roles import Authority


class ShownFlag(NamedTuple):
    """A flag as a moderator of the site sees it."""

    by: User
    reason: FlagReason
    note: str | None
    at: int  # unix milliseconds


@dataclass(frozen=True, slots=True)
class QueueEdge:
    """
    An article or a comment in a queue, with its flags. It waits `since` an instant (unix milliseconds). `held_by` names
    the rule of the site that holds it; None if none does.
    """

    edge: Edge[Article | Comment]
    flags: Sequence[ShownFlag]
    flag_reasons: Sequence[FlagReason]
    held_by: str | None

    @property
    def cursor(self) -> str:
        return self.edge.cursor

    @property
    def node(self) -> Article | Comment:
        return self.edge.node

    @property
    def since(self) -> int:
        value: Any = self.edge.position[0]
        return int(value)


class QueueConnection(NamedTuple):
    """A page of a queue of moderators."""

    edges: Sequence[QueueEdge]
    page_info: PageInfo
    total_count: int

    @property
    def nodes(self) -> list[Article | Comment]:
        return [edge.node for edge in self.edges]


async def flag(context: Context, subject_id: str, reason: FlagReason, note: str | None = None) -> Flagged:
    """Flag an article or a comment. One that is archived, which means in the database only, is first written back."""
    kind, number = subjects.kind_and_number(subject_id)
    command = partial(flags.flag, context.store.site, context.actor(), kind, number, reason, note)
    flagged = await context.write(_within_limits(context, partial(_run_written_back, context, number, command)))
    context.reads.set_checked_login(flagged.username)
    return flagged


async def unflag(context: Context, subject_id: str) -> Flagged:
    kind, number = subjects.kind_and_number(subject_id)
    command = partial(flags.unflag, context.store.site, context.actor(), kind, number)
    flagged = await context.write(_run_written_back(context, number, command))
    context.reads.set_checked_login(flagged.username)
    return flagged


async def on_subjects(things: Sequence[Article | Comment], context: Context) -> list[Sequence[ShownFlag]]:
    """The flags on each, for moderators of the site. One round trip for all."""
    return [_shown(standing) for standing in await _standing_on(things, context)]


async def reasons(things: Sequence[Article | Comment], context: Context) -> list[list[FlagReason]]:
    """Why each was flagged, in the groups of the viewer, who has a role. One round trip for all."""
    grants = await context.viewer_roles()
    return [
        [flag.reason for flag in standing if roles.moderates(grants, flag.groups)]
        for standing in await _standing_on(things, context)
    ]


async def of_viewer(things: Sequence[Article | Comment], context: Context) -> list[ShownFlag | None]:
    """The viewer's flag on each that was not cleared. One round trip for all, none if nobody is logged in."""
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(things)
    reads = [flags.standing_of(context.store.site, each.number, viewer) for each in things]
    return [flag and _shown_flag(flag) for flag in await context.reads.load_all(reads)]


@paginated
async def queue(
    context: Context, kind: Queue | None = Queue.FLAGGED, group: str | None = None, *, paging: PageArguments
) -> QueueConnection | None:
    """
    A queue of a group, or of all that the viewer moderates; None for viewers who moderate nothing there. Four round
    trips: for the roles as they are stored, the positions in the queue, the articles and comments, and their flags with
    the rules that hold them.
    """
    authority = await queues.viewer_authority(context)
    groups = queues.moderated_groups(authority, group) if authority else ()
    if authority is None or groups == ():  # no group; None is the whole site
        return None
    listing = flags.listing(context.store.site, kind or Queue.FLAGGED, groups)
    connection = await connection_by_time(context, listing, paging, SUBJECT_NODES)
    reads = [flags.standing(context.store.site, each.node.number) for each in connection.edges]
    held = connection.edges if kind is Queue.PENDING else ()
    standing, holds = await gather(
        context.reads.load_all(reads),
        context.reads.load_all([held_edits.hold(context.store.site, each.node) for each in held]),
    )
    found = zip_longest(connection.edges, standing, holds)  # only the queue PENDING has holds
    edges = [_edge_for(authority, groups, *each) for each in found]
    (total,) = await total_count([connection], context)
    return QueueConnection(edges, connection.page_info, total)


def _edge_for(
    authority: Authority,
    groups: Sequence[str] | None,
    edge: Edge[Article | Comment],
    standing: Sequence[Flag],
    hold: Hold | None,
) -> QueueEdge:
    """
    An edge of a queue as the viewer sees it. Moderators of groups see the reasons of the flags that were set there;
    moderators of the site see all flags, and who set them.
    """
    held_by = hold and hold.rule
    if roles.moderates_site(authority.grants):
        return QueueEdge(edge, _shown(standing), [flag.reason for flag in standing], held_by)
    own = set(groups or ())
    reasons = [flag.reason for flag in standing if own.intersection(flag.groups)]
    return QueueEdge(edge, flags=(), flag_reasons=reasons, held_by=held_by)


async def _standing_on(things: Sequence[Article | Comment], context: Context) -> Sequence[Sequence[Flag]]:
    """The flags on each that were not cleared. One round trip for all."""
    reads = [flags.standing(context.store.site, each.number) for each in things]
    return await context.reads.load_all(reads)


def _shown(standing: Iterable[Flag]) -> list[ShownFlag]:
    return list(map(_shown_flag, standing))


def _shown_flag(flag: Flag) -> ShownFlag:
    return ShownFlag(records.user(flag.username), flag.reason, flag.note, flag.at)


async def _run_written_back(context: Context, number: int, command: Callable[[], Awaitable[Flagged]]) -> Flagged:
    """Run a command on an article or a comment. An archived one is first written back; `waker` limits how often."""
    return await write_back.run_flag(context.store, context.database, number, command, context.waker())


async def _within_limits(context: Context, command: Callable[[], Awaitable[Flagged]]) -> Flagged:
    """
    Count a flag against the limit of the user, if the request has an address.

    The limit costs two round trips, and one more to take the count back if nothing changed.
    """
    actor, flagged = context.actor(), None
    if context.address is None:
        return await command()
    username = await context.store.site.username(actor)
    counted = await context.store.attempts.count(context.rates.of_flags(username))
    try:
        flagged = await command()
        return flagged
    finally:
        if flagged is None or not flagged.changed:
            await context.store.attempts.take_back(counted)
