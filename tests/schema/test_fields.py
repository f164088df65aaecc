"""
Fields that `schema.fields` makes from resolvers: kinds of resolvers and options. The resolver of a field is a batch
function: it takes a list of parents and returns the value of each. One that is pure is called once for all answers.
"""

from dataclasses import dataclass

import pytest
import strawberry
from strawberry.permission import BasePermission

from caches import Pool
from engine import Limits
from engine.compiler.execution import Execution
from engine.compiler.resolvers import declared_resolver
from engine.documents import Operations
from resolvers.context import Context
from schema.fields import command_field, field_of, root_field

pytestmark = pytest.mark.usefixtures("collected")  # garbage is collected after each test


@dataclass
class Counter:
    value: int = 0


COUNTER = Counter()


def add_one(counters, context):
    for counter in counters:
        counter.value += 1
    return [counter.value for counter in counters]


async def add_one_later(counters, context):
    return add_one(counters, context)


@strawberry.type
class Counted:
    count: int = field_of(add_one, "Changes with every call.")
    pure: int = field_of(add_one, "Declared as pure.", is_pure=True)
    later: int = field_of(add_one_later, "A coroutine function.")
    old: int = field_of(add_one, "Deprecated.", deprecation_reason="use count")


def test_resolver_is_pure_only_if_declared():
    fields = {field.python_name: declared_resolver(field) for field in Counted.__strawberry_definition__.fields}

    assert {name: declared.is_pure for name, declared in fields.items()} == {
        "count": False,
        "pure": True,
        "later": False,
        "old": False,
    }


def test_plans_have_a_resolver_of_their_own():
    field = field_of(add_one_later, "Known or counted.", planned=add_one)

    assert declared_resolver(field).function is add_one


@pytest.mark.parametrize("name", ["count", "later"])
async def test_resolver_without_arguments_is_called_for_each_answer(store, name):
    @strawberry.type
    class Query:
        @strawberry.field
        def counted(self) -> Counted:
            return COUNTER

    schema = strawberry.Schema(Query)
    answers = [await schema.execute(f"{{ counted {{ {name} }} }}", context_value=Context(store)) for _ in range(2)]

    assert [answer.errors for answer in answers] == [None, None]
    first, second = [answer.data["counted"][name] for answer in answers]
    assert second == first + 1


def test_deprecation_reason_is_in_the_schema():
    schema = strawberry.Schema(Counted)

    assert 'old: Int! @deprecated(reason: "use count")' in schema.as_str()


class LoggedIn(BasePermission):
    message = "log in first"

    async def has_permission(self, source, info, **arguments):
        return await info.context.viewer() is not None


class Owner(BasePermission):
    message = "not yours"

    def has_permission(self, source, info, **arguments):
        return info.context.session is not None


async def lengths(names, context, page: int = 1):
    return [page * len(name.text) for name in names]


async def any_name(context):
    return Name("a name")


async def rename(context, input=None):
    return Name("renamed")


@dataclass
class Name:
    text: str


def guarded_schema():
    @strawberry.type
    class NameType:
        text: str = strawberry.field(default="", permission_classes=[Owner])
        length: int | None = field_of(lengths, "Of coroutine functions.", permission_classes=[LoggedIn, Owner])
        letters: list[str] | None = field_of(
            lambda names, context: [list(name.text) for name in names],
            "At once.",
            permission_classes=[Owner],
            deprecation_reason="use text",
        )

    @strawberry.type
    class Query:
        name: NameType | None = root_field(any_name, "A name.", permission_classes=[LoggedIn])
        open_name: NameType | None = root_field(any_name, "A name for everyone.")

    @strawberry.type
    class Mutation:
        rename: NameType | None = command_field(
            rename, input=None, description="Rename.", permission_classes=[LoggedIn]
        )

    return strawberry.Schema(Query, Mutation)


@pytest.mark.parametrize("is_logged_in", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "{ name { length letters } }",
        "{ openName { length letters } }",
        "{ openName { text } }",
        "mutation { rename { length } }",
    ],
)
async def test_permissions_hold_on_every_kind_of_field(store, text, is_logged_in):
    token = (await store.users.register("vera", "correct horse")).token if is_logged_in else None
    schema = guarded_schema()
    right = await schema.execute(text, context_value=Context(store, token))
    execution = Execution(schema)
    operation = Operations(schema, Limits(), Pool(1_000_000)).find(text, name=None)

    for turn in range(3):
        result, path = await execution.execute(operation, {}, Context(store, token))
        assert result.data == right.data
        assert sorted(map(str, result.errors or ())) == sorted(map(str, right.errors or ()))
        assert path == ("new" if not turn else "compiled" if is_logged_in else "error")
    assert bool(right.errors) != is_logged_in
