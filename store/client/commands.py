"""Redis commands and scripts: how they are encoded, which key routes them, and which of them write."""

from collections.abc import Sequence
from hashlib import sha1

import hiredis

Argument = str | int | float
Command = tuple[Argument, ...]

KEYLESS_COMMANDS = {
    *("PING", "ECHO", "ASKING", "DBSIZE", "SCAN", "CLUSTER", "ROLE", "SCRIPT", "PUBLISH", "CLIENT", "INFO"),
}
READ_COMMANDS = KEYLESS_COMMANDS | {
    *("GET", "HGET", "HMGET", "HGETALL", "HSCAN", "EXISTS", "TYPE", "PTTL", "SUNION", "SMEMBERS", "SCARD"),
    *("ZRANGE", "ZCARD", "ZCOUNT", "ZSCORE", "ZMSCORE", "ZINTER", "ZSCAN"),
}
SCRIPT_TEXTS: dict[str, str] = {}  # of registered scripts, by SHA-1
READ_ONLY_SCRIPTS: set[str] = set()  # SHA-1 of registered scripts that change nothing


class EncodedCommand(tuple[Argument, ...]):
    """A command that is encoded once and sent many times."""

    text: bytes


class LuaScript:
    """A Lua script, which is sent as its SHA-1; a server that does not know it gets its text."""

    def __init__(self, text: str, *, is_read_only: bool = False) -> None:
        self.text = text
        self.digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        SCRIPT_TEXTS[self.digest] = text
        if is_read_only:
            READ_ONLY_SCRIPTS.add(self.digest)

    def command(self, keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)


def as_eval(command: Command) -> Command:
    """The EVAL command of an EVALSHA command, after which the server knows the script."""
    return ("EVAL", SCRIPT_TEXTS[str(command[1])], *command[2:])


def routing_key(command: Command) -> str | None:
    """The key that decides which server a command is sent to; None if any server will do."""
    name = command[0]
    if name == "EVALSHA" or name == "EVAL":
        return str(command[3])
    if name in KEYLESS_COMMANDS:
        return None
    return str(command[2 if name == "ZINTER" else 1])


def is_write(command: Command) -> bool:
    """Whether a command may change something. Unknown commands count as writes."""
    if command[0] == "EVALSHA":
        return command[1] not in READ_ONLY_SCRIPTS
    return command[0] not in READ_COMMANDS


def hash_tag(key: str) -> str:
    """The part of a key that decides its hash slot: the text between the first braces, or the whole key."""
    return key.partition("{")[2].partition("}")[0] or key


def encoded(command: Command) -> EncodedCommand:
    made = EncodedCommand(command)
    made.text = encode(command)
    return made


def encode(command: Command) -> bytes:
    """A command in the Redis protocol."""
    if isinstance(command, EncodedCommand):
        return command.text
    text: bytes = hiredis.pack_command(command)  # type: ignore[arg-type]  # its stubs say less than it takes
    return text
