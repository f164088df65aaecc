"""
Several worker processes that serve at one address: started, replaced when they end, and ended with this process.

Not uvicorn's `Multiprocess`, whose workers share one listening socket, which on Linux gives nearly all connections to
one of them, and go on when their parent is killed.
"""

import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait

from server import worker
from server.errors import CommandError

ALIVE_SECONDS = 10.0  # in which a worker has to answer
LOOK_SECONDS = 0.5
STOPPING_SECONDS = worker.GRACE_SECONDS + 5.0
PAUSE = 1.0  # seconds between two starts of a worker

SPAWN = get_context("spawn")

logger = logging.getLogger("upvote")


class WorkerFailed(CommandError):
    """A worker process does not start; the log says why."""


class Worker:
    """A process with a number, a listening socket and a pipe, over which it is asked whether it lives."""

    def __init__(self, number: int, listener: socket.socket) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        with theirs:  # the worker has its own copy: it reads the end of the pipe when we end, however we do
            self.process = SPAWN.Process(target=worker.run, args=(number, listener, theirs), name=f"worker-{number}")
            try:
                self.process.start()
            except BaseException:
                self.pipe.close()
                raise
        self._asked_at: float | None = None

    def lives(self) -> bool:
        """Whether it runs and answers. It is asked, and has answered by the next look."""
        now = time.monotonic()
        try:
            if self._asked_at is None:
                self.pipe.send(None)
                self._asked_at = now
            elif self.pipe.poll():
                self.pipe.recv()
                self._asked_at = None
        except (OSError, EOFError):
            return False
        return self.process.is_alive() and (self._asked_at is None or now - self._asked_at < ALIVE_SECONDS)

    def end(self) -> None:
        """Kill what still runs, and forget it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Supervisor:
    """Keeps a worker for each listening socket, until a signal comes."""

    def __init__(self, listeners: Sequence[socket.socket]) -> None:
        self._listeners = listeners
        self._workers: list[Worker | None] = [None] * len(listeners)
        self._tried_at = [-PAUSE] * len(listeners)
        self._stopping = threading.Event()

    def run(self) -> None:
        """
        Raises:
            WorkerFailed: a worker cannot start, and would not on another try.
        """
        previous = {number: signal.signal(number, self._stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            while not self._stopping.is_set():
                for index in range(len(self._workers)):
                    self._keep(index)
                self._wait()
        finally:
            self._end()
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        self._stopping.set()

    def _keep(self, index: int) -> None:
        current = self._workers[index]
        if current and not current.lives():
            current.end()
            self._workers[index] = None
            if current.process.exitcode == worker.STARTUP_FAILURE:
                raise WorkerFailed("a worker process does not start; see the log")
            logger.error("worker %d ended, and is started again", index + 1)
        if self._workers[index] is None and time.monotonic() - self._tried_at[index] >= PAUSE:
            self._start(index)

    def _start(self, index: int) -> None:
        self._tried_at[index] = time.monotonic()
        try:
            self._workers[index] = Worker(index + 1, self._listeners[index])
        except OSError as error:  # no more processes, or files: there may be some later
            logger.error("worker %d cannot be started: %s", index + 1, error.strerror)

    def _wait(self) -> None:
        """Until a worker ends, or for a while."""
        sentinels = [each.process.sentinel for each in self._workers if each]
        if sentinels:
            wait(sentinels, LOOK_SECONDS)
        else:
            self._stopping.wait(LOOK_SECONDS)

    def _end(self) -> None:
        workers = [each for each in self._workers if each]
        for each in workers:
            each.process.terminate()
        for each in workers:
            each.process.join(STOPPING_SECONDS)
            each.end()


def listeners(listener: socket.socket, count: int) -> list[socket.socket]:
    """
    A listening socket for each worker, the first being `listener`.

    Linux spreads connections over the sockets that listen at one address with SO_REUSEPORT. The first is bound and
    listens without: so no second server gets the address, though it would set SO_REUSEPORT too. Elsewhere the system
    does not spread them, and all workers share one socket.
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
