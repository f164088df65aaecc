"""A schema whose fields wait for one iteration of the event loop, so that several requests are executed at once."""

import asyncio

import strawberry


@strawberry.type
class Query:
    @strawberry.field
    async def hello(self, info: strawberry.Info, name: str | None = "world") -> str:
        await asyncio.sleep(0)
        info.context.usage.round_trips += 1
        return f"hello {name}"

    @strawberry.field
    async def twice(self, number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    @strawberry.field
    async def own(self, info: strawberry.Info) -> int:
        await asyncio.sleep(0)
        info.context.is_shareable = False  # as a field that depends on the viewer
        return info.context.number

    @strawberry.field
    async def fail(self) -> str | None:
        await asyncio.sleep(0)
        raise RuntimeError

    @strawberry.field
    async def never(self) -> str:
        await asyncio.Event().wait()
        return "too late"


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def change(self) -> bool:
        await asyncio.sleep(0)
        return True


SCHEMA = strawberry.Schema(Query, Mutation)
