"""The root fields of queries."""

import strawberry

from resolvers import queries
from schema.connections import Connection
from schema.fields import root_field
from schema.types import Article, Feed, Group, Node, User


@strawberry.type(description="What can be asked.")
class Query:
    node: Node | None = root_field(queries.node, "The node of this id; null if there is none.")
    nodes: list[Node | None] = root_field(queries.nodes, "The nodes of these ids, in their order.")
    viewer: User | None = root_field(queries.viewer, "Who is logged in; null if nobody is.")
    article: Article | None = root_field(queries.article, "The article of this id; null if there is none.")
    articles: Connection[Article] | None = root_field(
        queries.articles, "All articles, or those of one group, in an order. An unknown group lists nothing."
    )
    front_page: Connection[Article] | None = root_field(
        queries.front_page, "The newest good articles, of one UTC day if given: 50 unless `first` or `last` says more."
    )
    user: User | None = root_field(queries.user, "The user of this name; null if there is none.")
    group: Group | None = root_field(queries.group, "The group of this name, which may have no articles yet.")
    feed: Feed | None = root_field(queries.feed, "The viewer's feed; null if nobody is logged in.")
    groups: Connection[Group] | None = root_field(queries.all_groups, "The groups that have articles, by name.")
