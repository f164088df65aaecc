"""What users write about themselves: a name as people read it, a text, and the address of a picture."""

from collections.abc import Mapping

from store import validation
from store.errors import Unauthenticated
from store.reserved_names import ReservedNames
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot
from store.validation import Faults

EDIT_PROFILE = Script("edit_profile")

# by the fields of a user's hash
RULES = {
    "display_name": validation.display_name,
    "about": validation.about,
    "avatar_url": validation.avatar_url,
}


async def edit(site: Site, actor: Actor, changes: Mapping[str, str], reserved: ReservedNames) -> str:
    """
    Change the profile of the actor as given, and return the username; "" removes a text. One round trip.

    Raises:
        Invalid: a value breaks a rule, or the display name is reserved; `others` has further faults.
        Unauthenticated, Banned: the session has ended, or the user is banned from the site.
    """
    faults, checked = Faults(), list[str]()
    for field, text in changes.items():
        with faults:
            checked += (field, text and RULES[field](text))
            if field == "display_name":
                reserved.check(text, "displayName")
    faults.raise_any()
    status, *name_of_user = await site.run(EDIT_PROFILE, actor_slot(actor) % site.partitions, actor, *checked)
    if status == "unauthenticated":
        raise Unauthenticated
    return str(name_of_user[0])
