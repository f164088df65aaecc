"""
The file format of backups. The contents of records are defined in `store.maintenance.dump`.

    magic      16 bytes: the name and version of the format
    frames     each 4 bytes of length and a deflated JSON array of records; the first frame is the header
    trailer    4 zero bytes, 8 bytes with the number of frames, and the SHA-256 of everything before it
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
FRAME_BYTES = 1_000_000  # approximate, before compression
DIGEST_BYTES = 32
CHUNK_BYTES = 1_000_000
MAX_FRAME_BYTES = 2**30  # inflated: about ten times the largest article with its voters
MIN_BYTES = len(MAGIC) + LENGTH.size + COUNT.size  # without frames


class BrokenBackup(CommandError):
    """The file is not a backup, or it was changed or cut off."""


@dataclass(slots=True)
class Archive:
    """A backup that is being written, frame by frame; `pending` has the JSON of the next frame's records."""

    file: BinaryIO
    frames: int = 0
    size: int = 0
    pending: list[bytes] = field(default_factory=list)
    digest: Any = field(default_factory=sha256)

    def add(self, record: object) -> None:
        text = orjson.dumps(record)
        self.pending.append(text)
        self.size += len(text)
        if self.size >= FRAME_BYTES:
            self.flush()

    def flush(self) -> None:
        """End a frame."""
        deflated = zlib.compress(b"[%b]" % b",".join(self.pending), 1)
        self.write(LENGTH.pack(len(deflated)) + deflated)
        self.pending.clear()
        self.frames, self.size = self.frames + 1, 0

    def end(self) -> None:
        self.flush()
        self.write(LENGTH.pack(0) + COUNT.pack(self.frames))
        self.file.write(self.digest.digest())

    def write(self, part: bytes) -> None:
        self.file.write(part)
        self.digest.update(part)


@contextmanager
def writing(path: Path, header: dict[str, Any]) -> Iterator[Archive]:
    """
    Write a backup that only its owner may read. The file gets its name when it is complete and synced to disk.

    Raises:
        OSError: the file cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            archive = Archive(file)
            archive.write(MAGIC)
            archive.add(header)
            archive.flush()
            yield archive
            archive.end()
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class CheckedBackup:
    """A backup whose digest is correct. `frames` does not count the header."""

    path: Path
    header: dict[str, Any]
    digest: str
    frames: int

    def records(self) -> Iterator[list[Any]]:
        """
        The records, frame by frame.

        Raises:
            BrokenBackup: a frame is not an array of records, or the number of frames is wrong.
        """
        return islice(_frames(self.path), 1, None)


def checked(path: Path) -> CheckedBackup:
    """
    Read a whole file and compare it with its digest.

    Raises:
        BrokenBackup: the file was changed or cut off.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BrokenBackup(f"{path} is not a backup, or was made by another version of Upvote")
        end = os.fstat(file.fileno()).st_size - DIGEST_BYTES
        digest = _digest(file, end)
        if end < MIN_BYTES or file.read() != digest:
            raise BrokenBackup(f"{path} was changed or cut off")
        file.seek(end - COUNT.size)
        (frames,) = COUNT.unpack(file.read(COUNT.size))
    first = next(_frames(path), [])
    if len(first) != 1 or type(first[0]) is not dict:
        raise BrokenBackup(f"{path}: frame 1 is not a header, which is one object")
    return CheckedBackup(path, first[0], digest.hex(), frames - 1)


def _digest(file: BinaryIO, end: int) -> bytes:
    """The digest of everything before `end`; the next read begins there."""
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
        raise BrokenBackup(f"{path}: it should have {count} frames, but has {number}")


def _records(deflated: bytes, where: str) -> list[Any]:
    try:
        inflating = zlib.decompressobj()
        text = inflating.decompress(deflated, MAX_FRAME_BYTES)
    except zlib.error as error:
        raise BrokenBackup(f"{where} cannot be inflated: {error}") from error
    if len(text) == MAX_FRAME_BYTES or not inflating.eof or inflating.unused_data:
        raise BrokenBackup(f"{where} ends at the wrong byte, or is larger than {MAX_FRAME_BYTES:,} bytes")
    try:
        records = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BrokenBackup(f"{where} is not JSON: {error}") from error
    if type(records) is not list:
        raise BrokenBackup(f"{where} is not an array of records")
    return records
