"""The results of the ranking lab as tables: plain text of at most 100 columns."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from server.lab.experiments import ExperimentPlan, Measures, Results

if TYPE_CHECKING:
    from server.lab.planted_rings import Measured  # which needs numpy

WIDTH = 100  # columns of text
MOST_VARIANTS = 7  # that fit into the width


def tables(results: Results, plan: ExperimentPlan) -> str:
    """A table of measures by variant (an order with its weights), and one of the overlap of each two variants."""
    return _text(_measures(results, plan), _overlaps(results, plan))


def of_rings(measured: "Sequence[Measured]") -> str:
    """A table of what the search for rings has found on each site: recall by the size of the ring."""
    columns = [f"{size}:\nrecall" for size in measured[0].recall]
    table = _table("rings; friends", [*columns, "\nfound", "\nwrong", "\nprecision"])
    for each in measured:
        least, most = each.planted.friends
        recall = [f"{share:.2f}" for share in each.recall.values()]
        precision = "-" if each.precision is None else f"{each.precision:.2f}"
        name = f"{each.planted.ring:.0%}; {least:.0%} to {most:.0%}"
        table.add_row(name, *recall, str(each.found), str(each.wrong), precision)
    return _text(table)


def _measures(results: Results, plan: ExperimentPlan) -> Table:
    columns = (
        "new per\nhour",
        "hours shown:\nmedian",
        "\nlongest",
        f"{plan.colluders} colluders:\nhours shown",
        "\nbest rank",
    )
    table = _table(f"the first {plan.places}", columns)
    for name, measured in results.measured.items():
        table.add_row(name, *_cells(measured, plan.places))
    return table


def _cells(measured: Measures, places: int) -> list[str]:
    """The row of a variant. Two values with an arrow are without and with the votes of colluders."""
    ranks = [f"{rank:g}" if rank <= places else f">{places}" for rank in measured.best_rank]
    return [
        f"{measured.turnover:.2f}",
        f"{measured.median_stay:.1f}",
        f"{measured.longest_stay:.1f}",
        " -> ".join(f"{hours:.1f}" for hours in measured.hours) or "-",
        " -> ".join(ranks) or "-",
    ]


def _overlaps(results: Results, plan: ExperimentPlan) -> Table:
    names = list(results.measured)
    table = _table(f"% of {plan.places} shared", [name.replace(" ", "\n") for name in names])
    for one in names:
        shares = [1.0 if one == other else results.overlaps[frozenset((one, other))] for other in names]
        table.add_row(one, *(f"{share * 100:.0f}" for share in shares))
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"\n{title}", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _text(*shown: Table) -> str:
    file = io.StringIO()
    console = Console(file=file, width=WIDTH, color_system=None, force_terminal=False)
    for table in shown:
        console.print(table)
        console.print()
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip().split("\n"))
