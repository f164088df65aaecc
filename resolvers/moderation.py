"""
Roles, the log of moderators' actions, and the mutations that grant, revoke and revert.

The subject of an action is the article, comment or user that it is about; a text is an article or a comment. The place
of an action is its group or, without one, any group of its text. Public functions whose first argument is a sequence
are batch resolvers: they return a value for each element, in order.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from archive import annulments, banned_texts, write_back
from resolvers import arguments, nodes
from resolvers.arguments import BadInput, PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, Nodes, connection_by_time, user_connections
from resolvers.users import checked_username
from store import moderation, records, roles
from store import reverts as reverts_of
from store.errors import Invalid
from store.listings import Listing
from store.moderation import Moderated
from store.moderation_records import ModerationAction, ModerationKind, Role, RoleGrant
from store.records import Article, Comment, ContentState, Group, User
from store.site import Site

ACTION_BYTES = 2_000  # of the record of an action in memory, about
OF_ROLES = (ModerationKind.GRANT_ROLE, ModerationKind.REVOKE_ROLE)  # the kinds of actions that have a role


async def of_users(users: Sequence[User], context: Context) -> list[tuple[RoleGrant, ...]]:
    profiles = await context.reads.profiles(user.username for user in users)
    return [profile.roles if profile else () for profile in profiles]


def group_of_role(grants: Sequence[RoleGrant], context: Context) -> list[Group | None]:
    return [records.group(grant.group) if grant.group else None for grant in grants]


@paginated
async def moderators(
    groups: Sequence[Group], context: Context, *, paging: PageArguments
) -> list[Connection[User] | BadInput]:
    lists = [roles.moderators(context.store.site, group.name) for group in groups]
    return await user_connections(context, lists, paging)


@paginated
async def site_moderators(context: Context, *, paging: PageArguments) -> Connection[User]:
    """Those with a role in the whole site. One round trip."""
    (found,) = await user_connections(context, [roles.moderators(context.store.site, group=None)], paging)
    if isinstance(found, BadInput):
        raise found
    return found


async def viewer_can_moderate(groups: Sequence[Group], context: Context) -> list[bool]:
    grants = await context.viewer_roles()
    return [roles.moderates(grants, [group.name]) for group in groups]


async def may_read_note(action: ModerationAction, context: Context) -> bool:
    """As `moderates_places`, of one action."""
    (may,) = await moderates_places([action], context)
    return may


async def moderates_places(actions: Sequence[ModerationAction], context: Context) -> list[bool]:
    """
    Whether the viewer is a moderator of the place of each action. A moderator of the whole site is one of every place.
    No round trip for viewers without a role, or with one in the whole site; up to two for moderators of groups.
    """
    grants = await context.viewer_roles()
    if not grants or roles.moderates_site(grants):
        return [bool(grants)] * len(actions)
    return [roles.moderates(grants, places) for places in await _places(actions, context)]


def moderator(actions: Sequence[ModerationAction], context: Context) -> list[User]:
    return [records.user(action.moderator) for action in actions]


async def note(actions: Sequence[ModerationAction], context: Context) -> list[str | None]:
    """
    The notes of actions: the permission of the field keeps them from others than moderators. This is a coroutine
    function because that permission is asynchronous, which Strawberry allows with coroutine functions only.
    """
    return [action.note for action in actions]


async def subject(actions: Sequence[ModerationAction], context: Context) -> list[Any]:
    """What each action is about; None once it is gone."""
    wanted = list(dict.fromkeys(action.subject_id for action in actions))
    found: dict[str, Any] = {}
    for start in range(0, len(wanted), arguments.MAX_IDS):
        ids = wanted[start : start + arguments.MAX_IDS]
        found.update(zip(ids, await nodes.nodes(context, ids), strict=True))
    return [_unless_deleted(found[action.subject_id]) for action in actions]


def role(actions: Sequence[ModerationAction], context: Context) -> list[Role | None]:
    return [action.role if action.kind in OF_ROLES else None for action in actions]


def group(actions: Sequence[ModerationAction], context: Context) -> list[Group | None]:
    return [records.group(action.group) if action.group else None for action in actions]


async def reverts(actions: Sequence[ModerationAction], context: Context) -> list[ModerationAction | None]:
    return await _others(context, [action.reverts for action in actions])


async def ban(actions: Sequence[ModerationAction], context: Context) -> list[ModerationAction | None]:
    """The ban because of which the server removed, or brought back, the text that each action is about."""
    return await _others(context, [action.ban for action in actions])


async def reverted_by(actions: Sequence[ModerationAction], context: Context) -> list[ModerationAction | None]:
    return await _others(context, [action.reverted_by for action in actions])


@paginated
async def log(
    context: Context, group: str | None = None, subject_id: str | None = None, *, paging: PageArguments
) -> Connection[ModerationAction]:
    """Two round trips: one for the positions in the log and one for the actions."""
    listing = log_of(context.store.site, group, subject_id)
    return await connection_by_time(context, listing, paging, ACTION_NODES)


def log_of(site: Site, group: str | None, subject_id: str | None) -> Listing:
    """The actions in a group, about a subject, both or all. Raises BadInput if one of these is malformed."""
    name = None if group is None else arguments.group_name(group)
    if subject_id is None:
        return moderation.log(site, "all" if name is None else f"group:{name}")
    is_known = records.article_number(subject_id) or records.comment_number(subject_id) or records.username(subject_id)
    if not is_known:
        raise BadInput(f"a subject is an article, a comment or a user, not {subject_id[:100]}")
    subject = subject_id.lower()
    return moderation.log(site, subject) if name is None else moderation.log_of_both(site, name, subject)


async def grant_role(context: Context, user_id: str, role: Role, reason: str, group: str | None = None) -> Moderated:
    username = checked_username(user_id)
    return await context.write(roles.grant(context.store.site, context.actor(), username, role, group, reason))


async def revoke_role(context: Context, user_id: str, role: Role, reason: str, group: str | None = None) -> Moderated:
    username = checked_username(user_id)
    return await context.write(roles.revoke(context.store.site, context.actor(), username, role, group, reason))


async def revert(
    context: Context,
    action_id: str,
    reason: str,
    note: str | None = None,
    keep_votes_annulled: bool | None = False,
) -> Moderated:
    """
    Revert an action. A text that it is about, and that is archived (in the database only), is first written back to
    Redis. What a ban or an annulment did to many texts or votes is undone in steps: here only the first ones.
    """
    number = records.action_number(action_id)
    if number is None:
        raise Invalid("an action's id looks like action:1541", "actionId")
    given = (context.store.site, context.actor(), number, reason, note)
    command = partial(reverts_of.revert, *given, keeps_votes=bool(keep_votes_annulled))
    (action,) = await context.reads.actions([number])  # the action to revert
    text_number = text_of(action)
    if text_number is None:
        moderated = await context.write(command())
        if action and action.removes_texts and not action.reverted_by:  # now that it is reverted, this brings them back
            await context.write(banned_texts.begin(context.store, context.database, action.number))
        if action and action.annulment:  # likewise: its votes count again
            await context.write(annulments.begin(context.store, context.database, action.number))
        return moderated
    return await context.write(write_back.run_moderation(context.store, context.database, text_number, command))


def text_of(action: ModerationAction | None) -> int | None:
    """The number of the article or comment that an action is about."""
    subject = action.subject_id if action else ""
    return records.article_number(subject) or records.comment_number(subject)


async def _others(context: Context, numbers: Sequence[int | None]) -> list[ModerationAction | None]:
    wanted = [number for number in numbers if number]
    found = dict(zip(wanted, await context.reads.actions(wanted), strict=True))
    return [found[number] if number else None for number in numbers]


async def _read_actions(context: Context, numbers: Iterable[int]) -> list[ModerationAction | None]:
    return await context.reads.actions(numbers)


def _bytes_of(actions: Sequence[ModerationAction | None]) -> int:
    return ACTION_BYTES * len(actions)


ACTION_NODES = Nodes(_read_actions, _bytes_of)  # how a page reads its actions, and how much memory they take


async def _places(actions: Sequence[ModerationAction], context: Context) -> list[Sequence[str]]:
    """The groups whose moderators may act on the subjects of some actions."""
    of_site = [action for action in actions if not action.group]
    subjects = dict(zip((action.number for action in of_site), await subject(of_site, context), strict=True))
    wanted = [each.article for each in subjects.values() if isinstance(each, Comment)]
    articles = dict(zip(wanted, await context.reads.articles(wanted), strict=True)) if wanted else {}
    return [[action.group] if action.group else _groups_of(subjects[action.number], articles) for action in actions]


def _groups_of(found: Any, articles: Mapping[int, Article | None]) -> Sequence[str]:
    """The groups of an article, or of that of a comment among `articles`; none for anything else."""
    article = articles[found.article] if isinstance(found, Comment) else found
    return article.groups if isinstance(article, Article) else ()


def _unless_deleted(found: Any) -> Any:
    """A node, or None for a deleted comment that is still there for its replies, and for an id that is not valid."""
    is_stub = isinstance(found, Comment) and found.state is ContentState.DELETED
    return None if is_stub or isinstance(found, BadInput) else found
