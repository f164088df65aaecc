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

from server.errors import CommandError

MAGIC = b"upvote backup 1\n"
LENGTH = struct.Struct(">I")
COUNT = struct.Struct(">Q")
FRAME_BYTES = 1_000_000  # about, before they are deflated
DIGEST_BYTES = 32
CHUNK_BYTES = 1_000_000
MOST_BYTES = 2**30  # of an inflated frame: about ten times what the largest article takes, with its voters
SHORTEST = len(MAGIC) + LENGTH.size + COUNT.size  # without frames


class BrokenBackup(CommandError):
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
    """A backup that is as it was written: its header, its digest, and how many frames of records follow."""

    path: Path
    header: dict[str, Any]
    digest: str
    frames: int

    def records(self) -> Iterator[list[Any]]:
        """
        The records, frame by frame.

        Raises:
            BrokenBackup: a frame is no array of records, or there are not as many as the file says.
        """
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
        if end < SHORTEST or file.read() != digest:
            raise BrokenBackup(f"{path} is not as it was written: it was cut off or changed")
        file.seek(end - COUNT.size)
        (frames,) = COUNT.unpack(file.read(COUNT.size))
    first = next(_frames(path), [])
    if len(first) != 1 or type(first[0]) is not dict:
        raise BrokenBackup(f"{path}: frame 1 is no header, which is one object")
    return Checked(path, first[0], digest.hex(), frames - 1)


def _digest(file: BinaryIO, end: int) -> bytes:
    """Of all before a place, where the file is read on then."""
    file.seek(0)
    digest = sha256()
    while part := file.read(min(CHUNK_BYTES, max(end - file.tell(), 0))):
        digest.update(part)
    return digest.digest()


def _frames(path: Path) -> Iterator[list[Any]]:
    end, number = path.stat().st_size - DIGEST_BYTES - COUNT.size, 0
    with path.open("rb") as file:
        file.seek(len(MAGIC))
        while length := LENGTH.unpack(file.read(LENGTH.size))[0]:
            number += 1
            if length > end - LENGTH.size - file.tell():
                raise BrokenBackup(f"{path}: frame {number} is longer than the file")
            yield _records(file.read(length), f"{path}: frame {number}")
        is_at_end = file.tell() == end
        (count,) = COUNT.unpack(file.read(COUNT.size))
    if not is_at_end or count != number:
        raise BrokenBackup(f"{path}: it says that it has {count} frames, but the last one is frame {number}")


def _records(deflated: bytes, where: str) -> list[Any]:
    try:
        inflating = zlib.decompressobj()
        text = inflating.decompress(deflated, MOST_BYTES)
    except zlib.error as error:
        raise BrokenBackup(f"{where} cannot be inflated: {error}") from error
    if len(text) == MOST_BYTES or not inflating.eof or inflating.unused_data:
        raise BrokenBackup(f"{where} does not end where it should, or is larger than {MOST_BYTES:,} bytes")
    try:
        records = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BrokenBackup(f"{where} is no JSON: {error}") from error
    if type(records) is not list:
        raise BrokenBackup(f"{where} is no array of records")
    return records
