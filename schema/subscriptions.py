"""The root fields of subscriptions."""

import strawberry

from resolvers import subscriptions
from schema.fields import subscription_field
from schema.scalars import DateTime
from schema.types import Article


@strawberry.type(description="An article's way from one place of a listing to another. Places count from 1.")
class RankingMove:
    article_id: strawberry.ID = strawberry.field(description="The article that moved.")
    before: int | None = strawberry.field(name="from", description="Where it stood; null if it was not listed before.")
    after: int | None = strawberry.field(name="to", description="Where it stands now; null if it left.")


@strawberry.type(description="The first places of a listing as they now stand, and what moved since the last message.")
class RankingChange:
    at: DateTime = strawberry.field(description="The instant at which they stood so.")
    articles: list[Article] = strawberry.field(description="The articles in these places, highest first.")
    moves: list[RankingMove] = strawberry.field(
        description="All that moved since the last message; folding every move gives the listing."
    )


@strawberry.type(
    description="What can be listened to. Who reads slowly is sent the latest, and not all that happened in between."
)
class Subscription:
    article_changed: Article = subscription_field(
        subscriptions.article_changed,
        "The article of this id after each vote, edit or regroup. Ends when it is deleted.",
    )
    article_posted: Article = subscription_field(
        subscriptions.article_posted, "Every new article, or every one that is posted into a group."
    )
    feed_article: Article = subscription_field(
        subscriptions.feed_article, "Every new article by the viewer or somebody whom they follow."
    )
    ranking_changed: RankingChange = subscription_field(
        subscriptions.ranking_changed,
        "The first places of a listing: at once, and then whenever they change, but not more than five times a second.",
    )
