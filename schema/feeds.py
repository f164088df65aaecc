"""
The viewer's feed, and the mark up to which the viewer has seen it.

The feed has the articles of those whom the viewer follows, and their own. A field is an attribute of the record behind
its type, or has the resolver that `field_of` names.
"""

from typing import Self

import strawberry

from resolvers import feeds
from schema.articles import Article
from schema.connections import Connection
from schema.fields import field_of, root_field
from schema.mutations import Payload, mutation, nullable
from schema.nodes import Node, instances_of
from schema.scalars import DateTime
from store import records


@strawberry.type(description="The articles of the viewer and the users they follow, newest first.")
class Feed(Node):
    is_type_of = instances_of(records.Feed)

    articles: Connection[Article] = field_of(
        feeds.articles,
        "The articles of the feed. They are collected when the feed is read, so a feed is always up to date.",
    )
    unseen_count: int = field_of(
        feeds.unseen_count, "The number of articles that are newer than the mark, at most 1,000."
    )
    seen_through: DateTime | None = field_of(
        feeds.seen_through, "The posting time of the article at the mark; null if the viewer has not set a mark."
    )


@strawberry.type
class FeedQueries:
    feed: Feed | None = root_field(feeds.feed, "The viewer's feed; null if nobody is logged in.")


@strawberry.input(description="The new mark in the viewer's feed.")
class MarkFeedSeenInput:
    through: str = strawberry.field(
        description="The cursor of the newest article that the viewer has seen, from the feed."
    )


@strawberry.type(description="A feed whose mark was moved.")
class MarkFeedSeenPayload(Payload):
    feed: Feed | None = nullable("The viewer's feed.")

    @classmethod
    def of(cls, feed: records.Feed) -> Self:
        return cls.of_records(feed=feed)


@strawberry.type
class FeedMutations:
    mark_feed_seen: MarkFeedSeenPayload | None = mutation(
        feeds.mark_seen,
        MarkFeedSeenPayload,
        MarkFeedSeenInput,
        "Move the mark in the viewer's feed forward. It never moves back.",
    )
