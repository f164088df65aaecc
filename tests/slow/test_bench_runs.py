"""The bench runs, its servers give equal answers, and it prints a table for each query. Speed is not tested."""

import subprocess
import sys
from pathlib import Path

SINCE_ROWS = ["(plain VOTES)", "day", "week", "month", "year", "before all"]
ROOT = Path(__file__).parents[2]
PEERS = ["upvote", "strawberry", "hand", "handler", "ready"]
SHORT_RUN = ["--seconds", "0.1", "--rounds", "1", "--articles", "300"]


def test_python_peers_give_the_same_answers_and_are_measured():
    command = [sys.executable, "-m", "bench", *SHORT_RUN, "--peers", ",".join(PEERS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    tables = [part.splitlines() for part in done.stdout.split("\n\n") if part.startswith("| server")]
    rows = [[line.split(" | ") for line in table[2:]] for table in tables]
    assert [[row[0].strip("| ") for row in each] for each in rows] == [PEERS, *[PEERS[:4]] * 2, *[PEERS[:2]] * 5]
    assert {row[-1] for each in rows for row in each} == {"0 |"}  # failed requests


def test_pages_since_an_instant_are_measured():
    done = subprocess.run([sys.executable, "-m", "bench.since", "1500"], cwd=ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    rows = [line.strip("│ ").split(" │ ") for line in done.stdout.splitlines() if line.startswith("│")]
    assert [row[0].strip() for row in rows] == SINCE_ROWS * 3
    assert all(float(cell) > 0 for row in rows for cell in row[2:])
