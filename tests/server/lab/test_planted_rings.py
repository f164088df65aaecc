"""
The figures of docs/rings.md: how many members of voting rings the search finds if their votes are planted among honest
ones, and whom else. A ring is a group of accounts that vote for each other.
"""

import re
from pathlib import Path

import pytest

from server.cli.demo import SAMPLE
from server.cli.import_stories import ImportCounts, read
from server.cli.main import main
from server.cli.progress import progress_bars
from server.lab import planted_rings, tables
from server.lab.planted_rings import ALL_PLANTED, CLOSEST, USUAL, Planted, measure

PAGE = Path(__file__).parents[3] / "docs" / "rings.md"


def sample():
    with progress_bars() as progress:
        return read([SAMPLE], ImportCounts(), progress).stories


def shown() -> list[list[str]]:
    """The cells of the table of the page for the sample, of lines with figures."""
    (table,) = re.findall(r"^60 stories;[^`]*", PAGE.read_text(), re.MULTILINE)
    return [line.split() for line in table.splitlines() if "%" in line]


@pytest.mark.parametrize("planted", ALL_PLANTED[:2], ids=["90%", "80%"])
def test_line_of_the_page_is_what_the_lab_prints(planted):
    measured = measure(sample(), planted, seed=1)

    assert tables.of_rings([measured]).splitlines()[-1].split() in shown()
    assert measured.precision == 1 and min(measured.recall.values()) > 0.6


def test_page_has_all_that_the_lab_measures():
    names = [f"{each.ring:.0%}; {each.friends[0]:.0%} to {each.friends[1]:.0%}" for each in ALL_PLANTED]

    assert [" ".join(cells[:4]) for cells in shown()] == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("planted", "least_recall", "least_precision"),
    [(Planted(0.7, USUAL), 0.8, 0.98), (Planted(0.3, USUAL), 0, 1), (Planted(0.8, CLOSEST), 0.6, 0.7)],
)
def test_figures_hold_for_other_seeds(planted, least_recall, least_precision):
    measured = measure(sample(), planted, seed=2)

    assert (measured.precision or 1) >= least_precision
    assert min(measured.recall.values()) >= least_recall
    assert planted.ring >= 0.5 or measured.found == 0


def test_command_prints_the_table(capsys, monkeypatch):
    monkeypatch.setattr(planted_rings, "ALL_PLANTED", ALL_PLANTED[:1])

    assert main(["lab", "--rings", str(SAMPLE)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("60 stories; sites with ") and printed[-1].split() in shown()
