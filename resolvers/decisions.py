"""
Why something is not shown, or locked: the action of a moderator that stands, beside the article or the comment.

An action is an entry in the log of what moderators did; it stands unless a later one reverts it. `removal` and `lock`
are batch resolvers: they return a value for each element of their sequence.
"""

from collections.abc import Iterator, Sequence

from resolvers.context import Context
from store import moderation
from store.listings import Window
from store.moderation_records import ModerationAction, ModerationKind
from store.records import Article, Comment, ContentState

RECENT = Window(count=100)  # the newest actions on an article or a comment: only these are searched for the reason


async def removal(subjects: Sequence[Article | Comment], context: Context) -> list[ModerationAction | None]:
    """
    The action that removed each; None for what is not removed, and if the action is not among the last `RECENT` on it.
    No round trip if nothing is removed, else two for all.
    """
    removed = [each.id for each in subjects if each.state is ContentState.REMOVED]
    found = await _newest(context, removed, ModerationKind.REMOVE, ModerationKind.PURGE)
    return [found.get(each.id) if each.state is ContentState.REMOVED else None for each in subjects]


async def lock(articles: Sequence[Article], context: Context) -> list[ModerationAction | None]:
    """The action that locked each; None for what is not locked. Otherwise as `removal`."""
    found = await _newest(context, [each.id for each in articles if each.is_locked], ModerationKind.LOCK)
    return [found.get(each.id) if each.is_locked else None for each in articles]


async def _newest(context: Context, subjects: Sequence[str], *kinds: ModerationKind) -> dict[str, ModerationAction]:
    """By the id of each subject, the newest action of some kinds on it that was not reverted, if it is `RECENT`."""
    if not subjects:
        return {}
    wanted = [(moderation.log(context.store.site, subject), RECENT) for subject in dict.fromkeys(subjects)]
    pages = await context.reads.pages(wanted)
    numbers = [position.number for page in pages for position in page.positions]
    found: dict[str, ModerationAction] = {}
    for action in _standing(await context.reads.actions(numbers), kinds):
        found.setdefault(action.subject_id, action)
    return found


def _standing(
    actions: Sequence[ModerationAction | None], kinds: Sequence[ModerationKind]
) -> Iterator[ModerationAction]:
    for action in actions:
        if action and action.kind in kinds and not action.reverted_by and not _is_out_of_a_group(action):
            yield action


def _is_out_of_a_group(action: ModerationAction) -> bool:
    """Whether it took an article out of one group. A comment is removed as a whole, also in the name of a group."""
    is_removal = action.kind is ModerationKind.REMOVE
    return is_removal and action.group is not None and action.subject_id.startswith("article:")
