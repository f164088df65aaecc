"""
Invitations to register, each for one registration within a week. The store holds only their SHA-256. They name no user,
so their partition (a share of the data) is a random one, and a registration claims one in a step of its own. The claim
has the name and a random text of the registration, the call: so only one of two registrations at once gets the
invitation, and one that was interrupted can go on with the same name.
"""

import secrets
from typing import NamedTuple

from store.errors import BadToken
from store.keys import DIGEST
from store.kinds import Backup, Check, Kind
from store.ranking.formulas import DAY
from store.scripts.registry import Script
from store.sessions import new_token, parse_token
from store.site import Session, Site

CLAIM_INVITATION = Script("claim_invitation")
RELEASE_INVITATION = Script("release_invitation")

INVITATION_LIFETIME = 7 * DAY  # seconds

invitation = Kind(
    "invitation",
    "string",
    parts=(DIGEST,),
    holds="when the invitation with this SHA-256 ends, and its slot; while somebody registers with it, the name in "
    "lower case and the call",
    lifetime="a week, or until it is used",
    written_by="user invite, createInvitation, register",
    backup=Backup.COPIED_BY_MOVE,
    record="invitation",
    check=Check.VALUE,
)


class NewInvitation(NamedTuple):
    """An invitation just made. The text is returned once and stored nowhere. `ends` is in unix milliseconds."""

    text: str
    ends: int


async def create(site: Site) -> NewInvitation:
    """Make an invitation. One round trip."""
    random_name = secrets.token_hex(8)  # in place of a username: it decides the slot
    text, now = new_token(random_name), site.clock()
    ends = now + INVITATION_LIFETIME * 1000
    known = parsed(text)
    await site.redis.run(("SET", _key(site, known), f"{ends} {known.slot}", "PX", ends - now))
    return NewInvitation(text, ends)


async def check(site: Site, text: str) -> None:
    """
    Check that an invitation is good. One round trip, which changes nothing.

    Raises:
        BadToken: there is no such invitation, or it was used or has ended.
    """
    if not await site.redis.run(("EXISTS", _key(site, parsed(text)))):
        raise _bad()


async def claim(site: Site, text: str, username: str, call: str) -> None:
    """
    Claim an invitation for a registration, which `call` names. One round trip. Safe to repeat.

    Raises:
        BadToken: there is none, it has ended, or a registration by another name has it.
    """
    known = parsed(text)
    beginning = CLAIM_INVITATION.beginning(known.slot % site.partitions)
    (status,) = await site.redis.run((*beginning, known.digest, username.lower(), call, site.clock()))
    if status == "bad":
        raise _bad()


async def release(site: Site, text: str, call: str) -> None:
    """Release an invitation that a call has claimed, because the name is taken. One round trip."""
    known = parsed(text)
    await site.redis.run((*RELEASE_INVITATION.beginning(known.slot % site.partitions), known.digest, call))


async def use(site: Site, text: str) -> None:
    """End an invitation that has been used. One round trip."""
    await site.redis.run(("DEL", _key(site, parsed(text))))


def parsed(text: str) -> Session:
    """
    The digest and the slot of an invitation, which has the form of the token of a session.

    Raises:
        BadToken: the text is no invitation.
    """
    found = parse_token(text)
    if found is None:
        raise _bad()
    return found


def _key(site: Site, known: Session) -> str:
    return invitation(known.slot % site.partitions, known.digest)


def _bad() -> BadToken:
    return BadToken("invitation")
