"""
Signs the messages that the server sends to receivers outside, by Standard Webhooks 1.0
(https://www.standardwebhooks.com): HMAC-SHA256 with a secret that the receiver knows.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from hashlib import sha256
from secrets import token_bytes

SECRET_PREFIX, SECRET_BYTES = "whsec_", range(24, 65)  # how many bytes a secret may have
NEW_SECRET_BYTES = 32  # of a secret that is made here


def new_secret() -> str:
    return SECRET_PREFIX + b64encode(token_bytes(NEW_SECRET_BYTES)).decode()


def is_secret(text: str) -> bool:
    try:
        length = len(b64decode(text.removeprefix(SECRET_PREFIX), validate=True))
    except ValueError:
        return False
    return text.startswith(SECRET_PREFIX) and length in SECRET_BYTES


def signed_headers(body: bytes, id: str, timestamp: int, secrets: Sequence[str]) -> dict[str, str]:
    """The headers of a message that is sent now, with a signature for each secret. `timestamp` is in seconds."""
    signed = f"{id}.{timestamp}.".encode() + body
    return {
        "content-type": "application/json",
        "user-agent": "upvote",
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(signed, secret) for secret in secrets),
    }


def _signature(signed: bytes, secret: str) -> str:
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    return f"v1,{b64encode(hmac.digest(key, signed, sha256)).decode()}"
