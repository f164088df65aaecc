"""How whoever serves us tells that it stops: by an event in the state that all its connections share."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.types import Scope

STOPPING = "stopping"


def stopping_of(scope: Scope) -> asyncio.Event:
    """Set when the server stops. Where nobody tells, it never is."""
    return scope.get("state", {}).get(STOPPING) or asyncio.Event()


def tell(state: MutableMapping[str, Any]) -> None:
    """Tell all that lasts that the server stops, if the application wants to know."""
    if STOPPING in state:
        state[STOPPING].set()
