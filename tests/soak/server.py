"""The server that the soak test compares with a model of it: a process whose clock is set, and connections to it."""

import asyncio
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from redis import Redis

from tests.soak import issuers
from tests.soak.archiving import EagerArchiver, RedisLimits, Story, import_stories
from tests.soak.databases import Databases
from tests.soak.formulas import Policy
from tests.soak.processes import processes_below

ROOT = Path(__file__).parents[2]
CONNECTIONS = 24
WORKER_KILLED = "ended and is restarted"  # what the log says of a worker that was killed
READINESS_CONNECTIONS = 8  # that very probably reach all workers
IDLE_SECONDS = 2.0  # connections idle for longer are opened again, as the server closes them after 5 s
PATIENCE = 60.0  # seconds


class Unanswered(Exception):
    """The server does not answer at all."""


class Clock:
    """Unix milliseconds in a file that all processes of the server read."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "clock"
        self.path.write_bytes(bytes(8))
        with open(self.path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)
        self.now = 0

    def set(self, now: int) -> None:
        self.now = now
        self._map[:8] = struct.pack("<q", now)


def clock_environment(root: Path, clock: Clock) -> dict[str, str]:
    """The variables with which a process of a source tree has a clock, and can run the eager archiver."""
    path = os.pathsep.join(map(str, (root / "tests" / "soak" / "clock", root)))
    return {"PYTHONPATH": path, "SOAK_CLOCK": str(clock.path)}


@dataclass
class Server:
    """
    The server and its data in a new folder. `settings` are by name, as in UPVOTE_NAME. `root` is the source tree to
    run: this project, or a copy with a fault. `logged` has the errors that it logged, once its folder is removed.
    """

    settings: dict[str, Any]
    databases: Databases
    database_kind: str = "sqlite"
    root: Path = ROOT
    rules: str = ""  # the text of the file of rules for articles and comments; "" for none
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="soak-")))
    process: "subprocess.Popen[str] | None" = None
    port: int = 0
    logged: str = ""

    def __post_init__(self) -> None:
        self.clock = Clock(self.folder)
        self.log = self.folder / "log"
        self.connections = [Connection(self) for _ in range(CONNECTIONS)]
        self.database = self.databases.create(self.database_kind, self.folder / "data")
        self._archiver: EagerArchiver | None = None
        self.settings = self.settings | {"issuers": issuers.written(self.folder)}
        if self.rules:
            file = self.folder / "rules.toml"
            file.write_text(self.rules)
            self.settings = self.settings | {"rules": file}

    def start(self) -> None:
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server", "serve"],
                cwd=self.root,
                env=self._environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        # the addresses of the site, the explorer and the endpoint, and the data folder
        printed = [self.process.stdout.readline() for _ in range(4)]
        if not printed[-1]:
            raise Unanswered(f"the server does not start: {self.log.read_text()[-2_000:]}")
        self.port = int(printed[0].rsplit(":", 1)[1].strip().strip("/"))

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}
        settings = {
            "port": 0,
            "data_dir": self.folder / "data",
            "rate_limits": "off",
            "durability": "always",
            "log_level": "error",
            "session_ttl": Policy.session_ttl,
        }
        if self.database.url:
            settings["database_url"] = self.database.url
        settings["public_url"] = "http://up.example"
        named = {f"UPVOTE_{name.upper()}": str(value) for name, value in (settings | self.settings).items()}
        return inherited | named | clock_environment(self.root, self.clock)

    async def ready(self) -> None:
        """Wait until it and its database answer."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                if "does not answer" not in await self.database_state():
                    return
            except OSError:
                pass
            await asyncio.sleep(0.05)
        raise Unanswered("the server does not become ready")

    async def archive(self, limits: RedisLimits) -> "asyncio.Task[list[int] | str]":
        """
        Begin to let articles leave Redis for the database: see `EagerArchiver.archive`. The process that moves them
        runs when this returns.
        """
        if self._archiver is None:
            self._archiver = EagerArchiver(self.root, self._environment(), self.log)
        await self._archiver.start()
        return asyncio.create_task(self._archiver.archive(limits))

    async def import_stories(self, stories: Sequence[Story]) -> None:
        await import_stories(self.root, self._environment(), self.folder / "stories.csv", stories)

    async def grant_admin(self, username: str) -> None:
        await self._command("role", "grant", username, "ADMIN")

    async def reset_link(self, username: str) -> str:
        """The token of a link by which a user chooses a password."""
        return (await self._command("password", username)).strip().partition("#")[2]

    async def purge(self, id: str) -> bool:
        """Remove an article or a comment for good, and return whether it was not removed so before."""
        return "purged before" not in await self._command("purge", id, "--reason", "must go")

    async def search_rings(self) -> int:
        """Search for rings, and return the number of votes that were read."""
        read, found, _ = (await self._command("rings")).partition(" votes of ")
        if not found:
            raise ChildProcessError(f"rings: {read}")
        return int(read.split()[-1])

    async def _command(self, *arguments: str) -> str:
        """Run `upvote` and return what it prints. Raises ChildProcessError if it fails."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server", *arguments, cwd=self.root,
            env=self._environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        printed, _ = await process.communicate()
        if process.returncode != 0:
            raise ChildProcessError(printed.decode())
        return printed.decode()

    async def _kill_archiver(self) -> None:
        if self._archiver is not None:
            await self._archiver.kill()
        self._archiver = None

    async def stop(self) -> None:
        await self._kill_archiver()
        for connection in self.connections:
            connection.close()
        if self.process is None:
            return
        self.process.terminate()
        await asyncio.to_thread(self._wait)

    async def kill(self) -> None:
        """Kill all processes of the server at once, with the Valkey."""
        assert self.process is not None
        await self._kill_archiver()
        processes = processes_below(self.process.pid)
        for process in processes:
            process.send(signal.SIGSTOP)  # so that no process restarts another
        for process in processes:
            process.send(signal.SIGKILL)
        for connection in self.connections:
            connection.close()
        await asyncio.to_thread(self._wait)

    async def database_state(self) -> str:
        """How far the database is, as `/readyz` of all workers says: "up to date", or what one of them says else."""
        states = [each.get("/readyz") for each in self.connections[:READINESS_CONNECTIONS]]
        found = {answer.get("database", "does not answer") for answer in await asyncio.gather(*states)}
        return next((state for state in found if state != "up to date"), "up to date")

    def drop_connections(self) -> None:
        """Close all connections to the Valkey, as a network failure does."""
        with self.valkey() as valkey:
            for kind in ("normal", "pubsub"):
                valkey.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    def are_users_leaving(self) -> bool:
        """Whether a deletion of a user is not complete: the server lists those that are in `leaving:{PARTITION}`."""
        with self.valkey() as valkey:
            return bool(
                valkey.exists(*(f"leaving:{{{partition}}}" for partition in range(self.settings["partitions"])))
            )

    def valkey(self) -> "Redis":
        return Redis(unix_socket_path=(self.folder / "data" / "address").read_text())

    def errors(self) -> str:
        """What it has logged, without the workers that the soak has killed."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return self.logged or "\n".join(line for line in lines if WORKER_KILLED not in line)

    async def kill_worker(self, choice: int) -> None:
        """
        Kill one of the workers, which is restarted; `choice`, any number, says which one. One of them keeps the
        database equal to the store.
        """
        assert self.process is not None
        workers = [each for each in processes_below(self.process.pid)[1:] if "multiprocessing.spawn" in each.command()]
        workers[choice % len(workers)].send(signal.SIGKILL)
        for connection in self.connections:
            connection.close()
        await self.ready()

    def discard(self) -> None:
        """Remove its data, once it has ended."""
        self.database.remove()
        self.logged = self.errors()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        assert self.process is not None
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            for process in processes_below(self.process.pid):
                process.send(signal.SIGKILL)
            raise Unanswered("the server does not end") from None
        finally:
            if self.process.stdout:
                self.process.stdout.close()


class Connection:
    """One kept-alive HTTP connection, opened when it is needed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._used = 0.0

    async def ask(self, text: str, variables: dict[str, Any], token: str | None) -> dict[str, Any]:
        body = orjson.dumps({"query": text, "variables": variables})
        authorization = b"authorization: Bearer %b\r\n" % token.encode() if token is not None else b""
        head = b"POST /graphql HTTP/1.1\r\nhost: soak\r\ncontent-type: application/json\r\n%bcontent-length: %d\r\n\r\n"
        return await self._answer(head % (authorization, len(body)) + body)

    async def get(self, path: str) -> dict[str, Any]:
        return await self._answer(b"GET %b HTTP/1.1\r\nhost: soak\r\n\r\n" % path.encode())

    async def _answer(self, request: bytes) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            answer: dict[str, Any] = orjson.loads(await self._exchange(request))
        return answer

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
            self._streams = None

    async def _exchange(self, request: bytes) -> bytes:
        if time.monotonic() - self._used > IDLE_SECONDS:
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._server.port, limit=2**24)
        reader, writer = self._streams
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
            body = await reader.readexactly(length)
            self._used = time.monotonic()
            return body
        except (OSError, asyncio.IncompleteReadError) as error:
            self.close()
            raise ConnectionError(str(error)) from error
        except BaseException:
            self.close()
            raise
