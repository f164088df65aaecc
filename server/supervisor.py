"""
Starts several worker processes that serve at one address, replaces those that end, and ends them with this process.

Not uvicorn's `Multiprocess`: its workers share one listening socket, which on Linux gives nearly all connections to
one of them, and they go on when their parent is killed.
"""

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from server.errors import CommandError

if TYPE_CHECKING:
    import uvicorn

STARTUP_FAILURE = 3  # uvicorn's exit code
SHUTDOWN_SECONDS = 10  # in which open requests are answered when a process stops
PING_SECONDS = 10.0  # in which a worker has to answer a ping
CHECK_SECONDS = 0.5  # between two checks of the workers
STOP_SECONDS = SHUTDOWN_SECONDS + 5.0  # after which a worker that stops is killed
RESTART_SECONDS = 1.0  # between two starts of the same worker

SPAWN = get_context("spawn")

logger = logging.getLogger("upvote")


class WorkerFailed(CommandError):
    """A worker process does not start; the log says why."""


class ProcessSupervisor:
    """Runs a worker for each listening socket until a signal comes."""

    def __init__(self, listeners: Sequence[socket.socket]) -> None:
        self._listeners = listeners
        self._workers: list[Worker | None] = [None] * len(listeners)
        self._attempts = [0] * len(listeners)
        self._started_at = [-RESTART_SECONDS] * len(listeners)  # so long ago that each may start now
        self._stopping = threading.Event()

    def run(self) -> None:
        """
        Raises:
            WorkerFailed: a worker cannot start at its first attempt, so that others would probably fail too.
        """
        previous = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            while not self._stopping.is_set():
                for index in range(len(self._workers)):
                    self._check(index)
                self._wait()
        finally:
            self._end_all()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        self._stopping.set()

    def _check(self, index: int) -> None:
        """Replace a worker that has ended or does not answer."""
        current = self._workers[index]
        if current and not current.is_alive():
            current.end()
            self._workers[index] = None
            if current.process.exitcode != STARTUP_FAILURE:
                logger.error("worker %d ended and is restarted", index + 1)
            elif self._attempts[index] > 1:  # the store may not answer just now
                logger.error("worker %d does not start and is started again; see the log", index + 1)
            else:
                raise WorkerFailed("a worker process does not start; see the log")
        if self._workers[index] is None and time.monotonic() - self._started_at[index] >= RESTART_SECONDS:
            self._start(index)

    def _start(self, index: int) -> None:
        self._attempts[index] += 1
        self._started_at[index] = time.monotonic()
        try:
            self._workers[index] = Worker(index + 1, self._listeners[index])
        except OSError as error:  # no processes or files are left: the next check tries again
            logger.error("worker %d cannot be started: %s", index + 1, error.strerror)

    def _wait(self) -> None:
        """Wait until a worker ends or the next check is due."""
        sentinels = [each.process.sentinel for each in self._workers if each]
        if sentinels:
            wait(sentinels, CHECK_SECONDS)
        else:
            self._stopping.wait(CHECK_SECONDS)

    def _end_all(self) -> None:
        workers = [each for each in self._workers if each]
        for each in workers:
            each.process.terminate()
        for each in workers:
            each.process.join(STOP_SECONDS)
            each.end()


class Worker:
    """A worker process, and the pipe over which it is pinged."""

    def __init__(self, number: int, listener: socket.socket) -> None:
        self.pipe, worker_end = SPAWN.Pipe()
        with worker_end:  # only the worker keeps it open, so that its pipe ends when this process does
            self.process = SPAWN.Process(
                target=run_worker, args=(number, listener, worker_end), name=f"worker-{number}"
            )
            try:
                self.process.start()
            except BaseException:
                self.pipe.close()
                raise
        self._pinged_at: float | None = None

    def is_alive(self) -> bool:
        """Whether the process runs and answered the last ping in time. Sends the next ping, too."""
        now = time.monotonic()
        try:
            if self._pinged_at is None:
                self.pipe.send(None)
                self._pinged_at = now
            elif self.pipe.poll():
                self.pipe.recv()
                self._pinged_at = None
        except (OSError, EOFError):
            return False
        return self.process.is_alive() and (self._pinged_at is None or now - self._pinged_at < PING_SECONDS)

    def end(self) -> None:
        """Kill the process if it still runs, and free what it used here."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def listeners(listener: socket.socket, count: int) -> list[socket.socket]:
    """
    A listening socket for each worker; `listener` is the first.

    Linux distributes connections over the sockets that listen at one address with SO_REUSEPORT. The first socket is
    bound without it: so a second server cannot take the address, even with SO_REUSEPORT. Other systems do not
    distribute connections; there all workers share one socket.
    """
    if sys.platform != "linux":
        return [listener] * count
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    others = [socket.socket(listener.family) for _ in range(count - 1)]
    for other in others:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(listener.getsockname())
        other.listen()
    return [listener, *others]


_servers: "list[uvicorn.Server]" = []  # in a worker: its server, once there is one


def run_worker(number: int, listener: socket.socket, parent: "Connection[object, object]") -> None:
    """What a worker process runs. It imports the server late, so that it ends with its parent even while it starts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal reaches the parent, which ends the workers
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    threading.Thread(target=_answer_pings, args=(parent,), name="parent", daemon=True).start()

    import uvicorn

    from server.http_server import configuration
    from server.observability import log_stream, logs
    from server.settings import read_settings

    log_stream.install_stream()
    try:
        settings = read_settings()
        logs.configure(settings)
        server = uvicorn.Server(configuration(settings, number))
        _servers.append(server)
        server.run(sockets=[listener])
    except CommandError as error:  # such as a setting that is wrong: another start would end in the same way
        logger.error("%s", error)
        sys.exit(STARTUP_FAILURE)


def _answer_pings(parent: "Connection[object, object]") -> None:
    """Answer the parent's pings. The pipe ends when the parent does; then this process stops."""
    try:
        while True:
            parent.send(parent.recv())
    except (OSError, EOFError):
        _stop_process()


def _stop_process() -> None:
    """Stop as at SIGTERM, so that open requests are answered; end at once if it does not serve yet."""
    if any(server.started for server in _servers):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SHUTDOWN_SECONDS + 2)  # it ends within that time
    os._exit(1)
