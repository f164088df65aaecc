"""A bar for those who wait at a terminal, and nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def bar(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives what to call with how much more was done."""
    console = Console(stderr=True)
    is_shown = console.is_terminal
    with Progress(console=console, disable=not is_shown, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task(name, total=total)
        yield lambda count: progress.advance(task, count)
