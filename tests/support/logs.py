"""How lines of the log, and spans, name a document of GraphQL without its text."""

from hashlib import sha256


def digest(document):
    """The SHA-256 of the text, in hexadecimal digits."""
    return sha256(document.encode()).hexdigest()
