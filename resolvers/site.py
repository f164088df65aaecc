"""What the site offers to visitors, such as registration and passwords; and invitations to register."""

from collections.abc import Sequence

from resolvers.context import Context
from store import invitations, roles, standing_bans
from store.errors import NotAModerator
from store.invitations import NewInvitation
from store.offers import Offers


async def offers(context: Context) -> Offers:
    """The settings that visitors may know. No round trip."""
    return context.store.users.offers


def ids(sites: Sequence[Offers], context: Context) -> list[str]:
    return ["site" for _ in sites]


async def invite(context: Context) -> NewInvitation:
    """Make an invitation, for admins. Two round trips: the roles of the viewer are read as they are stored."""
    context.store.users.offers.require_not_closed()
    site = context.store.site
    authority = await roles.read_authority(site, context.actor())
    standing_bans.refuse_banned(authority.bans, site.clock())
    if not roles.is_admin(authority.grants):
        raise NotAModerator("only admins invite people")
    return await context.write(invitations.create(site))
