"""
Runs the project and its peers, the servers that it is compared with, as processes on one core, and measures their CPU
time and memory.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
NODE = ROOT / "bench" / "peers"
GOPHERS = NODE / "gophers"
GO_PACKAGES = "/usr/share/gocode"  # where Debian has the sources of packages
# which queries peers answer, by name: see `bench.queries`
READS = frozenset({"page", "varied", "varied-uniform", "varied-skewed", "varied-crowd", "group"})
EVERYTHING = READS | {"article", "nested", "feed", "vote", "vote-on-comment"}
PYTHON = EVERYTHING | {"fallback"}  # of the peers in Python and of the project
STARTING_SECONDS = 60
# A server has nothing to do if it takes less than `IDLE` seconds of CPU in a second, or for `STEADY_SECONDS` about the
# same in each: the least is more than the share `STEADY` of the most.
IDLE, STEADY_SECONDS, STEADY = 0.05, 5, 0.7
TICKS = os.sysconf("SC_CLK_TCK")  # in a second: the unit in which Linux counts the CPU time of a process
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, OTHER_CORE = CORES[0], CORES[-1]

OURS = [sys.executable, "-m", "server", "serve"]
UVICORN = [sys.executable, "-m", "uvicorn", "--log-level", "warning", "--no-access-log", "--lifespan", "off"]


@dataclass(frozen=True, slots=True)
class Peer:
    """
    `command` starts it in `folder`; `answers` are the queries that it supports; `settings` are environment variables.
    Those in peers/ are GraphQL servers of others; RESULTS.md describes each in "Peers".
    """

    name: str
    command: list[str]
    answers: frozenset[str] = EVERYTHING
    settings: tuple[tuple[str, str], ...] = ()
    folder: Path = ROOT

    @property
    def is_node(self) -> bool:
        return self.command[0] == "node"


QUIET = (("UPVOTE_LOG_LEVEL", "warning"),)
PEERS = {
    peer.name: peer
    for peer in (
        Peer("upvote", OURS, PYTHON),
        Peer("silent", OURS, PYTHON, QUIET),  # the project without a log line for each operation
        Peer("strawberry", [*UVICORN, "bench.strawberry_plain:app"], PYTHON),
        Peer("apollo", ["node", "apollo.js"]),
        Peer("yoga", ["node", "yoga.js"]),
        Peer("mercurius", ["node", "mercurius.js"]),
        Peer("grafast", ["node", "grafast.js"]),
        Peer("gophers", ["./gophers"], folder=GOPHERS),
        Peer("scripted", ["node", "scripted.js"], READS),  # mercurius, with one Lua script for a page
        # without GraphQL: what a page costs at least
        Peer("hand", [*UVICORN, "bench.hand:app"], READS),
        Peer("handler", [*UVICORN, "bench.lower_bounds:handler"], READS),
        Peer("ready", [*UVICORN, "bench.lower_bounds:ready"], frozenset({"page"})),
    )
}


def before(folder: Path) -> Peer:
    """Another checkout of the project, started with the packages of this one."""
    return Peer("before", OURS, PYTHON, folder=folder)


@dataclass(frozen=True, slots=True)
class Server:
    """A running peer, which may have child processes."""

    peer: Peer
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def cpu(self) -> float:
        """CPU seconds of the process and its children so far."""
        return sum(sum(map(int, _stat(pid)[11:13])) for pid in self._processes()) / TICKS

    @property
    def memory(self) -> float:
        """Memory in MiB. Pages that processes share are divided among them."""
        rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self._processes()]
        return sum(int(text.split("\nPss:")[1].split()[0]) for text in rollups) / 1024

    def _processes(self) -> list[int]:
        found, pending = [], [self.process.pid]
        while pending:
            found.append(pid := pending.pop())
            pending += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return found


@contextmanager
def running(peer: Peer, workers: int, environment: dict[str, str], log: Path) -> Iterator[Server]:
    """Run a peer on its core, or on all cores if it has several workers."""
    port = _free_port()
    cores = {SERVER_CORE} if workers == 1 else set(CORES)
    ours = {"UPVOTE_PORT": str(port), "UPVOTE_WORKERS": str(workers), "UPVOTE_RATE_LIMITS": "off"}
    theirs = {"BENCH_PORT": str(port), "BENCH_WORKERS": str(workers), "NODE_ENV": "production"}
    options = ["--port", str(port), "--workers", str(workers)] if "uvicorn" in peer.command else []
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [*peer.command, *options],
            cwd=NODE if peer.is_node else peer.folder,
            env={**_clean(), **environment, **ours, **theirs, **dict(peer.settings)},
            stdout=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
    try:
        _wait(port, process, log)
        yield Server(peer, port, process)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()


def settle(server: Server) -> float:
    """
    Wait until a server has nothing to do: it has started, or its mirror, which follows the store with a database, has
    what was written. Returns the CPU seconds that it takes in a second even so, for checks of its store.
    """
    recent: deque[float] = deque(maxlen=STEADY_SECONDS)
    while True:
        recent.append(_used(server))
        is_steady = len(recent) == STEADY_SECONDS and min(recent) > STEADY * max(recent)
        if is_steady or recent[-1] < IDLE:
            return min(recent)


def _used(server: Server) -> float:
    """CPU seconds of the next second."""
    before = server.cpu
    time.sleep(1)
    return server.cpu - before


def install(peer: Peer) -> str | None:
    """Install or build what a peer needs. Returns why this is not possible, or None."""
    if peer.folder == GOPHERS:
        return _build()
    if not peer.is_node or (NODE / "node_modules" / ".package-lock.json").exists():
        return None
    if not (shutil.which("node") and (npm := shutil.which("npm"))):
        return "Node is not installed"
    done = subprocess.run([npm, "ci", "--prefix", str(NODE)], capture_output=True, text=True)
    return done.stderr.strip()[-200:] if done.returncode else None


def _build() -> str | None:
    """Build the peer in Go, with Debian's packages golang-go and those of graphql-go and redigo."""
    if not (go := shutil.which("go")):
        return "Go is not installed"
    variables = {"GO111MODULE": "off", "GOPATH": GO_PACKAGES, "GOCACHE": str(GOPHERS / ".cache")}
    build = [go, "build", "-o", "gophers", "."]
    done = subprocess.run(build, cwd=GOPHERS, env=os.environ | variables, capture_output=True, text=True)
    return done.stderr.strip()[-200:] if done.returncode else None


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until the server accepts connections. Raises RuntimeError if it ends, or takes too long."""
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start: {log.read_text()[-2_000:]}")


def _stat(pid: int) -> list[str]:
    """The fields of a process after its name, which may have spaces: user and system time are 11 and 12."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
