"""Redis commands and registered scripts: how they are packed, which key routes them, which of them write."""

from collections.abc import Sequence
from hashlib import sha1

import hiredis

from store import keys

Argument = str | int | float
Command = tuple[Argument, ...]

MARK_LIFETIME = 1000  # milliseconds
ANYWHERE = {"PING", "ECHO", "ASKING", "DBSIZE", "SCAN", "CLUSTER", "ROLE", "SCRIPT", "PUBLISH", "CLIENT", "INFO"}
READS = ANYWHERE | {
    *("GET", "HGET", "HMGET", "HGETALL", "HSCAN", "EXISTS", "TYPE", "PTTL", "SUNION", "SMEMBERS", "SCARD"),
    *("ZRANGE", "ZCARD", "ZCOUNT", "ZSCORE", "ZMSCORE", "ZINTER", "ZSCAN"),
}
SCRIPT_TEXTS: dict[str, str] = {}  # of registered scripts, by SHA-1
READ_ONLY_SCRIPTS: set[str] = set()  # SHA-1 of registered scripts that change nothing


def register_script(text: str, *, is_read_only: bool) -> str:
    """Make a script known to this module, and return its SHA-1, by which EVALSHA names it."""
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
    SCRIPT_TEXTS[digest] = text
    if is_read_only:
        READ_ONLY_SCRIPTS.add(digest)
    return digest


def as_eval(command: Command) -> Command:
    """A script for a server that does not know it, which then does."""
    return ("EVAL", SCRIPT_TEXTS[str(command[1])], *command[2:])


def routing_key(command: Command) -> str | None:
    """The key that tells where a command belongs; None where any server will do."""
    name = command[0]
    if name == "EVALSHA" or name == "EVAL":
        return str(command[3])
    if name in ANYWHERE:
        return None
    return str(command[2 if name == "ZINTER" else 1])


def is_write(command: Command) -> bool:
    """Whether a command may change something, for all we know."""
    if command[0] == "EVALSHA":
        return command[1] not in READ_ONLY_SCRIPTS
    return command[0] not in READS


def hash_tag(key: str) -> str:
    """What alone decides the slot of a key: the text of its hash tag, or all of it."""
    return key.partition("{")[2].partition("}")[0] or key


def marks(commands: Sequence[Command]) -> list[Command]:
    """A write beside the last of these that belongs to a partition, which is one even where they change nothing."""
    tags = [hash_tag(key) for command in commands if "{" in (key := routing_key(command) or "")]
    marking: list[Command] = [("SET", keys.mark(tag), 1, "PX", MARK_LIFETIME) for tag in tags[-1:]]
    return [("ASKING",), *marking] if ("ASKING",) in commands else marking


class Packed(tuple[str | int | float, ...]):
    """A command that is packed once."""

    text: bytes


def packed(command: tuple[str | int | float, ...]) -> Packed:
    made = Packed(command)
    made.text = encode(command)
    return made


def encode(command: tuple[str | int | float, ...]) -> bytes:
    """A command as servers take it."""
    if isinstance(command, Packed):
        return command.text
    text: bytes = hiredis.pack_command(command)  # type: ignore[arg-type]  # its stubs say less than it takes
    return text
