"""Progress bars on a terminal; nothing is shown elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text


@contextmanager
def progress_bar(name: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that advances the bar by a number of steps, of which the total may be unknown."""
    console = Console(stderr=True)
    is_shown = console.is_terminal
    with Progress(console=console, disable=not is_shown, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task(name, total=total)
        yield lambda count: progress.advance(task, count)


def progress_bars() -> Progress:
    """Several bars, each with its speed and the time that is left."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


class Rate(ProgressColumn):
    """The speed of a bar, in steps a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:,.0f}/s")
