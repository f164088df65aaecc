"""
Starts the managed Valkey, the one that this program runs itself unless UPVOTE_REDIS_URL names another, and restarts it
when it ends unexpectedly.
"""

import logging
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LOAD_SECONDS = 600.0  # in which Valkey loads its data and answers
STOP_SECONDS = 60.0  # after which a Valkey that stops is killed
RESTART_SECONDS = 1.0  # before the next start, if Valkey ran for less than that
MAX_FAILURES = 3  # failed starts in a row

# Scripts allocate and free thousands of small chunks of memory. By default glibc keeps 7 free ones of a size at hand,
# and merges and splits all others, which takes a fifth of Valkey's time. With these settings it keeps 20,000 of each
# size up to 128 bytes: 13 MB at most.
TUNABLES = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=20000:glibc.malloc.tcache_max=128"}

logger = logging.getLogger("upvote")


class ValkeySupervisor:
    """
    Runs a Valkey process, and a thread that restarts it until `stop`.

    `wait` returns whether the first start succeeds; `on_failure` is called if a later one fails. `lock` is the file
    descriptor of the lock of the data directory, which Valkey holds, too.
    """

    def __init__(self, command: Sequence[str], socket_path: Path, lock: int, on_failure: Callable[[], object]) -> None:
        self.has_failed = False
        self._command = command
        self._socket_path = socket_path
        self._lock = lock
        self._on_failure = on_failure
        self._stopping = threading.Event()
        self._process_lock = threading.Lock()
        self._started = threading.Event()  # set once the first start has succeeded, or there will be no other start
        self._answered_at = 0.0  # when the last start succeeded, by the monotonic clock
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run_until_stopped, name="valkey", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait(self) -> bool:
        """Wait until Valkey answers or has failed to start. Returns whether it answers."""
        self._started.wait()
        return not self.has_failed

    def stop(self) -> None:
        """Stop Valkey, which writes its pending data first."""
        with self._process_lock:
            self._stopping.set()
            process = self._process
        if process:
            process.terminate()
            self._thread.join(STOP_SECONDS)
            process.kill()
            process.wait()

    def _run_until_stopped(self) -> None:
        """What the thread runs: starts Valkey, again whenever it ends, until `stop` or too many failures."""
        failures = self._attempt(MAX_FAILURES - 1)  # the first start is not tried again
        while not self._stopping.is_set() and failures < MAX_FAILURES:
            logger.error("Valkey ended and is restarted")
            if failures or time.monotonic() - self._answered_at < RESTART_SECONDS:
                self._stopping.wait(RESTART_SECONDS)
            failures = self._attempt(failures)
        self.has_failed = not self._stopping.is_set()
        was_running = self._started.is_set()
        self._started.set()
        if self.has_failed and was_running:
            self._on_failure()

    def _attempt(self, failures: int) -> int:
        """
        Run Valkey until it ends. Returns the number of failed starts in a row.

        After a first successful start, a start that fails for lack of system resources does not count.
        """
        try:
            return 0 if self._run() else failures + 1
        except OSError as error:  # no free processes or file descriptors at the moment
            logger.error("Valkey cannot be started: %s", error.strerror)
            return max(failures, 1) if self._started.is_set() else MAX_FAILURES  # 1: the next start waits

    def _run(self) -> bool:
        """
        Start Valkey and wait until it ends. Returns whether it answered.

        Raises:
            OSError: the system cannot create a process.
        """
        with self._process_lock:
            if self._stopping.is_set():
                return False
            process = self._process = _start(self._command, self._lock)
        has_answered = _wait_for_answer(process, self._socket_path)
        if has_answered:
            self._answered_at = time.monotonic()
            self._started.set()
        else:
            process.kill()
        process.wait()
        return has_answered


def is_ready(socket_path: Path) -> bool:
    """Whether Valkey answers reads. PING fails while it loads its data, and with MISCONF on a full disk."""
    try:
        return execute(socket_path, b"PING").startswith((b"+PONG", b"-MISCONF"))
    except OSError:
        return False


def execute(socket_path: Path, command: bytes) -> bytes:
    """
    Send a command on a new connection and return its reply: the line of a simple reply, the content of a bulk reply.

    Raises:
        OSError: no reply within a second.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1.0)
        client.connect(os.fspath(socket_path))
        client.sendall(command + b"\r\n")
        with client.makefile("rb") as replies:
            line = replies.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError("the reply is incomplete")
            return replies.read(int(line[1:])) if line.startswith(b"$") else line


def _start(command: Sequence[str], lock: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock,),
        env={**TUNABLES, **os.environ},
        start_new_session=True,  # Ctrl-C at the terminal must not stop it before open requests are answered
    )


def _wait_for_answer(process: "subprocess.Popen[bytes]", socket_path: Path) -> bool:
    deadline = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if is_ready(socket_path):
            return True
        time.sleep(0.01)
    return False
