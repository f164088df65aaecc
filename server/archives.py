"""
Files of backups. What their records mean is not known here.

    magic      16 bytes: what this is, and the version of the format
    frames     4 bytes of length, then as many of records: a JSON array, deflated; the first frame is the header
    trailer    4 bytes of zero, 8 of how many frames there were, then the SHA-256 of all that is before it
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from server.faults import Fault

MAGIC = b"upvote backup 1\n"
LENGTH = struct.Struct(">I")
COUNT = struct.Struct(">Q")
FRAME_BYTES = 1_000_000  # about, before they are deflated
DIGEST_BYTES = 32
CHUNK_BYTES = 1_000_000


class BrokenBackup(Fault):
    """The file is no backup, or not the whole one that was written."""


@dataclass(slots=True)
class Writing:
    """A file that grows by frames; `records` are waiting to fill one."""

    file: BinaryIO
    frames: int = 0
    size: int = 0
    waiting: list[bytes] = field(default_factory=list)
    digest: Any = field(default_factory=sha256)

    def add(self, record: object) -> None:
        text = orjson.dumps(record)
        self.waiting.append(text)
        self.size += len(text)
        if self.size >= FRAME_BYTES:
            self.flush()

    def flush(self) -> None:
        """End a frame."""
        deflated = zlib.compress(b"[%b]" % b",".join(self.waiting), 1)
        self.write(LENGTH.pack(len(deflated)) + deflated)
        self.waiting.clear()
        self.frames, self.size = self.frames + 1, 0

    def end(self) -> None:
        self.flush()
        self.write(LENGTH.pack(0) + COUNT.pack(self.frames))
        self.file.write(self.digest.digest())

    def write(self, part: bytes) -> None:
        self.file.write(part)
        self.digest.update(part)


@contextmanager
def writing(path: Path, header: dict[str, Any]) -> Iterator[Writing]:
    """
    Write a backup that only its owner may read. It takes its name when it is whole and on the disk, and not before.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            started = Writing(file)
            started.write(MAGIC)
            started.add(header)
            started.flush()
            yield started
            started.end()
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class Checked:
    """A backup that is whole: its header, its digest, and how many frames of records follow."""

    path: Path
    header: dict[str, Any]
    digest: str
    frames: int

    def records(self) -> Iterator[list[Any]]:
        """The records, frame by frame."""
        return islice(_frames(self.path), 1, None)


def checked(path: Path) -> Checked:
    """
    Read a whole backup, without keeping it, and compare it with its digest.

    Raises:
        BrokenBackup: a bit of it is not as it was written, or missing, or too much.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BrokenBackup(f"{path} is no backup, or was made by another version of Upvote")
        end = os.fstat(file.fileno()).st_size - DIGEST_BYTES
        digest = _digest(file, end)
        if file.read() != digest:
            raise BrokenBackup(f"{path} is not as it was written: it was cut off or changed")
        file.seek(end - COUNT.size)
        (frames,) = COUNT.unpack(file.read(COUNT.size))
    ((header,),) = islice(_frames(path), 1)
    return Checked(path, header, digest.hex(), frames - 1)


def _digest(file: BinaryIO, end: int) -> bytes:
    """Of all before a place, where the file is read on then."""
    file.seek(0)
    digest = sha256()
    while part := file.read(min(CHUNK_BYTES, max(end - file.tell(), 0))):
        digest.update(part)
    return digest.digest()


def _frames(path: Path) -> Iterator[list[Any]]:
    with path.open("rb") as file:
        file.seek(len(MAGIC))
        while length := LENGTH.unpack(file.read(LENGTH.size))[0]:
            yield orjson.loads(zlib.decompress(file.read(length)))
