"""Fields made of resolvers: what a resolver's parameters say of it, and what they do not."""

from dataclasses import dataclass

import pytest
import strawberry

from engine.compiler.resolvers import declared_resolver
from resolvers.context import Context
from schema.fields import field_of


@dataclass
class Counter:
    value: int = 0


def count(counters):
    for counter in counters:
        counter.value += 1
    return [counter.value for counter in counters]


async def count_later(counters):
    return count(counters)


@strawberry.type
class Counted:
    count: int = field_of(count, "Changes with every call.")
    pure: int = field_of(count, "Declared as pure.", is_pure=True)
    later: int = field_of(count_later, "A coroutine function of the parents alone.")
    old: int = field_of(count, "Deprecated.", deprecation_reason="use count")


def test_resolver_of_the_parents_alone_is_pure_only_if_declared():
    fields = {field.python_name: declared_resolver(field) for field in Counted.__strawberry_definition__.fields}

    assert {name: declared.is_pure for name, declared in fields.items()} == {
        "count": False,
        "pure": True,
        "later": False,
        "old": False,
    }


@pytest.mark.parametrize("name", ["count", "later"])
async def test_resolver_of_the_parents_alone_is_called_for_each_answer(store, name):
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


COUNTER = Counter()
