"""Shortcuts answer as Strawberry does, whatever a record holds and however a resolver is written."""

from enum import Enum
from math import inf, nan
from typing import Any, NewType

import pytest
import strawberry
from graphql import get_introspection_query
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import Info
from strawberry.types.unset import UNSET

from caches import SizedCache
from engine import Client, Limits
from engine.compiler.execution import Execution
from engine.documents.operations import Operations
from tests.engine.sample import Opened

Loud = NewType("Loud", str)


class Broken(Exception):
    pass


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.input
class Wish:
    colour: Colour = Colour.RED
    numbers: list[int] | None = UNSET


class Record:
    """All its attributes are the same, but for those that Python asks for."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self.value, Broken):
            raise self.value
        return self.value


class Stranger(Record):
    """Of no type that tells its records from others."""


class Fault(Exception):
    key = "x"


AWAITED = Record("y")


class Later:
    key = "x"

    def __await__(self) -> Any:
        return AWAITED
        yield


@strawberry.type
class Bare:
    """A type that does not tell its records from others."""

    key: str


@strawberry.type
class Thing:
    text: str
    text_or_null: str | None
    number: int | None
    part: float | None
    is_so: bool | None
    key: strawberry.ID | None
    colour: Colour | None
    loud: Loud | None
    texts: list[str] | None
    inner: "Thing | None"
    inners: list["Thing | None"] | None
    all_inners: list["Thing"] | None
    bare: Bare | None

    @strawberry.field
    async def slow(self) -> str:
        return "slow"

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return type(value) is Record


VALUES = [None, "x", "", 3, 2**40, 1.5, 3.0, nan, inf, True, Colour.RED, b"x", [], ["x", None], ValueError(), Broken()]
VALUES += [Record("x"), Record(Record("y")), (Record("z"), Record(3)), [Record("x"), None], [Record("x"), Broken()]]
VALUES += [Stranger("x"), Fault(), Later()]


@strawberry.type
class Query:
    @strawberry.field
    def thing(root: Any, number: int) -> Thing | None:
        return Record(VALUES[number])

    @strawberry.field
    def things(self) -> list[Thing | None]:
        return [Record(value) for value in VALUES]

    @strawberry.field
    def method(self, info: Info, wish: Wish | None = UNSET, number: int = 5) -> str:
        return f"{self} {wish} {number} {info.field_name} {info.path.key} {info.return_type} {info.context.number}"

    @strawberry.field
    async def later(parent: strawberry.Parent[Any], number: int) -> list[int]:
        return [number] * number

    @strawberry.field
    async def fails(self) -> str | None:
        raise Broken("later")


LOUD = strawberry.scalar(name="Loud", serialize=lambda value: None if value == "" else str(value).upper())
CONFIG = StrawberryConfig(scalar_map={Loud: LOUD})
SCHEMA = strawberry.Schema(Query, config=CONFIG)
NAMES = ["text", "textOrNull", "number", "part", "isSo", "key", "colour", "loud", "texts", "__typename"]
DOCUMENTS = {
    **{name: f"{{ things {{ {name} }} }}" for name in NAMES},
    "all of one": f"{{ thing(number: 1) {{ {' '.join(NAMES)} }} }}",
    "inner": "{ things { inner { text } } }",
    "inner of inner": "{ things { inner { text inner { __typename key } } } }",
    "inners": "{ things { inners { text } more: inners { inner { text } inners { key } } } }",
    "bare": "{ things { bare { key } } }",
    "slow": "{ things { inner { key slow } } }",
    "all inners": "{ things { allInners { text } } }",
    "no answer": "query($if: Boolean = true) { thing(number: 16) { key inner { key @include(if: $if) } } }",
    "introspection": get_introspection_query(),
    "arguments": """{ a: method b: method(wish: null, number: 1) c: method(wish: {colour: BLUE, numbers: [1]})
      d: later(number: 2) e: method(wish: {numbers: null}) __typename }""",
    "an order": "{ z: method y: __typename fails x: later(number: 1) b: thing(number: 1) { key text } a: __typename }",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
async def test_answers_are_those_of_strawberry(text):
    operation = Operations(SCHEMA, Limits(), SizedCache(1_000_000)).find(text, None)
    context = Opened(Client(None, ""), 7)
    variables = {"if": None}
    right = await SCHEMA.execute(text, variables, context)
    result, way = await Execution(SCHEMA).execute(operation, variables, context)

    assert way == "new"
    assert right.data is not None
    assert repr(result.data) == repr(right.data)
    assert [error.formatted for error in result.errors or ()] == [error.formatted for error in right.errors or ()]


def test_schema_with_an_executor_of_its_own_is_not_served():
    class Own(StrawberryGraphQLCoreExecutionContext):
        pass

    with pytest.raises(ValueError, match="executor"):
        Execution(strawberry.Schema(Query, config=CONFIG, execution_context_class=Own))
