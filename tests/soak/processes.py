"""Processes of a server under test, as /proc has them."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """
    A process. `started`, its start time, distinguishes it from a later one with the same id. The fields of
    /proc/PID/stat that follow the name have the state at index 0, the parent at 1 and the start time at 19.
    """

    pid: int
    started: str

    def is_alive(self) -> bool:
        with suppress(OSError):
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
            return fields[19] == self.started and fields[0] != "Z"
        return False

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def command(self) -> str:
        with suppress(OSError):
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        return ""


def processes_below(pid: int) -> list[Process]:
    """A process, then all its descendants."""
    parents: dict[int, list[Process]] = {}
    root = None
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            process = Process(int(stat.parent.name), fields[19])
            parents.setdefault(int(fields[1]), []).append(process)
            root = process if process.pid == pid else root
    found = [root] if root else []
    for process in found:
        found += parents.get(process.pid, [])
    return found
