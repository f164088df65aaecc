"""Articles and comments that a site holds when they are posted, and such in any state."""

from collections.abc import Iterator
from contextlib import contextmanager

from store import comment_moderation, keys
from store.breaches import Account, Candidate, Opinion
from store.records import ContentState
from store.roles import OPERATOR
from store.rules import HOLD
from store.scripts.registry import Script
from store.store import Store

BEGINNING = "local moderator, roles = authority()"  # of what `moderate_article.lua` does, after all functions


@contextmanager
def holding(store: Store) -> Iterator[None]:
    """The site holds all texts of users without a role that are posted as long as the context is open."""

    async def hold(account: Account, text: Candidate) -> Opinion:
        return Opinion(HOLD, "")

    object.__setattr__(store.site, "check", hold)
    try:
        yield
    finally:
        object.__setattr__(store.site, "check", None)


async def set_state(store: Store, number: int, state: str) -> None:
    """Set the state of an article, a value of Lua."""
    script = Script("moderate_article")
    functions = script.body[: script.body.index(BEGINNING)]
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
