"""Users who moderate, and what several tests of their queues send."""

from store import roles
from store.moderation_records import Role
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered

REVERT = """mutation($id: ID!) {
  revertModeration(input: {actionId: $id, reason: "an error"}) { changed userErrors { code } } }"""
QUEUE_CHANGED = "subscription($group: String) { moderationQueueChanged(group: $group) }"


async def signed_in(store: Store, username: str, role: Role | None = None, *groups: str) -> str:
    """The token of a new user, with a role in the site, or in some groups."""
    await registered(store, username)
    if role:
        for group in groups or [None]:
            await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a good eye")
    return (await store.sessions.open(username)).token
