"""Numbers that count: those of this process or, where several share a folder, of all of them."""

import os
from collections import defaultdict
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from tempfile import mkstemp
from weakref import finalize

import orjson

MOST = 65_536  # numbers of a process: ten times as many as there are names with all their codes
SIZE = 8 * MOST

Name = tuple[str, ...]


class Counts:
    """
    `numbers`, each at the place of its name.

    In a folder they are a file that others read while it changes, and that a killed process leaves behind; beside it
    are the names, a line for each place.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._places: dict[Name, int] = {}
        if folder is None:
            self.numbers = memoryview(bytearray(SIZE)).cast("d")
            return
        file, path = mkstemp(".numbers", f"{os.getpid()}-", folder)  # what had this id before keeps its own
        _allocate(file)
        self.numbers = memoryview(mmap(file, SIZE)).cast("d")
        os.close(file)
        names = Path(path).with_suffix(".names")
        self._names = os.open(names, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        finalize(self, os.close, self._names)

    def place(self, *name: str) -> int:
        """New names have places one after the other; one that cannot be written has a place that nobody reads."""
        known = self._places.get(name)
        if known is not None:
            return known
        if self._folder and not _append(self._names, orjson.dumps(name) + b"\n"):
            return MOST - 1
        return self._places.setdefault(name, len(self._places))

    def sums(self, *passing: str) -> dict[Name, float]:
        """By name, of what every process counted; of `passing` names only what those count that live."""
        if self._folder is None:
            return {name: self.numbers[place] for name, place in list(self._places.items())}
        sums: dict[Name, float] = defaultdict(float)
        for path in self._folder.glob("*.names"):
            lives = _lives(int(path.stem.partition("-")[0]))
            for name, number in _read(path):
                sums[name] += number if lives or name[0] not in passing else 0
        return sums


def _allocate(file: int) -> None:
    """All of a file of numbers: who writes to a part that has no room on the disk is killed."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, SIZE)
    else:
        os.truncate(file, SIZE)


def _append(file: int, line: bytes) -> bool:
    """Whether a line was written, whole; else nothing was."""
    size = os.fstat(file).st_size
    try:
        if os.write(file, line) == len(line):
            return True
    except OSError:
        pass  # the disk is full
    os.ftruncate(file, size)
    return False


def _read(path: Path) -> Iterator[tuple[Name, float]]:
    names = path.read_bytes().split(b"\n")[:-1]
    numbers = memoryview(path.with_suffix(".numbers").read_bytes()).cast("d")
    return zip(map(tuple, map(orjson.loads, names)), numbers, strict=False)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
