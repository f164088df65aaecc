"""
Files of backups, and pipes of them; `-` is standard output and standard input. The contents of records are defined in
`store.maintenance.records`.

    magic      16 bytes: the name and version of the format
    frames     each 4 bytes of length and a deflated JSON array of records; the first frame has only the header
    trailer    4 zero bytes, 8 bytes with the number of frames, and the SHA-256 of everything before it
"""

import os
import shutil
import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

import orjson

from server.errors import CommandError

STREAM = Path("-")  # standard output, or standard input
MAGIC = b"upvote backup 1\n"
LENGTH = struct.Struct(">I")
COUNT = struct.Struct(">Q")
FRAME_BYTES = 1_000_000  # approximate, before compression
DIGEST_BYTES = 32  # of SHA-256
CHUNK_BYTES = 1_000_000  # that are read and copied at once
MAX_FRAME_BYTES = 2**30  # inflated: about ten times the largest article with its voters
MIN_BYTES = len(MAGIC) + LENGTH.size + COUNT.size  # without frames


class BrokenBackup(CommandError):
    """The file is not a backup, or it was changed or cut off."""


@dataclass(slots=True)
class BackupWriter:
    """
    A backup that is being written, frame by frame. `pending` has the JSON of each record of the next frame, of `size`
    bytes together; `frames` have been written.
    """

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
        deflated = zlib.compress(b"[%b]" % b",".join(self.pending), level=1)
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
def writing(path: Path, header: dict[str, Any]) -> Iterator[BackupWriter]:
    """
    Write a backup, to a new file or into the pipe or device that the path or `-` names. Only its owner may read a new
    file, which gets its name once it is complete and synced to disk.

    Raises:
        CommandError: the device is a terminal.
        OSError: the file cannot be written.
    """
    with _replaced(path) if becomes_new_file(path) else _written_in_place(path) as file:
        backup = BackupWriter(file)
        backup.write(MAGIC)
        backup.add(header)
        backup.flush()
        yield backup
        backup.end()


def becomes_new_file(path: Path) -> bool:
    """Whether a backup becomes a new file of this name. Links, pipes and devices are written in place."""
    return path != STREAM and (not os.path.lexists(path) or stat.S_ISREG(path.lstat().st_mode))


def destination(path: Path) -> str:
    """Where a backup is written to, as messages name it."""
    return "standard output" if path == STREAM else str(path)


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    part = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def _written_in_place(path: Path) -> Iterator[BinaryIO]:
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") if path == STREAM else path.open("wb") as file:
        if file.isatty():
            raise CommandError(f"{destination(path)} is a terminal: a backup goes to a file or to another program")
        yield file


@dataclass(frozen=True, slots=True)
class CheckedBackup:
    """
    A backup whose digest is correct. `name` is where it came from, `path` a regular file. `frames` does not count the
    header.
    """

    name: str
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
        return islice(_frames(self.path, self.name), 1, None)  # without the header


@contextmanager
def checked(path: Path) -> Iterator[CheckedBackup]:
    """
    Read a whole backup and compare it with its digest. A pipe is copied to a temporary file, as it can be read once.

    Raises:
        BrokenBackup: the backup was changed or cut off.
        OSError: the file cannot be read.
    """
    if path.is_file():
        yield _checked(path, str(path))
        return
    with (
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") if path == STREAM else path.open("rb") as source,
        NamedTemporaryFile(prefix="upvote-restore-") as copy,
    ):
        shutil.copyfileobj(source, copy, CHUNK_BYTES)
        copy.flush()
        yield _checked(Path(copy.name), "standard input" if path == STREAM else str(path))


def _checked(path: Path, name: str) -> CheckedBackup:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BrokenBackup(f"{name} is not a backup, or was made by another version of Upvote")
        end = os.fstat(file.fileno()).st_size - DIGEST_BYTES
        digest = _digest(file, end)
        if end < MIN_BYTES or file.read() != digest:
            raise BrokenBackup(f"{name} was changed or cut off")
        file.seek(end - COUNT.size)
        (frames,) = COUNT.unpack(file.read(COUNT.size))
    first = next(_frames(path, name), [])
    if len(first) != 1 or type(first[0]) is not dict:
        raise BrokenBackup(f"{name}: frame 1 is not a header, which is one object")
    return CheckedBackup(name, path, first[0], digest.hex(), frames - 1)


def _digest(file: BinaryIO, end: int) -> bytes:
    """The digest of everything before `end`; the next read begins there."""
    file.seek(0)
    digest = sha256()
    while part := file.read(min(CHUNK_BYTES, max(end - file.tell(), 0))):
        digest.update(part)
    return digest.digest()


def _frames(path: Path, name: str) -> Iterator[list[Any]]:
    frames_end, number = path.stat().st_size - DIGEST_BYTES - COUNT.size, 0
    with path.open("rb") as file:
        file.seek(len(MAGIC))
        while length := LENGTH.unpack(file.read(LENGTH.size))[0]:
            number += 1
            if length > frames_end - LENGTH.size - file.tell():
                raise BrokenBackup(f"{name}: frame {number} is longer than the file")
            yield _records(file.read(length), f"{name}: frame {number}")
        is_at_end = file.tell() == frames_end
        (count,) = COUNT.unpack(file.read(COUNT.size))
    if not is_at_end or count != number:
        raise BrokenBackup(f"{name}: it should have {count} frames, but has {number}")


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
