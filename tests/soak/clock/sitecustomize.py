"""
Python imports this module at its start where this folder is on its path. It replaces the clock of the process by the
unix milliseconds in the file that the variable `SOAK_CLOCK` names, which the soak test sets.
"""

import mmap
import os
import struct
import time


def _set_clock(path: str) -> None:
    with open(path, "rb") as file:
        clock = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    time.time_ns = lambda: struct.unpack("<q", clock[:8])[0] * 1_000_000


if "SOAK_CLOCK" in os.environ:
    _set_clock(os.environ["SOAK_CLOCK"])
