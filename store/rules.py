"""
The rules of a site: what happens to texts without a moderator. They are data, in one TOML file, and read once at the
start. A table that is left out is a rule that the site does not have.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

MOST_UPVOTERS = 10  # of a user, that are known by name: see `upvoters.lua`
MOST_OUTCOMES = 10  # of flags of a user, that are kept: see `flag_outcomes.lua`
BILLION = 10**9


class WrongRules(ValueError):
    """The file cannot be read as rules. The message names the file, the table and the key."""


def _between(low: int, high: int, default: int | None = None) -> Any:
    """A whole number in a range; without a default it has to be given."""
    limits = {"low": low, "high": high}
    return field(metadata=limits) if default is None else field(default=default, metadata=limits)


@dataclass(frozen=True, slots=True)
class FlagRules:
    """
    When flags hide an article or a comment until a moderator has looked at it: as soon as `hide_at` flags count, and
    one for each `votes_per_flag` votes of it.

    The flag of a user counts whose account has a least age and karma, who was upvoted by `least_voters` different
    users, and of whose last `last_flags` decided flags moderators have upheld more than overruled; 0 asks for none.
    """

    hide_at: int = _between(1, 1000)
    votes_per_flag: int = _between(1, BILLION, 20)
    least_age_days: int = _between(0, 36_500, 7)
    least_karma: int = _between(0, BILLION, 20)
    least_voters: int = _between(0, MOST_UPVOTERS, 5)
    last_flags: int = _between(0, MOST_OUTCOMES, 10)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a site, by the names of their tables."""

    flags: FlagRules | None = None


TABLES = {"flags": FlagRules}
NO_RULES = Rules()


def read(path: Path) -> Rules:
    """
    The rules in a TOML file.

    Raises:
        OSError: the file cannot be read.
        WrongRules: it is no TOML, or a table or key is unknown, missing, of the wrong type or out of range.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
        return Rules(**{name: _rule(name, table) for name, table in tables.items()})
    except ValueError as fault:
        raise WrongRules(f"{path}: {fault}") from fault


def _rule(name: str, table: object) -> Any:
    kind = TABLES.get(name)
    if kind is None:
        raise WrongRules(f"there is no table [{name[:60]}]; the tables are {', '.join(f'[{each}]' for each in TABLES)}")
    if not isinstance(table, dict):
        raise WrongRules(f"{name} is not a table: write [{name}]")
    return _filled(kind, name, table)


def _filled(kind: type[T], name: str, table: Mapping[str, object]) -> T:
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]  # all in TABLES are dataclasses
    for key, value in table.items():
        if key not in known:
            raise WrongRules(f"[{name}] has no key {key[:60]}; the keys are {', '.join(known)}")
        _check(f"[{name}] {key}", value, known[key].metadata)
    for key, each in known.items():
        if key not in table and each.default is MISSING:
            raise WrongRules(f"[{name}] lacks the key {key}")
    return kind(**table)


def _check(where: str, value: object, limits: Mapping[str, int]) -> None:
    if type(value) is not int:
        raise WrongRules(f"{where} must be a whole number")
    if not limits["low"] <= value <= limits["high"]:
        raise WrongRules(f"{where} is {value}, but must be from {limits['low']} to {limits['high']}")
