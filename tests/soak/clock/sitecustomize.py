"""Gives every Python process that has this folder on its path the clock that the file `SOAK_CLOCK` holds."""

import mmap
import os
import struct
import time


def _set_clock(path: str) -> None:
    with open(path, "rb") as file:
        kept = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    time.time_ns = lambda: struct.unpack("<q", kept[:8])[0] * 1_000_000


if "SOAK_CLOCK" in os.environ:
    _set_clock(os.environ["SOAK_CLOCK"])
