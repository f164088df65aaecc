"""
Pages of listings as Relay connections, which Strawberry names after their nodes: `Connection[Article]` is the type
`ArticleConnection`.
"""

from operator import attrgetter
from typing import Generic, TypeVar

import strawberry

from resolvers.pagination import total_count
from schema.fields import field_of

T = TypeVar("T")


@strawberry.type(description="The position of a page in its listing.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether there are items after this page.")
    has_previous_page: bool = strawberry.field(description="Whether there are items before this page.")
    start_cursor: str | None = strawberry.field(
        description="The cursor of the first edge. If all items of the page are gone, as may be in a pin, that of the "
        "first of them; null if there were none."
    )
    end_cursor: str | None = strawberry.field(
        description="The cursor of the last edge. If all items of the page are gone, as may be in a pin, that of the "
        "last of them, after which the listing continues; null if there were none."
    )


@strawberry.type(description="An item of a listing, with its cursor.")
class Edge(Generic[T]):
    cursor: str = strawberry.field(
        description="The position of this edge, for the arguments `after` and `before` of the same listing."
    )
    node: T = strawberry.field(description="The item.")


@strawberry.type(description="A page of a listing.")
class Connection(Generic[T]):
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a page: whether the server may cache its JSON

    edges: list[Edge[T]] = strawberry.field(description="The items of this page, with cursors.")
    nodes: list[T] = strawberry.field(description="The items of this page, for clients that need no cursors.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the listing.")
    total_count: int = field_of(total_count, "The number of items in the whole listing.")
