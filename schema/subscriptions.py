"""Root fields of Subscription. The resolver of each waits for events, and yields the values that the client gets."""

import strawberry

from resolvers import changes, subscriptions
from schema.articles import Article
from schema.changes import Change
from schema.comments import Comment
from schema.fields import ARGUMENTS, subscription_field
from schema.inboxes import Notification
from schema.moderation import LOG_ARGUMENTS, ModerationAction
from schema.scalars import DateTime

CHANGED_ARTICLES_ARGUMENTS = ARGUMENTS | {"ids": "The ids of at most 100 articles."}
QUEUE_ARGUMENTS = ARGUMENTS | {"group": "Only this group; by default all groups that the viewer moderates."}
NEW_COMMENT_ARGUMENTS = ARGUMENTS | {
    "article_id": "Only comments of the article with this id.",
    "group": "Only comments of articles in this group, in any case of letters. Excludes `articleId`.",
    "under": "Only comments below the comment with this id, of the same article. Requires `articleId`.",
}


@strawberry.type(description="A move of an article within a ranking. Places count from 1.")
class RankingMove:
    article_id: strawberry.ID = strawberry.field(description="The article that moved.")
    before: int | None = strawberry.field(
        name="from", description="The place before; null if the article was not in the ranking."
    )
    after: int | None = strawberry.field(name="to", description="The place now; null if the article left the ranking.")


@strawberry.type(description="A ranking, the first articles of a listing, and its changes since the last message.")
class RankingChange:
    at: DateTime = strawberry.field(description="The time at which the ranking was read.")
    articles: list[Article] = strawberry.field(description="The articles of the ranking, highest first.")
    moves: list[RankingMove] = strawberry.field(
        description="The moves since the last message; empty if only votes or numbers of comments changed. Applying "
        "the moves of all messages gives the current ranking."
    )


@strawberry.type(
    description="The root of subscriptions. A slow client receives the latest state and misses those in between."
)
class Subscription:
    article_changed: Article = subscription_field(
        subscriptions.article_changed,
        "The article with this id, after each vote, edit or regroup, and when a comment is posted or deleted. "
        "Completes when the article is deleted, or the viewer may not read it any more.",
    )
    articles_changed: Article = subscription_field(
        subscriptions.articles_changed,
        "Each of these articles, as `articleChanged` sends it. Unknown and deleted ones are left out.",
        arguments=CHANGED_ARTICLES_ARGUMENTS,
    )
    article_posted: Article = subscription_field(
        subscriptions.article_posted, "Each new article, or each one that is posted in a group."
    )
    feed_article: Article = subscription_field(
        subscriptions.feed_article, "Each new article by the viewer or a user they follow."
    )
    comment_posted: Comment = subscription_field(
        subscriptions.comment_posted,
        "Each new comment of the site, of a group or of an article, or with `under` each one below a comment: replies, "
        "replies to these, and so on. With `articleId` it ends as `articleChanged`.",
        arguments=NEW_COMMENT_ARGUMENTS,
    )
    comment_changed: Comment = subscription_field(
        subscriptions.comment_changed,
        "Each comment of an article after a vote, an edit or its deletion. A deleted comment has no content, and is "
        "sent whether it stays for its replies or is gone. It ends as `articleChanged`.",
    )
    notification: Notification = subscription_field(
        subscriptions.notification, "Each new notification of the viewer. None is missed while the server reconnects."
    )
    moderation_queue_changed: int = subscription_field(
        subscriptions.moderation_queue_changed,
        "How much waits for moderators, what is flagged, what is pending and appeals together, whenever that changes. "
        "Only for moderators: it ends with an error when the viewer is none any more.",
        arguments=QUEUE_ARGUMENTS,
    )
    moderated: ModerationAction = subscription_field(
        subscriptions.moderated,
        "Each action of a moderator, as `moderationLog` has it, when it is done. None is missed while the server "
        "reconnects.",
        arguments=LOG_ARGUMENTS,
    )
    changes: Change = subscription_field(
        changes.subscribe,
        "Each entry of the log, once and in order: those after `after`, then new ones as they are written; without "
        "`after` only new ones. Only for requests with a server key, and for admins.",
    )
    ranking_changed: RankingChange = subscription_field(
        subscriptions.ranking_changed,
        "The first articles of a listing: at once, and then after each change of their places, votes or numbers of "
        "comments, at most five times a second.",
    )
