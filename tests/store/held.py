"""
Brings articles and comments into a state: VISIBLE, PENDING or REMOVED. A text that the site holds is PENDING: it is not
shown until a moderator approves it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from store import comment_moderation, keys
from store.breaches import Account, Candidate, Opinion
from store.records import ContentState
from store.roles import OPERATOR
from store.rules import HOLD
from store.scripts.registry import Script
from store.store import Store

BEGINNING = "local moderator, roles = authority()"  # in `moderate_article.lua`, after all library functions


@contextmanager
def holding(store: Store, reason: str = "") -> Iterator[None]:
    """
    As long as the context is open, the site holds all texts that users without a role post or edit. `reason` is what
    the check says of them to moderators.
    """

    async def hold(account: Account, text: Candidate) -> Opinion:
        return Opinion(HOLD, reason)

    object.__setattr__(store.site, "check", hold)
    try:
        yield
    finally:
        object.__setattr__(store.site, "check", None)


async def set_article_state(store: Store, number: int, state: ContentState) -> None:
    """
    Set the state of an article, as a rule does, so that no action of a moderator says so: by functions of the script
    `moderate_article`, called in a script of its own.
    """
    script = Script("moderate_article")
    functions = script.body[: script.body.index(BEGINNING)]
    _evalsha, _digest, *keys_and_arguments = store.site.command(
        script, store.site.partition_of_article(number), "", store.site.partitions
    )
    in_lua = "nil" if state is ContentState.VISIBLE else f'"{state.value}"'
    text = f'{functions}set_state(find_article("{number}"), {in_lua}, "bob")'
    await store.site.redis.run(("EVAL", text, *keys_and_arguments))


async def set_comment_state(store: Store, number: int, state: ContentState) -> bool:
    """
    Bring a comment into a state: into REMOVED and out of it as a moderator does, else as a rule does. False if it is in
    that state already.
    """
    site = store.site
    if state is ContentState.REMOVED:
        return (await comment_moderation.remove(site, OPERATOR, number, group=None, reason="a reason")).changed
    found = await site.redis.run(("HGET", keys.comment(site.partition_of_article(number), number), "state"))
    if found == ContentState.REMOVED.value:
        await comment_moderation.approve(site, OPERATOR, number)
        if state is ContentState.VISIBLE:
            return True
    return await store.comments.set_state(number, state)
