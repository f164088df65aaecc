"""
How the scripts recognize a repeated post or comment: by its idempotency key, a text by which a client names the call,
or without one by the same input a moment later. A repeated call posts nothing.
"""

import secrets
from hashlib import sha256

from store import keys
from store.client import Argument
from store.kinds import Backup, Check, Kind
from store.ranking.formulas import DAY

REPEAT_WINDOW = 10_000  # milliseconds in which the same input of a user is a replay
REPEAT_LIFETIME = 60_000  # milliseconds that the input is kept: longer, as clocks of processes differ
KEY_LIFETIME = DAY * 1000  # milliseconds that an idempotency key is kept; all this time the same key is a replay

POSTED = Kind(
    "posted",
    "string",
    parts=(keys.USERNAME, keys.DIGEST),
    holds="number and time of a post, and a digest of its input or call; by the digest of its idempotency key or input",
    lifetime="a minute; a day with an idempotency key",
    written_by="post",
    backup=Backup.COPIED,
    record="posted",
    check=Check.VALUE,
)
COMMENTED = Kind(
    "commented",
    "string",
    parts=(keys.OWNER, keys.DIGEST),
    holds="as `posted`, of a comment",
    lifetime="a minute; a day with an idempotency key",
    written_by="comment",
    backup=Backup.COPIED,
    record="commented",
    check=Check.VALUE,
)


def arguments(idempotency_key: str | None, *texts: str) -> list[Argument]:
    """
    The five arguments of a script for a call whose input is `texts`: the digest by which a repeated call is found, a
    digest that says whether it is the same, for how long it is a replay, how long that is kept (both in milliseconds),
    and "keyed" if there is an idempotency key.

    Without an idempotency key, random digits take the place of the input's digest: so the script knows a call that was
    sent again, as its reply was lost, from a second call with the same input.
    """
    digest = _digest("\0".join(texts))
    if idempotency_key is None:
        return [digest, secrets.token_hex(16), REPEAT_WINDOW, REPEAT_LIFETIME, ""]
    return [_digest(idempotency_key), digest, KEY_LIFETIME, KEY_LIFETIME, "keyed"]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
