"""Passwords as argon2id hashes (19 MiB, two passes: OWASP's first choice), made and checked off the event loop."""

import asyncio

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

_HASHER = PasswordHash((Argon2Hasher(memory_cost=19_456, time_cost=2, parallelism=1),))
_NOBODYS = _HASHER.hash("the password of nobody at all")


async def hashed(password: str) -> str:
    return await asyncio.to_thread(_HASHER.hash, password)


async def matches(password: str, known: str | None) -> bool:
    """Takes as long where there is no hash to compare with, so that time does not tell which names exist."""
    fits = await asyncio.to_thread(_HASHER.verify, password, known or _NOBODYS)
    return fits and known is not None
