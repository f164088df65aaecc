"""Where an article stands, as GraphQL types."""

import strawberry

from schema import enums
from store.ranking import Order

assert enums  # describes the enum


@strawberry.type(description="A part of the value that an order sorts by.")
class StandingTerm:
    name: str = strawberry.field(description="What it comes from.")
    value: float = strawberry.field(description="What it adds; below 0, what it takes away.")


@strawberry.type(description="Where an article stands in an order, and why.")
class Standing:
    order: Order = strawberry.field(description="The order.")
    rank: int = strawberry.field(description="The place, counted from the top, which is 1.")
    value: float = strawberry.field(description="What the order sorts by; instants in unix seconds.")
    terms: list[StandingTerm] = strawberry.field(description="What the value is made of: the terms add up to it.")
    votes_to_next_rank: int | None = strawberry.field(
        description="How many more upvotes pass the article just above; null at the top, and where no votes can."
    )
