"""A process that is kept running, as a Valkey of our own is."""

import logging
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

LOADING_SECONDS = 600.0
STOPPING_SECONDS = 60.0
PAUSE = 1.0  # seconds that a Valkey has to live, or else the next one is started that much later
ATTEMPTS = 3  # to start it again before it is given up

logger = logging.getLogger("upvote")


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

    def start(self) -> None:
        self._thread.start()

    def wait(self) -> bool:
        """Until it answers, or does not start. Whether it answers."""
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
        attempts = self._try(ATTEMPTS - 1)
        while not self._stopping.is_set() and attempts < ATTEMPTS:
            logger.error("Valkey ended, and is started again")
            if attempts or time.monotonic() - self._answered_at < PAUSE:
                self._stopping.wait(PAUSE)
            attempts = self._try(attempts)
        self.has_given_up = not self._stopping.is_set()
        self._started.set()
        if self.has_given_up:
            self._given_up()

    def _try(self, attempts: int) -> int:
        """How many attempts in a row have failed, after one more. What the system lacks once it has run is none."""
        try:
            return 0 if self._run() else attempts + 1
        except OSError as error:  # no more processes, or files: there may be some later
            logger.error("Valkey cannot be started: %s", error.strerror)
            return max(attempts, 1) if self._started.is_set() else ATTEMPTS

    def _run(self) -> bool:
        """
        Start it, and wait until it ends. Whether it has answered.

        Raises:
            OSError: the system gives no process.
        """
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


def answers(at: Path) -> bool:
    """Whether it serves: while it loads its data it answers PING with an error, and with a full disk with another."""
    try:
        return ask(at, b"PING").startswith((b"+PONG", b"-MISCONF"))
    except OSError:
        return False


def ask(at: Path, command: bytes) -> bytes:
    """
    The reply to a command: a line, or what follows the line that tells its length.

    Raises:
        OSError: there is none within a second.
    """
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(1.0)
        client.connect(os.fspath(at))
        client.sendall(command + b"\r\n")
        with client.makefile("rb") as replies:
            line = replies.readline()
            if not line.endswith(b"\n"):
                raise ConnectionError("the reply has no end")
            return replies.read(int(line[1:])) if line.startswith(b"$") else line


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
        if answers(at):
            return True
        time.sleep(0.01)
    return False
