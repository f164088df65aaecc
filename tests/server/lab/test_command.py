"""The command `upvote lab`, which replays a file of stories and compares orders of articles and their weights."""

import re
import struct
import sys
from pathlib import Path

import pytest

from server.cli.demo import SAMPLE
from server.cli.main import main
from tests.programs import skip_or_fail

HEADER = "id,title,url,points,comments,author,created_at\n"


@pytest.fixture
def matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        skip_or_fail("matplotlib is not installed")


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "server.lab.pictures", raising=False)
    for name in ("matplotlib", "numpy"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """A story each 3 hours for 9 days, some with titles that matplotlib would take for formulas or cannot draw."""
    file = tmp_path / "stories.csv"
    titles = ("What $100 and $x_{ buy", "_under", "投票", "A title " * 30)
    file.write_text(
        HEADER
        + "".join(
            f"{number},{titles[number % 4]},,{number * 7 % 40},0,user-{number},"
            f"2016-08-{1 + number // 8:02d}T{number % 8 * 3:02d}:00:00Z\n"
            for number in range(72)
        )
    )
    return file


def lab(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["lab", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The message of a refusal, after which nothing was printed."""
    try:
        assert main(["lab", *map(str, arguments)]) == 2
    except SystemExit as wrong_usage:
        assert wrong_usage.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()[-1]


def test_tables_name_orders_and_weights(capsys, no_matplotlib):
    shown = lab(capsys, SAMPLE)

    assert shown.startswith(
        "60 stories of 2024-03-04 to 2024-03-14, bad lines 0; sampled every 60 min from 2024-03-11 on"
    )
    names = ["score 432", "score 100", "hot", "gravity 1.8", "votes", "time"]
    rows = [line for line in shown.splitlines() if re.search(r" \d+$", line)]
    assert [re.split("  +", row)[0] for row in rows[-len(names) :]] == names  # the last table
    for name in names:
        assert len(re.findall(rf"^{name}  ", shown, re.MULTILINE)) == 2


def test_equal_seeds_and_options_give_equal_tables(capsys):
    first = lab(capsys, SAMPLE, "--top", 3, "--step", 5)

    assert lab(capsys, SAMPLE, "--top", 3, "--step", 5) == first
    for other in (("--seed", 2), ("--half-life", 20)):
        assert tables_of(lab(capsys, SAMPLE, "--top", 3, "--step", 5, *other)) != tables_of(first)


def tables_of(shown: str) -> list[str]:
    """The lines below the four that repeat the options."""
    return shown.splitlines()[4:]


def test_widest_tables_fit_100_columns(capsys):
    orders = "score,time,votes,hot,best,controversial,gravity"
    ages = ",".join(f"0.012345{digit}" for digit in range(1, 8))
    for wide in (("--orders", orders, "--vote-score", 432), ("--orders", "gravity", "--gravity-age", ages)):
        shown = lab(capsys, SAMPLE, *wide, "--top", 100, "--colluders", 10_000)

        assert max(map(len, shown.splitlines())) <= 100
        assert "…" not in shown


def test_orders_that_need_downvotes_are_noted(capsys):
    assert "no downvotes" not in lab(capsys, SAMPLE, "--orders", "hot,time")
    shown = lab(capsys, SAMPLE, "--orders", "best,votes,controversial,time", "--top", 5)

    assert shown.endswith("the file has no downvotes: best ranks as votes, controversial as time\n")
    matrix = [line.split() for line in shown.split("% of 5 shared")[1].splitlines()[1:5]]
    assert matrix[0][:3] == ["best", "100", "100"]
    assert matrix[2] == ["controversial", *matrix[3][1:3], "100", "100"]


def test_bad_lines_are_reported_as_by_import(capsys, stories):
    with stories.open("a") as file:
        file.write("x,no columns\n9,again,,1,0,user,2016-08-01T00:00:00Z\n")

    assert main(["lab", str(stories)]) == 0

    captured = capsys.readouterr()
    assert captured.out.startswith("72 stories of 2016-08-01 to 2016-08-09, bad lines 2;")
    assert captured.err.splitlines() == [
        "stories.csv, line 74: it has 2 columns, the first line has 7",
        "stories.csv, line 75: line 11 has the same id",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no,stories\n", "the first line is not JSON and has no columns id, title, author, created_at"),
        (HEADER, "the file has no story"),
        (HEADER + "1,a title,,1,0,user,2016-08-01T00:00:00Z\n", "the stories span 0.0 days: the first 7 only fill"),
    ],
)
def test_files_without_stories_to_replay_are_refused(capsys, tmp_path, text, message):
    file = tmp_path / "stories.csv"
    file.write_text(text)

    assert refused(capsys, file).startswith(f"upvote: {message}")
    assert "No such file" in refused(capsys, tmp_path / "missing.csv")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (("--orders", "score,rising"), "'rising' is not an order; the orders are score, time, votes"),
        (("--orders", ""), "'' is not an order"),
        (("--vote-score", "432,-1"), "'-1' is not a number from 0.01 to 86400 of at most 6 digits"),
        (("--vote-score", "nan"), "'nan' is not a number from 0.01 to"),
        (("--vote-score", "100.0000001"), "'100.0000001' is not a number from 0.01 to 86400 of at most 6 digits"),
        (("--gravity-age", "x"), "'x' is not a number from 0.01 to 10"),
        (("--half-life", "0"), "'0' is not a number from 0.01 to 168"),
        (("--top", "0"), "'0' is not a whole number from 1 to 100"),
        (("--colluders", "9" * 5000), "is not a whole number from 1 to 10000"),
        (("--step", "7"), "invalid choice"),
        (("--day", "today"), "'today' is not a day like 2016-08-04"),
        (("--vote-score", "1,2,3,4"), "at most 7 orders and weights fit into the tables, not 8"),
        (("--day", "2024-03-12"), "--day needs --picture"),
    ],
)
def test_options_out_of_range_are_refused(capsys, option, message):
    assert message in refused(capsys, SAMPLE, *option)


def test_picture_without_matplotlib_is_refused_at_once(capsys, tmp_path, no_matplotlib):
    picture = tmp_path / "ranks.png"

    assert refused(capsys, SAMPLE, "--picture", picture) == (
        "upvote: a picture needs matplotlib: .venv/bin/pip install -e '.[lab]'"
    )
    assert not picture.exists()


def test_picture_of_a_missing_day_or_in_a_missing_folder_is_refused(capsys, tmp_path, matplotlib):
    picture = tmp_path / "ranks.png"

    assert refused(capsys, SAMPLE, "--picture", picture, "--day", "2024-03-15") == (
        "upvote: no story is of 2024-03-15; the stories are of 2024-03-04 to 2024-03-14"
    )
    assert "none of the picture does not exist" in refused(capsys, SAMPLE, "--picture", tmp_path / "none" / "ranks.png")
    assert list(tmp_path.iterdir()) == []


def test_picture_is_a_png(capsys, tmp_path, stories, matplotlib):
    picture = tmp_path / "ranks.png"
    shown = lab(capsys, stories)

    assert lab(capsys, stories, "--picture", picture) == shown
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1500, 960)  # two rows of panels
    assert data.endswith(b"IEND\xaeB`\x82")

    lab(capsys, stories, "--picture", picture, "--day", "2016-08-02", "--orders", "hot")
    again = picture.read_bytes()
    assert struct.unpack(">II", again[16:24]) == (1500, 600)
    assert again != data


def test_picture_shows_ranks_by_hour(matplotlib):
    from server.lab.pictures import Day, figure

    hour = 3_600_000
    tops = {"hot": [[7, 5], [9, 7], [9, 3]], "time": [[5, 7], [5, 3], [9, 5]]}
    titles = {7: "12  seven", 5: "3  $five_{"}
    day = Day("2016-08-04", titles, instants=range(0, 3 * hour, hour), tops=tops, places=2)

    drawn = figure(day)

    assert [panel.get_title() for panel in drawn.axes if panel.get_visible()] == ["hot", "time"]
    lines = [[_points(line) for line in panel.get_lines()] for panel in drawn.axes[:2]]
    assert lines == [
        [{0: 1, 1: 2}, {0: 2}],
        [{0: 2}, {0: 1, 1: 1, 2: 2}],
    ]
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["12  seven", "3  $five_{"]
    assert drawn.axes[0].get_ylim() == (2.5, 0.5)  # the first place is on top


def _points(line) -> dict[float, float]:
    return {x: y for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True) if y == y}
