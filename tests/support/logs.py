"""What lines of the log contain."""

from hashlib import sha256


def digest(text):
    return sha256(text.encode()).hexdigest()
