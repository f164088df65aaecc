"""Writes that are made also while the store is out of memory, because commands that free memory need them."""

from store.client import Command
from store.scripts.registry import Script

NEEDED_WRITE = Script("needed_write")


def accepted_when_full(command: Command) -> Command:
    """A command that writes one key, its first argument, made into one that a full store takes."""
    name, key, *arguments = command
    return NEEDED_WRITE.command([str(key)], name, *arguments)
