"""What the settings and the schema say of limits, in the terms of the wire."""

from server.settings import Settings
from server.wire import Limits

HASHING = frozenset({"register", "logIn"})  # each takes the time and memory of a password's hash


def limits(settings: Settings) -> Limits:
    return Limits(once=HASHING, introspection=settings.introspection == "on")
