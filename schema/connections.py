"""Relay connections: pages with cursors."""

from operator import attrgetter

import strawberry

from resolvers.pagination import total_count
from schema.fields import field_of
from schema.types import Article, Group, User

CURSOR = "The position of this edge: give it as `after` or `before` of the same listing."
EDGES = "The places of this page."
NODES = "What stands in these places, for clients that need no cursors."
PAGE_INFO = "Whether and where the listing goes on."
TOTAL = "How many the whole listing has."


@strawberry.type(description="Whether and where a listing goes on beyond a page.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether more comes after this page.")
    has_previous_page: bool = strawberry.field(description="Whether more stands before this page.")
    start_cursor: str | None = strawberry.field(description="The cursor of the first edge; null of an empty page.")
    end_cursor: str | None = strawberry.field(description="The cursor of the last edge; null of an empty page.")


@strawberry.type(description="An article's place in a listing.")
class ArticleEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Article = strawberry.field(description="The article.")


@strawberry.type(description="A page of articles.")
class ArticleConnection:
    is_cacheable = staticmethod(attrgetter("is_kept"))

    edges: list[ArticleEdge] = strawberry.field(description=EDGES)
    nodes: list[Article] = strawberry.field(description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)
    total_count: int = field_of(total_count, TOTAL)


@strawberry.type(description="A user's place in a listing.")
class UserEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: User = strawberry.field(description="The user.")


@strawberry.type(description="A page of users.")
class UserConnection:
    is_cacheable = staticmethod(attrgetter("is_kept"))

    edges: list[UserEdge] = strawberry.field(description=EDGES)
    nodes: list[User] = strawberry.field(description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)
    total_count: int = field_of(total_count, TOTAL)


@strawberry.type(description="A group's place in a listing.")
class GroupEdge:
    cursor: str = strawberry.field(description=CURSOR)
    node: Group = strawberry.field(description="The group.")


@strawberry.type(description="A page of groups.")
class GroupConnection:
    is_cacheable = staticmethod(attrgetter("is_kept"))

    edges: list[GroupEdge] = strawberry.field(description=EDGES)
    nodes: list[Group] = strawberry.field(description=NODES)
    page_info: PageInfo = strawberry.field(description=PAGE_INFO)
    total_count: int = field_of(total_count, TOTAL)
