"""Numbers that several processes count."""

import signal
import subprocess
import sys

from server.counts import Counts

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
