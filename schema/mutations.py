"""The root fields of mutations, and what they answer with."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import strawberry
from strawberry.types.unset import UNSET

from resolvers import mutations
from resolvers.context import Context
from schema import inputs
from schema.errors import UserError, user_error
from schema.fields import command_field, field_of
from schema.queries import Query
from schema.scalars import DateTime
from schema.types import Article, Feed, User
from store.errors import Refusal

USER_ERRORS = "Why the answer is no; empty if it is yes."


def mutation(
    resolver: Callable[..., Awaitable[Any]], refused: Callable[..., Any], input: type | None, description: str
) -> Any:
    """The field of a command. Refusals end here: they become `user_errors` of the payload."""

    async def command(context: Context, input: Any = None) -> Any:
        given = {name: value for name, value in vars(input).items() if value is not UNSET} if input else {}
        try:
            return await resolver(context, **given)
        except Refusal as refusal:
            return refused(user_errors=[user_error(refusal)])

    return command_field(command, input, description)


def query(payloads: Sequence[Any]) -> Sequence[Any]:
    return payloads


@strawberry.type
class Payload:
    """The fields that all payloads have; not itself part of the schema."""

    user_errors: list[UserError] = strawberry.field(description=USER_ERRORS)
    query: Query = field_of(query, "Ask on, as things stand after the mutation.")


@strawberry.type(description="A new session.")
class SessionPayload(Payload):
    user: User | None = strawberry.field(description="Who is logged in now.")
    token: str | None = strawberry.field(description="Send it as `Authorization: Bearer TOKEN`. It is shown this once.")
    expires_at: DateTime | None = strawberry.field(description="When the session ends unless it is used until then.")


@strawberry.type(description="A changed password.")
class ChangePasswordPayload(Payload):
    user: User | None = strawberry.field(description="Whose password it is; null if refused.")


@strawberry.type(description="The end of a session.")
class LogOutPayload(Payload):
    pass


@strawberry.type(description="A posted article.")
class PostPayload(Payload):
    article: Article | None = strawberry.field(
        description="The article; null if refused, or replayed and deleted since."
    )
    replayed: bool = strawberry.field(description="Whether this was posted before under the same idempotency key.")


@strawberry.type(description="An edited article.")
class EditArticlePayload(Payload):
    article: Article | None = strawberry.field(description="The article as it now stands.")


@strawberry.type(description="A deleted article.")
class DeleteArticlePayload(Payload):
    deleted_article_id: strawberry.ID | None = strawberry.field(description="The id that now names nothing.")


@strawberry.type(description="A set vote.")
class VotePayload(Payload):
    article: Article | None = strawberry.field(description="The article as it now stands.")
    changed: bool = strawberry.field(description="False if the vote was this already.")


@strawberry.type(description="A regrouped article.")
class RegroupArticlePayload(Payload):
    article: Article | None = strawberry.field(description="The article as it now stands.")


@strawberry.type(description="A user whom the viewer follows, or follows no more.")
class FollowUserPayload(Payload):
    user: User | None = strawberry.field(description="The user.")
    changed: bool = strawberry.field(description="False if it was so already.")


@strawberry.type(description="A feed with its mark moved on.")
class MarkFeedSeenPayload(Payload):
    feed: Feed | None = strawberry.field(description="The viewer's feed.")


@strawberry.type(description="What can be changed. Every mutation takes one input and answers with one payload.")
class Mutation:
    register: SessionPayload | None = mutation(
        mutations.register, mutations.SessionPayload, inputs.RegisterInput, "Create a user and log them in."
    )
    log_in: SessionPayload | None = mutation(
        mutations.log_in, mutations.SessionPayload, inputs.LogInInput, "Open a session."
    )
    change_password: ChangePasswordPayload | None = mutation(
        mutations.change_password,
        mutations.ChangePasswordPayload,
        inputs.ChangePasswordInput,
        "Change the viewer's password. All their other sessions end; this one goes on.",
    )
    log_out: LogOutPayload | None = mutation(mutations.log_out, mutations.LogOutPayload, None, "End this session.")
    post: PostPayload | None = mutation(
        mutations.post, mutations.PostPayload, inputs.PostInput, "Post an article; its poster votes for it first."
    )
    edit_article: EditArticlePayload | None = mutation(
        mutations.edit_article, mutations.ArticlePayload, inputs.EditArticleInput, "Edit an article of one's own."
    )
    delete_article: DeleteArticlePayload | None = mutation(
        mutations.delete_article,
        mutations.DeleteArticlePayload,
        inputs.DeleteArticleInput,
        "Delete an article of one's own. Its id is never used again.",
    )
    vote: VotePayload | None = mutation(
        mutations.vote,
        mutations.VotePayload,
        inputs.VoteInput,
        "Set one's vote on an article while voting is open. The same vote again changes nothing.",
    )
    regroup_article: RegroupArticlePayload | None = mutation(
        mutations.regroup_article,
        mutations.ArticlePayload,
        inputs.RegroupArticleInput,
        "Add an article of one's own to groups, then remove it from others.",
    )
    follow_user: FollowUserPayload | None = mutation(
        mutations.follow_user, mutations.FollowUserPayload, inputs.FollowUserInput, "Follow a user. Twice is harmless."
    )
    unfollow_user: FollowUserPayload | None = mutation(
        mutations.unfollow_user, mutations.FollowUserPayload, inputs.FollowUserInput, "Follow a user no more."
    )
    mark_feed_seen: MarkFeedSeenPayload | None = mutation(
        mutations.mark_feed_seen,
        mutations.MarkFeedSeenPayload,
        inputs.MarkFeedSeenInput,
        "Move the mark in the viewer's feed forward. It never moves back.",
    )
