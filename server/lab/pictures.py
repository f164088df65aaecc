"""
Draws the ranks of a day's ten best stories under each variant (an order of ranking with its weights). Needs the extra
`lab`, which has matplotlib.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from warnings import catch_warnings, filterwarnings

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from server.lab.arrivals import HOUR
from server.lab.measures import Top

ACROSS = 3  # panels in a row
TITLE_LENGTH = 90  # characters
GAP = float("nan")  # interrupts a line


@dataclass(frozen=True, slots=True)
class Day:
    """`titles` are by number of story; `tops` has the first `places` stories of each variant at each instant."""

    name: str
    titles: Mapping[int, str]
    instants: Sequence[int]  # unix milliseconds
    tops: Mapping[str, Sequence[Top]]
    places: int


def draw(day: Day, file: Path) -> None:
    """
    Write a picture of a day as PNG.

    Raises:
        OSError: the file cannot be written.
    """
    file.write_bytes(_png(figure(day)))


def figure(day: Day) -> Figure:
    """A panel for each variant with a line for each story, interrupted where the story is beyond the page."""
    rows = -(-len(day.tops) // ACROSS)  # rounded up
    drawn = Figure(figsize=(15, 3.6 * rows + 2.4), dpi=100, layout="constrained")
    drawn.suptitle(f"{day.name}: ranks of the ten best stories by hour (UTC), their points below", parse_math=False)
    panels = list(drawn.subplots(rows, ACROSS, sharex=True, sharey=True, squeeze=False).flat)
    for panel, (name, tops) in zip(panels, day.tops.items(), strict=False):
        _draw_ranks(panel, name, day, tops)
    for panel in panels[len(day.tops) :]:
        panel.set_visible(False)
    legend = drawn.legend(
        panels[0].get_lines(), [_short(title) for title in day.titles.values()], loc="outside lower center", ncols=2
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # dollar signs in a title do not begin a formula
    return drawn


def _draw_ranks(panel: Axes, name: str, day: Day, tops: Sequence[Top]) -> None:
    hours = [(now - day.instants[0]) / HOUR for now in day.instants]
    for number in day.titles:
        panel.plot(hours, [top.index(number) + 1 if number in top else GAP for top in tops])
    panel.set_title(name)
    panel.set_xlim(0, 24)
    panel.set_xticks(range(0, 25, 4))
    panel.set_ylim(day.places + 0.5, 0.5)  # the first rank is at the top
    panel.grid(alpha=0.3)


def _short(title: str) -> str:
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1] + "…"


def _png(drawn: Figure) -> bytes:
    written = BytesIO()
    with catch_warnings():
        filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a title may be in any script
        drawn.savefig(written, format="png")
    return written.getvalue()
