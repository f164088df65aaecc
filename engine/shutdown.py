"""The shutdown event, which the server shares with all connections through the ASGI state."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.types import Scope

STOPPING = "stopping"


def stopping_of(scope: Scope) -> asyncio.Event:
    """Return the event that is set when the server stops; one that is never set if the server provides none."""
    return scope.get("state", {}).get(STOPPING) or asyncio.Event()


def announce(state: MutableMapping[str, Any]) -> None:
    """Set the event, if there is one, so that streams and subscriptions end."""
    if STOPPING in state:
        state[STOPPING].set()
