"""
What a vote costs: the script of another checkout and of this one, in turns, on one Valkey.

    python -m bench.vote_script FOLDER [ROUNDS]

`FOLDER` is another checkout of the project, whose `VOTE` has the method `beginning`. Each round has 300 votes with each
script, on new articles of a site of 20,000, in all orders; the two take turns in being first. It prints two figures,
medians of slices of 20 votes, in microseconds for each vote: the time in the script, and the processor time of the
whole server, which also writes the append-only file.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.orders import GROUPS, NOW, SIZES, fill
from server.managed_valkey import server
from store import keys, log
from store.articles import VOTE
from store.client import Command
from store.client.connection import LuaScript
from store.records import Vote
from store.store import Store

VOTES = 300
SLICE = 20  # votes that are measured together: few, so that most slices run without other programs between
ROUNDS = 60
# run in the other checkout: prints the text of its script, the keys of its calls, and whether it keeps answers
OTHER_VOTE = """
import json
from store.articles import VOTE
print(json.dumps([VOTE.text, VOTE.beginning(0)[3:], getattr(VOTE, "keeps_answers", False)]))
"""


class VoteScript(NamedTuple):
    """
    The beginning of the command of a vote, and whether the script keeps its answers for calls that are repeated:
    then the last argument is the id of the call.
    """

    beginning: Command
    keeps_answers: bool

    def call(self, command: Command) -> Command:
        """The call of this script with the arguments of another call."""
        arguments = command[len(VOTE.beginning(0)) :]
        return (*self.beginning, *(arguments if self.keeps_answers else arguments[:-1]))


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of a vote: in the script, and of the processor time of the server."""

    script: float
    process: float


async def main(folder: Path, rounds: int) -> None:
    before = _vote_of(folder)
    with tempfile.TemporaryDirectory() as name, server.running(Path(name)) as url:
        store = await Store.open(url, clock=lambda: NOW)
        await fill(store, SIZES[1])
        print("| groups | script before | now | ratio | process before | now | ratio |")
        print("|---|---|---|---|---|---|---|")
        for count in (0, 1, 3):
            both = [before, VoteScript(VOTE.beginning(0), keeps_answers=True)]
            costs_of_both = await _costs(store, both, GROUPS[:count], rounds)
            script_cells = _row(*(median(cost.script for cost in costs) for costs in costs_of_both))
            process_cells = _row(*(median(cost.process for cost in costs) for costs in costs_of_both))
            print(f"| {count} | {script_cells} | {process_cells} |", flush=True)
        size = await store.site.redis.run(("MEMORY", "USAGE", keys.log(0), "SAMPLES", 0))
        print(f"\nbytes of the entry of a vote: {size / sum(await log.lengths(store.site)):.0f}")
        await store.close()


def _vote_of(folder: Path) -> VoteScript:
    """The script of another checkout."""
    found = subprocess.check_output([sys.executable, "-c", OTHER_VOTE], cwd=folder)
    text, keys_of_script, keeps_answers = json.loads(found)
    beginning = ("EVALSHA", LuaScript(text).digest, len(keys_of_script), *keys_of_script)
    return VoteScript(beginning, keeps_answers)


async def _costs(store: Store, scripts: Sequence[VoteScript], groups: Sequence[str], rounds: int) -> list[list[Cost]]:
    """The cost of each slice of each round, for each script."""
    found: list[list[Cost]] = [[] for _ in scripts]
    for turn in range(rounds):
        for place in range(len(scripts)):
            which = (place + turn) % len(scripts)
            number = len(scripts) * turn + which
            found[which] += await _votes(store, scripts[which], groups, number)
    return found


async def _votes(store: Store, script: VoteScript, groups: Sequence[str], number: int) -> list[Cost]:
    """The cost of each slice of votes on a new article, by voters who are all new. The first vote is not measured."""
    # A number consists of a sequence, here one that no article of `fill` and none of another number of groups has, and
    # the slot of the poster, here 0.
    article = (2 * SIZES[1] + 1_000 * len(groups) + number) * keys.SLOTS
    fields = ("title", "a", "poster", "alice", "time", NOW, "up", 1, "down", 0, "groups", " ".join(groups))
    voters = [f"voter-{each}" for each in range(VOTES + 1)]
    commands = [store.site.command(VOTE, 0, article, Vote.UP.value, username=name) for name in voters]
    first, *votes = map(script.call, commands)
    made: list[Command] = [
        ("HSET", keys.article(0, article), *fields),
        ("SADD", keys.voted(0, article), "alice"),
        first,
    ]
    await store.site.redis.pipeline(made)
    return [await _cost(store, votes[start : start + SLICE]) for start in range(0, VOTES, SLICE)]


async def _cost(store: Store, votes: Sequence[Command]) -> Cost:
    await store.site.redis.run(("CONFIG", "RESETSTAT"))
    before = await _processor_time(store)
    await store.site.redis.pipeline(votes)
    after = await _processor_time(store)
    information: str = await store.site.redis.run(("INFO", "commandstats"))
    # its line is `cmdstat_evalsha:calls=NUMBER,usec=NUMBER,...`
    in_scripts = float(information.split("cmdstat_evalsha:")[1].split("usec=")[1].split(",")[0])
    return Cost(in_scripts / len(votes), (after - before) * 1e6 / len(votes))


async def _processor_time(store: Store) -> float:
    """Seconds of processor time that the server has used."""
    information: str = await store.site.redis.run(("INFO", "cpu"))
    return sum(float(information.split(f"{name}:")[1].split()[0]) for name in ("used_cpu_user", "used_cpu_sys"))


def _row(before: float, now: float) -> str:
    return f"{before:.1f} | {now:.1f} | {now / before:.2f}"


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS))
