"""Numbers that several processes count."""

import resource
import signal
import subprocess
import sys

from server.observability.counts import Counts

COUNTING = """
import os, signal, sys
from pathlib import Path
from server.counts import Counts

counts = Counts(Path(sys.argv[1]))
counts.numbers[counts.place("open")] += 1
counts.numbers[counts.place("asked", "page")] += 2
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_counted_stays_and_what_it_had_open_does_not(tmp_path):
    killed = subprocess.run([sys.executable, "-c", COUNTING, tmp_path], timeout=60)
    counts = Counts(tmp_path)
    counts.numbers[counts.place("asked", "page")] += 0.5
    counts.numbers[counts.place("open")] += 1

    assert killed.returncode == -signal.SIGKILL
    assert counts.sums("open") == {("asked", "page"): 2.5, ("open",): 1}


def test_processes_that_had_one_id_after_another_are_told_apart(tmp_path):
    for _ in range(2):
        counts = Counts(tmp_path)
        counts.numbers[counts.place("asked")] += 1

    assert counts.sums("open") == {("asked",): 2}


def test_new_names_have_places_in_turn():
    counts = Counts()

    assert [counts.place("a"), counts.place("a", "b"), counts.place("a"), counts.place("c")] == [0, 1, 0, 2]


def test_name_that_cannot_be_written_is_counted_once_it_can_be(tmp_path):
    """A file has a size that it may not exceed, as a disk has."""
    counts = Counts(tmp_path)
    counts.numbers[counts.place("a")] += 1
    (names,) = tmp_path.glob("*.names")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (names.stat().st_size + 3, before[1]))
    try:
        counts.numbers[counts.place("lost")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    counts.numbers[counts.place("b")] += 2

    assert counts.sums() == {("a",): 1, ("b",): 2}


def test_new_name_needs_no_new_file(tmp_path):
    counts = Counts(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        counts.numbers[counts.place("a")] += 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert counts.sums() == {("a",): 1}
