"""
One-time tokens, valid for a time, which a user gets by mail or from the operator: to reset a password, to confirm an
address, to stand in for the password of a user who has none. The store holds only the SHA-256 of a token, in the
partition (a share of the data) of its user, which the token names.

`issue` gives one to a user. It is used up by the script of the command that it is for: the script requires
`one_time_tokens.lua`, and calls `use_token` with the digest, the purpose and a random text of the call. A token stays
as used until it would have ended, so that the same script finds its own call if it is sent again. `read` says whether a
token is good, and uses nothing up. A change of the password or of the address ends all tokens of a user: their scripts
call `end_tokens`. So does a deletion of the user.
"""

from dataclasses import dataclass
from enum import Enum

from store.errors import BadToken, NotFound
from store.keys import DIGEST, USERNAME
from store.kinds import Backup, Check, Kind
from store.scripts.registry import Script
from store.sessions import new_token, parse_token
from store.site import Session, Site

ISSUE_TOKEN = Script("issue_token")

MAX_TOKENS = 10  # of a user
MAX_DETAIL = 1_000  # characters

token = Kind(
    "token",
    "string",
    parts=(DIGEST,),
    holds="of the one-time token that has this SHA-256: username, what it is for, when it ends, the call that has "
    "used it, or -, and a detail",
    lifetime="until it ends, at most a week",
    written_by="password, resetPassword",
    backup=Backup.COPIED_BY_MOVE,
    record="token",
    check=Check.VALUE,
)
tokens = Kind(
    "tokens",
    "zset",
    parts=(USERNAME,),
    holds="the SHA-256 of a user's one-time tokens, by when they end",
    lifetime="until the last one ends",
    written_by="password, resetPassword",
    backup=Backup.COPIED_BY_MOVE,
    record="token",
)


class Purpose(Enum):
    """What a token is for."""

    RESET = "reset"  # a new password
    CONFIRM = "confirm"  # an address, which is the detail
    IDENTITY = "identity"  # to leave, or to change the address, without a password


LIFETIMES = {Purpose.RESET: 60 * 60, Purpose.CONFIRM: 24 * 60 * 60, Purpose.IDENTITY: 60 * 60}  # seconds


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just issued. The text is returned once and stored nowhere. `ends` is in unix milliseconds."""

    text: str
    username: str  # as written
    ends: int


@dataclass(frozen=True, slots=True)
class StoredToken:
    """What the store has of a token. `ends` is in unix milliseconds; `call` is the one that has used it."""

    username: str
    purpose: str
    ends: int
    call: str | None
    detail: str


async def issue(site: Site, username: str, purpose: Purpose, detail: str = "") -> NewToken:
    """
    Issue a token to a user. `detail` is one line, such as an address that the token confirms. Beyond `MAX_TOKENS` those
    tokens of the user end that would end first. One round trip.

    Raises:
        NotFound: there is no such user.
    """
    assert len(detail) <= MAX_DETAIL and "\n" not in detail, detail
    text, now = new_token(username), site.clock()
    ends = now + LIFETIMES[purpose] * 1000
    given = (username, parsed(text).digest, purpose.value, now, ends, detail, MAX_TOKENS)
    # without an actor, as `site.run` adds one
    command = (*ISSUE_TOKEN.beginning(site.partition_of_user(username)), *given)
    status, *name = await site.redis.run(command)
    if status == "missing":
        raise NotFound(f"there is no user:{username.lower()}")
    return NewToken(text, name[0], ends)


async def read(site: Site, text: str, purpose: Purpose) -> StoredToken:
    """
    A token that is good, which stays so. One round trip.

    Raises:
        BadToken: it was used, has ended, is for something else, or there is none.
    """
    known = parsed(text)
    found = parse_stored(await site.redis.run(("GET", token(known.slot % site.partitions, known.digest))))
    if found is None or found.purpose != purpose.value or found.ends < site.clock() or found.call:
        raise BadToken
    return found


def parsed(text: str) -> Session:
    """
    The digest and the slot of a token, which has the form of a session's token.

    Raises:
        BadToken: the text is no token.
    """
    found = parse_token(text)
    if found is None:
        raise BadToken
    return found


def parse_stored(stored: str | None) -> StoredToken | None:
    """What the key of a token holds: USERNAME PURPOSE ENDS CALL DETAIL; None if there is no such key."""
    if stored is None:
        return None
    username, purpose, ends, call, detail = stored.split(" ", 4)
    return StoredToken(username, purpose, int(ends), None if call == "-" else call, detail)
