"""The comparison of values with their types."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import pytest

from tests.typed import typed


class Pair(NamedTuple):
    one: object
    other: object = 1


@dataclass(frozen=True)
class Record:
    part: object


WRAPPED = [lambda value: value, lambda value: [value], lambda value: {"a": value}, Pair, Record, lambda value: {value}]


@pytest.mark.parametrize("wrap", WRAPPED)
@pytest.mark.parametrize("other", [1.0, Decimal(1), True])
def test_equal_values_of_other_types_differ(wrap, other):
    assert wrap(other) == wrap(1)
    assert typed(wrap(other)) != typed(wrap(1))


@pytest.mark.parametrize("wrap", WRAPPED)
def test_equal_values_of_the_same_types_are_equal(wrap):
    assert typed(wrap("text")) == typed(wrap("text"))
    assert typed(wrap("text")) != typed(wrap("another"))


def test_equal_parts_in_other_containers_differ():
    assert typed(Pair(1)) != typed((1, 1)) and typed([1]) != typed((1,))
