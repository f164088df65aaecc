"""
The viewer's home.

The home is the viewer's own front page. It also has their lists: the groups that they follow, what they save and hide,
and whom they block.
"""

from typing import Self

import strawberry

from resolvers import hidden, home, saved
from resolvers.hidden import ArticleHidden
from schema.articles import Article, Votable
from schema.connections import Connection, Edge, PageInfo
from schema.fields import ARGUMENTS, field_of, root_field
from schema.groups import Group
from schema.mutations import Payload, mutation, nullable
from schema.nodes import Node, instances_of
from schema.users import User
from store import records
from store.blocked import Blocked

ARTICLE_ARGUMENTS = ARGUMENTS | {
    "pinned": "Whether to pin the order of the first 200 articles for 10 minutes, for the next pages. A viewer has one "
    "pin of each order. What the viewer hides meanwhile leaves it."
}


@strawberry.type(description="A page of the articles of a home. How many there are in all is not counted.")
class HomeArticleConnection:
    edges: list[Edge[Article]] = strawberry.field(description="The articles of this page, with cursors.")
    nodes: list[Article] = strawberry.field(description="The articles of this page, for clients that need no cursors.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the listing.")


@strawberry.type(description="The viewer's own front page, and what it is made of.")
class Home(Node):
    is_type_of = instances_of(records.Home)

    articles: HomeArticleConnection = field_of(
        home.articles_of,
        "The articles of the groups that the viewer follows, or of the whole site while they follow none, each once, "
        "without those that the viewer hides and those of users whom the viewer blocks. All are ranked by the weights "
        "of the site, also those of groups with weights of their own.",
        arguments=ARTICLE_ARGUMENTS,
    )
    groups: Connection[Group] = field_of(home.groups, "The groups that the viewer follows, sorted by name.")
    saved: Connection[Votable] = field_of(
        saved.of_homes,
        "The articles and comments that the viewer has saved, the latest saved first. What was deleted leaves the list "
        "when it is read, so `totalCount` may count it for a while.",
    )
    hidden: Connection[Article] = field_of(
        hidden.of_homes,
        "The articles that the viewer hides, the latest first. What was deleted leaves the list when it is read, so "
        "`totalCount` may count it for a while.",
    )
    blocked: Connection[User] = field_of(home.blocked_of, "The users whom the viewer blocks, the latest first.")


@strawberry.input(description="The article to hide, or to show again.")
class HideArticleInput:
    article_id: strawberry.ID = strawberry.field(description="The id of the article.")


@strawberry.type(description="An article that the viewer has hidden, or shows again.")
class HideArticlePayload(Payload):
    article: Article | None = nullable("The article; null if it was deleted, or is not visible.")
    changed: bool = strawberry.field(default=False, description="False if it was already so.")

    @classmethod
    def of(cls, result: ArticleHidden) -> Self:
        return cls.of_records(article=result.article, changed=result.changed)


@strawberry.input(description="The user to block, or not to block any more.")
class BlockUserInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")


@strawberry.type(description="A user whom the viewer has blocked, or does not block any more.")
class BlockUserPayload(Payload):
    user: User | None = nullable("The user.")
    changed: bool = strawberry.field(default=False, description="False if it was already so.")

    @classmethod
    def of(cls, blocked: Blocked) -> Self:
        return cls.of_records(user=records.user(blocked.blocked), changed=blocked.changed)


@strawberry.type
class HomeMutations:
    hide_article: HideArticlePayload | None = mutation(
        hidden.hide,
        HideArticlePayload,
        HideArticleInput,
        "Hide an article from the viewer's home and feed. Only the viewer sees what they hide. Doing so twice has no "
        "effect.",
    )
    unhide_article: HideArticlePayload | None = mutation(
        hidden.unhide, HideArticlePayload, HideArticleInput, "Show an article in the viewer's home and feed again."
    )
    block_user: BlockUserPayload | None = mutation(
        home.block,
        BlockUserPayload,
        BlockUserInput,
        "Block a user: none of their articles are in the viewer's home and feed, and they do not notify the viewer. "
        "The viewer does not follow them any more. The blocked user notices nothing. At most 1,000.",
    )
    unblock_user: BlockUserPayload | None = mutation(
        home.unblock,
        BlockUserPayload,
        BlockUserInput,
        "Do not block a user any more. What they did meanwhile does not come to the inbox.",
    )


@strawberry.type
class HomeQueries:
    home: Home | None = root_field(home.home, "The viewer's home; null if nobody is logged in.")
