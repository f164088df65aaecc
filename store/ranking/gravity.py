"""
Reading listings by GRAVITY, whose values change with age: in steps, each a short call of a script.

A step that has looked at `STEP` articles and classes says where the next one goes on. Between two of them others may
write, so that a long answer is not of one instant.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from store.client.commands import Command
from store.queries import Read
from store.records import PartitionPage, Position, parse_positions
from store.scripts.registry import GRAVITY_PAGE, GRAVITY_RANK

STEP = 400
AT_ONCE = 500  # positions that are looked for in one walk, which steps make up


@dataclass(frozen=True, slots=True)
class Decay:
    """What ranking by votes and age needs: when it is, the numbers of the formula, more keys of each partition."""

    at: int
    numbers: tuple[float, ...]
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PageRead:
    """A part of a page that is still to be read, after the positions that were found."""

    keys: tuple[str, ...]
    numbers: tuple[float, ...]  # the instant first
    upwards: bool
    count: int
    position: Position | None
    found: tuple[Position, ...] = ()
    has_behind: bool = False  # whether there is anything at the first position, or where the page comes from

    @property
    def wanted(self) -> int:
        """How many positions the next walk looks for; it asks for one more, to know whether there is more."""
        return min(self.count - len(self.found), AT_ONCE)

    def read(self, stopped: Sequence[str] = ()) -> Read[Any]:
        position = (repr(self.position.value), self.position.member) if self.position else ("", "")
        direction = "up" if self.upwards else "down"
        command = GRAVITY_PAGE.command(self.keys, *self.numbers, STEP, direction, self.wanted + 1, *position, *stopped)
        return Read(command, _page_part, (self,))


def partition_page(
    keys: tuple[str, ...], decay: Decay, at: int, upwards: bool, count: int, position: Position | None
) -> Read[Any]:
    """One partition's part of a page; its result may be a further read."""
    return PageRead(keys, (at, *decay.numbers), upwards, count, position).read()


def count_above(keys: tuple[str, ...], decay: Decay, position: Position) -> Read[Any]:
    """How many of one partition stand above a position; the result may be a further read."""
    command = GRAVITY_RANK.command(keys, decay.at, *decay.numbers, STEP, repr(position.value), position.member)
    return Read(command, _counted, (command,))


def _counted(first: Command, reply: list[str]) -> int | Read[Any]:
    status, *stopped = reply
    return Read((*first, *stopped), _counted, (first,)) if status == "more" else int(stopped[0])


def _page_part(walk: PageRead, reply: list[str]) -> PartitionPage | Read[Any]:
    if reply[0] == "more":
        return walk.read(reply[1:])
    _, total, is_anything_behind, *flat = reply
    found = sorted(parse_positions(flat), reverse=not walk.upwards)
    has_more = len(found) > walk.wanted
    shown = (*walk.found, *found[: walk.wanted])
    behind = walk.has_behind if walk.found else bool(int(is_anything_behind))
    if has_more and len(shown) < walk.count:
        return replace(walk, position=shown[-1], found=shown, has_behind=behind).read()
    has_above, has_below = (has_more, behind) if walk.upwards else (behind, has_more)
    above = 0 if not has_above else 1 if has_below else max(int(total) - len(shown), 0)
    return PartitionPage(above, int(total), shown[::-1] if walk.upwards else shown, int(walk.numbers[0]))
