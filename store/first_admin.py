"""
The first administrator, whom the operator names at the start: an account without a password. The server prints a link
with which a password is set. A field of the account says that its link was not printed yet, so that another start goes
on where one was killed, and so that nobody who has registered the name is taken for the administrator.
"""

from enum import Enum, auto

from store import keys, roles
from store.moderation_records import Role, parse_roles
from store.roles import OPERATOR
from store.site import Site
from store.users import Users

FIELD = "first_admin"  # of the hash of the user
REASON = "named by UPVOTE_ADMIN at the first start"


class FirstAdmin(Enum):
    """What `make` finds, or does."""

    MADE = auto()  # the account is there, and its link was not printed yet
    IS_ADMIN = auto()  # it was made before
    IS_TAKEN = auto()  # by somebody who is no admin, or by somebody who was deleted


async def make(site: Site, users: Users, username: str) -> FirstAdmin:
    """
    Make an account without a password and grant it ADMIN, unless somebody has the name. At most four round trips; one
    if the account is there. It may be done by several processes at once. `done` has to follow once the link is printed.

    Raises:
        Invalid: no user can have this name.
    """
    found = await _find(site, username)
    if found is None:
        await users.create(username, field=FIELD)
        found = await _find(site, username) or FirstAdmin.IS_TAKEN
    if found is FirstAdmin.MADE:
        await roles.grant(site, OPERATOR, username, Role.ADMIN, group=None, reason=REASON)
    return found


async def done(site: Site, username: str) -> None:
    """Note that the link was printed. One round trip."""
    await site.redis.run(("HDEL", keys.user(site.partition_of_user(username), username), FIELD))


async def _find(site: Site, username: str) -> FirstAdmin | None:
    key = keys.user(site.partition_of_user(username), username)
    name, is_new, granted = await site.redis.run(("HMGET", key, "name", FIELD, "roles"))
    if name is None:
        return None
    if is_new:
        return FirstAdmin.MADE
    return FirstAdmin.IS_ADMIN if roles.is_admin(parse_roles(granted or "")) else FirstAdmin.IS_TAKEN
