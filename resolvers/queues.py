"""
The queues in which things wait for moderators: articles and comments that are flagged or pending, and appeals, in which
users object to what moderators did.
"""

from collections.abc import Sequence

from resolvers import arguments
from resolvers.context import Context
from resolvers.dataloader import Reads
from store import appeals, flags, roles
from store.errors import Unauthenticated
from store.flags import Queue
from store.listings import Window
from store.roles import Authority

NOTHING = Window(count=0)  # the page that has only the total of a listing


async def viewer_authority(context: Context) -> Authority | None:
    """The viewer's roles as they are stored now; None if nobody is logged in. One round trip."""
    try:
        return await roles.read_authority(context.store.site, context.actor())
    except Unauthenticated:
        context.note_refused_session()
        return None


def moderated_groups(authority: Authority, group: str | None) -> Sequence[str] | None:
    """
    The groups whose queues a moderator asks for: none if they do not moderate there, and None for the whole site, whose
    moderators see also what is in no group.
    """
    grants = authority.grants
    if group is not None:
        name = arguments.group_name(group)
        return [name] if roles.moderates(grants, [name]) else ()
    if roles.moderates_site(grants):
        return None
    return tuple(dict.fromkeys(grant.group for grant in grants if grant.group))


async def waiting(context: Context, groups: Sequence[str] | None, reads: Reads) -> int:
    """How many things wait in all queues, of some groups or of the whole site. One round trip."""
    site = context.store.site
    listings = [*(flags.listing(site, each, groups) for each in Queue), appeals.listing(site, groups)]
    return sum(page.total for page in await reads.pages([(listing, NOTHING) for listing in listings]))
