"""What is sent: the scripts, which key tells where a command belongs, and whether it may change something."""

from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

from store import keys
from store.link import Argument, Command

SCRIPTS = Path(__file__).parent / "scripts"
MARK_LIFETIME = 1000  # milliseconds
ANYWHERE = {"PING", "ECHO", "ASKING", "DBSIZE", "SCAN", "CLUSTER", "ROLE", "SCRIPT", "PUBLISH", "CLIENT", "INFO"}
READS = ANYWHERE | {
    *("GET", "HGET", "HMGET", "HGETALL", "HSCAN", "EXISTS", "TYPE", "PTTL", "SUNION", "SMEMBERS", "SCARD"),
    *("ZRANGE", "ZCARD", "ZCOUNT", "ZSCORE", "ZMSCORE", "ZINTER", "ZSCAN"),
}
TEXTS: dict[str, str] = {}  # of all scripts, by their digests
READING_DIGESTS: set[str] = set()  # of those that change nothing


class Script:
    """Lua files of `scripts/`, one after the other; one that writes articles starts with `home.lua`."""

    def __init__(self, *names: str) -> None:
        self.text = "".join((SCRIPTS / f"{name}.lua").read_text() for name in names)
        self.digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        TEXTS[self.digest] = self.text

    def command(self, script_keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(script_keys), *script_keys, *arguments)


def in_full(command: Command) -> Command:
    """A script for a server that does not know it, which then does."""
    return ("EVAL", TEXTS[str(command[1])], *command[2:])


def key_of(command: Command) -> str | None:
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
        return command[1] not in READING_DIGESTS
    return command[0] not in READS


def tag_of(key: str) -> str:
    """What alone decides the slot of a key: the text of its hash tag, or all of it."""
    return key.partition("{")[2].partition("}")[0] or key


def marks(commands: Sequence[Command]) -> list[Command]:
    """A write beside the last of these that belongs to a partition, which is one even where they change nothing."""
    tags = [tag_of(key) for command in commands if "{" in (key := key_of(command) or "")]
    marking: list[Command] = [("SET", keys.mark(tag), 1, "PX", MARK_LIFETIME) for tag in tags[-1:]]
    return [("ASKING",), *marking] if ("ASKING",) in commands else marking
