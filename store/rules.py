"""
The rules of a site: what happens to texts and votes without a moderator. They are data, in one TOML file, and read once
at the start. A table that is left out is a rule that the site does not have.

What they say of a text or a vote is in `store/verdicts.py`.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from store import phrases

T = TypeVar("T")
Check = Callable[[str, object], object]  # takes where a key is in the file and its value, and returns what is kept

MOST_UPVOTERS = 10  # of a user, that are known by name (in `upvoters.lua`, too)
MOST_OUTCOMES = 10  # of flags of a user, that are kept (in `flag_outcomes.lua`, too)
MOST_LISTED = 10_000  # words or domains
MOST_HELD = 50  # first texts
LONGEST_TIME = 36_500  # days
LONGEST_MEMORY = 24 * 30  # hours that a repeated text is known
BILLION = 10**9
HOLD, REFUSE = "hold", "refuse"


class WrongRules(ValueError):
    """The file cannot be read as rules. The message names the file, the table and the key."""


def _between(low: int, high: int, default: int | None = None) -> Any:
    """A whole number in a range; without a default it has to be given."""

    def check(where: str, value: object) -> int:
        if type(value) is not int:
            raise WrongRules(f"{where} must be a whole number")
        if not low <= value <= high:
            raise WrongRules(f"{where} is {value}, but must be from {low} to {high}")
        return value

    metadata = {"check": check}
    return field(metadata=metadata) if default is None else field(default=default, metadata=metadata)


def _listed(parse: Callable[[str], object]) -> Any:
    """A list of texts, empty by default. `parse` raises ValueError for one that cannot be used."""

    def check(where: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise WrongRules(f"{where} must be a list of texts")
        if len(value) > MOST_LISTED:
            raise WrongRules(f"{where} has {len(value)} texts, but at most {MOST_LISTED} are allowed")
        for each in value:
            try:
                parse(each)
            except ValueError as fault:
                raise WrongRules(f"{where}: {each[:60]!r} {fault}") from None
        return tuple(value)

    return field(default=(), metadata={"check": check})


def _action(default: str) -> Any:
    """What happens to a text that breaks a rule: it is held, or refused."""

    def check(where: str, value: object) -> object:
        if value not in (HOLD, REFUSE):
            raise WrongRules(f'{where} must be "{HOLD}" or "{REFUSE}"')
        return value

    return field(default=default, metadata={"check": check})


@dataclass(frozen=True, slots=True)
class FlagRules:
    """
    When flags hide an article or a comment until a moderator has looked at it: as soon as `hide_at` flags count, and
    one for each `votes_per_flag` votes of it.

    A user's flag counts if the account has the least age and karma, if `least_voters` different users have upvoted it,
    and if moderators have upheld more of its last `last_flags` decided flags than overruled; 0 asks for none.
    """

    hide_at: int = _between(1, 1000)
    votes_per_flag: int = _between(1, BILLION, default=20)
    least_age_days: int = _between(0, LONGEST_TIME, default=7)
    least_karma: int = _between(0, BILLION, default=20)
    least_voters: int = _between(0, MOST_UPVOTERS, default=5)
    last_flags: int = _between(0, MOST_OUTCOMES, default=10)


@dataclass(frozen=True, slots=True)
class WordRules:
    """Words and phrases of texts that are held or refused, compared without case and accents."""

    hold: tuple[str, ...] = _listed(phrases.phrase)
    refuse: tuple[str, ...] = _listed(phrases.phrase)


@dataclass(frozen=True, slots=True)
class DomainRules:
    """Domains, with all below them, of texts that are held or refused."""

    hold: tuple[str, ...] = _listed(phrases.domain)
    refuse: tuple[str, ...] = _listed(phrases.domain)


@dataclass(frozen=True, slots=True)
class FirstTextRules:
    """Texts of an account are held until `hold` of them were approved, or stood without a flag for a day."""

    hold: int = _between(1, MOST_HELD)


@dataclass(frozen=True, slots=True)
class LeastRules:
    """The least age and karma of an account that may do something."""

    least_age_days: int = _between(0, LONGEST_TIME, default=0)
    least_karma: int = _between(0, BILLION, default=0)


@dataclass(frozen=True, slots=True)
class LinkRules(LeastRules):
    """The least age and karma of an account whose texts have links; other texts with links are held or refused."""

    action: str = _action(default=HOLD)


@dataclass(frozen=True, slots=True)
class DailyRules:
    """How many articles and comments an account may post in 24 hours while it is younger than some days."""

    younger_than_days: int = _between(1, LONGEST_TIME)
    most: int = _between(1, BILLION)


@dataclass(frozen=True, slots=True)
class RepetitionRules:
    """
    How often a user may post the same words in some hours. Texts of fewer characters may be repeated.
    """

    most: int = _between(1, 1000, default=1)
    hours: int = _between(1, LONGEST_MEMORY, default=24)
    least_length: int = _between(1, 1000, default=20)
    action: str = _action(default=REFUSE)


@dataclass(frozen=True, slots=True)
class RegistrationRules:
    """How many accounts may be registered from an address in 24 hours."""

    a_day: int = _between(1, BILLION)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a site, by the names of their tables."""

    flags: FlagRules | None = None
    words: WordRules | None = None
    domains: DomainRules | None = None
    first_texts: FirstTextRules | None = None
    links: LinkRules | None = None
    texts_a_day: tuple[DailyRules, ...] = ()
    repeated_text: RepetitionRules | None = None
    votes: LeastRules | None = None
    downvotes: LeastRules | None = None
    flagging: LeastRules | None = None
    registrations: RegistrationRules | None = None

    @property
    def have_texts(self) -> bool:
        """Whether a rule concerns texts."""
        of_texts = (self.words, self.domains, self.first_texts, self.links, self.texts_a_day, self.repeated_text)
        return any(of_texts)


TABLES: dict[str, Any] = {
    "flags": FlagRules,
    "words": WordRules,
    "domains": DomainRules,
    "first_texts": FirstTextRules,
    "links": LinkRules,
    "texts_a_day": DailyRules,
    "repeated_text": RepetitionRules,
    "votes": LeastRules,
    "downvotes": LeastRules,
    "flagging": LeastRules,
    "registrations": RegistrationRules,
}
LISTED = frozenset({"texts_a_day"})  # tables that a file may have several times
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
    if name in LISTED:
        if not isinstance(table, list) or not all(isinstance(each, dict) for each in table):
            raise WrongRules(f"{name} is not a list of tables: write [[{name}]]")
        return tuple(_filled(kind, f"[[{name}]] {place}", each) for place, each in enumerate(table, 1))
    if not isinstance(table, dict):
        raise WrongRules(f"{name} is not a table: write [{name}]")
    return _filled(kind, f"[{name}]", table)


def _filled(kind: type[T], label: str, table: Mapping[str, object]) -> T:
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]  # all in TABLES are dataclasses
    values = {}
    for key, value in table.items():
        if key not in known:
            raise WrongRules(f"{label} has no key {key[:60]}; the keys are {', '.join(known)}")
        check: Check = known[key].metadata["check"]
        values[key] = check(f"{label} {key}", value)
    for key, each in known.items():
        if key not in table and each.default is MISSING:
            raise WrongRules(f"{label} lacks the key {key}")
    return kind(**values)
