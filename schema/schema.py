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

DESCRIPTION = """
Articles, comments, votes on both, and rankings.

Start with a query: `articles`, `frontPage`, `group` and `groups` list articles; `article`, `comment`, `user`, `node`
and `nodes` find by name or id, `search` by words; the `thread` of an article has its comments; `viewer`, `session`,
`feed` and `inbox` are those of the logged-in user. Lists are Relay connections.

Mutations change something, most of them for a logged-in user: `register` and `logIn` return a token, which requests
send as `Authorization: Bearer TOKEN`. A refusal is data, in `userErrors`. Subscriptions send changes as they happen.
""".strip()

SCHEMA = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    types=[Refusal, VotingClosed, RateLimited],
    config=StrawberryConfig(scalar_map=SCALARS),
)
SCHEMA._schema.description = DESCRIPTION  # Strawberry neither takes nor prints one


def text() -> str:
    """The schema in sorted order, as `schema.graphql` holds it."""
    schema = build_schema(SCHEMA.as_str())
    schema.description = DESCRIPTION
    return print_schema(lexicographic_sort_schema(schema)) + "\n"
