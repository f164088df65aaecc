"""
What all records of backups and moves have in common. A backup has a record as a list that JSON can represent: its kind,
then its fields in order. A dump makes only records that pass their `check`, and a restore refuses a backup that has any
other, before it writes anything.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from store import keys, numbering
from store.client import Command
from store.kinds import Text
from store.site import Site

MAX_SHOWN = 60  # characters of a value in a message
MAX_FIELDS = 100  # of a hash
INSTANT = re.compile(r"[0-9]{1,15}")  # unix milliseconds
COUNT = re.compile(r"[0-9]{1,15}")

OnSkipped = Callable[[str], object]  # is called with each key, or key and field, that is damaged and left out


class MalformedRecord(Exception):
    """The message names the record, the part and what is wrong."""


@dataclass(frozen=True, slots=True)
class Record(ABC):
    """
    One record of a backup or a move. The values within its lists and dictionaries may be of any type until `check` has
    passed.
    """

    @property
    @abstractmethod
    def kind(self) -> str: ...

    @abstractmethod
    def check(self) -> None:
        """
        Raises:
            MalformedRecord: the record cannot be restored.
        """

    @abstractmethod
    def commands(self, site: Site) -> Iterator[Command]:
        """The commands that restore it. They may be repeated."""

    def as_list(self) -> list[Any]:
        return [self.kind, *(getattr(self, field.name) for field in fields_of(self))]


R = TypeVar("R", bound=Record)


def valid(found: Iterable[tuple[str, R]], on_skipped: OnSkipped) -> list[R]:
    """The records that can be restored, of pairs of a key and its record."""
    kept = []
    for key, record in found:
        try:
            record.check()
        except MalformedRecord:
            on_skipped(key)
        else:
            kept.append(record)
    return kept


def without_malformed(
    key: str, fields: Mapping[str, str], optional: Mapping[str, re.Pattern[str]], on_skipped: OnSkipped
) -> dict[str, str]:
    """The fields of a hash without those malformed ones that may be left out."""
    malformed = [name for name in sorted(optional.keys() & fields) if not optional[name].fullmatch(fields[name])]
    for name in malformed:
        on_skipped(f"{key} {name}")
    return {name: value for name, value in fields.items() if name not in malformed}


def flat(fields: Mapping[str, str]) -> list[str]:
    return [text for pair in fields.items() for text in pair]


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def check_fields(
    where: str,
    fields: Mapping[str, Any],
    *,
    needed: Mapping[str, re.Pattern[str]],
    optional: Mapping[str, re.Pattern[str]],
) -> None:
    """
    Check the fields of a hash: each is a text, and follows its pattern if it has one in `needed` or `optional`.

    Raises:
        MalformedRecord: there are too many, one that is needed is missing, or one is wrong. The message names `where`.
    """
    if len(fields) > MAX_FIELDS:
        raise MalformedRecord(f"{where}: it has {len(fields)} fields, more than {MAX_FIELDS}")
    for name in needed:
        if name not in fields:
            raise MalformedRecord(f"{where}: it has no {name}")
    for name, value in fields.items():
        pattern = needed.get(name) or optional.get(name)
        if type(value) is not str or (pattern and not pattern.fullmatch(value)):
            escaped_name = shown(name)[1:-1]  # without its quotes
            raise MalformedRecord(f"{where}: {shown(value)} is no usable {escaped_name}")


def check_number(where: str, number: int) -> None:
    if not keys.SLOTS <= number <= numbering.HIGHEST_NUMBER:
        raise MalformedRecord(f"{where}: {shown(number)} is no number of an article, a comment or an action")


def check_instant(where: str, what: str, value: object) -> None:
    if type(value) is not int or not 0 <= value < 10**15:
        raise MalformedRecord(f"{where}: {shown(value)} is no usable {what}")


def check_text(where: str, what: str, value: object, pattern: re.Pattern[str] | Text) -> None:
    fits = pattern.fits if isinstance(pattern, Text) else pattern.fullmatch
    if type(value) is not str or not fits(value):
        raise MalformedRecord(f"{where}: {shown(value)} is no usable {what}")
