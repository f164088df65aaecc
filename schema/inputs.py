"""Inputs of mutations."""

from collections.abc import Callable
from typing import Any

import strawberry
from strawberry.types.unset import UNSET

from schema.enums import Vote
from schema.scalars import Link

TITLE = "1 to 300 characters."
LINK = "An absolute http or https URL."
CONTENT = "At most 40,000 characters."
ARTICLE_ID = "The id of the article."
COMMENT = "1 to 10,000 characters, Markdown by convention; not only blanks."
COMMENT_ID = "The id of the comment."
PASSWORD = "8 to 128 characters."
IDEMPOTENCY_KEY = (
    "A unique text chosen by the client. The same key within a day does not post again. Without a key the same input "
    "within 10 seconds does not."
)


def optional(description: str) -> Any:
    return strawberry.field(default=UNSET, description=description)


def listed(description: str) -> Any:
    empty: Callable[[], list[str]] = list
    return strawberry.field(default_factory=empty, description=description)


@strawberry.input(description="A name and a password for a new user.")
class RegisterInput:
    username: str = strawberry.field(description="2 to 20 letters, digits, `_` and `-`.")
    password: str = strawberry.field(description=PASSWORD)


@strawberry.input(description="The name and password of a user.")
class LogInInput:
    username: str = strawberry.field(description="The name of the user, in any case of letters.")
    password: str = strawberry.field(description=PASSWORD)


@strawberry.input(description="A new password for the viewer.")
class ChangePasswordInput:
    current_password: str = strawberry.field(description="The current password.")
    new_password: str = strawberry.field(description=PASSWORD)


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


@strawberry.input(description="The user to follow or unfollow.")
class FollowUserInput:
    user_id: strawberry.ID = strawberry.field(description="The id of the user.")


@strawberry.input(description="The new mark in the viewer's feed.")
class MarkFeedSeenInput:
    through: str = strawberry.field(
        description="The cursor of the newest article that the viewer has seen, from the feed."
    )


@strawberry.input(description="The new mark in the viewer's inbox.")
class MarkInboxSeenInput:
    through: str = strawberry.field(
        description="The cursor of the newest notification that the viewer has seen, from the inbox."
    )


@strawberry.input(description="Groups to add one of the viewer's articles to, and then groups to remove it from.")
class RegroupArticleInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    add: list[str] | None = listed("The names of groups to add it to.")
    remove: list[str] | None = listed("The names of groups to remove it from.")


@strawberry.input(description="A comment to post: an answer to an article, or to a comment of it.")
class CommentInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    parent_id: strawberry.ID | None = optional("The id of the comment that it answers; null for the article itself.")
    content: str = strawberry.field(description=COMMENT)
    idempotency_key: str | None = optional(IDEMPOTENCY_KEY)


@strawberry.input(description="New content for one of the viewer's comments.")
class EditCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)
    content: str = strawberry.field(description=COMMENT)


@strawberry.input(description="The comment to delete, one of the viewer's.")
class DeleteCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)


@strawberry.input(description="A vote on a comment.")
class VoteOnCommentInput:
    comment_id: strawberry.ID = strawberry.field(description=COMMENT_ID)
    value: Vote | None = strawberry.field(default=Vote.UP, description="The new vote.")
