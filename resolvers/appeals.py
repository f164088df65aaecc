"""
Appeals against actions of moderators, and the queue in which they wait for an answer.

The place of an action is its group or, without one, any group of the article or comment that it is about: moderators of
these see its appeal. Public functions whose first argument is a sequence are batch resolvers: they return a value for
each element, in order.
"""

from collections.abc import Sequence
from functools import partial

from archive import write_back
from resolvers import moderation, queues
from resolvers.arguments import PageArguments, paginated
from resolvers.context import Context
from resolvers.pagination import Connection, connection_oldest_first
from store import appeals, records
from store.appeals import Appeal
from store.errors import Forbidden, Invalid
from store.moderation_records import ModerationAction
from store.records import User


@paginated
async def queue(
    context: Context, group: str | None = None, *, paging: PageArguments
) -> Connection[ModerationAction] | None:
    """
    The actions whose appeals wait, of a group or of all places that the viewer moderates; None if the viewer moderates
    nothing there. Three round trips: for the roles as they are stored, the positions in the queue, and the actions.
    """
    authority = await queues.viewer_authority(context)
    groups = queues.moderated_groups(authority, group) if authority else ()
    if groups == ():  # no group; None is the whole site
        return None
    listing = appeals.listing(context.store.site, groups)
    return await connection_oldest_first(context, listing, paging, moderation.ACTION_NODES)


async def of_actions(actions: Sequence[ModerationAction], context: Context) -> list[Appeal | None]:
    """
    The appeal against each action. Only the user who has appealed, and moderators of the place of the action, may read
    it. One round trip, and for appeals of others those of `moderation.moderates_places`; none if nobody is logged in.
    """
    viewer = await context.viewer()
    if viewer is None:
        return [None] * len(actions)
    site = context.store.site
    found = await context.reads.load_all([appeals.of_action(site, action.number) for action in actions])
    others = [action for action, each in zip(actions, found, strict=True) if each and each.username != viewer]
    may_read = zip(others, await moderation.moderates_places(others, context), strict=True)
    hidden = {action.number for action, may in may_read if not may}
    return [None if action.number in hidden else each for action, each in zip(actions, found, strict=True)]


def answered_by(found: Sequence[Appeal], context: Context) -> list[User | None]:
    return [records.user(each.answered_by) if each.answered_by else None for each in found]


async def submit(context: Context, action_id: str, text: str) -> ModerationAction:
    """
    Appeal against an action. The action may be about an article or a comment of the viewer that is archived, which
    means in the database only: then it is first written back to Redis, with all comments of its article. How often a
    user may cause that in a day is limited: `context.waker()` names the user and the limit.
    """
    number = _checked_number(action_id)
    command = partial(appeals.submit, context.store.site, context.actor(), number, text)
    action = await _action(context, number)
    subject = action.subject_id if action else ""
    if article := records.article_number(subject):
        change = partial(write_back.run_change, context.store, context.database, article)
    elif comment := records.comment_number(subject):
        change = partial(write_back.run_comment_change, context.store, context.database, comment)
    else:
        return await context.write(command())
    try:
        return await context.write(change(command, context.waker()))
    except Forbidden:
        raise Forbidden(f"action:{number} is about somebody else", "actionId") from None


async def answer(context: Context, action_id: str, text: str) -> ModerationAction:
    """Answer the appeal against an action. An archived text that the action is about is written back to Redis first."""
    number = _checked_number(action_id)
    command = partial(appeals.answer, context.store.site, context.actor(), number, text)
    text_number = moderation.text_of(await _action(context, number))
    if text_number is None:
        return await context.write(command())
    return await context.write(write_back.run_moderation(context.store, context.database, text_number, command))


async def _action(context: Context, number: int) -> ModerationAction | None:
    (action,) = await context.reads.actions([number])
    return action


def _checked_number(action_id: str) -> int:
    number = records.action_number(action_id)
    if number is None:
        raise Invalid("an action's id looks like action:1541", "actionId")
    return number
