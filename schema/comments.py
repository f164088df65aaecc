"""
Comments: their fields, threads of them, votes on them, and what their posters may do.

A field is an attribute of the record behind its type, or has the resolver that `field_of` names. With `is_pure`
its value is always the same for a record, for every client.
"""

from operator import attrgetter
from typing import Self

import strawberry

from resolvers import comments, recent_comments, threads
from schema.articles import ARTICLE_ID, Article, Votable
from schema.connections import Connection, PageInfo
from schema.enums import ContentState, Vote
from schema.fields import ARGUMENTS, field_of, root_field
from schema.mutations import HELD_BY, IDEMPOTENCY_KEY, REPLAYED, Payload, mutation, nullable, optional
from schema.nodes import instances_of
from schema.scalars import DateTime
from schema.users import User
from store import records
from store.comments import Commented, EditedComment, VotedOnComment

CONTENT = "1 to 10,000 characters, Markdown by convention; not only blanks."
COMMENT_ID = "The id of the comment."
RECENT_ARGUMENTS = ARGUMENTS | {
    "group": "Only comments on articles of this group, in any case of letters; none if no group has this name."
}


@strawberry.type(description="An answer to an article or to another comment of it.")
class Comment(Votable):
    is_type_of = instances_of(records.Comment)
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a record: whether the server may cache its JSON

    article: Article = field_of(comments.article, "The article that it belongs to.")
    parent: "Comment | None" = field_of(
        comments.parent, "The comment that it answers; null if it answers the article itself."
    )
    ancestors: list["Comment"] = field_of(
        comments.ancestors,
        "The comments above it, from the one that answers the article to its parent; of more than 1,000 the nearest.",
    )
    depth: int = strawberry.field(description="The number of comments above it: 0 if it answers the article itself.")
    poster: User | None = field_of(
        comments.poster, "The user who wrote it; null once deleted, and where the viewer may not read it.", is_pure=True
    )
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
    is_cacheable = staticmethod(attrgetter("is_cacheable"))  # of a page: whether the server may cache its JSON

    edges: list[ThreadEdge] = strawberry.field(description="The places of this page, with cursors.")
    nodes: list[Comment] = strawberry.field(description="The comments of this page.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the thread.")
    total_count: int = field_of(
        threads.total_count, "The number of visible comments of the whole thread, also of those below `maxDepth`."
    )


@strawberry.type
class CommentQueries:
    comment: Comment | None = root_field(
        comments.comment,
        "The comment with this id; null if there is none, or if its article was deleted, and for others than its "
        "poster and moderators if it is not visible and has no visible comments below it. A malformed id is an error.",
    )

    comments: Connection[Comment] | None = root_field(
        recent_comments.comments,
        "The comments of the whole site or of a group, newest first. A server without a database has the newest 10,000 "
        "of the site, and 1,000 of each group.",
        arguments=RECENT_ARGUMENTS,
    )


@strawberry.input(description="A comment to post: an answer to an article, or to a comment of it.")
class CommentInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    parent_id: strawberry.ID | None = optional("The id of the comment that it answers; null for the article itself.")
    content: str = strawberry.field(description=CONTENT)
    idempotency_key: str | None = optional(IDEMPOTENCY_KEY)


@strawberry.input(description="New content for one of the viewer's comments.")
class EditCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)
    content: str = strawberry.field(description=CONTENT)


@strawberry.input(description="The comment to delete, one of the viewer's.")
class DeleteCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)


@strawberry.input(description="A vote on a comment.")
class VoteOnCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)
    value: Vote | None = strawberry.field(default=Vote.UP, description="The new vote.")


@strawberry.type(description="A posted comment.")
class CommentPayload(Payload):
    comment: Comment | None = nullable("The comment; null if refused, or if it was posted before and deleted since.")
    replayed: bool = strawberry.field(default=False, description=REPLAYED)
    held_by: str | None = nullable(HELD_BY)

    @classmethod
    def of(cls, commented: Commented) -> Self:
        return cls.of_records(comment=commented.comment, replayed=commented.replayed, held_by=commented.held_by)


@strawberry.type(description="An edited comment.")
class EditCommentPayload(Payload):
    comment: Comment | None = nullable("The comment after the change.")
    held_by: str | None = nullable(HELD_BY)

    @classmethod
    def of(cls, edited: EditedComment) -> Self:
        return cls.of_records(comment=edited.comment, held_by=edited.held_by)


@strawberry.type(description="A deleted comment.")
class DeleteCommentPayload(Payload):
    deleted_comment_id: strawberry.ID | None = nullable(
        "The id of the deleted comment. It still names a comment in state DELETED while that has replies."
    )

    @classmethod
    def of(cls, id: str) -> Self:
        return cls.of_records(deleted_comment_id=id)


@strawberry.type(description="A vote on a comment.")
class VoteOnCommentPayload(Payload):
    comment: Comment | None = nullable("The comment after the vote.")
    changed: bool = strawberry.field(default=False, description="False if the viewer had already voted the same.")

    @classmethod
    def of(cls, voted: VotedOnComment) -> Self:
        return cls.of_records(comment=voted.comment, changed=voted.changed)


@strawberry.type
class CommentMutations:
    comment: CommentPayload | None = mutation(
        comments.post,
        CommentPayload,
        CommentInput,
        "Answer an article or a comment of it. The poster's upvote is the first vote of the comment.",
    )
    edit_comment: EditCommentPayload | None = mutation(
        comments.edit, EditCommentPayload, EditCommentInput, "Edit one of the viewer's comments."
    )
    delete_comment: DeleteCommentPayload | None = mutation(
        comments.delete,
        DeleteCommentPayload,
        DeleteCommentInput,
        "Delete one of the viewer's comments. While it has replies, it stays without content and poster.",
    )
    vote_on_comment: VoteOnCommentPayload | None = mutation(
        comments.vote,
        VoteOnCommentPayload,
        VoteOnCommentInput,
        "Set the viewer's vote on a comment while voting is open. Sending the same vote again has no effect.",
    )
