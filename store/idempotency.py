"""
How a repeated post or comment is recognized: by its idempotency key, or without one by the same input a moment later.
The scripts post.lua and comment.lua do so.
"""

import secrets
from hashlib import sha256

from store.client import Argument
from store.ranking.formulas import DAY

REPEAT_WINDOW = 10_000  # milliseconds in which the same input of a user is a replay
REPEAT_LIFETIME = 60_000  # milliseconds that it is kept, as clocks of processes differ
KEY_LIFETIME = DAY * 1000  # milliseconds in which the same idempotency key is a replay, and that it is kept


def arguments(idempotency_key: str | None, *texts: str) -> list[Argument]:
    """
    The arguments of a script that recognizes repeated calls with the same input, which are these texts: the digest of
    the key, or of the input if there is none; the digest of the input, or random digits, which say which call it was;
    the window and the lifetime of the first (milliseconds); and whether there is a key.
    """
    digest = _digest("\0".join(texts))
    if idempotency_key is None:
        return [digest, secrets.token_hex(16), REPEAT_WINDOW, REPEAT_LIFETIME, ""]
    return [_digest(idempotency_key), digest, KEY_LIFETIME, KEY_LIFETIME, "keyed"]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
