"""The one door to Redis: pipelines of reads, and scripts. Counts round trips and turns faults into StoreUnavailable."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any, Self

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import NoScriptError, RedisError

from store.errors import StoreUnavailable

SCRIPTS = Path(__file__).parent / "scripts"
HOME = (SCRIPTS / "home.lua").read_text()
TIMEOUT = 5.0  # seconds, for a connection and for a reply
POOL_SIZE = 64

Argument = str | int | float
Command = tuple[Argument, ...]


class Script:
    """A Lua file of `scripts/`; one that writes articles starts with `home.lua`."""

    def __init__(self, name: str, *, at_home: bool = False) -> None:
        text = (SCRIPTS / f"{name}.lua").read_text()
        self.text = HOME + text if at_home else text
        self.digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def command(self, script_keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(script_keys), *script_keys, *arguments)


READING = RANGE, FEED, COUNT = tuple(map(Script, ("range", "feed", "count")))
REGISTER = Script("register")
POST, VOTE, EDIT, DELETE, REGROUP, IMPORT, SEEN = AT_HOME = tuple(
    Script(name, at_home=True) for name in ("post", "vote", "edit", "delete", "regroup", "import", "seen")
)
ALL_SCRIPTS = (*READING, REGISTER, *AT_HOME)


@dataclass(slots=True)
class Tally:
    """What a request cost: how often it waited for Redis, and for how many commands."""

    round_trips: int = 0
    commands: int = 0


tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


class Connection:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    @classmethod
    def to(cls, url: str) -> Self:
        pool = BlockingConnectionPool.from_url(
            url,
            decode_responses=True,
            max_connections=POOL_SIZE,
            timeout=TIMEOUT,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
        )
        return cls(Redis(connection_pool=pool))

    async def close(self) -> None:
        await self._redis.aclose(close_connection_pool=True)

    async def ping(self) -> None:
        await self.run(("PING",))

    async def run(self, command: Command) -> Any:
        """Send one command, and give its reply. One round trip."""
        (reply,) = await self.pipeline([command])
        return reply

    async def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """
        Send commands in one write, and give their replies in order. One round trip.

        All scripts are safe to send again after NOSCRIPT: that a script is unknown means that it did not run.

        Raises:
            StoreUnavailable: Redis does not answer, or refuses one of the commands.
        """
        try:
            replies = await self._send(commands)
            unknown = [place for place, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
            if unknown:
                await self._load_scripts()
                for place, reply in zip(unknown, await self._send([commands[i] for i in unknown]), strict=True):
                    replies[place] = reply
        except (TimeoutError, RedisError, OSError) as error:
            raise StoreUnavailable("the store does not answer") from error
        for reply in replies:
            if isinstance(reply, RedisError):
                raise StoreUnavailable("the store refused a command") from reply
        return replies

    async def _send(self, commands: Sequence[Command]) -> list[Any]:
        if counting := tally.get():
            counting.round_trips += 1
            counting.commands += len(commands)
        pipeline = self._redis.pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        return await pipeline.execute(raise_on_error=False)

    async def _load_scripts(self) -> None:
        await self._send([("SCRIPT LOAD", script.text) for script in ALL_SCRIPTS])
