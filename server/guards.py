"""What the settings and the schema say of limits, in the terms of the wire."""

from server.protocols import Door
from server.settings import Settings
from server.wire import Limits

HASHING = frozenset({"register", "logIn"})  # each takes the time and memory of a password's hash


def limits(settings: Settings) -> Limits:
    return Limits(once=HASHING, introspection=settings.introspection == "on")


def door(settings: Settings) -> Door:
    of_an_address = settings.max_address_connections if settings.rate_limits == "on" else None
    return Door(settings.max_connections, of_an_address, settings.proxies)
