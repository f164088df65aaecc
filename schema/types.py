"""
Object types of the schema, and Relay connections of them, which Strawberry names after their nodes. Fields without a
resolver are attributes of records.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any, Generic, TypeVar

import strawberry

from resolvers import articles, comments, feeds, inboxes, rate_limits, search, threads, users
from resolvers.pagination import total_count
from schema.enums import ContentState, NotificationKind, Order, Vote
from schema.fields import INBOX_ARGUMENTS, THREAD_ARGUMENTS, field_of
from schema.scalars import DateTime, Link
from store import records

ID = "The id, which never changes."

T = TypeVar("T")


def instances_of(record: type) -> Callable[[Any, Any], bool]:
    """The `is_type_of` of a type whose objects are records of a class."""
    return lambda value, info: isinstance(value, record)


@strawberry.interface(description="An object with an id, by which it can be queried.")
class Node:
    id: strawberry.ID = strawberry.field(description=ID)


@strawberry.interface(description="What users vote on.")
class Votable(Node):
    votes: int = strawberry.field(description="Upvotes minus downvotes.")
    upvotes: int = strawberry.field(description="The number of upvotes, including the poster's.")
    downvotes: int = strawberry.field(description="The number of downvotes.")
    viewer_vote: Vote | None = field_of(
        articles.viewer_vote,
        "The viewer's vote; null if nobody is logged in, or if voting has closed, when the voters are deleted.",
    )
    is_voting_open: bool = strawberry.field(
        description="Whether voting is open: by default for a week after posting, unless the article is locked."
    )
    voting_closes_at: DateTime = field_of(articles.voting_closes_at, "When voting closes.", is_pure=True)


@strawberry.type(description="An article that users vote on.")
class Article(Votable):
    is_type_of = instances_of(records.Article)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    title: str = strawberry.field(description="1 to 300 characters.")
    link: Link | None = strawberry.field(description="The link of the article; null if it has none.")
    content: str | None = strawberry.field(
        description="The text of the article, at most 40,000 characters; null if it has none."
    )
    poster: "User" = field_of(articles.poster, "The user who posted it.", is_pure=True)
    posted_at: DateTime = strawberry.field(description="When it was posted.")
    edited_at: DateTime | None = strawberry.field(description="When it was last edited; null if never.")
    score: float = field_of(
        articles.score,
        "The value of the order SCORE: by default the posting time in unix seconds plus 432 per vote.",
        is_pure=True,
    )
    is_good: bool = field_of(articles.is_good, "Whether it has enough votes for the front page.", is_pure=True)
    is_voting_open: bool = field_of(
        articles.is_voting_open,
        "Whether voting is open: by default for a week after posting, unless the article is locked.",
    )
    state: ContentState = strawberry.field(description="Whether it is shown.")
    is_locked: bool = strawberry.field(description="Whether it is locked: then it takes no votes and no comments.")
    comment_count: int = strawberry.field(description="The number of visible comments.")
    comments: "Connection[Comment]" = field_of(
        comments.of_articles, "The comments that answer the article itself. A deleted one stays while it has replies."
    )
    thread: "ThreadConnection" = field_of(
        threads.thread,
        "The comments of the article, or those below one of them, flat: each before its replies.",
        arguments=THREAD_ARGUMENTS,
    )
    groups: list["Group"] = field_of(articles.groups, "The groups it is in, at most 10, sorted by name.", is_pure=True)
    voters: "Connection[User] | None" = field_of(
        articles.voters,
        "The users who voted up or down, sorted by name; null after voting has closed, when the voters are deleted.",
    )
    standing: "Standing | None" = field_of(
        articles.standing, "The rank among all articles or in a group; null if the article is not in the group."
    )


@strawberry.type(description="An answer to an article or to another comment of it.")
class Comment(Votable):
    is_type_of = instances_of(records.Comment)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    article: Article = field_of(comments.article, "The article that it belongs to.")
    parent: "Comment | None" = field_of(
        comments.parent, "The comment that it answers; null if it answers the article itself."
    )
    ancestors: list["Comment"] = field_of(
        comments.ancestors,
        "The comments above it, from the one that answers the article to its parent; of more than 1,000 the nearest.",
    )
    depth: int = strawberry.field(description="The number of comments above it: 0 if it answers the article itself.")
    poster: "User | None" = field_of(comments.poster, "The user who wrote it; null once deleted.", is_pure=True)
    content: str | None = field_of(
        comments.content,
        "The text in Markdown, as written, of 1 to 10,000 characters; null where the viewer may not read it.",
        is_pure=True,
    )
    state: ContentState = strawberry.field(description="Whether it is shown.")
    posted_at: DateTime = strawberry.field(description="When it was posted.")
    edited_at: DateTime | None = strawberry.field(description="When it was last edited; null if never.")
    is_voting_open: bool = field_of(
        comments.is_voting_open,
        "Whether voting is open: by default for a week after posting, unless it is deleted or the article is locked.",
    )
    reply_count: int = strawberry.field(description="The number of visible replies to it.")
    descendant_count: int = field_of(
        comments.descendant_count, "The number of visible comments below it: replies, replies to these, and so on."
    )
    replies: "Connection[Comment]" = field_of(
        comments.replies, "The comments that answer it. A deleted one stays while it has replies."
    )


@strawberry.type(description="A user, who posts and votes.")
class User(Node):
    is_type_of = instances_of(records.User)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    username: str = strawberry.field(
        description="The name as registered. No other user has the same name in another case of letters."
    )
    joined_at: DateTime = field_of(users.joined_at, "When the user registered.")
    karma: int = field_of(
        users.karma, "The sum of votes on the user's articles and comments, without the user's own first votes."
    )
    articles: "Connection[Article]" = field_of(users.articles, "The user's articles, newest first.")
    comments: "Connection[Comment]" = field_of(comments.of_users, "The user's comments, newest first.")
    followers: "Connection[User]" = field_of(users.followers, "The users who follow this user, the latest first.")
    following: "Connection[User]" = field_of(users.following, "The users whom this user follows, the latest first.")
    viewer_is_following: bool = field_of(users.viewer_is_following, "Whether the viewer follows this user.")


@strawberry.type(description="A named set of articles with its own rankings. Groups need not be created.")
class Group(Node):
    is_type_of = instances_of(records.Group)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    name: str = strawberry.field(description="The name, in lower case.")
    articles: "Connection[Article]" = field_of(users.group_articles, "The articles of the group.")


@strawberry.type(description="The articles of the viewer and the users they follow, newest first.")
class Feed(Node):
    is_type_of = instances_of(records.Feed)

    articles: "Connection[Article]" = field_of(
        feeds.articles,
        "The articles of the feed. They are collected when the feed is read, so a feed is always up to date.",
    )
    unseen_count: int = field_of(
        feeds.unseen_count, "The number of articles that are newer than the mark, at most 1,000."
    )
    seen_through: DateTime | None = field_of(
        feeds.seen_through, "The posting time of the article at the mark; null if the viewer has not set a mark."
    )


@strawberry.type(description="A reply to the viewer, or a mention of them.")
class Notification(Node):
    is_type_of = instances_of(records.Notification)

    kind: NotificationKind = strawberry.field(description="Why the viewer is notified.")
    at: DateTime = strawberry.field(description="When the viewer was notified.")
    subject: Node | None = field_of(
        inboxes.subject, "The comment or article that notifies the viewer; null if it was deleted."
    )
    actor: "User | None" = field_of(
        inboxes.actor, "The user who wrote it; null for what a moderator did, or if it was deleted."
    )
    is_seen: bool = strawberry.field(description="Whether it is not newer than the mark.")


@strawberry.type(description="What concerns the viewer: replies to their articles and comments, and mentions of them.")
class Inbox(Node):
    is_type_of = instances_of(records.Inbox)

    notifications: "Connection[Notification]" = field_of(
        inboxes.notifications,
        "The notifications, newest first: the last 1,000. Those of deleted comments and articles are gone.",
        arguments=INBOX_ARGUMENTS,
    )
    unseen_count: int = field_of(inboxes.unseen_count, "The number of notifications that are newer than the mark.")
    seen_through: DateTime | None = field_of(
        inboxes.seen_through, "The time of the notification at the mark; null if the viewer has not set a mark."
    )


@strawberry.type(description="The session of a logged-in user, which the token of a request names.")
class Session:
    expires_at: DateTime = strawberry.field(
        description="When the session ends if it is not used before. A request that reads something of the viewer "
        "extends it, once in a 24th of its lifetime."
    )


@strawberry.type(description="A term of the value that an order sorts by.")
class StandingTerm:
    name: str = strawberry.field(description="The name of the term.")
    value: float = strawberry.field(description="The amount that is added; negative if it is subtracted.")


@strawberry.type(description="The rank of an article in an order, and how its value is computed.")
class Standing:
    order: Order = strawberry.field(description="The order.")
    rank: int = strawberry.field(description="The place, counted from 1 at the top.")
    value: float = strawberry.field(description="The value that the order sorts by. Instants are in unix seconds.")
    terms: list[StandingTerm] = strawberry.field(description="The terms of the value, which is their sum.")
    votes_to_next_rank: int | None = strawberry.field(
        description="The number of upvotes to move one place up; null at the top, or if votes cannot move it."
    )


@strawberry.type(description="The position of a page in its listing.")
class PageInfo:
    has_next_page: bool = strawberry.field(description="Whether there are items after this page.")
    has_previous_page: bool = strawberry.field(description="Whether there are items before this page.")
    start_cursor: str | None = strawberry.field(description="The cursor of the first edge; null if the page is empty.")
    end_cursor: str | None = strawberry.field(description="The cursor of the last edge; null if the page is empty.")


@strawberry.type(description="An item of a listing, with its cursor.")
class Edge(Generic[T]):
    cursor: str = strawberry.field(
        description="The position of this edge, for the arguments `after` and `before` of the same listing."
    )
    node: T = strawberry.field(description="The item.")


@strawberry.type(description="A page of a listing.")
class Connection(Generic[T]):
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    edges: list[Edge[T]] = strawberry.field(description="The items of this page, with cursors.")
    nodes: list[T] = strawberry.field(description="The items of this page, for clients that need no cursors.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the listing.")
    total_count: int = field_of(total_count, "The number of items in the whole listing.")


@strawberry.type(description="A place of a thread, with its cursor.")
class ThreadEdge:
    cursor: str = strawberry.field(
        description="The position of this edge, for the arguments `after` and `before` of the same thread."
    )
    node: Comment = strawberry.field(description="The comment.")
    hidden_reply_count: int = strawberry.field(
        description="The number of visible comments below it that are too deep for `maxDepth`: `thread(under:)` shows "
        "them. 0 where replies are shown."
    )


@strawberry.type(description="A page of a thread.")
class ThreadConnection:
    is_cacheable = staticmethod(attrgetter("is_cacheable"))

    edges: list[ThreadEdge] = strawberry.field(description="The places of this page, with cursors.")
    nodes: list[Comment] = strawberry.field(description="The comments of this page.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the thread.")
    total_count: int = field_of(
        threads.total_count, "The number of visible comments of the whole thread, also of those below `maxDepth`."
    )


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


@strawberry.type(
    description="The cost points of a client: of the user, the server key or the address that it counts for."
)
class RateLimit:
    limit: int = strawberry.field(description="How many points can be saved up.")
    remaining: int = strawberry.field(description="How many are left; 0 also if more were taken than there were.")
    restore_rate: int = strawberry.field(description="How many come back in a second, rounded.")
    reset_at: DateTime = strawberry.field(description="When all will have come back, if none are taken until then.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, rate_limits.RateLimit)


@strawberry.type(description="A new value of a change.")
class ChangedField:
    name: str = strawberry.field(description="The name, such as `title` or `votes`; each kind of change has its own.")
    value: str = strawberry.field(description="The new value, as text.")


@strawberry.type(description="An entry of the log.")
class Change:
    cursor: str = strawberry.field(description="The position after this entry, for `after`.")
    at: DateTime = strawberry.field(description="When it happened.")
    kind: str = strawberry.field(
        description="What happened, such as `posted`, `voted`, `edited`, `deleted` or `commented`. New versions may "
        "have more kinds."
    )
    subject_id: strawberry.ID = strawberry.field(
        description="The id of what has changed: an article, a comment, a user or a group; `site` for its orders or "
        "weights."
    )
    actor_id: strawberry.ID | None = strawberry.field(description="The id of the user who did it; null if nobody.")
    fields: list[ChangedField] = strawberry.field(description="The new values.")


@strawberry.type(description="A page of the log.")
class ChangePage:
    changes: list[Change] = strawberry.field(
        description="The entries, oldest first. There may be fewer than `limit`, also where more follow."
    )
    end_cursor: str | None = strawberry.field(
        description="The position after this page, for `after`, also if the page is empty."
    )
    has_more: bool = strawberry.field(description="Whether there are entries after this page, of any kind.")
