"""The whole schema, and its text."""

from pathlib import Path

import strawberry
from graphql import build_schema, lexicographic_sort_schema, print_schema
from strawberry.schema.config import StrawberryConfig

from schema.errors import RateLimited, Refusal, VotingClosed
from schema.mutations import Mutation
from schema.queries import Query
from schema.scalars import SCALARS
from schema.subscriptions import Subscription

FILE = Path(__file__).parent / "schema.graphql"

SCHEMA = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    types=[Refusal, VotingClosed, RateLimited],
    config=StrawberryConfig(scalar_map=SCALARS),
)


def text() -> str:
    """The schema in sorted order, as `schema.graphql` holds it."""
    return print_schema(lexicographic_sort_schema(build_schema(SCHEMA.as_str()))) + "\n"
