"""
Flags on articles and comments, and the queues of moderators.

With a flag a user asks moderators to look at an article or a comment. A queue has what waits for them: what is flagged,
or what is pending, which is not shown before a moderator approves it.
"""

from typing import Self

import strawberry

from resolvers import flags
from schema.articles import Votable
from schema.connections import PageInfo
from schema.enums import FlagReason
from schema.fields import ARGUMENTS, root_field
from schema.mutations import Payload, mutation, nullable, optional
from schema.scalars import DateTime
from schema.users import User
from store.flags import Flagged

SUBJECT_ID = "The id of the article or the comment."
QUEUE_ARGUMENTS = ARGUMENTS | {
    "kind": "Why things wait.",
    "group": "Only what waits in this group; by default in all groups that the viewer moderates. Moderators of the "
    "site see everything.",
}


@strawberry.type(description="What a user asks moderators to look at.")
class Flag:
    by: User = strawberry.field(description="Who set it.")
    reason: FlagReason = strawberry.field(description="Why.")
    note: str | None = strawberry.field(description="What the user wrote to moderators; null if nothing.")
    at: DateTime = strawberry.field(description="When the user first flagged it.")


@strawberry.type(description="An article or a comment that waits for moderators.")
class QueueEdge:
    cursor: str = strawberry.field(
        description="The position of this edge, for the arguments `after` and `before` of the same queue."
    )
    node: Votable = strawberry.field(description="The article or the comment.")
    flags: list[Flag] = strawberry.field(
        description="The flags on it that were not cleared, oldest first, for moderators of the site. Those of groups "
        "see only `flagReasons`."
    )
    flag_reasons: list[FlagReason] = strawberry.field(
        description="The reason of each flag on it, oldest first. Moderators of groups see those of flags that were "
        "set while the article was in one of their groups."
    )
    held_by: str | None = strawberry.field(
        description="In the queue PENDING the rule of the site that holds the text, or the edit of a visible one; null "
        "if none does, as when flags have hidden it."
    )
    since: DateTime = strawberry.field(
        description="Since when it waits: the time of the first flag; in the queue PENDING that of the posting, or of "
        "the edit."
    )


@strawberry.type(description="A page of what waits for moderators.")
class QueueConnection:
    edges: list[QueueEdge] = strawberry.field(description="The items of this page, with cursors and flags.")
    nodes: list[Votable] = strawberry.field(description="The items of this page, for clients that need no cursors.")
    page_info: PageInfo = strawberry.field(description="The position of this page in the queue.")
    total_count: int = strawberry.field(description="The number of items in the whole queue.")


@strawberry.type
class FlagQueries:
    moderation_queue: QueueConnection | None = root_field(
        flags.queue,
        "What waits for moderators, newest first; null if the viewer does not moderate there.",
        arguments=QUEUE_ARGUMENTS,
    )


@strawberry.input(description="An article or a comment that moderators should look at.")
class FlagInput:
    subject_id: strawberry.ID = strawberry.field(description=SUBJECT_ID)
    reason: FlagReason = strawberry.field(description="Why.")
    note: str | None = optional("More about it, for moderators only: at most 5,000 characters.")


@strawberry.input(description="A flag to withdraw.")
class UnflagInput:
    subject_id: strawberry.ID = strawberry.field(description=SUBJECT_ID)


@strawberry.type(description="An article or a comment that was flagged, or whose flag was withdrawn.")
class FlagPayload(Payload):
    subject: Votable | None = nullable("The article or the comment; null if the flag has hidden it.")
    changed: bool = strawberry.field(
        default=False,
        description="False if the flag was already so, or if a moderator has looked at it since and approved the text.",
    )

    @classmethod
    def of(cls, flagged: Flagged) -> Self:
        return cls.of_records(subject=flagged.subject, changed=flagged.changed)


@strawberry.type
class FlagMutations:
    flag: FlagPayload | None = mutation(
        flags.flag,
        FlagPayload,
        FlagInput,
        "Ask moderators to look at an article or a comment of somebody else. Another flag replaces the first. Nobody "
        "but moderators learns of it.",
    )
    unflag: FlagPayload | None = mutation(flags.unflag, FlagPayload, UnflagInput, "Withdraw a flag.")
