"""What a command ends with where it is not to blame itself."""


class Fault(Exception):
    """Told in one line, without a traceback: the message says what is wrong, and where."""
