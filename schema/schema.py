"""
The whole schema, and its text. Each module of this package has classes with its own root fields, such as
`ArticleQueries`; here they become one query type and one mutation type.
"""

from pathlib import Path

import strawberry
from graphql import build_schema, lexicographic_sort_schema, print_schema
from strawberry.schema.config import StrawberryConfig

from schema.accounts import AccountMutations, AccountQueries
from schema.appeals import AppealMutations, AppealQueries
from schema.articles import ArticleMutations, ArticleQueries
from schema.bans import BanMutations
from schema.changes import ChangeQueries
from schema.comments import CommentMutations, CommentQueries
from schema.content import ContentMutations, ContentQueries
from schema.errors import Banned, RateLimited, Refusal, VotingClosed
from schema.feeds import FeedMutations, FeedQueries
from schema.flags import FlagMutations, FlagQueries
from schema.groups import GroupMutations, GroupQueries
from schema.home import HomeMutations, HomeQueries
from schema.inboxes import InboxMutations, InboxQueries
from schema.moderation import ModerationMutations, ModerationQueries
from schema.nodes import NodeQueries
from schema.rate_limits import RateLimitQueries
from schema.saved import SavedMutations
from schema.scalars import SCALARS
from schema.search import SearchQueries
from schema.sessions import SessionMutations, SessionQueries
from schema.site import SiteMutations, SiteQueries
from schema.subscriptions import Subscription
from schema.users import UserMutations, UserQueries

FILE = Path(__file__).parent / "schema.graphql"

DESCRIPTION = """
Articles, comments, votes on both, and rankings.

Start with a query: `articles`, `frontPage`, `group` and `groups` list articles; `article`, `comment`, `user`, `node`
and `nodes` find by name or id, `search` by words; the `thread` of an article has its comments; `viewer`, `session`,
`feed`, `home` and `inbox` are those of the logged-in user. Lists are Relay connections.

Mutations change something, most of them for a logged-in user: `register` and `logIn` return a token, which requests
send as `Authorization: Bearer TOKEN`. A refusal is data, in `userErrors`. Subscriptions send changes as they happen.
""".strip()


@strawberry.type(description="The root of queries.")
class Query(
    NodeQueries,
    SessionQueries,
    SiteQueries,
    AccountQueries,
    ArticleQueries,
    CommentQueries,
    SearchQueries,
    UserQueries,
    GroupQueries,
    FeedQueries,
    HomeQueries,
    InboxQueries,
    ContentQueries,
    ModerationQueries,
    FlagQueries,
    AppealQueries,
    RateLimitQueries,
    ChangeQueries,
):
    pass


@strawberry.type(description="The root of mutations. Each takes at most one input and returns one payload.")
class Mutation(
    SessionMutations,
    SiteMutations,
    AccountMutations,
    ArticleMutations,
    CommentMutations,
    UserMutations,
    GroupMutations,
    FeedMutations,
    SavedMutations,
    InboxMutations,
    ContentMutations,
    ModerationMutations,
    BanMutations,
    AppealMutations,
    FlagMutations,
    HomeMutations,
):
    pass


SCHEMA = strawberry.Schema(
    Query,
    Mutation,
    Subscription,
    types=[Refusal, VotingClosed, RateLimited, Banned],
    config=StrawberryConfig(scalar_map=SCALARS),
)
SCHEMA._schema.description = DESCRIPTION  # Strawberry neither takes nor prints one


def text() -> str:
    """The schema in sorted order, as `schema.graphql` holds it."""
    schema = build_schema(SCHEMA.as_str())
    schema.description = DESCRIPTION
    return print_schema(lexicographic_sort_schema(schema)) + "\n"
