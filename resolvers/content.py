"""Mutations of moderators on articles and comments, and the viewer's own texts that are pending or removed."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from archive import write_back
from resolvers import subjects
from resolvers.arguments import PageArguments, paginated
from resolvers.articles import checked_number
from resolvers.context import Context
from resolvers.pagination import Connection, connection_by_time
from resolvers.subjects import SUBJECT_NODES
from store import article_moderation, comment_moderation, listings
from store.moderation import Moderated
from store.roles import Authority

# the module with the commands of moderators on each kind of text; functions of both modules have the same names
COMMANDS: Mapping[str, ModuleType] = {"article": article_moderation, "comment": comment_moderation}


@paginated
async def held(context: Context, *, paging: PageArguments) -> Connection[Any] | None:
    """
    The viewer's own articles and comments that are pending or removed; None if nobody is logged in. Two round trips:
    one for the positions in the listing, one for the records.
    """
    viewer = await context.viewer()
    if viewer is None:
        return None
    return await connection_by_time(context, listings.held(context.store.site, viewer), paging, SUBJECT_NODES)


async def remove(
    context: Context, subject_id: str, reason: str, group: str | None = None, note: str | None = None
) -> Moderated:
    kind, number = subjects.kind_and_number(subject_id)

    async def act(authority: Authority) -> Moderated:
        command = partial(COMMANDS[kind].remove, context.store.site, authority, number, group, reason, note)
        return await _moderated(context, number, command)

    return await context.within_removal_limit(act)


async def approve(context: Context, subject_id: str, reason: str | None = None, note: str | None = None) -> Moderated:
    (kind, number), actor = subjects.kind_and_number(subject_id), context.actor()
    command = partial(COMMANDS[kind].approve, context.store.site, actor, number, reason, note)
    return await context.write(_moderated(context, number, command))


async def reject_edit(context: Context, subject_id: str, reason: str, note: str | None = None) -> Moderated:
    (kind, number), actor = subjects.kind_and_number(subject_id), context.actor()
    command = partial(COMMANDS[kind].reject_edit, context.store.site, actor, number, reason, note)
    return await context.write(_moderated(context, number, command))


async def lock(
    context: Context, article_id: str, reason: str, group: str | None = None, note: str | None = None
) -> Moderated:
    number, actor = checked_number(article_id), context.actor()
    command = partial(article_moderation.lock, context.store.site, actor, number, group, reason, note)
    return await context.write(_moderated(context, number, command))


async def _moderated(context: Context, number: int, command: Callable[[], Awaitable[Moderated]]) -> Moderated:
    """
    Run a command on an article or a comment. If that is archived, which means in the database only, it is written back
    to Redis first.
    """
    return await write_back.run_moderation(context.store, context.database, number, command)
