"""Counters that several processes share."""

import resource
import signal
import subprocess
import sys

from server.observability.counters import Counters

COUNTING = """
import os, signal, sys
from pathlib import Path
from server.observability.counters import Counters

counters = Counters(Path(sys.argv[1]))
counters.values[counters.index("open")] += 1
counters.values[counters.index("asked", "page")] += 2
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_counts_of_a_killed_process_stay_but_not_those_of_open_connections(tmp_path):
    killed = subprocess.run([sys.executable, "-c", COUNTING, tmp_path], timeout=60)
    counters = Counters(tmp_path)
    counters.values[counters.index("asked", "page")] += 0.5
    counters.values[counters.index("open")] += 1

    assert killed.returncode == -signal.SIGKILL
    assert counters.totals("open") == {("asked", "page"): 2.5, ("open",): 1}


def test_processes_with_the_same_id_one_after_another_are_counted_separately(tmp_path):
    for _ in range(2):
        counters = Counters(tmp_path)
        counters.values[counters.index("asked")] += 1

    assert counters.totals("open") == {("asked",): 2}


def test_new_names_get_consecutive_indexes():
    counters = Counters()

    assert [counters.index("a"), counters.index("a", "b"), counters.index("a"), counters.index("c")] == [0, 1, 0, 2]


def test_name_that_cannot_be_written_is_not_counted(tmp_path):
    """A limit on the file size stands for a full disk."""
    counters = Counters(tmp_path)
    counters.values[counters.index("a")] += 1
    (names,) = tmp_path.glob("*.names")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (names.stat().st_size + 3, before[1]))
    try:
        counters.values[counters.index("lost")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    counters.values[counters.index("b")] += 2

    assert counters.totals() == {("a",): 1, ("b",): 2}


def test_new_name_needs_no_new_file(tmp_path):
    counters = Counters(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        counters.values[counters.index("a")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert counters.totals() == {("a",): 1}
