"""The objects of the schema. Their plain fields are attributes of the records they are read from."""

from operator import attrgetter
from typing import Any

import strawberry

from resolvers import articles, feeds, groups, users
from schema import enums
from schema.connections import Connection
from schema.fields import field_of
from schema.scalars import DateTime, Link
from store import records
from store.ranking.formulas import Order
from store.records import Vote

ID = "The id, which names the node for ever."

assert enums  # describes the enums that fields refer to


def always(record: object) -> bool:
    return True


@strawberry.interface(description="Anything that has an id and can be asked for by it.")
class Node:
    id: strawberry.ID = strawberry.field(description=ID)


@strawberry.type(description="Something posted, for others to vote on.")
class Article(Node):
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    title: str = strawberry.field(description="1 to 300 characters.")
    link: Link | None = strawberry.field(description="Where the article points.")
    content: str | None = strawberry.field(description="The text of the article, at most 40,000 characters.")
    poster: "User" = field_of(articles.poster, "Who posted it.", is_pure=True)
    posted_at: DateTime = strawberry.field(description="When it was posted.")
    edited_at: DateTime | None = strawberry.field(description="When it was last edited; null if never.")
    votes: int = strawberry.field(description="Upvotes minus downvotes.")
    upvotes: int = strawberry.field(description="How many voted up; the poster is the first of them.")
    downvotes: int = strawberry.field(description="How many voted down.")
    score: float = field_of(
        articles.score,
        "What SCORE orders by: posting time in unix seconds plus 432 for each vote, unless the site says otherwise.",
        is_pure=True,
    )
    is_good: bool = field_of(articles.is_good, "Whether it has votes enough for the front page.", is_pure=True)
    is_voting_open: bool = field_of(articles.is_voting_open, "Whether it can be voted on: for a week after posting.")
    voting_closes_at: DateTime = field_of(
        articles.voting_closes_at, "The last instant at which it can be voted on.", is_pure=True
    )
    viewer_vote: Vote | None = field_of(
        articles.viewer_vote,
        "The viewer's vote; null if nobody is logged in, or voting has closed and the voters are forgotten.",
    )
    groups: list["Group"] = field_of(articles.groups, "The groups it is in, at most 10, by name.", is_pure=True)
    voters: "Connection[User] | None" = field_of(
        articles.voters, "Everyone whose vote counts, up or down, by name; null once the voters are forgotten."
    )
    standing: "Standing | None" = field_of(
        articles.standing, "Where it stands among all articles, or in a group; null if it is not in that group."
    )

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, records.Article)


@strawberry.type(description="A person who posts and votes.")
class User(Node):
    is_cacheable = staticmethod(always)

    username: str = strawberry.field(description="The name as its owner writes it; unique in any case of letters.")
    joined_at: DateTime = field_of(users.joined_at, "When they registered.")
    karma: int = field_of(users.karma, "The votes on their articles, but for their own first votes.")
    articles: "Connection[Article]" = field_of(users.articles, "What they posted, newest first.")
    followers: "Connection[User]" = field_of(users.followers, "Who follows them, the newest follower first.")
    following: "Connection[User]" = field_of(users.following, "Whom they follow, the newest first.")
    viewer_is_following: bool = field_of(users.viewer_is_following, "Whether the viewer follows them.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, records.User)


@strawberry.type(description="A named set of articles, with rankings of its own. It is there as soon as it is named.")
class Group(Node):
    is_cacheable = staticmethod(always)

    name: str = strawberry.field(description="The name, in lower case.")
    articles: "Connection[Article]" = field_of(groups.articles, "Its articles.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, records.Group)


@strawberry.type(description="The viewer's home: articles by the people they follow and by themselves, newest first.")
class Feed(Node):
    articles: "Connection[Article]" = field_of(
        feeds.articles, "Pulled as it is read, so that nothing is late and nothing is lost."
    )
    unseen_count: int = field_of(feeds.unseen_count, "How many articles are newer than the mark: exact up to 1,000.")
    seen_through: DateTime | None = field_of(
        feeds.seen_through, "The posting time of the newest article marked as seen; null if nothing was marked yet."
    )

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, records.Feed)


@strawberry.type(description="A part of the value that an order sorts by.")
class StandingTerm:
    name: str = strawberry.field(description="What it comes from.")
    value: float = strawberry.field(description="What it adds; below 0, what it takes away.")


@strawberry.type(description="Where an article stands in an order, and why.")
class Standing:
    order: Order = strawberry.field(description="The order.")
    rank: int = strawberry.field(description="The place, counted from the top, which is 1.")
    value: float = strawberry.field(description="What the order sorts by; instants in unix seconds.")
    terms: list[StandingTerm] = strawberry.field(description="What the value is made of: the terms add up to it.")
    votes_to_next_rank: int | None = strawberry.field(
        description="How many more upvotes pass the article just above; null at the top, and where no votes can."
    )
