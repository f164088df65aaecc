"""
Faults of a server at random moments while simulated people write: kills, a full disk, no more file descriptors, lost
connections, and a reader of the lines that it logs who goes away ("log closed") or does not read ("log not read").

After each fault the server recovers or is started again, and everything acknowledged is there, once. Run it alone with
`python -m tests.soak.chaos --minutes 5 --seed 1`.
"""

import argparse
import asyncio
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import httpx

from tests.soak.processes import processes_below
from tests.soak.serve_process import PATIENCE, READ, ServeProcess, WrongAnswer
from tests.soak.writers import Writers

ROOT = Path(__file__).parents[2]
DISK_BYTES = 256_000_000  # far more than is written here and the 32 MB below which the server refuses writes
FAULTS = (
    "valkey killed",
    "valkey stopped",
    "worker killed",
    "server killed",
    "server restarted",
    "connections lost",
    "disk full",
    "log closed",
    "log not read",
    "no more files",
)


class Chaos:
    """Causes faults of a server while writers write, and compares after each."""

    def __init__(self, server: ServeProcess, seed: int) -> None:
        self.server = server
        self.random = random.Random(seed)
        self.writers = Writers(server, seed)
        self.faults: Counter[str] = Counter()
        self._began = time.monotonic()

    async def run(self, seconds: float) -> None:
        await self.server.start()
        await self.writers.register()
        deadline, faults = time.monotonic() + seconds, list(FAULTS)
        self.random.shuffle(faults)
        for turn in count():
            if time.monotonic() > deadline and turn >= len(faults):
                break
            await self._round(faults[turn % len(faults)])
        code = await self.server.end(signal.SIGTERM)
        if code != 0:
            raise WrongAnswer(f"SIGTERM ended the server with {code}")
        await self._verify_store()

    async def _round(self, fault: str) -> None:
        """Cause a fault while people write; once all requests are answered, compare everything."""
        writing = asyncio.create_task(self.writers.write())
        try:
            await asyncio.sleep(self.random.uniform(0.1, 1.0))
            print(f"{time.monotonic() - self._began:6.1f} s  {fault}", flush=True)
            await getattr(self, f"_{fault.replace(' ', '_')}")()
            self.faults[fault] += 1
            await self.server.until_ready()
            await asyncio.sleep(self.random.uniform(0.1, 0.5))
        finally:
            self.writers.stop()
        await asyncio.wait_for(writing, PATIENCE)
        await self.writers.compare()

    async def _valkey_killed(self) -> None:
        os.kill(self.server.valkey_pid(), signal.SIGKILL)

    async def _valkey_stopped(self) -> None:
        valkey = self.server.valkey_pid()
        os.kill(valkey, signal.SIGSTOP)
        try:
            await asyncio.sleep(self.random.uniform(0.5, 4.0))
        finally:
            os.kill(valkey, signal.SIGCONT)

    async def _worker_killed(self) -> None:
        workers = self.server.workers()
        if not workers:
            raise WrongAnswer("the server has no workers to kill")
        os.kill(self.random.choice(workers).pid, signal.SIGKILL)

    async def _server_killed(self) -> None:
        await self.server.end(signal.SIGKILL)
        await self.server.start()

    async def _server_restarted(self) -> None:
        code = await self.server.end(signal.SIGTERM)
        if code != 0:
            raise WrongAnswer(f"SIGTERM ended the server with {code}")
        await self.server.start()

    async def _connections_lost(self) -> None:
        with self.server.redis() as redis:
            for kind in ("normal", "pubsub"):
                redis.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    async def _disk_full(self) -> None:
        filler = self.server.data_dir / "filler"
        try:
            fill(filler)
            await asyncio.sleep(self.random.uniform(1.0, 4.0))
            await self.server.until_ready()  # a write may have met the full disk, which ends Valkey: it is restarted
        finally:
            filler.unlink(missing_ok=True)

    async def _log_closed(self) -> None:
        await self.server.close_log()
        await asyncio.sleep(1.0)
        await self.server.until_ready()
        await self.server.end(signal.SIGTERM)
        await self.server.start()

    async def _log_not_read(self) -> None:
        await self.server.stop_reading_log()
        await asyncio.sleep(self.random.uniform(1.0, 3.0))
        await self._read()
        self.server.read_log()

    async def _no_more_files(self) -> None:
        assert self.server.process is not None
        processes = [each for each in processes_below(self.server.process.pid) if "valkey" not in each.command()]
        limits = {}
        for each in processes:
            with suppress(ProcessLookupError):
                used = len(os.listdir(f"/proc/{each.pid}/fd"))
                limits[each.pid] = resource.prlimit(each.pid, resource.RLIMIT_NOFILE)
                resource.prlimit(each.pid, resource.RLIMIT_NOFILE, (used, limits[each.pid][1]))
        try:
            await asyncio.sleep(self.random.uniform(0.5, 3.0))
        finally:
            for pid, limit in limits.items():
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)

    async def _read(self) -> None:
        """Reads succeed, also while writes fail."""
        async with httpx.AsyncClient(base_url=self.server.url, timeout=PATIENCE) as client:
            answer = (await client.post("/graphql", json={"query": READ})).json()
        if "errors" in answer:
            raise WrongAnswer(f"a read failed where only writes may: {answer['errors']}")

    async def _verify_store(self) -> None:
        environment = os.environ | {"UPVOTE_DATA_DIR": str(self.server.data_dir)}
        verify = [sys.executable, "-m", "server", "verify"]
        done = await asyncio.to_thread(
            subprocess.run, verify, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600
        )
        if done.returncode != 0:
            raise WrongAnswer(f"verify: {done.stdout} {done.stderr}")


def fill(path: Path) -> None:
    """Write until the disk is full."""
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(65_536))
    with suppress(OSError), path.open("ab", buffering=0) as file:
        while file.write(bytes(64)):
            pass


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A folder on its own file system, for a test to fill; None if this machine does not allow to mount one."""
    folder = Path(tempfile.mkdtemp(prefix="upvote-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    is_mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield folder if is_mounted else None
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        shutil.rmtree(folder, ignore_errors=True)


def run(seconds: float, seed: int) -> Counter[str]:
    """
    Cause each fault at least once, and continue for `seconds`. Returns how often each fault and each write happened.

    Raises:
        WrongAnswer: something acknowledged is lost or doubled, or the server does not recover.
    """
    with small_disk() as disk:
        if disk is None:
            raise WrongAnswer("no small file system can be mounted here to be filled")
        chaos = Chaos(ServeProcess(disk), seed)
        try:
            asyncio.run(chaos.run(seconds))
        finally:
            chaos.server.terminate()
        return chaos.writers.counts + chaos.faults


def main() -> None:
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}", flush=True)
    for name, number in sorted(run(60 * chosen.minutes, chosen.seed).items()):
        print(f"{number:>9,}  {name}")


if __name__ == "__main__":
    main()
