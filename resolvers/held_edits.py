"""Edits that rules of the site hold until a moderator approves or rejects them; until then the texts do not change."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from resolvers.context import Context
from store import held_edits, roles
from store.held_edits import HeldEdit
from store.moderation_records import RoleGrant
from store.records import Article, Comment


class ShownEdit(NamedTuple):
    """
    A text as it is after an edit that waits. Comments have only content. `held_by` is the name of the rule, `at` is in
    unix milliseconds.
    """

    id: str
    title: str | None
    link: str | None
    content: str | None
    held_by: str
    at: int


async def on_subjects(things: Sequence[Article | Comment], context: Context) -> list[ShownEdit | None]:
    """
    The edit of each, for its poster and for moderators of its groups or of the site. One round trip for all, one more
    for the articles of comments; none if nobody is logged in.
    """
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(things)
    grants = await context.viewer_roles()
    groups = await _groups_of(things, context) if grants else [()] * len(things)
    may_read = [_may_read(thing, viewer, grants, each) for thing, each in zip(things, groups, strict=True)]
    reads = [held_edits.of(context.store.site, thing.number) for thing in compress(things, may_read)]
    found = iter(await context.reads.load_all(reads))
    edits = [next(found) if may else None for may in may_read]
    return [edit and _shown(thing, edit) for thing, edit in zip(things, edits, strict=True)]


async def _groups_of(things: Sequence[Article | Comment], context: Context) -> list[Sequence[str]]:
    """The groups of each article, or of the article of each comment."""
    numbers = [thing.number if isinstance(thing, Article) else thing.article for thing in things]
    return [article.groups if article else () for article in await context.reads.articles(numbers)]


def _may_read(thing: Article | Comment, viewer: str, grants: tuple[RoleGrant, ...], groups: Sequence[str]) -> bool:
    return thing.poster == viewer or roles.moderates(grants, groups)


def _shown(thing: Article | Comment, edit: HeldEdit) -> ShownEdit:
    known = {name: getattr(thing, name, None) for name in held_edits.TEXTS}
    return ShownEdit(f"heldEdit:{thing.id}", **known | edit.changes, held_by=edit.held_by, at=edit.at)
