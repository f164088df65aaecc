"""Root fields of Query."""

import strawberry

from resolvers import changes, queries, search
from schema.fields import root_field
from schema.types import (
    Article,
    ChangePage,
    Comment,
    Connection,
    Feed,
    Group,
    Inbox,
    Node,
    RateLimit,
    SearchConnection,
    Session,
    User,
)


@strawberry.type(description="The root of queries.")
class Query:
    node: Node | None = root_field(
        queries.node, "The node with this id; null if there is none. A malformed id is an error."
    )
    nodes: list[Node | None] = root_field(
        queries.nodes,
        "The nodes with these ids, in the same order; null for each that does not exist. Each malformed id is null, "
        "with an error at its path.",
    )
    viewer: User | None = root_field(queries.viewer, "The logged-in user; null if nobody is logged in.")
    session: Session | None = root_field(queries.session, "The session of this request; null if nobody is logged in.")
    article: Article | None = root_field(
        queries.article, "The article with this id; null if there is none. A malformed id is an error."
    )
    comment: Comment | None = root_field(
        queries.comment,
        "The comment with this id; null if there is none, or if its article was deleted. A malformed id is an error.",
    )
    articles: Connection[Article] | None = root_field(
        queries.articles, "All articles, or those of a group. An unknown or malformed name is that of an empty group."
    )
    front_page: Connection[Article] | None = root_field(
        queries.front_page,
        "The newest articles with enough votes for the front page, all or of one UTC day. 50 by default.",
    )
    articles_by_link: Connection[Article] | None = root_field(
        queries.articles_by_link,
        "The articles with this link, newest first. Links are compared without fragment, default port and tracking "
        "parameters such as `utm_source` and `fbclid`; the case of scheme and host does not matter.",
    )
    search: SearchConnection | None = root_field(
        search.search,
        "Articles, comments and users that match. All words of the query have to be there, in any case of letters, "
        "with or without accents; a text in quotation marks as it is. There is no other syntax. A search for nothing "
        "finds nothing. Not available without a database.",
    )
    user: User | None = root_field(
        queries.user, "The user with this name; null if there is none, also if no user can have this name."
    )
    group: Group | None = root_field(
        queries.group,
        "The group with this name. A group without articles is empty; null only if no group can have this name.",
    )
    feed: Feed | None = root_field(queries.feed, "The viewer's feed; null if nobody is logged in.")
    inbox: Inbox | None = root_field(queries.inbox, "The viewer's inbox; null if nobody is logged in.")
    rate_limit: RateLimit | None = root_field(
        queries.rate_limit, "What is left of the cost points of this client; null without rate limits."
    )
    changes: ChangePage | None = root_field(
        changes.page,
        "The entries of the log, oldest first: all changes of the community. Only for requests with a server key. "
        "Without `after` it begins with the oldest entry that is left.",
    )
    groups: Connection[Group] | None = root_field(queries.all_groups, "The groups that have articles, sorted by name.")
