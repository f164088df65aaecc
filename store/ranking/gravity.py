"""
Reads of listings by GRAVITY, whose values change with age. A read takes several steps if it is long: each is a call of
a script that looks at about `STEP` articles and classes, and replies where the next step continues.

Others may write between two steps, so a long page is not of one instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from store.client import Command
from store.queries import Read
from store.records import PartitionPage, Position, parse_positions
from store.scripts.registry import Script

GRAVITY_PAGE = Script("gravity_page")
GRAVITY_RANK = Script("gravity_rank")

STEP = 400  # articles and classes that a call of a script looks at, about
MAX_WANTED = 500  # positions that one search looks for


@dataclass(frozen=True, slots=True)
class Decay:
    """
    How to rank by votes and age: the instant (unix milliseconds), the `numbers` of the formula (exponents of votes and
    of age, and the minutes added to every age), and the `keys` of the indexes of GRAVITY and of VOTES in each
    partition, a share of the data.
    """

    at: int
    numbers: tuple[float, ...]
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GravityPageRead:
    """
    A page of one partition that is being read: `count` positions beyond `position`, of which `found` are known.

    `numbers` are the instant (unix milliseconds), then the numbers of Decay. `has_behind` says whether there are
    entries at the first position or behind it, which is opposite to the direction of the page.
    """

    keys: tuple[str, ...]
    numbers: tuple[float, ...]
    upwards: bool
    count: int
    position: Position | None
    found: tuple[Position, ...] = ()
    has_behind: bool = False

    @property
    def wanted(self) -> int:
        """How many positions the next search looks for. The script looks for one more, to know whether more follow."""
        return min(self.count - len(self.found), MAX_WANTED)

    def read(self, stopped: Sequence[str] = ()) -> Read[Any]:
        """The next step. `stopped` is where the last one has stopped, as the script has replied it."""
        position = (repr(self.position.value), self.position.member) if self.position else ("", "")
        direction = "up" if self.upwards else "down"
        command = GRAVITY_PAGE.command(self.keys, *self.numbers, STEP, direction, self.wanted + 1, *position, *stopped)
        return Read(command, _next_page_part, (self,))


def partition_page(
    keys: tuple[str, ...], decay: Decay, at: int, upwards: bool, count: int, position: Position | None
) -> Read[Any]:
    """The page of one partition: results in a PartitionPage, or in a further read. `at` is in unix milliseconds."""
    return GravityPageRead(keys, (at, *decay.numbers), upwards, count, position).read()


def count_above(keys: tuple[str, ...], decay: Decay, position: Position) -> Read[Any]:
    """The number of entries of one partition above a position: results in an int, or in a further read."""
    command = GRAVITY_RANK.command(keys, decay.at, *decay.numbers, STEP, repr(position.value), position.member)
    return Read(command, _counted, (command,))


def _counted(first: Command, reply: list[str]) -> int | Read[Any]:
    """The count in a reply, or the read of the next step: the first command, and where this step has stopped."""
    status, *stopped = reply
    return Read((*first, *stopped), _counted, (first,)) if status == "more" else int(stopped[0])


def _next_page_part(read: GravityPageRead, reply: list[str]) -> PartitionPage | Read[Any]:
    if reply[0] == "more":
        return read.read(reply[1:])
    _, total, is_anything_behind, *flat = reply
    found = sorted(parse_positions(flat), reverse=not read.upwards)
    has_more = len(found) > read.wanted
    shown = (*read.found, *found[: read.wanted])
    behind = read.has_behind if read.found else bool(int(is_anything_behind))
    if has_more and len(shown) < read.count:
        return replace(read, position=shown[-1], found=shown, has_behind=behind).read()
    has_above, has_below = (has_more, behind) if read.upwards else (behind, has_more)
    # exact only if there are none, or if none are below: see `PartitionPage`
    above = 0 if not has_above else 1 if has_below else max(int(total) - len(shown), 0)
    return PartitionPage(above, int(total), shown[::-1] if read.upwards else shown, int(read.numbers[0]))
