"""Refuses common passwords, by zxcvbn's list of the most frequent leaked ones."""

import asyncio
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

from store.errors import Invalid

COMMONEST = 10_000


async def refuse_common(password: str, field: str = "password") -> None:
    """
    Check a password against the list; case does not matter.

    Raises:
        Invalid: the password is one of the 10,000 commonest. `field` is its path in the input.
    """
    if password.casefold() in await asyncio.to_thread(commonest):
        raise Invalid(f"this password is one of the {COMMONEST} commonest: choose another", field)


@cache
def commonest() -> frozenset[str]:
    """Loaded on first use, as it takes 20 ms. Imports only the module with the lists, not the whole package."""
    package = find_spec("zxcvbn")
    assert package and package.origin, "it is among the requirements"
    spec = spec_from_file_location("frequency_lists", Path(package.origin).with_name("frequency_lists.py"))
    assert spec and spec.loader
    lists = module_from_spec(spec)
    spec.loader.exec_module(lists)
    return frozenset(password.casefold() for password in lists.FREQUENCY_LISTS["passwords"][:COMMONEST])
