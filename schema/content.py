"""
Mutations of moderators on articles and comments, and the viewer's own texts that are pending or removed.

The place of a text is the groups of its article: moderators of one of them, or of the whole site, decide there.
"""

import strawberry

from resolvers import content
from schema.articles import ARTICLE_ID, Votable
from schema.connections import Connection
from schema.fields import root_field
from schema.moderation import REASON, ModerationPayload
from schema.mutations import mutation, optional

NOTE = "What other moderators of the place should know; at most 5,000 characters."
SUBJECT_ID = "The id of the article or comment."


@strawberry.type
class ContentQueries:
    held: Connection[Votable] | None = root_field(
        content.held,
        "What the viewer posted and what is pending or removed, newest first; null if nobody is logged in.",
    )


@strawberry.input(description="What to remove: from the whole site, or out of one group.")
class RemoveContentInput:
    subject_id: strawberry.ID = strawberry.field(description=SUBJECT_ID)
    group: str | None = optional(
        "An article: only out of this group, to which its poster cannot add it back. A comment: in its name."
    )
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.input(description="What to show again, or to confirm.")
class ApproveContentInput:
    subject_id: strawberry.ID = strawberry.field(description=SUBJECT_ID)
    reason: str | None = optional("Why, for everybody to read; at most 1,000 characters.")
    note: str | None = optional(NOTE)


@strawberry.input(description="The edit to reject: that which waits for an article or a comment.")
class RejectEditInput:
    subject_id: strawberry.ID = strawberry.field(description=SUBJECT_ID)
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.input(description="The article to lock.")
class LockArticleInput:
    article_id: strawberry.ID = strawberry.field(description=ARTICLE_ID)
    group: str | None = optional("The group in whose name it is locked.")
    reason: str = strawberry.field(description=REASON)
    note: str | None = optional(NOTE)


@strawberry.type
class ContentMutations:
    remove_content: ModerationPayload | None = mutation(
        content.remove,
        ModerationPayload,
        RemoveContentInput,
        "Remove an article or a comment from everything that shows it, or take an article out of a group. Only for "
        "moderators of the place: of the group, or for the whole article of the site or of all its groups. A comment "
        "may be removed by a moderator of any group of its article.",
    )
    approve_content: ModerationPayload | None = mutation(
        content.approve,
        ModerationPayload,
        ApproveContentInput,
        "Show an article or a comment at the places that it would have had, and put the edit in place that waits for "
        "it. Only for moderators of the place.",
    )
    reject_edit: ModerationPayload | None = mutation(
        content.reject_edit,
        ModerationPayload,
        RejectEditInput,
        "Drop the edit that waits for an article or a comment, which stays as it is. Only for moderators of the place. "
        "It cannot be reverted; the poster may edit again.",
    )
    lock_article: ModerationPayload | None = mutation(
        content.lock,
        ModerationPayload,
        LockArticleInput,
        "Lock an article: it takes no votes and no comments. Only for moderators of the place.",
    )
