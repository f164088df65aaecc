"""`upvote serve` with two workers, as a process that a test may kill, and restart in the same data folder."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import httpx
from redis import Redis

from tests.servers import free_port
from tests.soak.processes import Process, processes_below

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds that the server may take to answer or to end
LOGGED = 4_000  # bytes of the log that a fault shows
READ = "{ articles { totalCount nodes { id title votes } } }"  # a query, for whether reads are answered


class WrongAnswer(AssertionError):
    """The server behaves as no fault allows."""


class ServeProcess:
    """
    A server that may be killed and started again. Its log goes into a pipe, which is read unless `stop_reading_log` is
    called. Without `database_url` its database is a file in the data folder. `environment` has more variables.
    """

    def __init__(
        self, data_dir: Path, database_url: str | None = None, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.data_dir = data_dir
        self.database_url = database_url or f"sqlite:///{data_dir}/upvote.db"
        self._environment = environment
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._log_reader: threading.Thread | None = None
        self._logged = b""

    def environment(self) -> dict[str, str]:
        settings = {
            "UPVOTE_PORT": str(self.port),
            "UPVOTE_DATA_DIR": str(self.data_dir),
            "UPVOTE_DATABASE_URL": self.database_url,
            "UPVOTE_WORKERS": "2",
            "UPVOTE_DURABILITY": "always",
            "UPVOTE_RATE_LIMITS": "off",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}
        return inherited | settings | dict(self._environment)

    async def start(self) -> None:
        read, write = os.pipe()
        self.process = subprocess.Popen(  # noqa: ASYNC220  # does not wait
            [sys.executable, "-m", "server", "serve"],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=write,
        )
        os.close(write)
        self._log = os.fdopen(read, "rb", buffering=0)
        self.read_log()
        await self.until_ready()

    def read_log(self) -> None:
        self._log_is_read = True
        self._log_reader = threading.Thread(target=self._read_log, daemon=True)
        self._log_reader.start()

    def _read_log(self) -> None:
        while self._log_is_read:
            readable, _, _ = select.select([self._log], [], [], 0.1)
            if readable:
                if not (read := self._log.read(65_536)):
                    return
                self._logged = (self._logged + read)[-LOGGED:]

    def _last_lines(self) -> str:
        """The end of the log of a server that has ended."""
        if self._log_reader:
            self._log_reader.join()
        return self._logged.decode(errors="replace")

    async def stop_reading_log(self) -> None:
        """Stop reading the log, so that it fills the pipe."""
        self._log_is_read = False
        if self._log_reader:
            await asyncio.to_thread(self._log_reader.join)

    async def close_log(self) -> None:
        await self.stop_reading_log()
        self._log.close()

    async def until_ready(self) -> None:
        async with httpx.AsyncClient(base_url=self.url, timeout=5) as client:
            deadline, last = time.monotonic() + PATIENCE, ""
            while time.monotonic() < deadline:
                if self.process and self.process.poll() is not None:
                    raise WrongAnswer(
                        f"the server ended by itself with {self.process.returncode}: {self._last_lines()}"
                    )
                try:
                    response = await client.post("/graphql", json={"query": READ})
                    last = response.text
                    if response.json()["data"]["articles"] is not None:
                        return
                except (httpx.HTTPError, KeyError, json.JSONDecodeError) as error:
                    last = last or repr(error)
                await asyncio.sleep(0.1)
        logged = self._logged.decode(errors="replace")[-2_000:]
        raise WrongAnswer(f"no articles after {PATIENCE:g} s: {last}; logged: {logged}")

    async def end(self, by: signal.Signals) -> int:
        """Send a signal, wait until all processes of the server have ended, and return its exit code."""
        assert self.process is not None
        family = processes_below(self.process.pid)
        self.process.send_signal(by)
        code = await asyncio.to_thread(self.process.wait, PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while alive := [process for process in family if process.is_alive()]:
            if time.monotonic() > deadline:
                raise WrongAnswer(f"still running after the server: {[process.command() for process in alive]}")
            await asyncio.sleep(0.05)
        await self.close_log()
        return code

    def terminate(self) -> None:
        """End the server if it still runs, whatever has become of it."""
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self._log_is_read = False
        if self._log_reader:
            self._log_reader.join()
        self._log.close()

    def workers(self) -> list[Process]:
        assert self.process is not None
        return [each for each in processes_below(self.process.pid)[1:] if "multiprocessing" in each.command()]

    def valkey_pid(self) -> int:
        with self.redis() as redis:
            return int(redis.info("server")["process_id"])

    def redis(self) -> "Redis":
        return Redis(unix_socket_path=(self.data_dir / "address").read_text(), decode_responses=True, socket_timeout=5)
