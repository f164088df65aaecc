"""
Commands of the program, each in a process of its own, which is forked from one that has imported the program's modules.

An interpreter and these imports take a second of processor time, and the tests start hundreds of commands. Run
as a module, this is the process that forks. `test_serve.py` also runs `python -m server` without it.
"""

import atexit
import gc
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, NoReturn

ROOT = Path(__file__).parents[2]
IMPORTED = ("server.__main__", "server.cli.serve", "server.http_server")
NUMBER = struct.Struct("i")  # the id or the exit code of a process
STANDARD_ERROR = 2  # of this process


@cache
def own_data_dir() -> Path:
    """An empty data directory of this process, so that what is in `data` of the source tree changes no test."""
    folder = tempfile.mkdtemp(prefix="upvote-data-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def environment(**settings: object) -> dict[str, str]:
    """The environment of this process, with these settings of Upvote and no others, and a data directory of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("UPVOTE_")}
    given = {"data_dir": own_data_dir()} | settings
    return inherited | {f"UPVOTE_{name.upper()}": str(value) for name, value in given.items()}


def run(*arguments: object, **settings: object) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, for a minute at most."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        code = Command(arguments, environment(**settings), stdout.fileno(), stderr.fileno()).wait(60)
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def piped(
    arguments: Sequence[object], environment: Mapping[str, str], stderr: int = STANDARD_ERROR
) -> "tuple[Command, IO[str]]":
    """Start a command. The file is what it prints."""
    printed, stdout = os.pipe()
    try:
        return Command(arguments, environment, stdout, stderr), open(printed)
    finally:
        os.close(stdout)


class Command:
    """
    A running command, with those methods of `subprocess.Popen` that tests call. `stdout` and `stderr` are descriptors
    of files.
    """

    def __init__(
        self, arguments: Sequence[object], environment: Mapping[str, str], stdout: int, stderr: int = STANDARD_ERROR
    ) -> None:
        self.returncode: int | None = None
        self._status, status = socket.socketpair()
        with tempfile.TemporaryFile("w+") as request, status:
            json.dump([list(map(str, arguments)), dict(environment)], request)
            request.seek(0)
            descriptors = [request.fileno(), stdout, stderr, status.fileno()]  # those that `become` takes
            socket.send_fds(forking_process(), [b"."], descriptors)
            (self.pid,) = self._received()

    def wait(self, timeout: float | None = None) -> int:
        """
        Raises:
            TimeoutError: it still runs after so many seconds.
        """
        if self.returncode is None:
            self._status.settimeout(timeout)
            (self.returncode,) = self._received()
            self._status.close()
        return self.returncode

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def _received(self) -> tuple[int]:
        received: tuple[int] = NUMBER.unpack(self._status.recv(NUMBER.size))
        return received


@cache
def forking_process() -> socket.socket:
    """The socket to which commands are sent. The process ends when this end of the socket is closed."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(its.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(ours.close)  # called before the wait
    return ours


def main() -> None:
    """Fork a process for each command that is received. Only such a process returns, to run its command."""
    for name in IMPORTED:
        import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended processes need not be waited for
    with socket.socket(fileno=int(sys.argv[1])) as commands:
        while True:
            received, descriptors, _, _ = socket.recv_fds(commands, 1, maxfds=4)  # a byte comes with them
            if not received:
                sys.exit()
            if os.fork() == 0:
                break
            for descriptor in descriptors:
                os.close(descriptor)
    become(*descriptors)


def become(request: int, stdout: int, stderr: int, status: int) -> None:
    """Fork the process of a command, and report its id and its exit code to `status`. Only that process returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in background jobs of a shell
    process = os.fork()
    if process:
        report(process, status)
    with open(request) as file:
        arguments, variables = json.load(file)
    sys.argv = ["upvote", *arguments]
    os.environ.clear()
    os.environ.update(variables)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for descriptor in (stdout, stderr, status):
        os.close(descriptor)


def report(process: int, status: int) -> NoReturn:
    """Write the id of a process to the socket `status`, then its exit code when it has ended, and end too."""
    os.write(status, NUMBER.pack(process))
    _, state = os.waitpid(process, 0)
    os.write(status, NUMBER.pack(os.waitstatus_to_exitcode(state)))
    os._exit(0)


if __name__ == "__main__":
    main()
    from server.__main__ import main as run_command

    sys.exit(run_command())
