"""
The compiler makes a plan of an operation, which is executed without graphql-core. Resolvers that are plain methods of
Strawberry types are compiled, too, with the same results whatever they return.
"""

import asyncio
from enum import Enum
from math import inf, nan
from typing import Any, NewType

import orjson
import pytest
import strawberry
from graphql import get_introspection_query
from hypothesis import given, settings
from hypothesis import strategies as st
from strawberry.extensions import FieldExtension
from strawberry.permission import BasePermission
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types import Info
from strawberry.types.unset import UNSET

from caches import Pool
from engine import Client, Limits
from engine.compiler.execution import Execution
from engine.compiler.resolvers import RESOLVER, BatchResolver
from engine.documents import Operations
from tests.engine.sample import Opened
from tests.examples import examples
from tests.servers import PATIENCE

pytestmark = pytest.mark.usefixtures("collected")  # garbage is collected after each test

Loud = NewType("Loud", str)


class Broken(Exception):
    """What resolvers and attributes raise."""


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.input
class Wish:
    colour: Colour = Colour.RED
    numbers: list[int] | None = UNSET


class Record:
    """All its attributes have the same value, except special ones."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self.value, Broken):
            raise self.value
        return self.value


class Other(Record):
    """Not accepted by `is_type_of` of any type."""


class Fault(Exception):
    """An exception as a value, with an attribute `key`, as `Bare` has it."""

    key = "x"


AWAITED = Record("y")


class Later:
    """An awaitable value, with an attribute `key` of its own beside that of what it gives."""

    key = "x"

    def __await__(self) -> Any:
        return AWAITED
        yield  # which makes it a generator


@strawberry.type
class Bare:
    """A type without `is_type_of`."""

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


# what attributes of a `Thing` have: values of all types, right and wrong ones, and below records and lists of them
VALUES = [None, "x", "", 3, 2**40, 1.5, 3.0, nan, inf, True, Colour.RED, b"x", [], ["x", None], ValueError(), Broken()]
A_RECORD = len(VALUES)  # the index of the first record below
VALUES += [Record("x"), Record(Record("y")), (Record("z"), Record(3)), [Record("x"), None], [Record("x"), Broken()]]
VALUES += [Other("x"), Fault(), Later()]


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
    "no answer": f"query($if: Boolean = true) {{ thing(number: {A_RECORD})"
    " { key inner { key @include(if: $if) } } }",
    "introspection": get_introspection_query(),
    "arguments": """{ a: method b: method(wish: null, number: 1) c: method(wish: {colour: BLUE, numbers: [1]})
      d: later(number: 2) e: method(wish: {numbers: null}) __typename }""",
    "an order": "{ z: method y: __typename fails x: later(number: 1) b: thing(number: 1) { key text } a: __typename }",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
async def test_answers_are_those_of_strawberry(text):
    operation = Operations(SCHEMA, Limits(), Pool(1_000_000)).find(text, name=None)
    context = Opened(Client(token=None, address=""), number=7)
    variables = {"if": None}
    right = await SCHEMA.execute(text, variables, context)
    execution = Execution(SCHEMA)

    assert right.data is not None
    for turn in range(4):
        result, path = await execution.execute(operation, variables, context)
        assert (path == "new") == (turn == 0)
        assert (path == "compiled") <= (right.errors is None)  # no answer with errors is that of a plan
        assert repr(result.data) == repr(right.data)
        assert [error.formatted for error in result.errors or ()] == [error.formatted for error in right.errors or ()]


def test_schema_with_an_executor_of_its_own_is_not_served():
    class Own(StrawberryGraphQLCoreExecutionContext):
        pass

    with pytest.raises(ValueError, match="executor"):
        Execution(strawberry.Schema(Query, config=CONFIG, execution_context_class=Own))


class Allowed(BasePermission):
    message = "not for you"

    def has_permission(self, source: Any, info: Info, **arguments: Any) -> bool:
        return bool(info.context.client.token)


class AllowedLater(Allowed):
    async def has_permission(self, source: Any, info: Info, **arguments: Any) -> bool:  # type: ignore[override]
        await asyncio.sleep(0)
        return bool(info.context.client.token)


class Upper(FieldExtension):
    def resolve(self, next_: Any, source: Any, info: Info, **arguments: Any) -> Any:
        return next_(source, info, **arguments).upper()


async def word_counts(books: list["Tome"], context: Any, by: int = 1) -> list[int]:
    return [by * len(book.title.split()) for book in books]


async def word_count(root: "Tome", info: Info, by: int = 1) -> int:
    return (await word_counts([root], info.context, by))[0]


@strawberry.type
class Tome:
    title: str
    notes: strawberry.Private[list[str]]
    subject: str = strawberry.field(default="any", permission_classes=[Allowed])
    declared: int | None = strawberry.field(
        resolver=word_count, metadata={RESOLVER: BatchResolver(word_counts)}, deprecation_reason="use wordCount"
    )
    guarded: int | None = strawberry.field(
        resolver=word_count, metadata={RESOLVER: BatchResolver(word_counts)}, permission_classes=[AllowedLater]
    )

    @strawberry.field
    def shout(self, marks: int = 1) -> str:
        return self.title.upper() + "!" * marks

    @strawberry.field(deprecation_reason="use shout")
    async def whisper(self, info: Info, times: int = 1) -> list[str]:
        await asyncio.sleep(0)
        return [self.title.lower() + str(info.context.number)] * times

    @strawberry.field(permission_classes=[Allowed])
    def secret(self) -> str | None:
        return self.title[::-1]

    @strawberry.field(permission_classes=[AllowedLater])
    async def late_secret(self, info: Info) -> str | None:
        return f"{info.field_name} of {self.title}"

    @strawberry.field(extensions=[Upper()])
    def loud(self) -> str:
        return self.title

    @strawberry.field
    def place(self, info: Info) -> str:
        return ".".join(map(str, info.path.as_list()))

    @strawberry.field
    def odd(self, wish: Wish | None = None) -> int:
        if "b" in self.title:
            raise Broken("a title with b")
        return len(wish.numbers or ()) if wish else -1

    @strawberry.field
    async def sequels(self, first: int = 2) -> list["Tome"]:
        await asyncio.sleep(0)
        return [Tome(title=f"{self.title} {number}", notes=[]) for number in range(first)]

    @strawberry.field
    def twin(self, is_there: bool = True) -> "Tome | None":
        return self if is_there else None


DONE: list[str] = []  # the titles that mutations were executed with


@strawberry.type
class Library:
    @strawberry.field
    def tomes(self, titles: list[str] = ["a b", "c"]) -> list[Tome]:  # noqa: B006 - Strawberry prints it
        return [Tome(title=title, notes=[]) for title in titles]

    @strawberry.field(permission_classes=[Allowed])
    async def vault(self, info: Info) -> Tome | None:
        return Tome(title=f"at {info.path.key}", notes=[])


@strawberry.type
class Change:
    @strawberry.mutation
    def add(self, title: str) -> Tome:
        DONE.append(title)
        if title == "broken":
            raise Broken(title)
        return Tome(title=title, notes=[])

    @strawberry.mutation(permission_classes=[AllowedLater])
    async def burn(self, info: Info, title: str) -> Tome | None:
        DONE.append(f"{title} at {info.path.key}")
        return Tome(title=title, notes=[])


LIBRARY = strawberry.Schema(Library, Change)
ARGUMENTS = {
    "shout": ["", "(marks: 2)", "(marks: $n)"],
    "whisper": ["", "(times: $n)", "(times: 0)"],
    "declared": ["", "(by: $n)"],
    "guarded": ["", "(by: 3)", "(by: $n)"],
    "odd": ["", "(wish: {numbers: [1, 2]})", "(wish: {colour: BLUE, numbers: [$n]})", "(wish: $wish)"],
    "sequels": ["", "(first: $n)", "(first: 0)"],
    "twin": ["", "(isThere: false)"],
}
PLAIN_FIELDS = ["title", "subject", "secret", "lateSecret", "loud", "place", "__typename"]


@st.composite
def selections(draw: Any, depth: int = 0) -> str:
    names = draw(st.lists(st.sampled_from([*PLAIN_FIELDS, *ARGUMENTS]), min_size=1, max_size=4, unique=True))
    fields = []
    for number, name in enumerate(names):
        given = draw(st.sampled_from(ARGUMENTS.get(name, [""])))
        below = ""
        if name in ("sequels", "twin"):
            below = " { title }" if depth > 1 else " " + draw(selections(depth + 1))
        fields.append(f"f{depth}{number}: {name}{given}{below}")
    return "{ " + " ".join(fields) + " }"


# operations: {0} is replaced by the variables, {1} by the selection
VARIABLES = "($n: Int! = 2, $wish: Wish = {numbers: [3]})"
ROOTS = ["query {0} {{ tomes {1} }}", "query {0} {{ vault {1} }}", 'query {0} {{ tomes(titles: ["x", "bb", ""]) {1} }}']
ROOTS += ['mutation {0} {{ add(title: "new") {1} }}', 'mutation {0} {{ burn(title: "old") {1} }}']


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # graphql-core never awaits some
@settings(max_examples=examples(80), deadline=None)
@given(st.sampled_from(ROOTS), selections(), st.sampled_from([{}, {"n": 3}, {"n": 0, "wish": None}]), st.booleans())
def test_random_documents_of_plain_resolvers_are_answered_alike(root, selected, variables, has_permission):
    text = root.format(VARIABLES, selected)
    if "$n" not in selected or "$wish" not in selected:
        text = text.replace(VARIABLES, used_variables(selected))
    used = {name: variables[name] for name in variables if f"${name}" in selected}
    asyncio.run(check_document(text, used, has_permission))


def used_variables(selected: str) -> str:
    declared = {"n": "$n: Int! = 2", "wish": "$wish: Wish = {numbers: [3]}"}
    used = [text for name, text in declared.items() if f"${name}" in selected]
    return f"({', '.join(used)})" if used else ""


async def check_document(text: str, variables: dict[str, Any], has_permission: bool) -> None:
    """Check that a plan answers as Strawberry does, and that mutations do the same, for one with or without a token."""
    operation = Operations(LIBRARY, Limits(depth=20), Pool(1_000_000)).find(text, name=None)
    context, execution = Opened(Client("token" if has_permission else None, ""), 7), Execution(LIBRARY)
    DONE.clear()
    right = await LIBRARY.execute(text, variables, context)
    done = DONE.copy()
    for _ in range(3):
        DONE.clear()
        result, path = await execution.execute(operation, dict(variables), context)
        assert orjson.dumps(plain(result)) == orjson.dumps(plain(right)), path
        assert done == DONE
    if not right.errors and " place" not in selected_of(text):  # which needs the path of the field
        assert path == "compiled"


def selected_of(text: str) -> str:
    return text.partition("{")[2]


def plain(result: Any) -> list[Any]:
    """Data and errors; where an error makes all data null, others may be missing."""
    errors = sorted((error.formatted for error in result.errors or ()), key=str)
    return [result.data, errors if result.data else bool(errors)]


@pytest.mark.parametrize("title", ["new", "broken"])
async def test_mutation_with_a_plain_resolver_is_compiled_and_executed_once(title):
    text = f'mutation {{ add(title: "{title}") {{ title }} }}'
    operation = Operations(LIBRARY, Limits(), Pool(1_000_000)).find(text, name=None)
    context, execution = Opened(Client(token=None, address=""), number=7), Execution(LIBRARY)
    await execution.execute(operation, {}, context)
    DONE.clear()

    result, path = await execution.execute(operation, {}, context)

    assert [title] == DONE
    assert path == ("compiled" if title == "new" else "error")
    assert bool(result.errors) == (title == "broken")


async def test_plain_resolvers_of_a_level_are_awaited_concurrently():
    waiting = asyncio.Barrier(3)

    @strawberry.type
    class Runner:
        @strawberry.field
        async def meets(self) -> bool:
            await waiting.wait()
            return True

    @strawberry.type
    class Race:
        @strawberry.field
        def runners(self) -> list[Runner]:
            return [Runner() for _ in range(3)]

    schema = strawberry.Schema(Race)
    operation = Operations(schema, Limits(), Pool(1_000_000)).find("{ runners { meets } }", name=None)
    execution = Execution(schema)
    async with asyncio.timeout(PATIENCE):
        paths = [(await execution.execute(operation, {}, None)).execution_path for _ in range(3)]

    assert paths == ["new", "compiled", "compiled"]
