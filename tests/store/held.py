"""Articles and comments that a rule of the site holds. No command does so yet. And comments in any state."""

from store import comment_moderation, keys
from store.records import ContentState
from store.roles import OPERATOR
from store.scripts.registry import Script
from store.store import Store

BEGINNING = "local moderator, roles = authority()"  # of what `moderate_article.lua` does, after all functions


async def set_state(store: Store, number: int, state: str) -> None:
    """Set the state of an article, a value of Lua."""
    script = Script("moderate_article")
    functions = script.text[: script.text.index(BEGINNING)]
    command = store.site.command(script, store.site.home_of_article(number), "", store.site.partitions)
    text = f'{functions}set_state(find_article("{number}"), {state}, "bob")'
    await store.site.redis.run(("EVAL", text, *command[2:]))


async def set_comment_state(store: Store, number: int, state: ContentState) -> bool:
    """Bring a comment into a state, to REMOVED and out of it as a moderator does. False if it has it already."""
    site = store.site
    if state is ContentState.REMOVED:
        return (await comment_moderation.remove(site, OPERATOR, number, None, "a reason")).changed
    found = await site.redis.run(("HGET", keys.comment(site.home_of_article(number), number), "state"))
    if found == ContentState.REMOVED.value:
        await comment_moderation.approve(site, OPERATOR, number)
        if state is ContentState.VISIBLE:
            return True
    return await store.comments.set_state(number, state)
