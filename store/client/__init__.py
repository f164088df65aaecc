"""The Redis client, which imports nothing of the rest of the store. Here: the type of a command, and the errors."""

Argument = str | int | float
Command = tuple[Argument, ...]  # the name of a Redis command, then its arguments


class StoreError(Exception):
    """A fault of the store, in contrast to a refusal."""


class StoreUnavailable(StoreError):
    """The store does not answer in time, or refuses a command."""


class Unreachable(Exception):
    """No server answers at an address, or it rejects the login. The caller tries again or fails."""
