"""
Compares values together with their types, for tests: `1 == 1.0 == Decimal(1) == True` in Python, although JSON writes
them differently, or cannot write them.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum


def typed(value: object) -> object:
    """
    A value in which each part stands beside the name of its type, also within collections and records: two of these
    are equal if the values are, and have the same types.
    """
    name = type(value).__name__
    if is_dataclass(value):
        return name, {field.name: typed(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return name, {typed(key): typed(each) for key, each in value.items()}
    if isinstance(value, Set):
        return name, frozenset(map(typed, value))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | Enum):
        return name, tuple(map(typed, value))
    return name, value
