"""
A soak: one world after the other, each with the next seed, and a report of all. A world is a server that gets random
requests, whose answers are compared with those of a model.
"""

import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.soak.databases import Databases, databases
from tests.soak.model import Mirror
from tests.soak.reached import Reached
from tests.soak.running import Difference
from tests.soak.server import ROOT, Unanswered
from tests.soak.shrinking import Shrinker, script
from tests.soak.worlds import BEGINNING, World, replay

OPERATIONS = 4_000  # GraphQL operations that one world gets
SHRINKING = 240  # seconds, at most, in which a history that shows a difference is made shorter
SHOWN = 1_500  # characters of an answer that are printed
MAX_REFUSED = 0.05  # share of the operations that may be refused because of their cost


@dataclass
class SoakResult:
    """The differences as text, including errors that servers logged, and how often each case was reached."""

    reached: Reached = field(default_factory=Reached)
    differences: list[str] = field(default_factory=list)
    refused: int = 0  # operations that servers have refused because of their cost

    @property
    def is_bad(self) -> bool:
        return bool(self.differences or self.missing())

    def missing(self) -> list[str]:
        missing = self.reached.missing()
        if self.refused > MAX_REFUSED * self.reached["operations"]:
            missing.append(f"{self.refused} operations were refused because of their cost")
        return missing

    def report(self) -> str:
        never = [f"never reached: {what}" for what in self.missing()]
        return "\n".join([self.reached.report(), *never, f"{len(self.differences)} differences", *self.differences])


async def soak(seed: int, minutes: float, *, root: Path = ROOT, stop: bool = False) -> SoakResult:
    """
    Run worlds for some minutes, and shrink the history of each difference, the list of all requests that led to it.
    `root` is the source tree of the server. With `stop`, end at the first difference.
    """
    with databases() as factory:
        return await _soak(seed, minutes, factory, root=root, stop=stop)


async def _soak(seed: int, minutes: float, factory: Databases, *, root: Path, stop: bool) -> SoakResult:
    until, result = time.monotonic() + minutes * 60, SoakResult()
    while time.monotonic() < until:
        world = World(seed, factory, root)
        began, difference = time.monotonic(), None
        try:
            await world.generate(OPERATIONS, until)
            await search_rings(world)
        except Difference as first:
            difference = first
        except (Unanswered, ChildProcessError) as fault:
            result.differences.append(f"seed {seed}: {fault!r}")
        finally:
            await world.close()
        reached = world.run.model.reached
        result.reached.update(reached)
        result.refused += world.run.refused
        operations, seconds = reached["operations"], time.monotonic() - began
        print(
            f"seed {seed}: {operations} operations, {operations / seconds:.0f} a second, {world.settings}", flush=True
        )
        if difference:
            print(f"seed {seed} differs: {str(difference)[:SHOWN]}", flush=True)
            result.differences.append(await description(world, difference, factory, root))
            print(result.differences[-1], flush=True)
            if stop:
                break
        if not difference and world.server.errors():
            result.differences.append(f"seed {seed}: logged errors\n{world.server.errors()[:3_000]}")
            print(result.differences[-1], flush=True)
        seed += 1
    return result


async def search_rings(world: World) -> None:
    """
    Search the votes of a history for rings, users who vote for each other, unless the database lacks some of them.

    Raises:
        ChildProcessError: the search fails.
    """
    if world.run.model.mirror is Mirror.UP:
        votes = await world.server.search_rings()
        world.run.model.reached.count("searches for rings among votes", votes > 0)


async def description(world: World, found: Difference, factory: Databases, root: Path) -> str:
    """The difference with the shortest history that shows it."""
    shrinker = Shrinker(partial(replay, world.settings, databases=factory, root=root), time.monotonic() + SHRINKING)
    steps, again = await shrinker.shrunk(world.steps, found)
    lines = [f"seed {world.seed} differs after {len(world.steps)} steps, {world.settings}: {str(found)[:SHOWN]}"]
    if again is None:
        lines += ["the same history does not show it again; its last steps:", script(world.steps[-5:], BEGINNING)]
        lines.append(f"at #{found.operation.number if found.operation else 0}, answered {str(found.answered)[:SHOWN]}")
    else:
        lines += [f"{len(steps)} steps show it ({shrinker.tries} tries):", script(steps, BEGINNING), str(again)[:SHOWN]]
        lines.append(f"at #{again.operation.number if again.operation else 0}, answered {str(again.answered)[:SHOWN]}")
    return "\n".join(lines)
