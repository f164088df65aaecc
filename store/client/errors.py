"""Faults of a store that is reached with this client."""


class StoreError(Exception):
    pass


class StoreUnavailable(StoreError):
    """The store does not answer in time, or refuses a command."""


class Unreachable(Exception):
    """No server answers at an address, or it rejects the login. The caller tries again or replies with LOST."""
