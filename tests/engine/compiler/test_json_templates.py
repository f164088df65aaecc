"""
JSON templates, which keep the JSON of a record with placeholders between answers: what is cached in them, and what is
resolved for each answer. The plan of an operation, which the compiler makes, fills them.
"""

import asyncio
from dataclasses import dataclass

import orjson
import strawberry

from caches import ENTRY_BYTES, Pool
from engine import Limits
from engine.compiler.completion import JsonTemplate, TemplateCache
from engine.compiler.execution import Execution
from engine.compiler.resolvers import RESOLVER, BatchResolver, RootResolver
from engine.documents import Operations


@dataclass(frozen=True)
class Record:
    name: str
    is_common: bool = True


asked: list[str] = []
moods = iter(range(1_000))


async def mood(things, context):
    asked.extend(thing.name for thing in things)
    return [next(moods) for _ in things]


async def resolve_mood(root, info: strawberry.Info) -> int:
    raise AssertionError("the plan calls the batch resolver")


@strawberry.type
class Thing:
    name: str
    mood: int = strawberry.field(resolver=resolve_mood, metadata={RESOLVER: BatchResolver(mood)})

    is_cacheable = staticmethod(lambda record: record.is_common)


RECORDS = [Record("a\0b"), Record("odd", is_common=False), Record("c")]


async def all_things(context):
    return RECORDS


async def resolve_things(root, info: strawberry.Info) -> list[Thing]:
    return RECORDS


@strawberry.type
class Query:
    things: list[Thing] = strawberry.field(resolver=resolve_things, metadata={RESOLVER: RootResolver(all_things)})


def test_attributes_are_cached_and_other_fields_are_resolved_each_time():
    schema = strawberry.Schema(Query)
    execution = Execution(schema)
    operation = Operations(schema, Limits(), Pool(1_000_000)).find("{ things { name mood again: name } }", name=None)
    asyncio.run(compiled(execution, operation))
    asked.clear()

    for turn in range(3):
        first = asyncio.run(compiled(execution, operation))["things"]
        assert [thing["name"] for thing in first] == [thing["again"] for thing in first] == ["a\0b", "odd", "c"]
        moods_of = [thing["mood"] for thing in first]
        assert moods_of == list(range(moods_of[0], moods_of[0] + 3))
        assert asked == ["a\0b", "odd", "c"] * (turn + 1)
    assert len(execution._templates) == 2


def test_only_what_is_declared_pure_is_cached_with_its_record():
    calls: list[str] = []

    def named(name):
        def batch(records, context):
            calls.append(name)
            return [len(calls)] * len(records)

        return batch

    @strawberry.type
    class Counted:
        name: str
        pure: int = strawberry.field(
            resolver=resolve_mood, metadata={RESOLVER: BatchResolver(named("pure"), is_pure=True)}
        )
        impure: int = strawberry.field(resolver=resolve_mood, metadata={RESOLVER: BatchResolver(named("impure"))})

        is_cacheable = staticmethod(lambda record: True)

    @strawberry.type
    class CountedQuery:
        things: list[Counted] = strawberry.field(resolver=resolve_things, metadata={RESOLVER: RootResolver(all_things)})

    schema = strawberry.Schema(CountedQuery)
    execution = Execution(schema)
    operation = Operations(schema, Limits(), Pool(1_000_000)).find("{ things { pure impure } }", name=None)
    for _ in range(3):
        asyncio.run(compiled(execution, operation))

    assert (calls.count("pure"), calls.count("impure")) == (len(RECORDS), 3)


async def compiled(execution, operation):
    """The data of an answer by the compiled plan: executes an operation again until it is compiled."""
    while True:
        result, path = await execution.execute(operation, {}, None)
        if path == "compiled":
            return orjson.loads(orjson.dumps(result.data))


def test_full_cache_evicts_the_oldest_and_a_large_template_at_once():
    records = [Record(str(number)) for number in range(20)]
    size = JsonTemplate(records[0], {"name": "0" * 100}, {}).size + ENTRY_BYTES
    cache = TemplateCache(Pool(10 * size + size // 2))
    for record in [*records, records[-1], records[-1]]:
        cache.keep(1, JsonTemplate(record, {"name": "0" * 100}, {}))

    assert [template is not None for template in cache.find(1, records)] == [False] * 10 + [True] * 10
    assert cache.find(2, records) == [None] * 20

    cache.keep(1, JsonTemplate(records[0], {"name": "0" * 10_000}, {}))
    assert [template is not None for template in cache.find(1, records)] == [False] * 10 + [True] * 10
