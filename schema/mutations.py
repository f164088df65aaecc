"""The root fields of mutations and their payloads."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Self

import strawberry
from strawberry.types.unset import UNSET

from resolvers import mutations
from resolvers.context import Context
from schema import inputs
from schema.errors import UserError, user_error
from schema.fields import command_field, field_of
from schema.queries import Query
from schema.scalars import DateTime
from schema.types import Article, Comment, Feed, Inbox, User
from store import records
from store.articles import Posted, Voted
from store.comments import Commented, VotedOnComment
from store.errors import Refusal, Unauthenticated
from store.follows import Followed
from store.sessions import NewSession

REPLAYED = (
    "Whether the viewer posted this before: with the same idempotency key, or without one in the last 10 seconds."
)


def query(payloads: Sequence[Any], context: Context) -> Sequence[Any]:
    return payloads


def nullable(description: str) -> Any:
    """A field that is null in the payload of a refused mutation."""
    return strawberry.field(default=None, description=description)


@strawberry.type
class Payload:
    """The fields of all payloads. Not a type of the schema itself."""

    user_errors: list[UserError] = strawberry.field(
        default_factory=list,
        description="Why the mutation was refused: all invalid values of its input; empty if it succeeded.",
    )
    query: Query = field_of(query, "The query root, as of after the mutation.")

    @classmethod
    def of_records(cls, **fields: Any) -> Self:
        """Fields are read by attribute, so records take the place of the schema's types."""
        return cls(**fields)


@strawberry.type(description="A new session.")
class SessionPayload(Payload):
    user: User | None = nullable("The user who is now logged in.")
    token: str | None = nullable("Send it as `Authorization: Bearer TOKEN`. It cannot be read again.")
    expires_at: DateTime | None = nullable("When the session ends if it is not used before.")

    @classmethod
    def of(cls, session: NewSession) -> Self:
        user = records.user(session.login.username)
        return cls.of_records(user=user, token=session.token, expires_at=session.login.expires_at)


@strawberry.type(description="A changed password.")
class ChangePasswordPayload(Payload):
    user: User | None = nullable("The user whose password was changed; null if refused.")

    @classmethod
    def of(cls, user: records.User) -> Self:
        return cls.of_records(user=user)


@strawberry.type(description="The end of a session.")
class LogOutPayload(Payload):
    @classmethod
    def of(cls, nothing: None) -> Self:
        return cls()


@strawberry.type(description="A posted article.")
class PostPayload(Payload):
    article: Article | None = nullable("The article; null if refused, or if it was posted before and deleted since.")
    replayed: bool = strawberry.field(default=False, description=REPLAYED)
    duplicate_of: Article | None = field_of(
        mutations.duplicate_of,
        "The newest other article with this link; null if there is none within the site's window, 30 days by default. "
        "Links are compared as by `articlesByLink`.",
    )

    @classmethod
    def of(cls, posted: Posted) -> Self:
        return cls.of_records(article=posted.article, replayed=posted.replayed)


@strawberry.type(description="An edited article.")
class EditArticlePayload(Payload):
    article: Article | None = nullable("The article after the change.")

    @classmethod
    def of(cls, article: records.Article) -> Self:
        return cls.of_records(article=article)


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


@strawberry.type(description="A posted comment.")
class CommentPayload(Payload):
    comment: Comment | None = nullable("The comment; null if refused, or if it was posted before and deleted since.")
    replayed: bool = strawberry.field(default=False, description=REPLAYED)

    @classmethod
    def of(cls, commented: Commented) -> Self:
        return cls.of_records(comment=commented.comment, replayed=commented.replayed)


@strawberry.type(description="An edited comment.")
class EditCommentPayload(Payload):
    comment: Comment | None = nullable("The comment after the change.")

    @classmethod
    def of(cls, comment: records.Comment) -> Self:
        return cls.of_records(comment=comment)


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


@strawberry.type(description="A user whom the viewer has followed or unfollowed.")
class FollowUserPayload(Payload):
    user: User | None = nullable("The user.")
    changed: bool = strawberry.field(
        default=False, description="False if the viewer already followed, or did not follow, the user."
    )

    @classmethod
    def of(cls, followed: Followed) -> Self:
        return cls.of_records(user=records.user(followed.followee), changed=followed.changed)


@strawberry.type(description="A feed whose mark was moved.")
class MarkFeedSeenPayload(Payload):
    feed: Feed | None = nullable("The viewer's feed.")

    @classmethod
    def of(cls, feed: records.Feed) -> Self:
        return cls.of_records(feed=feed)


@strawberry.type(description="An inbox whose mark was moved.")
class MarkInboxSeenPayload(Payload):
    inbox: Inbox | None = nullable("The viewer's inbox.")

    @classmethod
    def of(cls, inbox: records.Inbox) -> Self:
        return cls.of_records(inbox=inbox)


def mutation(resolver: Callable[..., Awaitable[Any]], payload: type[Any], input: type | None, description: str) -> Any:
    """The field of a resolver whose result or refusal becomes a payload."""

    async def command(context: Context, input: Any = None) -> Any:
        given = {name: value for name, value in vars(input).items() if value is not UNSET} if input else {}
        try:
            return payload.of(await resolver(context, **given))
        except Refusal as refusal:
            if isinstance(refusal, Unauthenticated):
                context.note_unauthenticated()
            return payload(user_errors=[user_error(each) for each in (refusal, *refusal.others)])

    return command_field(command, input, description)


@strawberry.type(description="The root of mutations. Each takes at most one input and returns one payload.")
class Mutation:
    register: SessionPayload | None = mutation(
        mutations.register, SessionPayload, inputs.RegisterInput, "Create a user and log them in."
    )
    log_in: SessionPayload | None = mutation(mutations.log_in, SessionPayload, inputs.LogInInput, "Open a session.")
    change_password: ChangePasswordPayload | None = mutation(
        mutations.change_password,
        ChangePasswordPayload,
        inputs.ChangePasswordInput,
        "Change the viewer's password and end all their other sessions.",
    )
    log_out: LogOutPayload | None = mutation(mutations.log_out, LogOutPayload, None, "End this session.")
    post: PostPayload | None = mutation(
        mutations.post, PostPayload, inputs.PostInput, "Post an article. The poster's upvote is its first vote."
    )
    edit_article: EditArticlePayload | None = mutation(
        mutations.edit_article, EditArticlePayload, inputs.EditArticleInput, "Edit one of the viewer's articles."
    )
    delete_article: DeleteArticlePayload | None = mutation(
        mutations.delete_article,
        DeleteArticlePayload,
        inputs.DeleteArticleInput,
        "Delete one of the viewer's articles. Its id is never used again.",
    )
    vote: VotePayload | None = mutation(
        mutations.vote,
        VotePayload,
        inputs.VoteInput,
        "Set the viewer's vote on an article while voting is open. Sending the same vote again has no effect.",
    )
    regroup_article: RegroupArticlePayload | None = mutation(
        mutations.regroup_article,
        RegroupArticlePayload,
        inputs.RegroupArticleInput,
        "Add one of the viewer's articles to groups, then remove it from others.",
    )
    comment: CommentPayload | None = mutation(
        mutations.comment,
        CommentPayload,
        inputs.CommentInput,
        "Answer an article or a comment of it. The poster's upvote is the first vote of the comment.",
    )
    edit_comment: EditCommentPayload | None = mutation(
        mutations.edit_comment, EditCommentPayload, inputs.EditCommentInput, "Edit one of the viewer's comments."
    )
    delete_comment: DeleteCommentPayload | None = mutation(
        mutations.delete_comment,
        DeleteCommentPayload,
        inputs.DeleteCommentInput,
        "Delete one of the viewer's comments. While it has replies, it stays without content and poster.",
    )
    vote_on_comment: VoteOnCommentPayload | None = mutation(
        mutations.vote_on_comment,
        VoteOnCommentPayload,
        inputs.VoteOnCommentInput,
        "Set the viewer's vote on a comment while voting is open. Sending the same vote again has no effect.",
    )
    follow_user: FollowUserPayload | None = mutation(
        mutations.follow_user,
        FollowUserPayload,
        inputs.FollowUserInput,
        "Follow a user. Following a user twice has no effect.",
    )
    unfollow_user: FollowUserPayload | None = mutation(
        mutations.unfollow_user, FollowUserPayload, inputs.FollowUserInput, "Stop following a user."
    )
    mark_feed_seen: MarkFeedSeenPayload | None = mutation(
        mutations.mark_feed_seen,
        MarkFeedSeenPayload,
        inputs.MarkFeedSeenInput,
        "Move the mark in the viewer's feed forward. It never moves back.",
    )
    mark_inbox_seen: MarkInboxSeenPayload | None = mutation(
        mutations.mark_inbox_seen,
        MarkInboxSeenPayload,
        inputs.MarkInboxSeenInput,
        "Move the mark in the viewer's inbox forward. It never moves back, and never beyond the newest notification.",
    )
