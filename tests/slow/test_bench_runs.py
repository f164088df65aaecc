"""The bench runs, its servers give equal answers, and it prints a table for each query. Speed is not tested."""

import re
import subprocess
import sys
from pathlib import Path

from bench.counts import LIMITS, PYTHON, Figures
from server.settings import Settings

SINCE_ROWS = ["(plain VOTES)", "day", "week", "month", "year", "before all"]
ROOT = Path(__file__).parents[2]
PEERS = ["upvote", "strawberry", "hand", "handler", "ready"]
ARTICLES = 1500  # more than the 1,000 that a page skips
SHORT_RUN = ["--seconds", "0.1", "--rounds", "1", "--articles", "300"]


def test_python_peers_give_the_same_answers_and_are_measured():
    command = [sys.executable, "-m", "bench", *SHORT_RUN, "--peers", ",".join(PEERS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    tables = [part.splitlines() for part in done.stdout.split("\n\n") if part.startswith("| server")]
    rows = [[line.split(" | ") for line in table[2:]] for table in tables]
    servers = [[row[0].strip("| ") for row in each] for each in rows]
    assert servers == [PEERS, *[PEERS[:4]] * 5, *[PEERS[:2]] * 6]  # not all peers answer all of the twelve queries
    assert {row[-1] for each in rows for row in each} == {"0 |"}  # failed requests


def test_pages_since_an_instant_are_measured():
    done = subprocess.run(
        [sys.executable, "-m", "bench.since", str(ARTICLES)], cwd=ROOT, capture_output=True, text=True
    )

    assert done.stderr == ""
    rows = [line.strip("│ ").split(" │ ") for line in done.stdout.splitlines() if line.startswith("│")]
    assert [row[0].strip() for row in rows] == SINCE_ROWS * 3  # of three tables
    assert all(float(cell) > 0 for row in rows for cell in row[2:])


def test_no_request_takes_more_bytecodes_than_its_figure():
    """
    The figures are counts of earlier runs, in a file. Besides, pages that fit into the caches are not evicted, and no
    event is executed more than once.
    """
    done = subprocess.run([sys.executable, "-m", "bench.counts"], cwd=ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    assert done.returncode == 0, f"{done.stdout}\nif it has to be so: python -m bench.counts --write"
    names = [line.strip("| ").split(" | ")[0] for line in done.stdout.splitlines()[2:] if line.startswith("|")]
    figures = Figures.read()
    assert names == [*(figures.bytecodes if figures.python == PYTHON else ()), *LIMITS]


def test_more_subscriptions_than_an_address_may_have_connections_are_measured():
    default = Settings.model_fields["max_address_connections"].default
    command = [sys.executable, "-m", "bench.subscriptions", str(default + 10)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert done.stderr == ""
    assert len([line for line in done.stdout.splitlines() if re.fullmatch(r"\| .+ \| [0-9.]+.* \|", line)]) == 14
