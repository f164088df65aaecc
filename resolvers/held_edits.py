"""
Texts and edits that rules of the site hold until a moderator approves or rejects them. A text does not change while an
edit of it is held.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
"""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple, TypeVar

from resolvers.context import Context
from store import held_edits, roles
from store.held_edits import HeldEdit
from store.queries import Read
from store.records import Article, Comment, ContentState

Result = TypeVar("Result")


class ShownEdit(NamedTuple):
    """
    A text as it will be if the edit that waits is approved. Comments have only content. `held_by` is the name of the
    rule, `at` is in unix milliseconds.
    """

    id: str
    title: str | None
    link: str | None
    content: str | None
    held_by: str
    at: int


async def on_subjects(things: Sequence[Article | Comment], context: Context) -> list[ShownEdit | None]:
    """
    The held edit of each, for its poster and for moderators of its groups or of the site. One round trip for all, one
    more for the articles of comments; none if nobody is logged in.
    """
    reads = [held_edits.of(context.store.site, thing.number) for thing in things]
    edits = await _read(reads, await _may_read(things, context), context)
    return [edit and _shown(thing, edit) for thing, edit in zip(things, edits, strict=True)]


async def rules(things: Sequence[Article | Comment], context: Context) -> list[str | None]:
    """The rule that holds each that is pending. Otherwise as `on_subjects`."""
    reads = [held_edits.hold(context.store.site, thing) for thing in things]
    readable = zip(things, await _may_read(things, context), strict=True)
    holds = await _read(reads, [may and thing.state is ContentState.PENDING for thing, may in readable], context)
    return [hold and hold.rule for hold in holds]


async def reasons(things: Sequence[Article | Comment], context: Context) -> list[str | None]:
    """Why the service that checks texts holds each, or its edit; only for moderators of its groups or of the site."""
    reads = [held_edits.hold(context.store.site, thing) for thing in things]
    holds = await _read(reads, await _moderates(things, context), context)
    return [hold and hold.reason for hold in holds]


async def _read(
    reads: Sequence[Read[Result | None]], may_read: Sequence[bool], context: Context
) -> list[Result | None]:
    """What the viewer may read; None in the place of the rest. One round trip for all."""
    found = iter(await context.reads.load_all(list(compress(reads, may_read))))
    return [next(found) if may else None for may in may_read]


async def _may_read(things: Sequence[Article | Comment], context: Context) -> list[bool]:
    """Whether the viewer is the poster of each, or a moderator of its groups or of the site."""
    viewer = await context.viewer()
    if viewer is None:
        return [False] * len(things)
    moderates = await _moderates(things, context)
    return [thing.poster == viewer or may for thing, may in zip(things, moderates, strict=True)]


async def _moderates(things: Sequence[Article | Comment], context: Context) -> list[bool]:
    """Whether the viewer is a moderator of the groups of each, or of the site."""
    grants = await context.viewer_roles()
    if not grants:
        return [False] * len(things)
    return [roles.moderates(grants, groups) for groups in await _groups_of(things, context)]


async def _groups_of(things: Sequence[Article | Comment], context: Context) -> list[Sequence[str]]:
    """The groups of each article, or of the article of each comment, which need not be visible."""
    numbers = [thing.article for thing in things if isinstance(thing, Comment)]
    commented = iter(await context.reads.articles_of_any_state(numbers))
    articles = [thing if isinstance(thing, Article) else next(commented) for thing in things]
    return [article.groups if article else () for article in articles]


def _shown(thing: Article | Comment, edit: HeldEdit) -> ShownEdit:
    known = {name: getattr(thing, name, None) for name in held_edits.TEXTS}
    return ShownEdit(f"heldEdit:{thing.id}", **known | edit.changes, held_by=edit.held_by.rule, at=edit.at)
