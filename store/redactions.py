"""Redactions: a reason or a note of a moderator that must not stay. Nothing else of an action is ever changed."""

from collections.abc import Sequence

from store import roles
from store.errors import NotAModerator, NotFound
from store.moderation import Moderated, moderated
from store.roles import Authority
from store.scripts.registry import Script
from store.site import Site

REDACT = Script("redact")

TEXTS = ("reason", "note")
REDACTED = "[redacted]"  # in place of the text


async def redact(site: Site, authority: Authority, number: int, texts: Sequence[str] = TEXTS) -> Moderated:
    """
    Replace the reason, the note or both of the action with a number by `REDACTED`. A missing one stays missing. The
    entries of the log with the old texts are removed. One round trip.

    Raises:
        NotAModerator: the actor is no admin.
        NotFound: there is no such action.
        Banned: the actor is banned.
    """
    # the number of an action, too, tells the partition (share of the data) of its subject
    reply = await roles.run(site, REDACT, site.partition_of_article(number), authority, number, REDACTED, *texts)
    match reply[0]:
        case "refused":
            raise NotAModerator("only admins redact what moderators wrote")
        case "missing":
            raise NotFound(f"there is no action:{number}", "actionId")
    return moderated(reply)
