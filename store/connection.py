"""The one door to Redis: pipelines of reads, and scripts. Counts round trips and turns faults into StoreUnavailable."""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any

from hiredis import ReplyError
from redis.asyncio.connection import ConnectionPool
from redis.exceptions import RedisError

from store.errors import StoreUnavailable
from store.link import TIMEOUT, Argument, Command, Link, connected

SCRIPTS = Path(__file__).parent / "scripts"


class Script:
    """Lua files of `scripts/`, one after the other; one that writes articles starts with `home.lua`."""

    def __init__(self, *names: str) -> None:
        self.text = "".join((SCRIPTS / f"{name}.lua").read_text() for name in names)
        self.digest = sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def command(self, script_keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(script_keys), *script_keys, *arguments)


READING = FEED, COUNT, VOTES = tuple(map(Script, ("feed", "count", "votes")))
RANKING = RANGE, RANK, GRAVITY, GRAVITY_RANK = (
    Script("places", "range"),
    Script("places", "rank"),
    Script("gravity", "gravity_page"),
    Script("gravity", "gravity_rank"),
)
REGISTER, PIN = Script("register"), Script("pin")
POST, VOTE, EDIT, DELETE, REGROUP, IMPORT, SEEN = AT_HOME = tuple(
    Script("home", name) for name in ("post", "vote", "edit", "delete", "regroup", "import", "seen")
)
VERIFY_ARTICLE, VERIFY_USER, VERIFY_MEMBERS, VERIFY_KEY = VERIFYING = tuple(
    Script("home", "verify", f"verify_{subject}") for subject in ("article", "user", "members", "key")
)
BUCKET, SESSION, PASSWORD = GUARDING = tuple(map(Script, ("bucket", "session", "password")))
ALL_SCRIPTS = (*GUARDING, *READING, *RANKING, REGISTER, PIN, *AT_HOME, *VERIFYING)


@dataclass(slots=True)
class Tally:
    """What a request cost: how often it waited for Redis, and for how many commands."""

    round_trips: int = 0
    commands: int = 0


tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


class Connection:
    """Connects when it is first used, and again whenever the link was lost."""

    def __init__(self, url: str) -> None:
        timeouts = {"socket_timeout": None, "socket_connect_timeout": TIMEOUT}
        self._pool = ConnectionPool.from_url(url, protocol=3, decode_responses=True, **timeouts)
        self._link: Link | None = None
        self._connecting = asyncio.Lock()

    async def close(self) -> None:
        if self._link:
            self._link.close()
        self._link = None

    async def ping(self) -> None:
        await self.run(("PING",))

    async def run(self, command: Command) -> Any:
        """Send one command, and give its reply. One round trip."""
        (reply,) = await self.pipeline([command])
        return reply

    async def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """
        Send commands in one write, and give their replies in order, as RESP3 has them. One round trip.

        All scripts are safe to send again after NOSCRIPT: that a script is unknown means that it did not run.

        Raises:
            StoreUnavailable: Redis does not answer, or refuses one of the commands.
        """
        replies = await self._send(commands)
        unknown = [place for place, reply in enumerate(replies) if is_error(reply, "NOSCRIPT")]
        if unknown:
            await self._send([("SCRIPT", "LOAD", script.text) for script in ALL_SCRIPTS])
            again = await self._send([commands[place] for place in unknown])
            for place, reply in zip(unknown, again, strict=True):
                replies[place] = reply
        for reply in replies:
            if isinstance(reply, ReplyError):
                raise StoreUnavailable("the store refused a command") from reply
        return replies

    async def _send(self, commands: Sequence[Command]) -> list[Any]:
        if commands and (counting := tally.get()):
            counting.round_trips += 1
            counting.commands += len(commands)
        link = self._link
        if link is None or not link.is_open:
            link = await self._connect()
        return await link.send(commands)

    async def _connect(self) -> Link:
        async with self._connecting:
            if self._link is None or not self._link.is_open:
                try:
                    self._link = await connected(self._pool)
                except (RedisError, OSError) as error:
                    raise StoreUnavailable("the store does not answer") from error
            return self._link


def is_error(reply: object, kind: str) -> bool:
    return isinstance(reply, ReplyError) and str(reply).startswith(kind)
