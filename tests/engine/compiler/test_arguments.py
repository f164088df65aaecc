"""
The compiler makes a plan of an operation, which is executed without graphql-core. It calls resolvers that are declared
in the metadata of a field itself, with the arguments that Strawberry would give them, whatever their types are.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, NewType

import pytest
import strawberry
from strawberry.schema.config import StrawberryConfig

from caches import Pool
from engine import Client, Limits
from engine.compiler.execution import Execution
from engine.compiler.resolvers import RESOLVER, BatchResolver
from engine.documents import Operations
from tests.engine.sample import Opened


@dataclass(slots=True)
class Point:
    x: int
    y: int


PointScalar = NewType("PointScalar", Point)


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.input
class Change:
    title: strawberry.Maybe[str | None]
    place: PointScalar | None = None
    numbers: list[int] = strawberry.field(default_factory=lambda: [1])


@strawberry.input
class Changes:
    first: Change
    others: list[Change] | None = None
    colour: Colour = Colour.RED


@strawberry.input
class Filter:
    """It contains itself."""

    number: int | None = None
    colour: Colour | None = None
    every: "list[Filter] | None" = None
    other: "Filter | None" = None


@strawberry.input(one_of=True)
class Choice:
    number: strawberry.Maybe[int]
    colour: strawberry.Maybe[Colour]


def shown(value: Any = "absent") -> str:
    return repr(value)


def shown_at_once(parents: list[Any], context: Any, **arguments: Any) -> list[str]:
    return [shown(**arguments)] * len(parents)


def field_with(type_: Any) -> Any:
    """A field with one argument of a type, which may be left out."""

    def of_one(value: Any = strawberry.UNSET) -> str:
        return shown() if value is strawberry.UNSET else shown(value)

    of_one.__annotations__["value"] = type_
    return strawberry.field(resolver=of_one, metadata={RESOLVER: BatchResolver(shown_at_once)})


@strawberry.type
class Query:
    changes: str = field_with(Changes | None)
    change: str = field_with(Change | None)
    choice: str = field_with(Choice | None)
    filter: str = field_with(Filter | None)
    maybe: str = field_with(strawberry.Maybe[int | None])
    maybes: str = field_with(strawberry.Maybe[list[Change] | None])
    point: str = field_with(PointScalar | None)
    points: str = field_with(list[PointScalar | None] | None)
    lists: str = field_with(list[list[int] | None] | None)
    colours: str = field_with(list[Colour] | None)
    at: str = field_with(datetime | None)
    decimal: str = field_with(Decimal | None)


SCALARS = {
    PointScalar: strawberry.scalar(name="Point", serialize=repr, parse_value=lambda value: Point(*value)),
}
SCHEMA = strawberry.Schema(Query, config=StrawberryConfig(scalar_map=SCALARS))
CHANGE = {"title": None, "place": [1, 2]}


@pytest.mark.parametrize(
    ("field", "type_", "values"),
    [
        ("changes", "Changes", [{"first": {}}, {"first": CHANGE, "others": [{"title": "x"}], "colour": "BLUE"}, None]),
        ("change", "Change", [{}, {"title": "x"}, {"title": None, "numbers": []}, None]),
        ("filter", "Filter", [{"number": 1}, {"every": [{"other": {"colour": "RED"}}, {"every": []}]}, None]),
        ("choice", "Choice", [{"number": 1}, {"colour": "BLUE"}]),
        ("maybe", "Int", [1, None]),
        ("maybes", "[Change!]", [[], [CHANGE], CHANGE, None]),
        ("point", "Point", [[1, 2], None]),
        ("points", "[Point]", [[[1, 2], None], [], None]),
        ("lists", "[[Int!]]", [[[1], None, []], 1, None]),
        ("colours", "[Colour!]", [["RED", "BLUE"], "RED", None]),
        ("at", "DateTime", ["2016-08-04T11:52:00Z", None]),
        ("decimal", "Decimal", ["1.00", None]),
    ],
)
async def test_arguments_are_those_of_strawberry(field, type_, values):
    query = f"query($value: {type_}) {{ {field}(value: $value) }}"
    for variables in ({}, *({"value": value} for value in values)):
        expected = await SCHEMA.execute(query, variables)
        assert expected.errors is None
        assert await compiled(query, variables) == expected.data
    for value in values:
        written = f"{{ {field}(value: {literal(value)}) }}"
        assert await compiled(written, {}) == (await SCHEMA.execute(written)).data


async def test_variables_within_literals_are_those_of_strawberry():
    query = """query($title: String, $place: Point, $change: Change!) {
      change(value: {title: $title, place: $place}) changes(value: {first: $change, others: [{title: $title}]}) }"""
    for variables in ({}, {"title": None, "place": None}, {"title": "x", "place": [1, 2]}):
        given = variables | {"change": CHANGE}
        assert await compiled(query, given) == (await SCHEMA.execute(query, given)).data


async def compiled(query: str, variables: dict[str, Any]) -> Any:
    operation = Operations(SCHEMA, Limits(), Pool(1_000_000)).find(query, name=None)
    execution = Execution(SCHEMA)
    for _ in range(2):
        result, path = await execution.execute(operation, variables, Opened(Client(token=None, address=""), number=1))
    assert path == "compiled"
    return result.data


def literal(value: Any) -> str:
    """A value as GraphQL writes it."""
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {literal(each)}" for name, each in value.items()) + "}"
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case None:
            return "null"
        case "RED" | "BLUE":
            return str(value)
        case str():
            return f'"{value}"'
        case _:
            return str(value)
