"""
Articles: their fields, votes on them, listings of them, and what their posters may do.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names. With `is_pure`
its value is always the same for a record, for every client. `planned` is a faster resolver if all values are known.
"""

from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Self

import strawberry

from resolvers import articles, comments, decisions, flags, held_edits, hidden, saved, threads
from schema.connections import Connection
from schema.enums import ContentState, FlagReason, Order, Vote
from schema.fields import ARGUMENTS, field_of, root_field
from schema.groups import Group
from schema.mutations import HELD_BY, IDEMPOTENCY_KEY, REPLAYED, Payload, listed, mutation, nullable, optional
from schema.nodes import Node, instances_of
from schema.permissions import ModeratesAny, ModeratesSite
from schema.scalars import DateTime, Link
from schema.users import User
from store import records
from store.articles import Edited, Posted, Voted

if TYPE_CHECKING:
    from schema.comments import Comment, ThreadConnection
    from schema.flags import Flag
    from schema.held_edits import HeldEdit
    from schema.moderation import ModerationAction

TITLE = "1 to 300 characters."
LINK = "An absolute http or https URL."
CONTENT = "At most 40,000 characters."
ARTICLE_ID = "The id of the article."
THREAD_ARGUMENTS = ARGUMENTS | {
    "first": "The number of items from the start, 1 to 500.",
    "last": "The number of items from the end, 1 to 500. Excludes `first`.",
    "order": "The order of the replies to each comment.",
    "pinned": "Whether to pin the order and the comments of this page for 10 minutes, for the next pages.",
    "after": "Return items after this cursor of the same thread, `order`, `under` and `maxDepth`.",
    "before": "Return items before this cursor of the same thread, `order`, `under` and `maxDepth`. Requires `last`.",
}


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


@strawberry.interface(description="What users vote on.")
class Votable(Node):
    votes: int = strawberry.field(description="Upvotes minus downvotes.")
    upvotes: int = strawberry.field(description="The number of upvotes, including the poster's.")
    downvotes: int = strawberry.field(description="The number of downvotes.")
    flag_reasons: list[FlagReason] | None = field_of(
        flags.reasons,
        "The reason of each flag on it, oldest first; for moderators of groups, of those that were set while the "
        "article was in one of their groups. Null for others than moderators.",
        permission_classes=[ModeratesAny],
    )
    viewer_flag: Annotated["Flag", strawberry.lazy("schema.flags")] | None = field_of(
        flags.of_viewer,
        "The viewer's flag on it; null if nobody is logged in, if the viewer has not flagged it, or if a moderator has "
        "approved it since.",
    )
    flags: list[Annotated["Flag", strawberry.lazy("schema.flags")]] | None = field_of(
        flags.on_subjects,
        "The flags on it that were not cleared, oldest first; null for others than moderators of the site.",
        permission_classes=[ModeratesSite],
    )
    viewer_vote: Vote | None = field_of(
        articles.viewer_vote,
        "The viewer's vote; null if nobody is logged in, or if voting has closed, when the voters are deleted.",
        planned=articles.known_or_read_viewer_votes,
    )
    viewer_has_saved: bool = field_of(
        saved.viewer_has_saved, "Whether the viewer has saved it; false if nobody is logged in."
    )
    is_voting_open: bool = strawberry.field(
        description="Whether voting is open: by default for a week after posting, unless the article is locked."
    )
    voting_closes_at: DateTime = field_of(articles.voting_closes_at, "When voting closes.", is_pure=True)
    held_edit: Annotated["HeldEdit", strawberry.lazy("schema.held_edits")] | None = field_of(
        held_edits.on_subjects,
        "The poster's edit that a rule of the site holds until a moderator approves or rejects it; null if none waits, "
        "and for others than the poster and moderators of the place.",
    )
    held_by: str | None = field_of(
        held_edits.rules,
        "The rule of the site that holds it, so that it is pending; null if none does, and for others than the poster "
        "and moderators of the place.",
    )
    held_reason: str | None = field_of(
        held_edits.reasons,
        "Why it is pending, or why its edit waits, in the words of the service that checks texts; null if that said "
        "nothing, and for others than moderators of the place.",
    )
    removal: Annotated["ModerationAction", strawberry.lazy("schema.moderation")] | None = field_of(
        decisions.removal, "What a moderator did to remove it, and why; null if it is not removed."
    )


@strawberry.type(description="An article that users vote on.")
class Article(Votable):
    is_type_of = instances_of(records.Article)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a record: whether the server may cache its JSON

    viewer_has_hidden: bool = field_of(
        hidden.viewer_has_hidden,
        "Whether the viewer hides it from their home and feed; false if nobody is logged in.",
    )
    title: str = strawberry.field(description="1 to 300 characters.")
    link: Link | None = strawberry.field(description="The link of the article; null if it has none.")
    content: str | None = strawberry.field(
        description="The text of the article, at most 40,000 characters; null if it has none."
    )
    poster: User = field_of(articles.poster, "The user who posted it.", is_pure=True)
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
    lock: Annotated["ModerationAction", strawberry.lazy("schema.moderation")] | None = field_of(
        decisions.lock, "What a moderator did to lock it, and why; null if it is not locked."
    )
    is_commenting_open: bool = field_of(
        articles.is_commenting_open,
        "Whether it takes comments: not if it is locked, not visible, or older than `UPVOTE_COMMENT_DAYS`.",
    )
    comment_count: int = strawberry.field(description="The number of visible comments.")
    comments: Connection[Annotated["Comment", strawberry.lazy("schema.comments")]] = field_of(
        comments.of_articles, "The comments that answer the article itself. A deleted one stays while it has replies."
    )
    thread: Annotated["ThreadConnection", strawberry.lazy("schema.comments")] = field_of(
        threads.thread,
        "The comments of the article, or those below one of them, flat: each before its replies.",
        arguments=THREAD_ARGUMENTS,
    )
    groups: list[Group] = field_of(articles.groups, "The groups it is in, at most 10, sorted by name.", is_pure=True)
    voters: Connection[User] | None = field_of(
        articles.voters,
        "The users who voted up, sorted by name; null after voting has closed, when the voters are deleted, and where "
        "the site does not show them to the viewer. Who voted down is not shown.",
    )
    standing: Standing | None = field_of(
        articles.standing,
        "The rank among all articles or in a group; null if the article is not in the group, or is not visible.",
    )


@strawberry.type
class ArticleQueries:
    article: Article | None = root_field(
        articles.article,
        "The article with this id; null if there is none, and for others than its poster and moderators if it is not "
        "visible. A malformed id is an error.",
    )
    front_page: Connection[Article] | None = root_field(
        articles.front_page,
        "The newest articles with enough votes for the front page, all or of one UTC day. 50 by default.",
    )
    articles_by_link: Connection[Article] | None = root_field(
        articles.by_link,
        "The articles with this link, newest first. Links are compared without fragment, default port and tracking "
        "parameters such as `utm_source` and `fbclid`; the case of scheme and host does not matter.",
    )
    articles: Connection[Article] | None = root_field(
        articles.articles, "All articles, or those of a group. An unknown or malformed name is that of an empty group."
    )


@strawberry.input(description="An article to post: with a link, content, or both.")
class PostInput:
    title: str = strawberry.field(description=TITLE)
    link: Link | None = optional(LINK)
    content: str | None = optional(CONTENT)
    groups: list[str] | None = listed("The names of at most 10 groups to post in.")
    idempotency_key: str | None = optional(IDEMPOTENCY_KEY)


@strawberry.input(description="Changes to one of the viewer's articles. Fields that are left out do not change.")
class EditArticleInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    title: str | None = optional(TITLE)
    link: Link | None = optional(f"{LINK} Null removes it.")
    content: str | None = optional(f"{CONTENT} Null removes it.")


@strawberry.input(description="The article to delete, one of the viewer's.")
class DeleteArticleInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)


@strawberry.input(description="A vote on an article.")
class VoteInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    value: Vote | None = strawberry.field(default=Vote.UP, description="The new vote.")


@strawberry.input(description="Groups to add one of the viewer's articles to, and then groups to remove it from.")
class RegroupArticleInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    add: list[str] | None = listed("The names of groups to add it to.")
    remove: list[str] | None = listed("The names of groups to remove it from.")


@strawberry.type(description="A posted article.")
class PostPayload(Payload):
    article: Article | None = nullable("The article; null if refused, or if it was posted before and deleted since.")
    replayed: bool = strawberry.field(default=False, description=REPLAYED)
    held_by: str | None = nullable(HELD_BY)
    duplicate_of: Article | None = field_of(
        articles.duplicate_of,
        "The newest other article with this link; null if there is none within the site's window, 30 days by default. "
        "Links are compared as by `articlesByLink`.",
    )

    @classmethod
    def of(cls, posted: Posted) -> Self:
        return cls.of_records(article=posted.article, replayed=posted.replayed, held_by=posted.held_by)


@strawberry.type(description="An edited article.")
class EditArticlePayload(Payload):
    article: Article | None = nullable("The article after the change.")
    held_by: str | None = nullable(HELD_BY)

    @classmethod
    def of(cls, edited: Edited) -> Self:
        return cls.of_records(article=edited.article, held_by=edited.held_by)


@strawberry.type(description="A deleted article.")
class DeleteArticlePayload(Payload):
    deleted_article_id: strawberry.ID | None = nullable("The id of the deleted article.")

    @classmethod
    def of(cls, id: str) -> Self:
        return cls.of_records(deleted_article_id=id)


@strawberry.type(description="A vote.")
class VotePayload(Payload):
    article: Article | None = nullable("The article after the vote.")
    changed: bool = strawberry.field(default=False, description="False if the viewer had already voted the same.")

    @classmethod
    def of(cls, voted: Voted) -> Self:
        return cls.of_records(article=voted.article, changed=voted.changed)


@strawberry.type(description="A regrouped article.")
class RegroupArticlePayload(Payload):
    article: Article | None = nullable("The article after the change.")

    @classmethod
    def of(cls, article: records.Article) -> Self:
        return cls.of_records(article=article)


@strawberry.type
class ArticleMutations:
    post: PostPayload | None = mutation(
        articles.post, PostPayload, PostInput, "Post an article. The poster's upvote is its first vote."
    )
    edit_article: EditArticlePayload | None = mutation(
        articles.edit, EditArticlePayload, EditArticleInput, "Edit one of the viewer's articles."
    )
    delete_article: DeleteArticlePayload | None = mutation(
        articles.delete,
        DeleteArticlePayload,
        DeleteArticleInput,
        "Delete one of the viewer's articles. Its id is never used again.",
    )
    vote: VotePayload | None = mutation(
        articles.vote,
        VotePayload,
        VoteInput,
        "Set the viewer's vote on an article while voting is open. Sending the same vote again has no effect.",
    )
    regroup_article: RegroupArticlePayload | None = mutation(
        articles.regroup,
        RegroupArticlePayload,
        RegroupArticleInput,
        "Add one of the viewer's articles to groups, then remove it from others.",
    )
