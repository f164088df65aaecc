"""Errors that end a command."""


class CommandError(Exception):
    """A command cannot go on. The command line prints the message as one line, without a traceback."""
