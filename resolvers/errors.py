"""What a query can ask for that cannot be answered."""


class BadInput(Exception):
    """A malformed id, a cursor of another listing, a page size out of bounds: the message says what and where."""
