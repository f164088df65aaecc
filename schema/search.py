"""The search for articles, comments and users, which the database does."""

from typing import Annotated

import strawberry

from resolvers import search
from schema.articles import Article
from schema.comments import Comment
from schema.connections import PageInfo
from schema.fields import field_of, root_field
from schema.users import User

SearchResult = Annotated[
    Article | Comment | User,
    strawberry.union("SearchResult", description="What a search finds. New versions may find more."),
]


@strawberry.type(description="A match of a search, with its cursor.")
class SearchEdge:
    cursor: str = strawberry.field(
        description="The position of this edge, for the arguments `after` and `before` of the same search."
    )
    node: SearchResult = strawberry.field(description="What was found.")
    excerpt: str = field_of(
        search.excerpts,
        "A passage of the title, the content or the name, as plain text of some 300 characters. Each match stands "
        "between U+E000 and U+E001.",
    )


@strawberry.type(description="A page of matches.")
class SearchConnection:
    edges: list[SearchEdge] = strawberry.field(description="The matches of this page, with cursors and excerpts.")
    nodes: list[SearchResult] = strawberry.field(description="The matches of this page.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the listing.")
    total_count: int = field_of(search.total_count, "The number of matches, at most 10,000.", is_pure=True)
    suggestion: str | None = field_of(
        search.suggestions, "Where nothing is found: the nearest query that finds something, if there is one."
    )


@strawberry.type
class SearchQueries:
    search: SearchConnection | None = root_field(
        search.search,
        "Articles, comments and users that match. All words of the query have to be there, in any case of letters, "
        "with or without accents, or other forms of them; a text in quotation marks as it is. There is no other "
        "syntax. A search for nothing finds nothing. Not available without a database.",
    )
